"""Our passes before Enzyme: each entry becomes one function that it can read, and a call that asks for the gradient."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from enzyme_driver import pipelines
from enzyme_driver.errors import Location, RefusedError
from enzyme_driver.model import DataType, Language, Mode, Parameter
from enzyme_driver.stages.frontend import PrimalIR
from enzyme_driver.stages.plan import Derivatives, Plan
from enzyme_driver.stages.workspace import Workspace

REFUSAL = "adgen-refusal: "

_PLAIN_LOOPS = (
    "-vectorize-loops=false",
    "-vectorize-slp=false",
    "-unroll-runtime=false",
    "-unroll-allow-partial=false",
)
"""Loops stay as they were written, or become straight code where they are short: Enzyme reverses both well."""
_BRANCHES = ("-phi-node-folding-threshold=0", "-two-entry-phi-node-folding-threshold=0")
"""A choice between computations stays a branch, and the reverse sweep skips what was not done."""
_LOADS = "-enable-load-in-loop-pre=false"
"""An iteration loads again what the one before has loaded: else a register carries the cotangent back as well."""


@dataclass(frozen=True)
class ParameterUse:
    """Whether the primal may read and write what a parameter points to.

    `nullable` says that the primal asks whether the pointer is null.
    `added_to` is the position of the parameter to each element of which this one's is added, which is all it is for.
    `chosen` says behind which pointers threads choose by atomics what remains, as `floats` does.
    `moves_pointers` says that pointers may be stored in memory that it leads to.
    `beyond` says that structs behind the one that it points to are accessed.
    `unordered` says where threads store there in the order of their arrival, "line:file"; empty where none does;
    `queued` says so of integers, `orders` which parameters have another order where this one has.
    `floats` says behind which pointers floating point lies: -1 for the parameter itself, else a struct's offset.
    """

    reads: bool
    writes: bool
    nullable: bool = False
    added_to: int | None = None
    moves_pointers: bool = False
    beyond: bool = False
    chosen: tuple[int, ...] = ()
    unordered: str = ""
    queued: str = ""
    orders: tuple[int, ...] = ()
    floats: tuple[int, ...] = ()


@dataclass(frozen=True)
class PreparedModule:
    """The module that Enzyme gets. `usage` holds an ParameterUse for each parameter, by symbol.

    `refused` says why entries cannot be differentiated at all, `refused_forward` why they cannot in forward mode.

    `counted` says that every loop runs a number of times that is known before it starts. `fewest` says so too, but
    never in C++, where Enzyme's choice of the fewest values to keep was seen to be wrong also then (a hydrodynamics
    step).
    `split` says that bodies call functions (regions of threads, recursion), of which Enzyme makes a forward and a
    reverse sweep apart.
    """

    path: Path
    usage: Mapping[str, tuple[ParameterUse, ...]]
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
    chosen: Collection[str] = (),
    alone: bool = False,
) -> PreparedModule:
    """Make bodies of the plan's entries, or of these `alone`, and ask for derivatives of some of them.

    `user_rules` is what the user says of functions, see `Request`, `chosen` are the parameters whose activity was.
    Raises RefusedError where that does not fit.
    """
    if alone:
        plan = plan.only(entry.symbol for entry in wanted.entries)
    output = primal.path.with_suffix("").with_suffix(".prepared.ll")
    pipeline = pipelines.PREPARE_CUDA if primal.language == "cuda" else pipelines.PREPARE_CPP
    flags = (*_PLAIN_LOOPS, *_as_written(primal.language, workspace), *reflection(fast_math=fast_math))
    words, facts = _words(plan, wanted, user_rules), _facts(plan, wanted)
    done = workspace.opt(pipeline, primal.path, output, *flags, words=words, facts=facts)
    for symbol, reason in refusals(done.stderr).items():
        if not symbol:
            raise reason
    report = json.loads(done.stdout)
    counted = report["counted"]
    usage, rejected = _usage(report["usage"]), refusals(done.stderr, mode="forward")
    fewest = counted and primal.language == "cuda"
    refused = floats_in_bytes(plan, usage, chosen) | refusals(done.stderr)
    return PreparedModule(output, usage, refused, counted, fewest, report["split"], rejected)


def floats_in_bytes(
    plan: Plan, usage: Mapping[str, tuple[ParameterUse, ...]], chosen: Collection[str]
) -> dict[str, RefusedError]:
    """Entries, by symbol, that reach floating point through a pointer to anything else: nobody would get its
    derivative, and the shadow of a member would be the member itself.
    """
    found: dict[str, RefusedError] = {}
    for entry in plan.entries:
        for parameter, use in zip(entry.parameters, usage.get(entry.symbol, ()), strict=False):
            shadowless = _without_shadow(parameter)
            hidden = sorted(shadowless.keys() & set(use.floats))
            if hidden and parameter.name not in chosen:
                where = "there" if parameter.is_pointer else "behind such a member"
                what = shadowless[hidden[0]]
                found.setdefault(
                    entry.symbol,
                    RefusedError(
                        f"{entry.name} has floating point where {str(parameter)!r} points to {what}: no shadow of "
                        f"{what} can take its derivative",
                        hint="give it a type of floats, in a kernel of your own that calls this one if need be, or say "
                        f"{parameter.name}=const in activity if no derivative flows {where}",
                        location=Location(entry.file, entry.line),
                    ),
                )
    return found


def _without_shadow(parameter: Parameter) -> dict[int, str]:
    """Where the parameter points to what has no shadow, as `ParameterUse.floats` says it, and to what."""
    if parameter.is_pointer:
        kind = parameter.dtype
        return {} if kind.has_floats or kind.has_pointers or kind.kind == "opaque" else {-1: _plural(kind)}
    return dict(_members_without_shadow(parameter.dtype, 0))


def _members_without_shadow(dtype: DataType, begin: int) -> Iterator[tuple[int, str]]:
    for member in dtype.fields:
        for number in range(member.count):
            offset = begin + member.offset + number * member.type.size
            pointee = member.type.pointee
            if pointee is not None and not (pointee.has_floats or pointee.has_pointers):
                yield offset, _plural(pointee)
            yield from _members_without_shadow(member.type, offset)


def _plural(dtype: DataType) -> str:
    return "bytes" if dtype.size == 1 and dtype.kind in {"int", "uint"} else str(dtype)


def _as_written(language: Language, workspace: Workspace) -> tuple[str, ...]:
    branches = _BRANCHES if workspace.does("keep-branches") else ()
    return (*branches, _LOADS) if language == "c++" else ()


def prepare_second(
    gradient: Path,
    language: Language,
    wanted: Derivatives,
    workspace: Workspace,
    *,
    fast_math: bool,
    alone: bool = False,  # noqa: ARG001  (bodies are there already)
) -> PreparedModule:
    """Make bodies of the gradients in a module that Enzyme has written, and ask for tangents through some of them."""
    output = gradient.with_suffix("").with_suffix("").with_suffix(".second.prepared.ll")
    words = {"tangents": wanted.tangents.option}
    facts = exactness(fast_math=fast_math) | ({"cuda"} if language == "cuda" else set())
    flags = reflection(fast_math=fast_math)
    done = workspace.opt(pipelines.SECOND, gradient, output, *flags, words=words, facts=facts)
    return PreparedModule(
        output, {}, {}, counted=False, fewest=False, split=False, refused_forward=refusals(done.stderr)
    )


def exactness(*, fast_math: bool) -> frozenset[str]:
    """The fact by which Enzyme's liberties in arithmetic go, unless such were asked for."""
    return frozenset() if fast_math else frozenset({"exact"})


def reflection(*, fast_math: bool) -> tuple[str, ...]:
    """What libdevice asks of its compiler: correctly rounded square roots unless speed was asked for."""
    return () if fast_math else ("-nvvm-reflect-add=__CUDA_PREC_SQRT=1",)


def _words(plan: Plan, wanted: Derivatives, user_rules: str) -> dict[str, str]:
    """What the options of the passes say."""
    return {
        "user_rules": user_rules,
        "symbols": plan.symbols,
        "variables": plan.shadowed_variables,
        "plan": plan.option,
        "gradients": wanted.gradients.option,
        "tangents": wanted.tangents.option,
        "exported": _exported(plan, wanted),
    }


def _facts(plan: Plan, wanted: Derivatives) -> frozenset[str]:
    tangents = wanted.tangents.entries
    found = {"variables": plan.shadowed_variables, "tangents": tangents, "once": not (tangents or wanted.seconds)}
    return frozenset(name for name, holds in found.items() if holds)


def _exported(plan: Plan, wanted: Derivatives) -> str:
    """Only what adgen made is seen from outside; the user's functions are inlined there, and not compiled twice."""
    bodies = [f"preserve-gv=adgen_body_{entry.symbol}" for entry in plan.entries]
    gradients = [f"preserve-gv=adgen_gradient_{entry.symbol}" for entry in wanted.gradients.entries]
    tangents = [f"preserve-gv=adgen_tangent_{entry.symbol}" for entry in wanted.tangents.entries]
    return ";".join([*bodies, *gradients, *tangents])


def _usage(usage: Mapping[str, list[dict[str, Any]]]) -> dict[str, tuple[ParameterUse, ...]]:
    return {symbol: tuple(map(_use, items)) for symbol, items in usage.items()}


def _use(said: dict[str, Any]) -> ParameterUse:
    return ParameterUse(**said | {key: tuple(said.get(key, ())) for key in ("chosen", "floats", "orders")})


def refusals(stderr: str, mode: Mode | Literal["directions"] | None = None) -> dict[str, RefusedError]:
    """What the passes refused, by symbol: the first reason of each. With a mode, only what they refused in that one, or
    along several directions at once.
    """
    found: dict[str, RefusedError] = {}
    for line in stderr.splitlines():
        if line.startswith(REFUSAL):
            data = json.loads(line.removeprefix(REFUSAL))
            if data.get("mode") != mode:
                continue
            where = Location(data["file"], data["line"], data["column"]) if data["file"] else None
            found.setdefault(data["entry"], RefusedError(data["reason"], hint=data["hint"], location=where))
    return found
