"""The one door to cuda-core and to the CUDA driver below it; every failure there is a DeviceError."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from enzyme_driver.errors import AdgenError, DeviceError

_INSTALL = "install what the CUDA target needs: pip install 'adgen[cuda13]', or [cuda12] for a driver of CUDA 12"
_STICKY = "an earlier launch may have failed: check grid, block and array sizes; the process needs a new start"


@cache
def core() -> Any:  # noqa: ANN401  (cuda-core is not typed everywhere)
    """The module of cuda-core, also where older versions keep it."""
    try:
        module = importlib.import_module("cuda.core")
        return module if hasattr(module, "ObjectCode") else importlib.import_module("cuda.core.experimental")
    except ImportError as error:
        raise DeviceError(f"cuda-core cannot be imported: {error}", hint=_INSTALL) from None


@cache
def api() -> Any:  # noqa: ANN401
    """The driver's functions, initialised. Raises DeviceError where there is no driver or no GPU."""
    try:
        driver = importlib.import_module("cuda.bindings.driver")
    except ImportError as error:
        raise DeviceError(f"cuda-bindings cannot be imported: {error}", hint=_INSTALL) from None
    with translated("there is no usable NVIDIA GPU", "check nvidia-smi, or use the artifact's OpenMP target"):
        status, *_ = driver.cuInit(0)
    if status != driver.CUresult.CUDA_SUCCESS:
        reason = f"there is no usable NVIDIA GPU: {_named(driver, status)}"
        raise DeviceError(reason, hint="check nvidia-smi, or use the artifact's OpenMP target")
    return driver


@cache
def known_toolkit() -> tuple[int, int]:
    """The version of CUDA that the driver was made for: it reads what toolkits of that major and of older ones make."""
    number = int(done(api().cuDriverGetVersion(), "the driver's version cannot be read"))
    return number // 1000, number % 1000 // 10


def why_there_is_no_gpu() -> str:
    """Empty where there is one that can be used."""
    try:
        core()
        api()
    except DeviceError as error:
        return error.reason
    return ""


@contextmanager
def translated(what: str, hint: str) -> Iterator[None]:
    """Any error of cuda-core inside becomes a DeviceError."""
    try:
        yield
    except AdgenError:
        raise
    except Exception as error:  # noqa: BLE001  (cuda-core's errors have no public base)
        raise DeviceError(f"{what}: {error}", hint=hint) from None


def done(result: tuple[Any, ...], what: str, hint: str = _STICKY) -> Any:  # noqa: ANN401
    """The value of a driver call (None, one, or a tuple). Raises DeviceError where it failed."""
    status, *values = result
    if status != api().CUresult.CUDA_SUCCESS:
        raise DeviceError(f"{what}: {_named(api(), status)}", hint=hint)
    return values[0] if len(values) == 1 else tuple(values) or None


def _named(driver: Any, status: Any) -> str:  # noqa: ANN401
    text = driver.cuGetErrorString(status)[1]
    return f"{text.decode() if text else 'unknown error'} ({getattr(status, 'name', status)})"


class on_device:  # noqa: N801  (a context manager, which takes half the time of one that is a generator)
    """The caller's context where it is one of that device, else the device's primary one for the time being."""

    __slots__ = ("_before", "_device")

    def __init__(self, device: int) -> None:
        self._device = device
        self._before: Any = None

    def __enter__(self) -> None:
        driver = api()
        status, now = driver.cuCtxGetDevice()  # which fails where no context is current
        if status == driver.CUresult.CUDA_SUCCESS and int(now) == self._device:
            return
        self._before = done(driver.cuCtxGetCurrent(), "the current context cannot be read")
        with translated(f"GPU {self._device} cannot be used", "check nvidia-smi"):
            core().Device(self._device).set_current()

    def __exit__(self, *_: object) -> None:
        if self._before is not None and int(self._before):
            done(api().cuCtxSetCurrent(self._before), "the context cannot be set back")


def ready_device(device: int) -> Any:  # noqa: ANN401
    """cuda-core's Device, which allocates only after it was current once; the current context stays what it is."""
    driver, found = api(), core().Device(device)
    before = done(driver.cuCtxGetCurrent(), "the current context cannot be read")
    with translated(f"GPU {device} cannot be used", "check nvidia-smi"):
        found.set_current()
    if int(before):
        done(driver.cuCtxSetCurrent(before), "the context cannot be set back")
    return found


def current_device() -> int:
    """The number of the device of the current context, 0 where there is none."""
    driver = api()
    if not int(done(driver.cuCtxGetCurrent(), "the current context cannot be read")):
        return 0
    return int(done(driver.cuCtxGetDevice(), "the current device cannot be read"))


def device_of(address: int) -> int | None:
    """The number of the GPU that an address belongs to, None where the driver does not know the address."""
    driver = api()
    attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    status, value = driver.cuPointerGetAttribute(attribute, address)
    return int(value) if status == driver.CUresult.CUDA_SUCCESS else None


def attribute_of(device: int, name: str) -> int:
    """A device attribute, such as `COMPUTE_CAPABILITY_MAJOR`."""
    driver = api()
    attribute = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(done(driver.cuDeviceGetAttribute(attribute, device), f"{name} of GPU {device} cannot be read"))


def name_of(device: int) -> str:
    """As NVIDIA calls it."""
    name = done(api().cuDeviceGetName(128, device), f"GPU {device} has no name")
    return bytes(name).split(b"\0")[0].decode()


def synchronize(stream: int) -> None:
    done(api().cuStreamSynchronize(stream), "the GPU reports a failed launch")


def is_capturing(stream: int) -> bool:
    """Whether what is queued on the stream goes into a CUDA graph."""
    driver = api()
    status = done(driver.cuStreamIsCapturing(stream), "the stream cannot be looked at")
    return bool(status == driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE)


def strided_view(value: object) -> Any:  # noqa: ANN401
    """cuda-core's view of an array that speaks DLPack, without waiting for its producer."""
    utils = importlib.import_module(f"{core().__name__}.utils")
    view = utils.StridedMemoryView
    return getattr(view, "from_dlpack", view)(value, stream_ptr=-1)
