"""adgen: a CUDA or C++ file in, its compiled gradient out, called from Python.

    import adgen

    price = adgen.compile("black_scholes.cu", kernel="price")
    price.gradient[grid, block](*args, shadows={"spot": d_spot, ...})

Nothing heavy is imported until it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from enzyme_driver.errors import (
    AdgenError,
    ArgumentError,
    ArtifactError,
    CacheError,
    CheckFailedError,
    CompilerCrashError,
    DataRaceError,
    DeviceError,
    GradientMismatchError,
    NameNotFoundError,
    PrimalError,
    RefusedError,
    SourceError,
    ToolchainError,
    UsageError,
)
from enzyme_driver.version import __version__

if TYPE_CHECKING:
    from enzyme_driver.frameworks import Operator, cdiv, operator
    from enzyme_driver.model import Target
    from enzyme_driver.runtime.backends.teams import threads
    from enzyme_driver.runtime.call.accumulation import accumulation
    from enzyme_driver.runtime.function import Function
    from enzyme_driver.runtime.kernel import Kernel
    from enzyme_driver.runtime.module import Module
    from enzyme_driver.runtime.tape.record import Tape
    from enzyme_driver.runtime.textures import surface, texture
    from enzyme_driver.runtime.transforms.colouring import colour
    from enzyme_driver.settings import Verify

__all__ = [
    "AdgenError",
    "ArgumentError",
    "ArtifactError",
    "CacheError",
    "CheckFailedError",
    "CompilerCrashError",
    "DataRaceError",
    "DeviceError",
    "Function",
    "GradientMismatchError",
    "Kernel",
    "Module",
    "NameNotFoundError",
    "Operator",
    "PrimalError",
    "RefusedError",
    "SourceError",
    "Tape",
    "ToolchainError",
    "UsageError",
    "__version__",
    "accumulation",
    "cdiv",
    "colour",
    "compile",
    "load",
    "operator",
    "surface",
    "texture",
    "threads",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (imported when they are first asked for)
    if name in {"Kernel", "Function", "Module"}:
        from enzyme_driver.runtime import module

        return getattr(module, name)
    if name in {"Operator", "cdiv", "operator"}:
        from enzyme_driver import frameworks

        return getattr(frameworks, name)
    if name == "Tape":
        from enzyme_driver.runtime.tape.record import Tape

        return Tape
    if name == "accumulation":
        from enzyme_driver.runtime.call.accumulation import accumulation

        return accumulation
    if name == "colour":
        from enzyme_driver.runtime.transforms.colouring import colour

        return colour
    if name in {"surface", "texture"}:
        from enzyme_driver.runtime import textures

        return getattr(textures, name)
    if name == "threads":
        from enzyme_driver.runtime.backends.teams import threads

        return threads
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@overload
def compile(  # noqa: A001
    path: str | Path,
    kernel: str,
    function: None = None,
    target: Target = "openmp",
    arch: str | Iterable[str] = "sm_90",
    activity: Mapping[str, str] | None = None,
    flags: Iterable[str] = (),
    fast_math: bool = False,
    cache: bool = True,
    modes: str | Iterable[str] = (),
    inactive: Iterable[str] = (),
    derivatives: Mapping[str, str] | None = None,
    verify: Verify | None = None,
) -> Kernel: ...


@overload
def compile(  # noqa: A001
    path: str | Path,
    kernel: None = None,
    *,
    function: str,
    target: Target = "openmp",
    arch: str | Iterable[str] = "sm_90",
    activity: Mapping[str, str] | None = None,
    flags: Iterable[str] = (),
    fast_math: bool = False,
    cache: bool = True,
    modes: str | Iterable[str] = (),
    inactive: Iterable[str] = (),
    derivatives: Mapping[str, str] | None = None,
    verify: Verify | None = None,
) -> Function: ...


@overload
def compile(  # noqa: A001
    path: str | Path,
    kernel: None = None,
    function: None = None,
    target: Target = "openmp",
    arch: str | Iterable[str] = "sm_90",
    activity: Mapping[str, str] | None = None,
    flags: Iterable[str] = (),
    fast_math: bool = False,
    cache: bool = True,
    modes: str | Iterable[str] = (),
    inactive: Iterable[str] = (),
    derivatives: Mapping[str, str] | None = None,
    verify: Verify | None = None,
) -> Module: ...


def compile(  # noqa: A001  (the name that is wanted in `adgen.compile`)
    path: str | Path,
    kernel: str | None = None,
    function: str | None = None,
    target: Target = "openmp",
    arch: str | Iterable[str] = "sm_90",
    activity: Mapping[str, str] | None = None,
    flags: Iterable[str] = (),
    fast_math: bool = False,
    cache: bool = True,
    modes: str | Iterable[str] = (),
    inactive: Iterable[str] = (),
    derivatives: Mapping[str, str] | None = None,
    verify: Verify | None = None,
) -> Kernel | Function | Module:
    """Compile a CUDA or C++ file and its gradient, and load both.

    `kernel` or `function` names what is wanted, as in C++; the instance of a template is named `"axpy<float>"` and is
    made if the file does not make it. With neither, everything in the file becomes an attribute of a module.

    `target` is `"openmp"` (runs on the host, on NumPy arrays) or `"cuda"` (runs on an NVIDIA GPU; `arch` names one or
    several architectures). `activity` changes which parameters have a derivative, by name: `"const"`, `"active"`,
    `"duplicated"`, `"owned"`, `"fresh"` or `"discarded"`; an array in a struct, `"grid.cells"`, may be `"const"`.
    `flags` go to clang. `fast_math` allows what `-ffast-math` allows.
    `cache=False` compiles into a folder that is deleted when the process ends. `modes=["forward"]` makes `jvp`
    beside the gradient, `"second"` makes `hvp`. `inactive` names functions whose results count as constant,
    `derivatives` functions with a gradient of their own: another function of the file.

    `verify` says when a gradient is compared with dual numbers that are carried through the primal, on the arguments of
    that very call: at the `"first"` call that uses it, `"always"`, or `"never"` (default: the variable `ADGEN_VERIFY`,
    else first). One that differs raises GradientMismatchError and is not returned. What cannot be decided is said on
    stderr where verifying was asked for, and by default where the two sides differ or the launch is too large. A
    gradient that was found right is not looked at again; the artifact in the cache remembers it.

    On the host, a kernel whose threads race for an element raises DataRaceError at that call, with both places.

    Raises UsageError, SourceError (the file does not compile), NameNotFoundError, RefusedError (it cannot be
    differentiated), ToolchainError, CompilerCrashError, CacheError.
    """
    from enzyme_driver import cache as store
    from enzyme_driver import request
    from enzyme_driver.runtime import module
    from enzyme_driver.settings import Settings
    from enzyme_driver.verification import find_narrower, find_patterns, verifying

    if kernel is not None and function is not None:
        raise UsageError("both kernel= and function= are given", hint="give one of them, or none for the whole file")
    name = function if kernel is None else kernel
    wanted = request.new(
        path,
        names=[] if name is None else [name],
        targets=[target],
        archs=[arch] if isinstance(arch, str) else arch,
        activity=activity,
        flags=flags,
        fast_math=fast_math,
        modes=[modes] if isinstance(modes, str) else modes,
        inactive=inactive,
        derivatives=derivatives,
    )
    settings = Settings.from_environment()
    folder = store.build(wanted, settings=settings, use_cache=cache)
    loaded = module.load(folder, target)
    find_patterns(loaded, wanted, settings, use_cache=cache)
    find_narrower(loaded, wanted, settings, use_cache=cache, verify=verify)
    verifying(loaded, wanted, settings, use_cache=cache, verify=verify)
    return loaded if name is None else _only(loaded, name, "kernel" if function is None else "function")


def load(folder: str | Path, target: Target | None = None) -> Module:
    """Load an artifact that `adgen compile` made; needs neither clang nor Enzyme nor llvmlite.

    `target` is "openmp" or "cuda"; by default the one that was built, OpenMP where both were. Raises ArtifactError.
    """
    from enzyme_driver.runtime import module

    return module.load(folder, target)


def _only(loaded: Module, name: str, kind: str) -> Kernel | Function:
    """The entry that was compiled by name, which must be of the kind that was asked for."""
    entries = list(loaded)
    entry = entries[0] if len(entries) == 1 else loaded[name]
    if entry.signature.kind != kind:
        raise UsageError(f"{name} is a {entry.signature.kind}", hint=f"compile it with {entry.signature.kind}={name!r}")
    return entry
