"""What people and programs see: results on standard output, talk on standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, TYPE_CHECKING

import click

from enzyme_driver.errors import AdgenError

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH_OF_A_FILE = 160
SILENCE = 15.0
"""Seconds after which a line says what is being done, where there is no terminal."""

Progress = Callable[[str], None]


def console(*, stderr: bool = False) -> Console:
    """Colour and the width of the screen only where there is a terminal; rich heeds NO_COLOR."""
    from rich.console import Console

    stream: IO[str] = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _WIDTH_OF_A_FILE
    return Console(stderr=stderr, width=width, highlight=False, markup=False, soft_wrap=not stream.isatty())


def print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2, default=str))


def say(text: str) -> None:
    """A word to the user that is no result."""
    console(stderr=True).print(f"adgen: {text}")


def warn(text: str) -> None:
    _marked("warning", "yellow", text)


def failure(problem: AdgenError, *, as_json: bool) -> int:
    """Tell the user (as JSON: the program that reads standard output) and return the exit code."""
    if as_json:
        print_json(problem.to_json())
    else:
        _marked("error", "bold red", str(problem))
    return problem.exit_code


def _marked(word: str, style: str, text: str) -> None:
    from rich.text import Text

    console(stderr=True).print(Text.assemble("adgen: ", (f"{word}:", style), f" {text}"))


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Progress]:
    """A function that shows what is being done: a spinner on a terminal, elsewhere a line now and then where it takes
    long, and where it is interrupted.
    """
    if quiet:
        yield _nothing
        return
    told = _Told()
    try:
        if sys.stderr.isatty():
            with console(stderr=True).status("adgen") as status:
                yield partial(told.shown, status.update)
        else:
            yield told.seldom
    except KeyboardInterrupt:
        told.line_now()
        raise


def _nothing(text: str) -> None:
    del text


class _Told:
    """What was said last, and for how long that goes on."""

    def __init__(self) -> None:
        self.text = ""
        self.start = self.line = time.monotonic()

    def shown(self, update: Callable[[str], None], text: str) -> None:
        self.text = text
        update(f"adgen: {text}")

    def seldom(self, text: str) -> None:
        self.text = text
        if time.monotonic() - self.line >= SILENCE:
            self.line_now()

    def line_now(self) -> None:
        self.line = time.monotonic()
        if self.text:
            say(f"{self.line - self.start:.0f} s: {self.text}")
