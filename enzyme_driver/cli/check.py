"""`adgen check`: the gradient against finite differences."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from enzyme_driver.cli import options, output
from enzyme_driver.cli.arguments import FORMS, parse
from enzyme_driver.cli.subject import open_subject
from enzyme_driver.errors import ArgumentError, CheckFailedError, UsageError
from enzyme_driver.model import TARGETS, Target

if TYPE_CHECKING:
    from enzyme_driver.runtime.check import CheckResult
    from enzyme_driver.runtime.module import Function, Kernel


@click.command("check", help=f"""Compare a gradient with finite differences, along one random direction a parameter.

The kernel or function NAME of an artifact, or of a file, is called with the arguments that --arg gives. The exit code
is 0 if the gradient is right.

{FORMS}""")  # fmt: skip
@click.argument("what", metavar="ARTIFACT|FILE")
@options.build
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="An argument, see above; repeatable.")
@click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks of the launch. Needed for kernels.")
@click.option("--block", metavar="X[,Y[,Z]]", help="Threads of a block. Needed for kernels.")
@click.option("--shared-bytes", type=click.IntRange(min=0), default=0, help="Dynamic shared memory. Default: 0.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of arrays and directions. Default: 0.")
@click.option("--tolerance", type=float, help="Largest relative error. Default: by the dtype.")
@options.common
@click.pass_context
def command(context: click.Context, /, what: str, *, as_json: bool, **values: Any) -> None:  # noqa: ANN401
    target = _target(values["targets"])
    arguments = parse(values["arguments"], values["seed"])
    made = open_subject(what, {**values, "targets": (target,) if target else ("openmp",)})
    from enzyme_driver.runtime.module import open_module

    module = open_module(made, target)
    entries = list(module)
    if not values["names"] and len(entries) != 1:
        known = ", ".join(entry.signature.name for entry in entries)
        raise UsageError("which kernel or function is to be checked?", hint=f"give -k with one of {known}")
    entry = module[values["names"][0]] if values["names"] else entries[0]
    result = _checked(entry, arguments, values)
    if as_json:
        output.print_json({"name": entry.name, "target": entry.target, "passed": result.passed, **asdict(result)})
        context.exit(0 if result.passed else CheckFailedError.exit_code)
    _show(entry, result)
    result.raised(entry.name)


def _target(targets: tuple[Target, ...]) -> Target | None:
    if len(targets) > 1:
        raise UsageError("one target is checked at a time", hint=f"give -t with one of {', '.join(TARGETS)}")
    return targets[0] if targets else None


def _checked(entry: Kernel | Function, given: dict[str, object], values: dict[str, Any]) -> CheckResult:
    from enzyme_driver.runtime.check import check_function, check_kernel
    from enzyme_driver.runtime.geometry import launch_of
    from enzyme_driver.runtime.module import Function

    bound = tuple(_placed(value, entry.target) for value in _in_order(entry, given))
    options_of_check = {"seed": values["seed"], "tolerance": values["tolerance"]}
    sizes = [_extent(option, values[option]) for option in ("grid", "block") if values[option]]
    if isinstance(entry, Function):
        if sizes:
            raise UsageError(f"{entry.name} is a function, it is not launched", hint="leave --grid and --block out")
        return check_function(entry, bound, **options_of_check)
    if len(sizes) != 2:  # noqa: PLR2004  (grid and block)
        raise UsageError(f"{entry.name} is a kernel, it needs a launch", hint="give --grid and --block")
    return check_kernel(entry, bound, launch_of((*sizes, None, values["shared_bytes"])), **options_of_check)


def _in_order(entry: Kernel | Function, given: dict[str, object]) -> list[object]:
    names = entry.signature.names
    missing, unknown = [name for name in names if name not in given], [name for name in given if name not in names]
    if missing or unknown:
        wrong = [*(f"{name} is missing" for name in missing), *(f"{name} is unknown" for name in unknown)]
        raise ArgumentError(
            f"the arguments do not fit {entry.signature}: {', '.join(wrong)}",
            hint="give one --arg NAME=VALUE a parameter",
        )
    return [given[name] for name in names]


def _placed(value: object, target: Target) -> object:
    """Arrays go to the GPU for the CUDA target."""
    if target == "openmp" or not hasattr(value, "dtype"):
        return value
    from enzyme_driver.runtime.buffers import BufferLibrary

    return BufferLibrary().from_host(np.asarray(value), None)


def _extent(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise UsageError(f"--{option} {text} is not a size", hint=f"write --{option} 4 or --{option} 4,2,1") from None


def _show(entry: Kernel | Function, result: CheckResult) -> None:
    from rich.table import Table

    title = f"{entry.signature} on {entry.target}"
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in ("parameter", "gradient", "finite differences", "relative error"):
        table.add_column(column)
    for found in result.parameters:
        table.add_row(found.name, f"{found.gradient:.9g}", f"{found.difference:.9g}", f"{found.error:.1e}")
    console = output.console()
    console.print(table)
    if result.passed:
        console.print(f"the gradient is right (largest error {result.error:.1e}, tolerance {result.tolerance:.1e})")
