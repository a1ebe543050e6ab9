"""Hands random inputs to the front at length; each kind in a process of its own would stop at the first that kills it.

    PYTHONPATH=.:tests python -m fuzz source|arguments|manifest [--count N] [--seconds S]

Ends with 1 at the first input that ends in anything but an error of a documented class, and prints it.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
from fuzz.front import commanded, compiled, loaded
from fuzz.inputs import changed, command_lines, documents, sources
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runtime_support import written_artifact

SECONDS = 300


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("source", "arguments", "manifest"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="a longer wait for one input is a hang")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        _run(asked.what, asked.count, asked.seconds, Path(name))
    click.echo(f"{asked.count} inputs ended as they should")
    return 0


def _run(what: str, count: int, seconds: int, folder: Path) -> None:
    template = written_artifact(folder / "template").folder if what == "manifest" else folder
    manifest: Any = json.loads((template / "manifest.json").read_text()) if what == "manifest" else None

    @settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def one(data: st.DataObject) -> None:
        faulthandler.dump_traceback_later(seconds, exit=True)
        if what == "source":
            wrong = compiled(data.draw(sources()), folder, data.draw(st.sampled_from([".cu", ".cpp"])))
        elif what == "arguments":
            wrong = commanded(data.draw(command_lines()), folder)
        else:
            wrong = loaded(data.draw(st.one_of(changed(manifest), documents())), template, folder)
        faulthandler.cancel_dump_traceback_later()
        if wrong:
            raise AssertionError(wrong)

    one()


if __name__ == "__main__":
    sys.exit(main())
