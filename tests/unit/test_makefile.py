"""The two commands of a fresh clone: pinned, self-documenting, without a registry's address."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEP = ROOT / ".ci" / "step"
LOCKS = ("requirements.lock", "requirements-dev.lock")
RUNNING = ("compile", "build", "cuda13")
"""Extras of a checkout that runs; `make setup` installs these alone."""

FRAMEWORKS = ("torch", "jax", "cuda12")
"""Extras that say what adgen works with; nothing here needs them. An environment has one CUDA."""


def pins(name: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==(\S+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", package).lower(): version for package, version in found}


def wanted(extras: set[str]) -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *(project["optional-dependencies"][name] for name in extras)]
    return {re.split(r"[<>=!~\[; ]", requirement)[0].lower() for group in groups for requirement in group}


def test_everything_the_project_names_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert wanted(set(RUNNING)) <= set(pins("requirements.lock"))
    assert wanted(set(project["optional-dependencies"]) - set(FRAMEWORKS)) <= set(pins("requirements-dev.lock"))


def test_what_runs_is_pinned_once_and_tests_need_more() -> None:
    running, all_pins = (pins(name) for name in LOCKS)
    assert running.items() < all_pins.items()
    assert not set(running) & {"pytest", "jaxlib", "matplotlib", "mkdocs"}


def test_every_pin_is_one_version() -> None:
    versions = [version for name in LOCKS for version in pins(name).values()]
    assert all(re.fullmatch(r"\d+(\.\d+)*([a-z]+\d+)?(\.post\d+)?", version) for version in versions)


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_names_the_content_of_its_files(name: str) -> None:
    entries = re.split(r"\n(?=\S)", (ROOT / name).read_text(encoding="utf-8").strip())[1:]
    assert len(entries) == len(pins(name))
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)


@pytest.mark.parametrize("name", ["Makefile", *LOCKS, "pyproject.toml", ".ci/run", ".ci/make-venv", ".ci/lock"])
def test_no_address_of_a_registry(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"https?://|index-url|find-links|pypi\.", text)


def make(*argv: str) -> str:
    return subprocess.run(["make", *argv], check=True, capture_output=True, text=True, cwd=ROOT).stdout


def test_help_lists_every_target() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert targets is not None
    said = make("help")
    for target in targets.group(1).split():
        assert re.search(rf"make {target}\s+\w", said), target


def test_setup_runs_these_steps_in_order() -> None:
    said = make("--dry-run", "--always-make", "setup")
    steps = re.findall(r"make-venv|install --requirement|--editable|toolchain install", said)
    assert list(dict.fromkeys(steps)) == ["make-venv", "install --requirement", "--editable", "toolchain install"]


def test_the_demonstration_installs_nothing_that_only_tests_need() -> None:
    assert "requirements-dev" not in make("--dry-run", "--always-make", "demo")
    assert "requirements-dev" in make("--dry-run", "--always-make", "test")


def step(tmp_path: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MAKE_LOG": str(tmp_path / "log")}
    return subprocess.run([STEP, *argv], check=False, capture_output=True, text=True, env=environment)


def test_a_step_that_works_says_one_line(tmp_path: Path) -> None:
    done = step(tmp_path, "working", "sh", "-c", "echo much; echo more >&2")
    assert done.returncode == 0
    assert done.stdout == ""
    assert re.fullmatch(r"working \.\.\. \d+ s \n", done.stderr)
    assert "much\nmore\n" in (tmp_path / "log").read_text()


def test_a_step_that_fails_shows_its_own_output_and_keeps_its_code(tmp_path: Path) -> None:
    step(tmp_path, "working", "echo", "of an earlier step")
    done = step(tmp_path, "failing", "sh", "-c", "echo why; exit 7")
    assert done.returncode == 7
    assert "failing ... failed (exit code 7)" in done.stderr
    assert "why" in done.stderr
    assert "earlier" not in done.stderr


@pytest.fixture
def ci(tmp_path: Path) -> Path:
    """The CI script in a folder of its own, where `make` can be anything."""
    script = tmp_path / ".ci" / "run"
    script.parent.mkdir()
    script.write_bytes((ROOT / ".ci" / "run").read_bytes())
    script.chmod(0o755)
    return script


@pytest.mark.parametrize(("closing", "code"), [("12 passed, 3 skipped in 4.00s", 0), ("1 failed, 2 passed in 1.0s", 2)])
def test_ci_ends_with_pytests_closing_line(ci: Path, closing: str, code: int) -> None:
    (ci.parent.parent / "Makefile").write_text(f"test:\n\t@echo '{closing}'; echo after; exit {code}\n")
    done = subprocess.run([ci], check=False, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == closing
    assert bool(done.returncode) == bool(code)
