"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from enzyme_driver import optimisations, request
from enzyme_driver.errors import UsageError
from enzyme_driver.model import MODES, TARGETS
from enzyme_driver.request import DEFAULT_ARCH, Request
from enzyme_driver.settings import Settings
from enzyme_driver.stages.source import language

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
Flags = tuple[str, ...]


def _optimisations(context: click.Context, _: click.Parameter, names: tuple[str, ...]) -> frozenset[str]:
    """`help` lists them and ends the command."""
    if "help" in names:
        click.echo(optimisations.listing())
        context.exit()
    try:
        return optimisations.parsed(",".join(names))
    except ValueError as unknown:
        raise UsageError(f"there is no optimisation {unknown}", hint="`--disable help` lists them") from None


_COMMON: tuple[Decorator, ...] = (
    click.option("--json", "as_json", is_flag=True, help="Write the result, or the error, as JSON."),
    click.option("--debug", is_flag=True, expose_value=False, help="Show Python's traceback of a failure."),
)

_BUILD: tuple[Decorator, ...] = (
    click.option("-k", "--name", "names", multiple=True, metavar="NAME",
                 help="Kernel or function, as in C++ (`axpy<float>`); repeatable. Default: all in the file."),
    click.option("-t", "--target", "targets", multiple=True, type=click.Choice(TARGETS),
                 help="Where it is to run; repeatable. Default: both for CUDA files, openmp for C++."),
    click.option("--arch", "archs", multiple=True, metavar="SM",
                 help=f"GPU architecture, such as sm_80; repeatable. Default: {DEFAULT_ARCH}."),
    click.option("--activity", "activity", multiple=True, metavar="PARAM=ACTIVITY",
                 help="const, active, duplicated, owned, fresh or discarded, for the parameter of that name; "
                 "const also for an array in a struct (grid.cells); repeatable."),
    click.option("--mode", "modes", multiple=True, type=click.Choice(MODES), metavar="MODE",
                 help="forward: also what carries tangents; second: also second derivatives; batched: also many "
                 "launches at once; repeatable. The gradient (reverse) is always made."),
    click.option("--inactive", multiple=True, metavar="FUNCTION",
                 help="A function whose results count as constant; repeatable."),
    click.option("--derivative", "derivatives", multiple=True, metavar="FUNCTION=GRADIENT",
                 help="The function of the file that is another one's gradient; repeatable."),
    click.option("--fast-math", is_flag=True, help="Allow what clang's -ffast-math allows."),
    click.option("-I", "include", multiple=True, metavar="FOLDER", help="Where headers are looked for; repeatable."),
    click.option("-D", "define", multiple=True, metavar="MACRO[=VALUE]", help="A macro that is defined; repeatable."),
    click.option("--std", metavar="STANDARD", help="The C++ standard, such as c++20. Default: clang's."),
    click.option("--disable", multiple=True, metavar="NAME", callback=_optimisations, is_eager=True,
                 help="Leave an optimisation of gradients out; repeatable. `--disable help` lists them."),
    click.option("--no-cache", is_flag=True, help="Compile in any case, and keep nothing."),
    click.argument("flags", nargs=-1, type=click.UNPROCESSED, metavar="[-- CLANG FLAGS]"),
)  # fmt: skip


_CHECK: tuple[Decorator, ...] = (
    click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="An argument, see above; repeatable."),
    click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks of the launch. Needed for kernels."),
    click.option("--block", metavar="X[,Y[,Z]]", help="Threads of a block. Needed for kernels."),
    click.option("--shared-bytes", type=click.IntRange(min=0), help="Dynamic shared memory, in bytes."),
    click.option("--seed", type=click.IntRange(min=0), default=0, help="Of arrays and directions. Default: 0."),
    click.option("--tolerance", type=float, help="Largest relative error. Default: by the dtype."),
    click.option("--instead", metavar="PASS=IR", hidden=True, help="Begin that pass with the IR of this file."),
)


def common(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--json` and `--debug`, which every command has."""
    return _decorated(function, _COMMON)


def build(function: Callable[..., Any]) -> Callable[..., Any]:
    """What decides what is compiled; the values go to `make_request`, with all that clang is told in `flags`."""

    @wraps(function)
    def with_flags(*, include: Flags, define: Flags, std: str | None, flags: Flags, **rest: object) -> object:
        named = (*(f"-I{folder}" for folder in include), *(f"-D{macro}" for macro in define))
        return function(flags=(*named, *([f"-std={std}"] if std else []), *flags), **rest)

    return _decorated(with_flags, _BUILD)


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a check needs: arguments, launch, tolerance."""
    return _decorated(function, _CHECK)


def _decorated(function: Callable[..., Any], decorators: Iterable[Decorator]) -> Callable[..., Any]:
    for decorate in reversed(tuple(decorators)):
        function = decorate(function)
    return function


def run_alone(context: click.Context, default: click.Command, *, as_json: bool) -> None:
    """Run a group's default command where no other one is named."""
    if context.invoked_subcommand is None:
        context.invoke(default, as_json=as_json)
    elif as_json:
        raise UsageError("--json belongs behind the last command", hint=f"{context.invoked_subcommand} --json")


def make_request(path: str, values: Mapping[str, Any]) -> Request:
    """The request of a command with `build`'s options."""
    targets = values["targets"] or (TARGETS if language(Path(path)) == "cuda" else ("openmp",))
    return request.new(
        path,
        names=values["names"],
        targets=targets,
        archs=values["archs"] or (DEFAULT_ARCH,),
        activity=pairs("--activity", values["activity"]),
        flags=values["flags"],
        fast_math=values["fast_math"],
        modes=values["modes"],
        inactive=values["inactive"],
        derivatives=pairs("--derivative", values["derivatives"]),
    )


def make_settings(values: Mapping[str, Any]) -> Settings:
    """The environment's settings, with what `build`'s options add."""
    settings = Settings.from_environment()
    return replace(settings, disable=settings.disable | values["disable"])


def pairs(option: str, texts: Iterable[str]) -> dict[str, str]:
    """`NAME=VALUE` options as a dictionary; raises UsageError for one without `=` and for a repeated name."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not (sign and name.strip() and value.strip()):
            raise UsageError(f"{option} {text} is not of the form NAME=VALUE", hint=f"write {option} x=...")
        if name.strip() in found:
            raise UsageError(f"{option} gives {name.strip()} twice", hint="give it once")
        found[name.strip()] = value.strip()
    return found
