"""What was found: tools, the source of Enzyme, and the whole toolchain, as frozen values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from enzyme_driver import resources
from enzyme_driver.errors import ToolchainError

LLVM_MAJOR = 22


Origin = Literal["pypi", "system"]
"""Where clang and opt come from: Python packages, or the system (Debian's packages, `PATH`)."""


@dataclass(frozen=True)
class Candidate:
    """A file that may be a tool; nobody has looked yet whether it is there."""

    path: Path
    found_by: str


@dataclass(frozen=True)
class Tool:
    """An executable; `version` as it calls itself ("22.1.8"), `found_by` in words ("ADGEN_CLANG", "PATH")."""

    name: str
    path: Path
    version: str
    found_by: str

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    @property
    def prefix(self) -> Path:
        """The folder that holds this tool's `bin`, with symbolic links followed: /usr/lib/llvm-22 on Debian."""
        return self.path.resolve().parent.parent


@dataclass(frozen=True)
class Problem:
    """Why a part of the toolchain cannot be used, and what to do about it."""

    part: str
    reason: str
    hint: str


@dataclass(frozen=True)
class EnzymeSource:
    """Where Enzyme comes from.

    `wheel`: `path` is the executable of the pinned wheel, into which adgen's worker is loaded, and `opt` is None.
    `plugin`: `path` is a pass plugin, to be loaded into `opt`, whose LLVM has the same major.
    """

    kind: Literal["wheel", "plugin"]
    path: Path
    llvm_major: int
    opt: Tool | None
    found_by: str


@dataclass(frozen=True)
class Toolchain:
    """Everything that `adgen compile` needs from outside, checked to fit together.

    `llvmlite` is the library of that package. `passes` is the plugin for opt, `worker` the plugin for the wheel's
    executable, `host_runtime` an object file, `rules` device bitcode: adgen's own code, compiled on this machine.
    `archs` are the GPU architectures that LLVM and ptxas both know. `compile_flags` and `link_flags` are what clang is
    told of the C++ library and the linker; `openmp_headers` is the folder of `omp.h` where clang has none of its own.
    """

    clang: Tool
    opt: Tool
    ptxas: Tool
    cuda_root: Path
    libdevice: Path
    libomp: Path
    llvmlite: Path
    enzyme: EnzymeSource
    passes: Path
    worker: Path
    host_runtime: Path
    rules: Path
    archs: tuple[str, ...]
    compile_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    openmp_headers: Path | None = None

    @property
    def libraries(self) -> tuple[Path, ...]:
        """Folders whose headers are nobody's own code: clang's, CUDA's, the system's, and adgen's stand-ins."""
        prefix = self.clang.prefix
        of_compiler = (self.cuda_root, prefix / "include", prefix / "lib" / "clang")
        return (*of_compiler, Path("/usr/include"), Path("/usr/lib"), resources.PACKAGE / "stages" / "headers")

    @property
    def llc(self) -> Path | None:
        """LLVM's code generator, which comes with opt in most installations."""
        beside = self.opt.path.with_name(self.opt.path.name.replace("opt", "llc"))
        return beside if beside.is_file() else None

    def is_of_library(self, file: Path) -> bool:
        """Whether a header lies in one of the `libraries`.

        clang may leave out the folders that a header shares with the place it was started in.
        """
        shared = (parent for folder in self.libraries for parent in folder.parents)
        whole = [file] if file.is_absolute() else [path for parent in shared if (path := parent / file).is_file()]
        return any(path.is_relative_to(folder) for path in whole for folder in self.libraries)


Identity = tuple[tuple[str, str], ...]
"""Labels with versions or digests, for the cache key."""


def all_problems(problems: Iterable[Problem]) -> ToolchainError:
    """One error for all that is missing, with each hint once."""
    found = tuple(problems)
    reason = "\n".join(problem.reason for problem in found)
    hints = dict.fromkeys(problem.hint for problem in found)
    return ToolchainError(reason, hint="\n".join(hints))


def check_arch(arch: str, toolchain: Toolchain) -> str:
    """`arch` if clang and ptxas know it (such as "sm_90"), else a ToolchainError that lists those they know."""
    if arch in toolchain.archs:
        return arch
    raise ToolchainError(
        f"{toolchain.ptxas.name} {toolchain.ptxas.version} and clang {toolchain.clang.version} do not both know "
        f"the GPU architecture {arch!r}",
        hint=f"choose one of {', '.join(toolchain.archs)}",
    )
