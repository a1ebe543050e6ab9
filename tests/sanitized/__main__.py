"""Runs adgen's passes under AddressSanitizer and UndefinedBehaviorSanitizer.

    PYTHONPATH=.:tests python -m sanitized [PATTERN...]

First the RUN lines of tests/passes, then compilations of all programs, kernels of the collection and C++ benchmarks,
those whose names fit a pattern. Ends with 1 if the sanitizers say anything. Compiling the passes takes minutes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import partial
from itertools import chain
from pathlib import Path
from unittest import mock

import click
from passes.run_lines import FILES, run_lines, runnable
from races.subjects import subjects
from sanitized.instrumented import instrumented

from enzyme_driver import pipeline as compilation
from enzyme_driver import request
from enzyme_driver.errors import AdgenError
from enzyme_driver.settings import Settings
from enzyme_driver.stages.inspection import Inspection
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.toolchain import Toolchain, ensure

MARKS = ("AddressSanitizer", "runtime error:")


def said_of_run_lines(tools: Toolchain, filecheck: Path, scratch: Path) -> Iterator[tuple[str, str]]:
    """Each RUN line's name, and what it says where it fails."""
    for path in FILES:
        for number, line in enumerate(run_lines(path)):
            argv = ["bash", "-o", "pipefail", "-c", runnable(line, path, tools, filecheck, scratch / "written")]
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
            yield f"{path.stem}-{number}", done.stderr if done.returncode or _marked(done.stderr) else ""


def said_of_compilations(tools: Toolchain, patterns: list[str], scratch: Path) -> Iterator[tuple[str, str]]:
    """Each subject's name, and what its compilation says where it does not end well."""
    settings = Settings.from_environment()
    for name, subject in subjects().items():
        if not any(fnmatch(name, pattern) for pattern in patterns):
            continue
        wanted = request.new(subject.path, names=[subject.entry], activity=subject.activity)
        with mock.patch.object(compilation, "Workspace", partial(_workspace, tools)):
            try:
                compilation.build(wanted, scratch / name, settings=settings)
            except AdgenError as error:
                yield name, f"{error}\n{error.log.read_text(encoding='utf-8') if error.log else ''}"
            else:
                yield name, ""


def _workspace(
    tools: Toolchain, folder: Path, _: Toolchain, settings: Settings, inspection: Inspection | None = None
) -> Workspace:
    return Workspace(folder, tools, settings, inspection=inspection)


def _marked(text: str) -> bool:
    return any(mark in text for mark in MARKS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", default=["*"], help="of names of compilations")
    given = parser.parse_args()
    settings = Settings.from_environment()
    filecheck = ensure(settings).opt.prefix / "bin" / "FileCheck"
    guilty = 0
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        tools = instrumented(settings, scratch)
        findings = chain(
            said_of_run_lines(tools, filecheck, scratch), said_of_compilations(tools, given.patterns, scratch)
        )
        for subject, said in findings:
            guilty += bool(said)
            if said:
                click.echo(f"{subject}:\n{said}")
    click.echo(f"{guilty} with findings" if guilty else "no findings")
    return 1 if guilty else 0


if __name__ == "__main__":
    sys.exit(main())
