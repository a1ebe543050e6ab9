"""The host: gradient IR becomes a shared library that runs blocks in parallel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from enzyme_driver import pipelines, processor
from enzyme_driver.command import Completed
from enzyme_driver.errors import AdgenError, Location, RefusedError
from enzyme_driver.model import Language, TargetEntry
from enzyme_driver.pipelines import Pipeline
from enzyme_driver.stages.differentiate import GradientIR
from enzyme_driver.stages.plan import Plan
from enzyme_driver.stages.prepare import exactness, reflection, refusals
from enzyme_driver.stages.refused import as_refusal
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets import emission

LIBOMP = "libomp.so.5"

DIRECTIONS = 16
"""How many directions are carried at once in C++: what is done once for all of them weighs little then, and the
doubles of a sum still fit into registers of AVX2.
"""

IN_ORDER = "-force-ordered-reductions"
"""Of sums, the numbers are computed several at once and then added in the order of the source."""

_PIPELINES: Mapping[Language, tuple[Pipeline, Pipeline]] = {
    "cuda": (pipelines.HOST_FROM_CUDA, pipelines.THREADS),
    "c++": (pipelines.HOST_FROM_CPP, pipelines.SWEEPS),
}
"""What makes functions of the host, and what optimises them."""

_MISSING = re.compile(r"undefined (?:symbol:|reference to) `?([^\n']+)")
"""As lld and ld say it."""


@dataclass(frozen=True)
class HostCode:
    """The host library and what the runtime must know of it, by symbol; `forward` is for forward mode,
    `second` for second derivatives.
    """

    ir: Path
    library: Path
    libomp: Path
    entries: dict[str, TargetEntry]
    forward: dict[str, TargetEntry]
    second: dict[str, TargetEntry]
    refused: dict[str, AdgenError]


def host_words() -> dict[str, str]:
    """What `adgen-retarget-host` is told of this machine."""
    here = processor.machine()
    return {"triple": here.triple, "layout": here.layout}


def mcpu() -> str:
    """What opt is told of it."""
    return f"-mcpu={processor.for_llvm(processor.baseline())}"


def finish(
    gradient: GradientIR, plan: Plan, language: Language, library: str, workspace: Workspace, *, fast_math: bool
) -> HostCode:
    """Compile and link the library. What has no counterpart on the host is refused, entry by entry."""
    entered, ir = (gradient.path.with_suffix("").with_suffix(f".{end}.ll") for end in ("entries", "host"))
    host, loops = _PIPELINES[language]
    done = workspace.opt(
        host,
        gradient.path,
        entered,
        *reflection(fast_math=fast_math),
        words=host_words() | {"directions": str(DIRECTIONS)},
        facts=exactness(fast_math=fast_math) | {"host"},
    )
    bits = processor.bits_of_vector_math()
    facts = ({"vector math"} if bits else set()) | ({"fused"} if processor.fuses() else set())
    flags = (mcpu(), IN_ORDER) if language == "c++" else (mcpu(),)
    workspace.opt(loops, entered, ir, *flags, words={"vector_bits": str(bits)}, facts=facts)
    refused: dict[str, AdgenError] = dict(refusals(done.stderr))
    alone = refusals(done.stderr, mode="directions")
    entries = target_entries(plan, "__gradient", refused, gradient.refused)
    forward = {
        symbol: replace(made, batch=f"{symbol}__directions", directions=DIRECTIONS)
        if language == "c++" and made.gradient and symbol not in alone
        else made
        for symbol, made in target_entries(plan.forward, "__tangent", refused, gradient.refused_forward).items()
    }
    second = target_entries(plan.gradient, "__second", refused, gradient.refused_second)
    output = link(ir, workspace.file(library), plan, workspace)
    return HostCode(ir, output, workspace.toolchain.libomp, entries, forward, second, refused)


def link(ir: Path, library: Path, plan: Plan, workspace: Workspace) -> Path:
    compiled = ir.with_suffix(".o")
    emission.to_host(ir, compiled, processor.for_llvm(processor.baseline()), workspace)
    tools = workspace.toolchain
    argv: list[str | Path] = [tools.clang.prefix / "bin" / "clang++", *tools.link_flags]
    argv += ["-shared", compiled, tools.host_runtime, "-o", library]
    argv += [tools.libomp, "-lm", "-Wl,-rpath,$ORIGIN", "-Wl,--no-undefined"]
    done = workspace.execute("link", argv)
    if missing := _MISSING.search(done.stderr):
        raise _incomplete(missing.group(1), done, plan, workspace.keep("link", done))
    workspace.succeeded("link", done)
    return library


def _incomplete(called: str, done: Completed, plan: Plan, log: Path | None) -> RefusedError:
    """Of functions of C only the linker knows whether a library has them."""
    callers = [entry for entry in plan.entries if f"({entry.symbol}__" in done.stderr]
    names = ", ".join(entry.name for entry in callers) or "the file"
    return RefusedError(
        f"{names} calls {called}, which is defined nowhere",
        hint="put the function's body into the file, include the file that has it, or select other functions by name",
        location=Location(callers[0].file, callers[0].line) if callers else None,
        log=log,
    )


def target_entries(
    plan: Plan, suffix: str, refused: Mapping[str, AdgenError], undifferentiated: Mapping[str, AdgenError]
) -> dict[str, TargetEntry]:
    made = {}
    for entry in plan.entries:
        symbol = entry.symbol
        here = refused.get(symbol)
        missing = here or undifferentiated.get(symbol)
        has_gradient = missing is None and bool(entry.shadowed)
        made[symbol] = TargetEntry(
            primal=None if here else f"{symbol}__primal",
            gradient=f"{symbol}{suffix}" if has_gradient else None,
            primal_refused=as_refusal(here, entry) if here else None,
            gradient_refused=None if has_gradient else as_refusal(missing, entry),
        )
    return made
