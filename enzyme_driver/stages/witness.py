"""Numbers of another kind, carried through the primal as clang wrote it.

Dual numbers are the witness against which gradients are verified, sets of inputs find the pattern of a Jacobian.
Nothing of Enzyme and nothing of what prepares for it takes part: calls are inlined, local variables become values, and
a pass of our own (passes/Oracle/CarryDuals.cpp) does the rest.
"""

from __future__ import annotations

from enzyme_driver import pipelines
from enzyme_driver.errors import AdgenError, RefusedError
from enzyme_driver.request import Carried
from enzyme_driver.stages.differentiate import GradientIR
from enzyme_driver.stages.frontend import PrimalIR
from enzyme_driver.stages.plan import Plan, derivatives, with_resized
from enzyme_driver.stages.prepare import PreparedModule, reflection, refusals
from enzyme_driver.stages.workspace import Workspace

NOTES = "adgen_shadow_notes"
"""The variable in which the witness says what it met, see passes/Oracle/NumberType.h."""

LANE = "adgen_set_lane"
"""The variable that says how many inputs a set can hold, see passes/Oracle/InputSets.h."""


def carry(
    carried: Carried,
    primal: PrimalIR,
    plan: Plan,
    workspace: Workspace,
    *,
    fast_math: bool,
    user_rules: str,
    host: bool,
) -> GradientIR:
    """The module in which `adgen_tangent_SYMBOL` carries tangents, or sets. Raises RefusedError where it cannot.

    The primal beside tangents for the `host` alone tells the runtime of its accesses, which finds races.
    """
    if user_rules and carried != "duals":
        reason = "what functions depend on whose derivatives the user gives is not known"
        raise RefusedError(reason, hint="give the pattern of the Jacobian")
    if user_rules:
        reason = "derivatives that the user gives have no witness"
        raise RefusedError(reason, hint="check the gradient by finite differences")
    plan = with_resized(plan, lambda _entry, _number: True)  # whether it changes it or not
    forward = derivatives(plan, ("forward",)).tangents
    output = primal.path.with_suffix("").with_suffix(f".{carried}.ll")
    words = {
        "symbols": plan.symbols,
        "variables": plan.shadowed_variables,
        "tangents": forward.option,
        "exported": _exported(plan, forward),
        "sets": "global" if carried == "global-sets" else "local",
    }
    duals = carried == "duals"
    possible = (("duals", duals), ("sets", not duals), ("variables", plan.shadowed_variables), ("host", host and duals))
    facts = {fact for fact, holds in possible if holds}
    pipeline = pipelines.WITNESS_CUDA if primal.language == "cuda" else pipelines.WITNESS_CPP
    flags = reflection(fast_math=fast_math)
    done = workspace.opt(pipeline, primal.path, output, *flags, words=words, facts=facts)
    refused: dict[str, AdgenError] = {**refusals(done.stderr), **refusals(done.stderr, mode="forward")}
    without = RefusedError("a witness has no gradient", hint="compile the file itself")
    prepared = PreparedModule(output, {}, {}, counted=False, fewest=False, split=False)
    return GradientIR(output, prepared, {entry.symbol: without for entry in plan.entries}, refused)


def _exported(plan: Plan, forward: Plan) -> str:
    names = [f"adgen_body_{entry.symbol}" for entry in plan.entries]
    names += [f"adgen_tangent_{entry.symbol}" for entry in forward.entries]
    return ";".join(f"preserve-gv={name}" for name in (*names, NOTES, LANE))
