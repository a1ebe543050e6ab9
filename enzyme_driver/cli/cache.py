"""`adgen cache`: what is kept, why it was not used, and how to get rid of it."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import click

from enzyme_driver import cache
from enzyme_driver.cli import options, output
from enzyme_driver.errors import UsageError
from enzyme_driver.settings import Settings

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


@click.group("cache", invoke_without_command=True)
@options.common
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """Show, explain, clear or prune the cache of compiled artifacts (ADGEN_CACHE_DIR). Alone: show."""
    options.run_alone(context, info, as_json=as_json)


@command.command("info")
@options.common
def info(*, as_json: bool) -> None:
    """Show where the cache is, the number of its entries, and their size."""
    _print("holds", cache.summary(Settings.from_environment()), as_json=as_json)


@command.command("clear")
@options.common
def clear(*, as_json: bool) -> None:
    """Delete every entry."""
    _print("deleted", cache.clear(Settings.from_environment()), as_json=as_json)


@command.command("prune")
@click.option("--max-age", metavar="TIME", help="Delete what was not used for so long: 12h, 30d, 8w.")
@click.option("--max-size", metavar="SIZE", help="Then delete the longest unused until so much is left: 500M, 2G.")
@options.common
def prune(max_age: str | None, max_size: str | None, *, as_json: bool) -> None:
    """Delete old entries, and what killed processes left behind."""
    age = _measured("--max-age", max_age, _SECONDS) if max_age else None
    size = _measured("--max-size", max_size.upper(), _BYTES) if max_size else None
    _print("deleted", cache.prune(Settings.from_environment(), max_age=age, max_size=size), as_json=as_json)


@command.command("explain")
@click.argument("file")
@options.build
@options.common
def explain(file: str, *, as_json: bool, **values: Any) -> None:  # noqa: ANN401
    """Say why `adgen compile FILE` with these options would compile, rather than take what is in the cache."""
    differences = cache.explain(options.make_request(file, values), settings=options.make_settings(values))
    if as_json:
        output.print_json({"cached": not differences, "differences": [asdict(each) for each in differences]})
        return
    if not differences:
        click.echo("in the cache")
    for each in differences:
        click.echo(f"{each.label}: {_short(each.was)} -> {_short(each.now)}")


def _short(value: str) -> str:
    """Of a digest the beginning is enough."""
    return value[:12] if re.fullmatch("[0-9a-f]{64}", value) else value or "nothing"


def _measured(option: str, text: str, units: dict[str, int]) -> int:
    match = re.fullmatch(r"(\d+)([A-Za-z]?)", text.strip())
    if match is None or match.group(2) not in units:
        known = ", ".join(f"10{unit}" for unit in units)
        raise UsageError(f"{option} {text} is not understood", hint=f"write it as {known}")
    return int(match.group(1)) * units[match.group(2)]


def _print(what: str, found: cache.Summary, *, as_json: bool) -> None:
    if as_json:
        output.print_json({"path": str(found.path), "entries": found.entries, "bytes": found.size})
        return
    click.echo(f"{found.path}: {what} {found.entries} entries, {found.size / 1e6:.1f} MB")
