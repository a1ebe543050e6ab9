"""Second derivatives: Enzyme carries tangents through the gradients that it has made."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from enzyme_driver import pipelines
from enzyme_driver.errors import RefusedError
from enzyme_driver.model import Language
from enzyme_driver.stages.differentiate import GradientIR, differentiate
from enzyme_driver.stages.plan import Plan
from enzyme_driver.stages.prepare import prepare_second
from enzyme_driver.stages.workspace import Workspace


def differentiate_twice(
    gradient: GradientIR, plan: Plan, language: Language, workspace: Workspace, *, fast_math: bool
) -> GradientIR:
    """The module with second derivatives beside the gradients; none of what has no gradient."""
    active = {entry.symbol: _active_variable() for entry in plan.entries if any(v.has_shadow for v in entry.variables)}
    refused = {**active, **gradient.refused}
    possible = plan.only(entry.symbol for entry in plan.entries if entry.symbol not in refused and entry.shadowed)
    preparing = partial(prepare_second, gradient.path, language, workspace=workspace, fast_math=fast_math)
    made = differentiate(possible.gradient, ("forward",), preparing, workspace)
    merged = gradient.path.with_suffix(".both.ll")
    workspace.opt(pipelines.MERGE_SECONDS, gradient.path, merged, words={"seconds": made.path})
    merged.replace(gradient.path)
    return replace(gradient, refused_second={**refused, **made.refused_forward})


def _active_variable() -> RefusedError:
    return RefusedError(
        "cannot take second derivatives where a variable of the device is active",
        hint="pass it as a parameter of the kernel",
    )
