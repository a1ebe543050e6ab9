"""`adgen inspect`: what is in an artifact, or would be in that of a file."""

from __future__ import annotations

from typing import Any

import click

from enzyme_driver.artifact import Artifact
from enzyme_driver.cli import const, describe, options, output
from enzyme_driver.cli.subject import open_subject
from enzyme_driver.errors import NameNotFoundError
from enzyme_driver.model import plain_name


@click.command("inspect")
@click.argument("what", metavar="ARTIFACT|FILE")
@click.option(
    "--const",
    "as_const",
    is_flag=True,
    help="Also what gradients on a GPU would save if a parameter were const; each is compiled so.",
)
@options.build
@options.common
def command(what: str, *, as_const: bool, as_json: bool, **values: Any) -> None:  # noqa: ANN401
    """Show the signatures, activities, binaries and refusals of an artifact, or of a file once it is compiled."""
    made = open_subject(what, values)
    _check_names(made, values["names"])
    found = const.rows(what, made, values) if as_const else {}
    if as_json:
        output.print_json(describe.as_data(made) | ({"const": const.as_data(found)} if as_const else {}))
        return
    wanted = {plain_name(name) for name in values["names"]}
    console = output.console()
    console.print(f"{made.folder}: {made.manifest.source.name}, compiled by adgen {made.manifest.adgen}")
    for entry in made.entries:
        if not wanted or plain_name(entry.signature.name) in wanted:
            console.print(describe.parameter_table(entry))
    console.print(describe.binary_table(made))
    for name, rows in found.items():
        console.print(const.table(name, rows))
    for refusal in describe.refusals(made):
        console.print(describe.refusal_text(*refusal))


def _check_names(made: Artifact, names: tuple[str, ...]) -> None:
    known = [entry.signature.name for entry in made.entries]
    for name in names:
        if plain_name(name) not in map(plain_name, known):
            raise NameNotFoundError(f"there is no kernel or function {name!r}", hint=f"there is {', '.join(known)}")
