"""ptxas: PTX becomes a cubin. What one kernel has too much of is left out of it, and does not take the others along."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from enzyme_driver.command import Completed
from enzyme_driver.errors import AdgenError, CompilerCrashError, RefusedError
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets.registers import KERNEL, without

_TOO_MUCH = re.compile(r"error\s*: (?P<text>Entry function '(?P<name>\w+)' uses too much shared data.*)")
_AT_LINE = re.compile(r"line (?P<line>\d+); error\s*: (?P<text>.*)")
_PARTS = dict.fromkeys(("__gradient", "__gradient_lent", "__tape", "__gradient__batch"), "gradient") | {
    "__tangent": "tangent",
    "__second": "second",
}
"""What kernels are for, by the ends of their names."""
_OF = {part: tuple(end for end, of in _PARTS.items() if of == part) for part in _PARTS.values()}


@dataclass
class Failures:
    """Why ptxas does not take kernels, by symbol."""

    primal: dict[str, AdgenError] = field(default_factory=dict)
    gradient: dict[str, AdgenError] = field(default_factory=dict)
    tangent: dict[str, AdgenError] = field(default_factory=dict)
    second: dict[str, AdgenError] = field(default_factory=dict)

    def add(self, kernel: str, why: AdgenError) -> tuple[str, ...]:
        """Note the failure of a kernel; the names of all that go with it."""
        for end, part in sorted(_PARTS.items(), key=lambda each: -len(each[0])):
            if kernel.endswith(end):
                symbol = kernel.removesuffix(end)
                getattr(self, part)[symbol] = why
                return tuple(symbol + each for each in _OF[part])
        for of in (self.primal, self.gradient, self.tangent, self.second):
            of[kernel] = why
        return (kernel, *(kernel + end for end in _PARTS))

    @property
    def symbols(self) -> frozenset[str]:
        return frozenset({*self.primal, *self.gradient, *self.tangent, *self.second})


def assemble_all(ptx: Path, cubin: Path, arch: str, workspace: Workspace) -> tuple[str, Failures]:
    """What ptxas says of registers, and which kernels it does not take; those are no more in the PTX."""
    failures = Failures()
    while not (done := _ptxas(ptx, cubin, arch, workspace)).ok:
        text = ptx.read_text("utf-8")
        found = _found(done, text, workspace)
        gone = {name for kernel, why in found.items() for name in failures.add(kernel, why)}
        if not gone & {each["name"] for each in KERNEL.finditer(text)}:
            raise _crash(done, workspace)
        ptx.write_text(without(text, gone), encoding="utf-8")
    return done.stderr, failures


def assemble(ptx: Path, cubin: Path, arch: str, workspace: Workspace) -> str:
    """What ptxas says of registers, where it takes all kernels."""
    done = _ptxas(ptx, cubin, arch, workspace)
    if not done.ok:
        raise next(iter(_found(done, ptx.read_text("utf-8"), workspace).values()), _crash(done, workspace))
    return done.stderr


def _ptxas(ptx: Path, cubin: Path, arch: str, workspace: Workspace) -> Completed:
    flags = (f"-arch={arch}", "-O3", "-v", "--split-compile=0")
    return workspace.execute("ptxas", [workspace.toolchain.ptxas.path, *flags, ptx, "-o", cubin])


def _found(done: Completed, ptx: str, workspace: Workspace) -> Mapping[str, AdgenError]:
    """The kernels that ptxas names, or in whose lines it finds an error, and why."""
    log = workspace.keep("ptxas", done)
    found: dict[str, AdgenError] = {}
    for said in _TOO_MUCH.finditer(done.stderr):
        what = "a derivative" if said["name"].endswith(tuple(_PARTS)) else "the kernel"
        found[said["name"]] = RefusedError(
            f"{what} needs more static shared memory than a block may have: ptxas: {said['text']}",
            hint="use dynamic shared memory (extern __shared__), whose limit is larger, or smaller tiles",
            log=log,
        )
    lines = [(int(said["line"]), said["text"]) for said in _AT_LINE.finditer(done.stderr)]
    for name, first, last in _places(ptx) if lines else ():
        texts = [text for line, text in lines if first <= line <= last]
        if texts:
            hint = "if assembly in the file is wrong, correct it; else please report this with the file"
            found[name] = CompilerCrashError(f"ptxas does not take {name}: {texts[0]}", hint=hint, log=log)
    return found


def _places(ptx: str) -> Iterator[tuple[str, int, int]]:
    """The lines of each kernel."""
    for kernel in KERNEL.finditer(ptx):
        yield kernel["name"], ptx.count("\n", 0, kernel.start()) + 1, ptx.count("\n", 0, kernel.end()) + 1


def _crash(done: Completed, workspace: Workspace) -> CompilerCrashError:
    text = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr).strip()
    return CompilerCrashError(
        f"ptxas failed: {text}",
        hint="this is a defect of adgen or of a tool; please report it with the file and the full output",
        log=workspace.keep("ptxas", done),
    )
