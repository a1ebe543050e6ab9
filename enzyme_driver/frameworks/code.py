"""The compiled code behind an operator: an artifact for each target and each set of inputs without a derivative."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enzyme_driver.artifact import MANIFEST, Artifact, read
from enzyme_driver.errors import NameNotFoundError, RefusedError, UsageError
from enzyme_driver.model import Entry, Signature, Target, bare_name, plain_name
from enzyme_driver.runtime.backends.cubins import chosen_code
from enzyme_driver.runtime.call.arguments import Arguments

if TYPE_CHECKING:
    from enzyme_driver.request import Request
    from enzyme_driver.runtime.function import Function
    from enzyme_driver.runtime.kernel import Kernel

DEFAULT_CAPABILITY = (9, 0)


@dataclass(frozen=True)
class Options:
    """What `adgen.compile` is told of the file."""

    activity: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    fast_math: bool = False
    modes: tuple[str, ...] = ()
    inactive: tuple[str, ...] = ()
    derivatives: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where an operator runs: on the host, or on GPUs of one architecture (`capability` is that of `sm_90`: (9, 0))."""

    target: Target
    capability: tuple[int, int] = DEFAULT_CAPABILITY

    @property
    def arch(self) -> str:
        return f"sm_{self.capability[0]}{self.capability[1]}"


HOST = Place("openmp")


@dataclass(frozen=True)
class Unit:
    """One kernel or function of an artifact on one target."""

    artifact: Artifact
    entry: Entry
    place: Place
    request: Request | None = None
    """What it was compiled for; None for what an artifact has."""

    @property
    def is_verified(self) -> bool:
        """Whether its gradient is to be compared with dual numbers."""
        from enzyme_driver.settings import Settings

        return self.request is not None and Settings.from_environment().verify != "never"

    @cached_property
    def callable(self) -> Kernel | Function:
        """What the runtime makes of it; what is to be verified has a guard before its gradient."""
        from enzyme_driver.runtime import module
        from enzyme_driver.settings import Settings
        from enzyme_driver.verification import verifying

        loaded, settings = module.load(self.artifact.folder, self.target), Settings.from_environment()
        if self.request is not None and self.is_verified:
            verifying(loaded, self.request, settings, use_cache=True, verify=None)
        return next(each for each in loaded if each.signature.symbol == self.signature.symbol)

    @property
    def target(self) -> Target:
        return self.place.target

    @property
    def signature(self) -> Signature:
        return self.entry.signature

    @cached_property
    def arguments(self) -> Arguments:
        return Arguments(self.signature, self.target)

    @cached_property
    def tangents(self) -> Arguments:
        return Arguments(self.signature.forward, self.target)

    @cached_property
    def twice(self) -> Arguments:
        return Arguments(self.signature.gradient.forward, self.target)

    def binary(self) -> Path:
        """The file that the code lies in."""
        if self.target == "openmp":
            return self.artifact.library()
        arch, form = chosen_code(self.artifact.archs, self.place.capability)
        (self.artifact.cubin if form == "cubin" else self.artifact.ptx)(arch)  # is it the file that was compiled?
        binary = self.artifact.manifest.binaries.cuda[arch]
        return self.artifact.folder / (binary.cubin if form == "cubin" else binary.ptx)

    def for_block(self, symbol: str, threads: int) -> str:
        """The function or kernel, or its variant for blocks of so many threads."""
        if self.target == "openmp":
            return symbol
        arch, _ = chosen_code(self.artifact.archs, self.place.capability)
        return self.artifact.manifest.binaries.cuda[arch].for_block(symbol, threads)


class Code:
    """A file, or an artifact, from which units are taken; compiled where they are first asked for."""

    def __init__(self, path: Path, kernel: str | None, options: Options) -> None:
        self.path = path
        self.kernel = kernel
        self.options = options
        self._known: dict[Any, Unit] = {}

    @property
    def is_artifact(self) -> bool:
        return (self.path / MANIFEST).is_file()

    def units(self) -> tuple[Unit, ...]:
        """Those that were asked for so far."""
        return tuple(self._known.values())

    def unit(self, name: str, place: Place, constant: Iterable[str] = ()) -> Unit:
        """The kernel of this name (empty: the operator's only one); `constant` parameters have no derivative."""
        fixed = () if self.is_artifact else tuple(sorted(constant))
        key = (name, place, fixed)
        if key not in self._known:
            wanted = name or self.kernel or ""
            asked = None if self.is_artifact else self._request(wanted, place, fixed)
            artifact = read(self.path if asked is None else _with_primal(asked))
            self._known[key] = Unit(artifact, _entry(artifact, wanted), place, asked)
        return self._known[key]

    def _modes(self) -> tuple[str, ...]:
        """The second derivative of a function that returns a number takes forward mode, too."""
        modes = self.options.modes
        return (*modes, "forward") if "second" in modes and self.path.suffix not in {".cu", ".cuh"} else modes

    def _request(self, name: str, place: Place, constant: tuple[str, ...]) -> Request:
        from enzyme_driver import request

        if not self.path.is_file():
            raise UsageError(f"{self.path} is no file", hint="give a CUDA or C++ file, or the folder of an artifact")
        options = self.options
        return request.new(
            self.path,
            names=[name] if name else [],
            targets=[place.target],
            archs=[place.arch],
            activity={**options.activity, **dict.fromkeys(constant, "const")},
            flags=options.flags,
            fast_math=options.fast_math,
            modes=self._modes(),
            inactive=options.inactive,
            derivatives=options.derivatives,
        )


def _with_primal(wanted: Request) -> Path:
    """Where the gradient is refused, the primal runs, and who asks for the gradient is told why there is none."""
    try:
        return _compiled(wanted)
    except RefusedError:
        return _compiled(replace(wanted, primal_suffices=True))


def _compiled(wanted: Request) -> Path:
    from enzyme_driver import cache
    from enzyme_driver.settings import Settings

    return cache.build(wanted, settings=Settings.from_environment())


def _entry(artifact: Artifact, name: str) -> Entry:
    if not name and len(artifact.entries) == 1:
        return artifact.entries[0]
    wanted = plain_name(name)
    ways = (plain_name, lambda each: each.partition("<")[0], bare_name)
    for way in ways if name else ():
        found = [entry for entry in artifact.entries if way(entry.signature.name) == wanted]
        if len(found) == 1:
            return found[0]
    names = ", ".join(entry.signature.name for entry in artifact.entries)
    what = f"{artifact.folder} has no single kernel or function {name!r}" if name else "which kernel is launched?"
    raise NameNotFoundError(what, hint=f"say launch(kernel=...) or kernel=; there are: {names}")
