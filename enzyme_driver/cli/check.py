"""`adgen check`: the gradient against dual numbers and finite differences."""

from __future__ import annotations

import math
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from enzyme_driver.cli import options, output
from enzyme_driver.cli.arguments import FORMS, example, parse, with_members
from enzyme_driver.cli.subject import open_subject
from enzyme_driver.errors import ArgumentError, CheckFailedError, UsageError
from enzyme_driver.model import RESULT, Target
from enzyme_driver.runtime.backends import driver

if TYPE_CHECKING:
    from enzyme_driver.artifact import Artifact
    from enzyme_driver.runtime.call.geometry import Launch
    from enzyme_driver.runtime.function import Function
    from enzyme_driver.runtime.kernel import Kernel
    from enzyme_driver.runtime.module import Module
    from enzyme_driver.runtime.transforms.check import CheckResult


@click.command("check", help=f"""Compare a gradient with finite differences, along one random direction a parameter.

The kernel or function NAME of an artifact, or of a file, is called with the arguments that --arg gives, after the
__constant__ and __device__ variables that it names were set: on the host, on the GPU where there is one, and the
gradients of both are compared. Which arrays are inputs and outputs is known from the code. A file is compiled a second
time, into dual numbers that are carried through it without Enzyme; where these agree with the gradient and differences
do not, the arguments lie where the code is not smooth. Races between threads are looked for
on the host. The exit code is 0 if all is right.

{FORMS}""")  # fmt: skip
@click.argument("what", metavar="ARTIFACT|FILE")
@options.build
@options.checked
@options.common
@click.pass_context
def command(context: click.Context, /, what: str, *, as_json: bool, **values: Any) -> None:  # noqa: ANN401
    arguments = parse(values["arguments"], values["seed"])
    asked: tuple[Target, ...] = values["targets"]
    missing = "" if asked else driver.why_there_is_no_gpu()
    made = open_subject(what, {**values, "targets": ("openmp",) if missing else asked})
    entries, unchecked = _entries(made, values["names"], asked, missing)
    _find_witnesses(what, entries, values)
    results = _results(entries, arguments, values)
    passed = all(result.passed for result in results.values())
    name = entries[0].name
    if as_json:
        listed = [{"target": t, "passed": result.passed, **asdict(result)} for t, result in results.items()]
        output.print_json({"name": name, "passed": passed, "checks": listed, "unchecked": unchecked})
        context.exit(0 if passed else CheckFailedError.exit_code)
    for entry in entries:
        _show(entry, results[entry.target])
        output.console().print(_said(results[entry.target]))
    for target, why in unchecked.items():
        output.console().print(f"not checked on {target}: {why}")
    for entry in entries:
        results[entry.target].raised(entry, "adgen bisect with the same options")


def _said(result: CheckResult) -> str:
    """What dual numbers say, and whether differences say the same."""
    verdict = result.dual_numbers
    if verdict is None:
        return "not compared with dual numbers: an artifact has no source; give the file"
    if verdict.state == "unchecked":
        return f"not compared with dual numbers: {verdict.reason}"
    if verdict.state == "race":
        return "the kernel has a race"
    found = f"error {verdict.error:.1e}, tolerance {verdict.tolerance:.1e}"
    if verdict.state == "wrong":
        others = "though finite differences do not show it" if result.agrees else "and with finite differences"
        return f"the gradient disagrees with dual numbers ({found}), {others}"
    if result.agrees:
        return f"dual numbers agree ({found})"
    return (
        f"dual numbers agree with the gradient ({found}), finite differences disagree with both: the code is not "
        "smooth at these arguments, or the steps are too large for it"
    )


def _entries(
    made: Artifact, names: tuple[str, ...], asked: tuple[Target, ...], missing: str
) -> tuple[list[Kernel | Function], dict[Target, str]]:
    """What is to be checked, on each target that can be, and why it is not on the others."""
    from enzyme_driver.runtime.callables import derivative_of
    from enzyme_driver.runtime.kernel import Kernel
    from enzyme_driver.runtime.module import open_module

    wanted = asked or made.targets
    possible = [target for target in made.targets if target in wanted and not (missing and target == "cuda")]
    entries = [_entry(open_module(made, target), names) for target in possible or wanted]
    refused: dict[Target, str] = {entry.target: entry.gradient_refusal for entry in entries if entry.gradient_refusal}
    absent: dict[Target, str] = {"cuda": missing} if missing and isinstance(entries[0], Kernel) else {}
    able = [entry for entry in entries if entry.target not in refused]
    if not able:  # says why before it asks for arguments
        entry = next(each for each in made.entries if each.signature.name == entries[0].name)
        derivative_of(entry, entries[0].target, "reverse")
    return able, absent | refused


def _entry(module: Module, names: tuple[str, ...]) -> Kernel | Function:
    entries = list(module)
    if not names and len(entries) != 1:
        known = ", ".join(entry.signature.name for entry in entries)
        raise UsageError("which kernel or function is to be checked?", hint=f"give -k with one of {known}")
    return module[names[0]] if names else entries[0]


def _results(
    entries: list[Kernel | Function], given: dict[str, object], values: dict[str, Any]
) -> dict[Target, CheckResult]:
    """By target; the first is compared with the other."""
    from enzyme_driver.runtime.function import Function
    from enzyme_driver.runtime.kernel import Kernel
    from enzyme_driver.runtime.transforms.check import check_function, check_kernel, with_dual_numbers

    first = entries[0]
    bound = _in_order(first, given)
    options_of_check = {"seed": values["seed"], "tolerance": values["tolerance"]}
    launch = _launch(first, values)
    if isinstance(first, Function):
        found = check_function(first, tuple(bound), **options_of_check)
        return {first.target: with_dual_numbers(found, first, tuple(bound), None)}
    if launch is None:
        raise TypeError(launch)
    _set_variables(first, given)
    kernels = [entry for entry in entries if isinstance(entry, Kernel)]
    results: dict[Target, CheckResult] = {}
    for kernel, other in zip(kernels, [*kernels[1:2], None], strict=False):
        arguments = _on(kernel, bound)
        found = check_kernel(kernel, arguments, launch, against=other, **options_of_check)
        results[kernel.target] = with_dual_numbers(found, kernel, arguments, launch)
    return results


def _launch(entry: Kernel | Function, values: dict[str, Any]) -> Launch | None:
    """As the options say; None for a function."""
    from enzyme_driver.runtime.call.geometry import launch_of
    from enzyme_driver.runtime.function import Function

    sizes = [_extent(option, values[option]) for option in ("grid", "block") if values[option]]
    if isinstance(entry, Function):
        if sizes:
            raise UsageError(f"{entry.name} is a function, it is not launched", hint="leave --grid and --block out")
        return None
    if len(sizes) != 2:  # noqa: PLR2004  (grid and block)
        raise UsageError(f"{entry.name} is a kernel, it needs a launch", hint="give --grid and --block")
    return launch_of((*sizes, None, values["shared_bytes"]), entry.signature)


def _find_witnesses(what: str, entries: list[Kernel | Function], values: dict[str, Any]) -> None:
    """Dual numbers need the source."""
    from enzyme_driver.verification import witness_of

    if Path(what).is_file():
        request, settings = options.make_request(what, values), options.make_settings(values)
        for entry in entries:
            entry.witness = partial(witness_of, entry, request, settings, use_cache=not values["no_cache"])


def _on(kernel: Kernel, values: list[object]) -> tuple[object, ...]:
    from enzyme_driver.runtime.transforms.cross_target import placed

    return tuple(placed(value, "openmp", kernel.target) for value in values)


def _in_order(entry: Kernel | Function, given: dict[str, object]) -> list[object]:
    from enzyme_driver.runtime.call.results import memory_for

    names, variables = entry.signature.names, [variable.name for variable in entry.signature.variables]
    names = tuple(name for name in names if name != RESULT)
    given = with_members(given, names)
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in (*names, *variables)]
    if missing or unknown:
        wrong = [*(f"{name} is missing" for name in missing), *(f"{name} is unknown" for name in unknown)]
        examples = " ".join(f"--arg {example(each)}" for each in entry.signature if each.name in missing)
        hint = f"give one --arg NAME=VALUE a parameter, such as {examples}" if missing else f"it has {', '.join(names)}"
        raise ArgumentError(f"the arguments do not fit {entry.signature}: {', '.join(wrong)}", hint=hint)
    result = entry.signature.result
    return [*(given[name] for name in names), *([memory_for(result)] if result else [])]


def _set_variables(entry: Kernel, given: dict[str, object]) -> None:
    for name in entry.variables:
        if name in given:
            entry.variables[name] = given[name]


def _extent(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise UsageError(f"--{option} {text} is not a size", hint=f"write --{option} 4 or --{option} 4,2,1") from None


def _show(entry: Kernel | Function, result: CheckResult) -> None:
    from rich.table import Table

    compared = result.parameters[0].across is not None
    table = Table(title=f"{entry.signature} on {entry.target}", title_justify="left", title_style="bold")
    for column in ("parameter", "gradient", "finite differences", *(["other target"] if compared else []), "verdict"):
        table.add_column(column)
    for found in result.parameters:
        across = [f"{found.across:.1e}"] if found.across is not None else []
        said = "right" if found.error <= result.tolerance else "wrong" if math.isfinite(found.difference) else "unknown"
        table.add_row(
            found.name, f"{found.gradient:.9g}", f"{found.difference:.9g}", *across, f"{said} ({found.error:.1e})"
        )
    console = output.console()
    console.print(table)
    if result.passed:
        console.print(f"the gradient is right (largest error {result.error:.1e}, tolerance {result.tolerance:.1e})")
