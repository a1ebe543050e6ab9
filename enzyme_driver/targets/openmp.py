"""The host: gradient IR becomes a shared library that runs blocks in parallel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from enzyme_driver import processor
from enzyme_driver.errors import AdgenError
from enzyme_driver.model import Language, TargetEntry
from enzyme_driver.stages.differentiate import GradientIR
from enzyme_driver.stages.plan import Plan
from enzyme_driver.stages.prepare import after_enzyme, cleaned, reflection, refusals, unless_disabled
from enzyme_driver.stages.refused import as_refusal
from enzyme_driver.stages.workspace import Workspace

TRIPLE = "x86_64-pc-linux-gnu"
DATA_LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
LIBOMP = "libomp.so.5"

_RETARGET = f"adgen-canonicalize-nvvm,adgen-retarget-host<{TRIPLE};{DATA_LAYOUT}>,"

_SPLIT = (
    "always-inline,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,gvn,simplifycfg,loop-simplify,lcssa),"
    "adgen-split-threads,"
)
"""Blocks become loops; what regions have in common shows once the function of a thread is in its simplest form."""

_THREAD_LOOPS = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa),"
_CLAMP = "adgen-clamp-loops,function(loop(indvars),loop-simplify,lcssa),"
"""Indices get 64 bits before anything moves what says that they do not wrap around."""

_PARTS = "function(simplifycfg,loop-simplify,lcssa),adgen-part-additions,"
"""What was a condition at the beginning of a row's loop is no block of its own any more."""

_WHOLE = (
    "cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(loop-rotate,licm),dse),"
)
"""What an entry is given, whose shadows overlap nothing, is told apart in the sweeps too; a loop is one block, and
does not compute what is the same in all iterations, nor write what it has just read."""

_VALUES = (
    "function(sccp,instcombine<no-verify-fixpoint>,correlated-propagation,simplifycfg,"
    "gvn,instcombine<no-verify-fixpoint>),"
)
"""Which cotangents are zero on which way, and what is computed twice, shows once what is in memory is values."""
_KEEP_RESULTS = "function(loop-simplify),adgen-keep-results,"

_AGAIN = "adgen-recompute-iterations,always-inline,function(sroa,early-cse,instsimplify,simplifycfg),"
"""Both sweeps of an iteration in one function: what is kept between them is values.

After `cleaned`, because the optimiser would believe what Enzyme wrongly says of memory."""


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


def finish(
    gradient: GradientIR, plan: Plan, language: Language, library: str, workspace: Workspace, *, fast_math: bool
) -> HostCode:
    """Compile and link the library. What has no counterpart on the host is refused, entry by entry.

    The code of threads is optimised by a process of its own: opt asks the processor that a module is for when it begins
    what is cheap there, and a kernel's module begins as the GPU's.
    """
    entered, ir = (gradient.path.with_suffix("").with_suffix(f".{end}.ll") for end in ("entries", "host"))
    device = language == "cuda"
    passes = (_from_device if device else _from_host)(workspace, fast_math=fast_math)
    done = workspace.opt(
        "host entries",
        f"{passes}always-inline,adgen-keep-memory,adgen-host-entries,globaldce,adgen-strip-debug",
        gradient.path,
        entered,
        *reflection(fast_math=fast_math),
    )
    loops = _threads(workspace) if device else _sweeps(workspace)
    workspace.opt("host code", f"{loops}default<O3>", entered, ir, f"-mcpu={processor.baseline()}")
    refused: dict[str, AdgenError] = dict(refusals(done.stderr))
    entries = _entries(plan, "__gradient", refused, gradient.refused)
    forward = _entries(plan.forward, "__tangent", refused, gradient.refused_forward)
    second = _entries(plan.gradient, "__second", refused, gradient.refused_second)
    output = _link(ir, workspace.file(library), workspace)
    return HostCode(ir, output, workspace.toolchain.libomp, entries, forward, second, refused)


def _threads(workspace: Workspace) -> str:
    split = unless_disabled("split-threads", _SPLIT, workspace)
    clamp = unless_disabled("clamp-loops", _CLAMP, workspace)
    sums = unless_disabled("sum-threads", "adgen-sum-threads,", workspace)
    parts = unless_disabled("part-additions", _PARTS, workspace)
    bits = processor.bits_of_vector_math()
    vectors = unless_disabled("vector-math", f"adgen-vector-math<{bits}>,", workspace) if bits else ""
    return f"{split}{_THREAD_LOOPS}{clamp}{sums}{parts}{vectors}"


def _sweeps(workspace: Workspace) -> str:
    kept = unless_disabled("recompute-kept", "adgen-recompute-kept,", workspace)
    skip = unless_disabled("skip-zeros", "adgen-skip-zeros,", workspace)
    keep = unless_disabled("keep-results", _KEEP_RESULTS, workspace)
    parts = unless_disabled("part-additions", f"{_WHOLE}{_PARTS}", workspace)
    return f"{_VALUES}{kept}{skip}{keep}{parts}"


def _from_device(workspace: Workspace, *, fast_math: bool) -> str:
    own = unless_disabled("host-rules", "adgen-host-rules,", workspace)
    return f"{after_enzyme(workspace, fast_math=fast_math, own=own)}{_RETARGET}"


def _from_host(workspace: Workspace, *, fast_math: bool) -> str:
    """The derivatives of mathematics are device code."""
    libdevice, rules = map(workspace.in_pipeline, (workspace.toolchain.libdevice, workspace.toolchain.rules))
    cleaning = cleaned(workspace, fast_math=fast_math)
    forget = unless_disabled("forget-results", "globaldce,adgen-forget-results,function(adce),", workspace)
    again = unless_disabled("recompute-iterations", _AGAIN, workspace)
    own = unless_disabled("own-memory", "adgen-own-memory,", workspace)
    sums = unless_disabled("sum-captured", "adgen-sum-captured,", workspace)
    teams = f"adgen-openmp-teams,adgen-link<{rules};{libdevice}>,"
    shown = "adgen-lower-overwrites,adgen-show-bits,adgen-fork-regions,"
    return f"{shown}{cleaning}{forget}{again}{own}{sums}{teams}{_RETARGET}"


def _link(ir: Path, library: Path, workspace: Workspace) -> Path:
    compiled = ir.with_suffix(".o")
    workspace.emit(ir, compiled, processor.baseline())
    tools = workspace.toolchain
    argv: list[str | Path] = [
        *(tools.clang.prefix / "bin" / "clang++", "-shared", compiled, tools.host_runtime, "-o", library),
        *(tools.libomp, "-lm", "-Wl,-rpath,$ORIGIN", "-Wl,--no-undefined"),
    ]
    workspace.must("link", argv)
    return library


def _entries(
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
