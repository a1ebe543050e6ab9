"""Which code of an artifact fits a GPU, and that code loaded."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal

from enzyme_driver.artifact import Artifact
from enzyme_driver.errors import ArtifactError, DeviceError
from enzyme_driver.runtime.backends.driver import api, attribute_of, core, done, known_toolkit, synchronize, translated

_REBUILD = "compile it again with `adgen compile`"
_UPDATE = "install a newer NVIDIA driver, or compile it again with what `pip install 'adgen[cuda12]'` brings"
_STATIC_LIMIT = 48 * 1024  # without asking the driver for more


def chosen_code(archs: Iterable[str], capability: tuple[int, int]) -> tuple[str, Literal["cubin", "ptx"]]:
    """The architecture to take and the form of its code. Raises DeviceError where none can run on the GPU."""
    archs = tuple(archs)
    parsed = sorted((_parsed(arch), arch) for arch in archs)
    major, minor = capability
    cubins = [arch for (x, y, kind), arch in parsed if x == major and (y == minor if kind == "a" else y <= minor)]
    if cubins:
        return cubins[-1], "cubin"
    ptx = [arch for (x, y, kind), arch in parsed if not kind and (x, y) <= capability]
    if ptx:
        return ptx[-1], "ptx"
    raise DeviceError(
        f"the artifact has code for {', '.join(archs)}; this GPU is sm_{major}{minor}",
        hint=f"compile it again with `--arch sm_{major}{minor}`",
    )


def is_newer(toolkit: str, known: tuple[int, int]) -> bool:
    """Whether a driver of CUDA `known` is too old for a cubin: cubins of another major have another format.

    Such a driver compiles the PTX beside it, which asks for no more than its instructions need.
    """
    major = toolkit.partition(".")[0]
    return major.isdecimal() and int(major) > known[0]


def _parsed(arch: str) -> tuple[int, int, str]:
    match = re.fullmatch(r"sm_(\d+)(\d)([af]?)", arch)
    if match is None:
        raise ArtifactError(f"{arch!r} is no GPU architecture", hint=_REBUILD)
    return int(match[1]), int(match[2]), match[3]


class LoadedCode:
    """The code of an artifact for one device. To be used in a context of that device."""

    def __init__(self, artifact: Artifact, device: int) -> None:
        self.device = device
        capability = tuple(attribute_of(device, f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
        self.arch, form = chosen_code(artifact.archs, (capability[0], capability[1]))
        self._binary = artifact.manifest.binaries.cuda[self.arch]
        known, toolkit = known_toolkit(), self._binary.toolkit
        if is_newer(toolkit, known):
            form = "ptx"
        what = f"the {form} for {self.arch} of {artifact.folder}"
        of_toolkit = f" (made by CUDA {toolkit}; the driver is one of CUDA {known[0]}.{known[1]})" if toolkit else ""
        self._advice = _UPDATE if is_newer(toolkit, known) else _REBUILD
        with translated(f"{what} cannot be loaded{of_toolkit}", self._advice):
            object_code = core().ObjectCode
            if form == "cubin":
                self._code = object_code.from_cubin(artifact.cubin(self.arch))
            else:
                self._code = object_code.from_ptx(artifact.ptx(self.arch))
            self._library = api().CUlibrary(int(_handle(self._code)))
        self._what = f"{what}{of_toolkit}"
        self.kernel = cache(self._kernel)

    def _kernel(self, symbol: str, threads: int) -> LoadedKernel:
        """The kernel, or its variant for blocks of so many threads."""
        symbol = self._binary.for_block(symbol, threads)
        with translated(f"kernel {symbol!r} of {self._what} cannot be loaded", self._advice):
            kernel = self._code.get_kernel(symbol)
            return LoadedKernel(api().CUkernel(int(_handle(kernel))), self.device)

    def global_address(self, name: str) -> int:
        """The device address of a global variable in the current context."""
        found = api().cuLibraryGetGlobal(self._library, name.encode())
        address, _ = done(found, f"{self._what} has no {name!r}", _REBUILD)
        return int(address)

    def lowers_flag(self, name: str, stream: int) -> bool:
        """Wait for the stream; whether a launch on it raised the flag, a variable of 32 bits, and lower it again."""
        driver, address, raised = api(), self.global_address(name), ctypes.c_uint32()
        copied = driver.cuMemcpyDtoHAsync(ctypes.addressof(raised), address, ctypes.sizeof(raised), stream)
        done(copied, f"{name} cannot be read")
        synchronize(stream)
        if raised.value:
            done(driver.cuMemsetD32Async(address, 0, 1, stream), f"{name} cannot be reset")
            synchronize(stream)
        return bool(raised.value)


def _handle(thing: Any) -> Any:  # noqa: ANN401
    """cuda-core's `handle`, which older versions keep private."""
    return thing.handle if hasattr(thing, "handle") else thing._handle  # noqa: SLF001


class LoadedKernel:
    """A kernel on one device, with the shared memory that it may use."""

    def __init__(self, handle: Any, device: int) -> None:  # noqa: ANN401
        self.handle = handle
        self._device = device
        self._static = self._attribute("SHARED_SIZE_BYTES")
        self._allowed = _STATIC_LIMIT - self._static

    def allow_dynamic(self, count: int) -> None:
        """Let launches use `count` bytes of dynamic shared memory. Raises DeviceError where the GPU has less."""
        if count <= self._allowed:
            return
        limit = attribute_of(self._device, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
        if self._static + count > limit:
            raise DeviceError(
                f"the launch needs {self._static} bytes of static and {count} of dynamic shared memory a block; "
                f"this GPU has {limit}",
                hint="use smaller blocks; a gradient needs twice the kernel's shared memory",
            )
        attribute = api().CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        done(api().cuKernelSetAttribute(attribute, count, self.handle, self._device), "no shared memory")
        self._allowed = count

    def _attribute(self, name: str) -> int:
        attribute = getattr(api().CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        return int(done(api().cuKernelGetAttribute(attribute, self.handle, self._device), f"no {name}"))
