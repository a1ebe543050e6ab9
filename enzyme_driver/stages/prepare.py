"""Our passes before Enzyme: each entry becomes one function that it can read, and a call that asks for the gradient."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from enzyme_driver.errors import Location, RefusedError
from enzyme_driver.model import Language, Mode
from enzyme_driver.optimisations import OPTIMISATIONS
from enzyme_driver.stages.frontend import PrimalIR
from enzyme_driver.stages.plan import Derivatives, Plan
from enzyme_driver.stages.workspace import Workspace

REFUSAL = "adgen-refusal: "

_OPTIMISE = "default<O2>"
_INLINE = "always-inline,globaldce,function(sroa),adgen-split-locals,function(early-cse,simplifycfg)"
_RESOLVE = f"adgen-resolve-calls,{_INLINE}"
"""Twice: which function a pointer holds may only show once another call is resolved."""
_EXITS = "function(lower-switch,fix-irreducible),adgen-floor-counts,adgen-unify-exits,adgen-nest-joins"
_PLAIN_LOOPS = (
    "-vectorize-loops=false",
    "-vectorize-slp=false",
    "-unroll-runtime=false",
    "-unroll-allow-partial=false",
)
"""Loops stay as they were written, or become straight code where they are short: Enzyme reverses both well."""
_BRANCHES = "-phi-node-folding-threshold=0 -two-entry-phi-node-folding-threshold=0"
"""A choice between computations stays a branch, and the reverse sweep skips what was not done."""
_LOADS = "-enable-load-in-loop-pre=false"
"""An iteration loads again what the one before has loaded: else a register carries the cotangent back as well."""


@dataclass(frozen=True)
class Access:
    """Whether the primal may read and write what a parameter points to.

    `added_to` is the position of the parameter to each element of which this one's is added, which is all it is for.
    """

    reads: bool
    writes: bool
    added_to: int | None = None


@dataclass(frozen=True)
class Prepared:
    """The module that Enzyme gets. `usage` holds an Access for each parameter, by symbol.

    `refused` says why entries cannot be differentiated at all, `refused_forward` why they cannot in forward mode.

    `counted` says that every loop runs a number of times that is known before it starts. `fewest` says so too, but
    never in C++, where Enzyme's choice of the fewest values to keep was seen to be wrong also then (a hydrodynamics
    step).
    `split` says that bodies call functions (regions of threads, recursion), of which Enzyme makes a forward and a
    reverse sweep apart.
    """

    path: Path
    usage: Mapping[str, tuple[Access, ...]]
    refused: Mapping[str, RefusedError]
    counted: bool
    fewest: bool
    split: bool
    refused_forward: Mapping[str, RefusedError] = field(default_factory=dict)


def prepare(
    primal: PrimalIR,
    plan: Plan,
    wanted: Derivatives,
    workspace: Workspace,
    *,
    fast_math: bool,
    user_rules: str = "",
) -> Prepared:
    """Make bodies of the plan's entries, and ask for derivatives of some of them.

    `user_rules` is what the user says of functions, see `Request`. Raises RefusedError where that does not fit.
    """
    output = primal.path.with_suffix("").with_suffix(".prepared.ll")
    passes = _device_passes if primal.language == "cuda" else _host_passes
    pipeline = f"adgen-user-rules<{user_rules}>,{passes(plan, wanted, workspace)}"
    flags = (*_PLAIN_LOOPS, *_as_written(primal.language, workspace), *reflection(fast_math=fast_math))
    done = workspace.opt("prepare", pipeline, primal.path, output, *flags)
    for symbol, reason in refusals(done.stderr).items():
        if not symbol:
            raise reason
    report = json.loads(done.stdout)
    counted = report["counted"]
    usage, rejected = _usage(report["usage"]), refusals(done.stderr, mode="forward")
    fewest = counted and primal.language == "cuda"
    return Prepared(output, usage, refusals(done.stderr), counted, fewest, report["split"], rejected)


def _as_written(language: Language, workspace: Workspace) -> tuple[str, ...]:
    return (*unless_disabled("keep-branches", _BRANCHES, workspace).split(), _LOADS) if language == "c++" else ()


def prepare_second(
    gradient: Path, language: Language, wanted: Derivatives, workspace: Workspace, *, fast_math: bool
) -> Prepared:
    """Make bodies of the gradients in a module that Enzyme has written, and ask for tangents through some of them."""
    output = gradient.with_suffix("").with_suffix("").with_suffix(".second.prepared.ll")
    rules, libdevice = map(workspace.in_pipeline, (workspace.toolchain.rules, workspace.toolchain.libdevice))
    linked = f"adgen-link<{libdevice}>,adgen-mark-math,nvvm-reflect,adgen-canonicalize-nvvm"
    passes = (
        f"{cleaned(workspace, fast_math=fast_math)}adgen-adopt-gradients<{rules}>,always-inline,globaldce,"
        f"adgen-split-math,{linked if language == 'cuda' else 'adgen-mark-math'},always-inline,"
        f"adgen-tangents<{wanted.tangents.option}>,"
        "function(sroa,early-cse,simplifycfg),adgen-expand-constants,adgen-forward-rules"
    )
    done = workspace.opt("second derivatives", passes, gradient, output, *reflection(fast_math=fast_math))
    return Prepared(output, {}, {}, counted=False, fewest=False, split=False, refused_forward=refusals(done.stderr))


def cleaned(workspace: Workspace, *, fast_math: bool) -> str:
    """What comes first after Enzyme, also for C++: its traces go, and its liberties in arithmetic unless asked for."""
    caches = unless_disabled("keep-once", "adgen-keep-once,", workspace)
    exact = "" if fast_math else "adgen-exact-flags,"
    unchanged = unless_disabled("mark-unchanged", "adgen-mark-unchanged<adgen_gradient_>,", workspace)
    added = "adgen-expand-copy-adjoints,adgen-add-atomically"
    return f"{added},{caches}adgen-forget-guards,adgen-loosen-alignments,{exact}{unchanged}"


_ACCUMULATIONS = {
    "zero-last": "adgen-zero-last,",
    "merge-accumulations": "adgen-merge-accumulations,",
    "own-accumulations": "adgen-own-accumulations,",
}


def unless_disabled(name: str, passes: str, workspace: Workspace) -> str:
    """The passes that make an optimisation of OPTIMISATIONS, unless it is to be left out."""
    if name not in OPTIMISATIONS:
        raise KeyError(name)
    return "" if name in workspace.settings.disable else passes


def after_enzyme(workspace: Workspace, *, fast_math: bool, own: str = "", tape: str = "", reduction: str = "") -> str:
    """What both targets do first: names become libdevice's again, and one function holds each gradient.

    `own` is what chooses the target's own rules, `tape` what moves the values kept for the reverse sweep, on a target
    that has a place for them, `reduction` what adds up before accumulating, on a target whose threads can.
    """
    libdevice, rules = map(workspace.in_pipeline, (workspace.toolchain.libdevice, workspace.toolchain.rules))
    fused = unless_disabled("fuse-sweeps", "adgen-fuse-sweeps,", workspace)
    accumulations = "".join(unless_disabled(name, passes, workspace) for name, passes in _ACCUMULATIONS.items())
    return (
        f"{cleaned(workspace, fast_math=fast_math)}adgen-restore-math,{own}adgen-link<{rules};{libdevice}>,"
        f"nvvm-reflect,adgen-keep-math,adgen-lower-cooperation,always-inline,{fused}{tape}"
        f"function(simplifycfg,early-cse<memssa>,loop-simplify),{accumulations}{reduction}adgen-inline-math,"
    )


def reflection(*, fast_math: bool) -> tuple[str, ...]:
    """What libdevice asks of its compiler: correctly rounded square roots unless speed was asked for."""
    return () if fast_math else ("-nvvm-reflect-add=__CUDA_PREC_SQRT=1",)


def _device_passes(plan: Plan, wanted: Derivatives, workspace: Workspace) -> str:
    libdevice = workspace.in_pipeline(workspace.toolchain.libdevice)
    variables = plan.shadowed_variables
    constants = unless_disabled("shared-constants", f"adgen-shared-constants<{plan.option}>,", workspace)
    count = unless_disabled("count-halvings", "function(loop-simplify),adgen-count-halvings,function(adce),", workspace)
    segments = unless_disabled("segment-recurrences", "adgen-segment-recurrences,", workspace)
    hold = unless_disabled("hold-joins", "adgen-hold-joins,", workspace)
    reload_shared = unless_disabled("reload-shared", "adgen-reload-shared,", workspace)
    unchanged = _unchanged(workspace)
    return ",".join(
        (
            f"adgen-select<{plan.symbols}>,adgen-translate-assembly",
            f"adgen-split-math,adgen-link<{libdevice}>,adgen-mark-math",
            f"nvvm-reflect,adgen-canonicalize-nvvm,{_INLINE},{_RESOLVE},{_RESOLVE},adgen-recognise-sums",
            *((f"adgen-shadow-variables<{variables}>",) if variables else ()),
            f"adgen-bodies<{plan.symbols}>,adgen-copy-at-once<adgen_body_>",
            f"{constants}adgen-replace-cooperation<{plan.option}>",
            "adgen-refuse",
            _asked(wanted),
            f"strip-nonlinetable-debuginfo,adgen-keep-loops,{_OPTIMISE}",
            f"{count}{segments}{_EXITS},adgen-type-copies,adgen-follow-bits,{reload_shared}adgen-see-overwrites,adgen-separate-loads,{hold}function(sroa),adgen-define-values,adgen-separate-carried,adgen-pin-rules",
            f"adgen-expand-constants,adgen-copy-adjoints,adgen-discard-outputs,{unchanged}adgen-usage,adgen-guard-choices",
            *(("adgen-forward-rules",) if wanted.tangents.entries else ()),
        )
    )


_UNROLL = (
    "function(loop-simplify,lcssa),adgen-unroll-locals,function(loop(loop-rotate,loop-unroll-full),"
    "sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,sroa,gvn,instcombine<no-verify-fixpoint>,simplifycfg),"
)


def _host_passes(plan: Plan, wanted: Derivatives, workspace: Workspace) -> str:
    unroll = unless_disabled("unroll-locals", _UNROLL, workspace)
    outline = unless_disabled(
        "recompute-iterations", "function(loop-simplify,lcssa),adgen-outline-iterations,", workspace
    )
    restore = unless_disabled("restore-overwritten", "adgen-restore-overwritten,", workspace)
    own = unless_disabled("own-memory", "adgen-own-memory,function(loop-mssa(licm)),", workspace)
    together = unless_disabled("ask-together", "adgen-ask-together,", workspace)
    extremes = unless_disabled("hold-extremes", "adgen-hold-extremes,", workspace)
    sums = unless_disabled("hold-sums", "adgen-hold-sums,", workspace)
    index = unless_disabled("index-pointers", "function(loop-simplify),adgen-index-pointers,", workspace)
    constants = unless_disabled("mark-constants", "adgen-mark-constants,", workspace)
    return ",".join(
        (
            f"adgen-silence-streams,adgen-split-math,adgen-recognise-sums,adgen-bodies<{plan.symbols}>",
            "adgen-openmp-regions,adgen-openmp-schedules,adgen-rewrite-openmp",
            "adgen-refuse,adgen-store-results",
            _asked(wanted),
            f"internalize<{_kept(plan, wanted)}>",
            f"strip-nonlinetable-debuginfo,adgen-keep-loops,{_OPTIMISE}",
            f"{unroll}adgen-forget-methods,globaldce,adgen-shadow-statics,{index}adgen-capture-values,adgen-hand-over,function(sroa),adgen-hand-over,{constants}{outline}{restore}{own}{_EXITS},{together}adgen-type-copies,adgen-follow-bits,adgen-hint-types,adgen-see-overwrites,adgen-separate-loads,{extremes}function(sroa),adgen-define-values,adgen-separate-carried,adgen-use-results,adgen-pin-rules",
            f"adgen-copy-adjoints,adgen-discard-outputs,{_unchanged(workspace)}{sums}adgen-usage,adgen-guard-choices",
            *(("adgen-call-regions,adgen-forward-rules",) if wanted.tangents.entries else ()),
        )
    )


def _unchanged(workspace: Workspace) -> str:
    return unless_disabled("mark-unchanged", "adgen-mark-unchanged<adgen_body_>,", workspace)


def _asked(wanted: Derivatives) -> str:
    tangents = f",adgen-tangents<{wanted.tangents.option}>" if wanted.tangents.entries else ""
    return f"adgen-gradients<{wanted.gradients.option}>{tangents}"


def _kept(plan: Plan, wanted: Derivatives) -> str:
    """Only what adgen made is seen from outside; the user's functions are inlined there, and not compiled twice."""
    bodies = [f"preserve-gv=adgen_body_{entry.symbol}" for entry in plan.entries]
    gradients = [f"preserve-gv=adgen_gradient_{entry.symbol}" for entry in wanted.gradients.entries]
    tangents = [f"preserve-gv=adgen_tangent_{entry.symbol}" for entry in wanted.tangents.entries]
    return ";".join([*bodies, *gradients, *tangents])


def _usage(usage: Mapping[str, list[dict[str, Any]]]) -> dict[str, tuple[Access, ...]]:
    return {symbol: tuple(Access(**item) for item in items) for symbol, items in usage.items()}


def refusals(stderr: str, mode: Mode | None = None) -> dict[str, RefusedError]:
    """What the passes refused, by symbol: the first reason of each. With a mode, only what they refused in that one."""
    found: dict[str, RefusedError] = {}
    for line in stderr.splitlines():
        if line.startswith(REFUSAL):
            data = json.loads(line.removeprefix(REFUSAL))
            if data.get("mode") != mode:
                continue
            where = Location(data["file"], data["line"], data["column"]) if data["file"] else None
            found.setdefault(data["entry"], RefusedError(data["reason"], hint=data["hint"], location=where))
    return found
