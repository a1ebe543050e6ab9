"""Runs the RUN lines of the `.ll` files beside this one: `opt` with adgen's passes, its output read by FileCheck.

`%opt` is opt with the plugin loaded, `%filecheck` FileCheck, `%not` turns a tool's failure into success, `%s` is the
file and `%S` its folder. A line that ends in a backslash goes on in the next RUN line.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from enzyme_driver import resources
from enzyme_driver.toolchain import Toolchain

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILES = sorted(HERE.glob("*.ll"))

_RUN = re.compile(r"^; RUN: (.*)$", re.MULTILINE)
_NAME = re.compile(r"adgen-[a-z-]+")


def run_lines(path: Path) -> list[str]:
    joined = "\n".join(_RUN.findall(path.read_text(encoding="utf-8")))
    return joined.replace("\\\n", "").splitlines()


def registered() -> list[str]:
    """The passes' names in the order in which Plugin.cpp lists them."""
    plugin = next(path for path in resources.own_sources("passes") if path.name == "Plugin.cpp")
    return re.findall(r'Name, "(adgen-[a-z-]+)"', plugin.read_text(encoding="utf-8"))


def _command(line: str, path: Path, tools: Toolchain, filecheck: Path) -> str:
    words = {
        "%opt": f"'{tools.opt.path}' -load-pass-plugin='{tools.passes}'",
        "%filecheck": f"'{filecheck}'",
        "%not": f"'{filecheck.with_name('not')}'",
        "%S": f"'{HERE}'",
        "%s": f"'{path}'",
    }
    return re.sub("|".join(words), lambda match: words[match[0]], line)


@pytest.mark.parametrize(
    ("path", "line"),
    [pytest.param(path, line, id=f"{path.stem}-{i}") for path in FILES for i, line in enumerate(run_lines(path))],
)
def test_run_line(path: Path, line: str, toolchain: Toolchain, filecheck: Path) -> None:
    command = _command(line, path, toolchain, filecheck)
    argv = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_runs_and_checks_something(path: Path) -> None:
    lines = run_lines(path)
    assert lines
    assert all("%filecheck" in line for line in lines)


@pytest.mark.parametrize("name", registered())
def test_every_pass_has_a_file(name: str) -> None:
    tested = {found for path in FILES for line in run_lines(path) for found in _NAME.findall(line)}
    assert name in tested


def test_the_passes_page_has_a_paragraph_for_every_pass() -> None:
    page = (ROOT / "docs" / "passes.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^### `(adgen-[a-z-]+)", page, re.MULTILINE)) == sorted(registered())
