"""The example in README.md prints what README.md says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("toolchain")
def test_the_example_prints_what_is_written(tmp_path: Path) -> None:
    match = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL)
    assert match is not None
    code, output = match.groups()
    assert len([line for line in code.splitlines() if line]) == 10
    environment = {**os.environ, "ADGEN_CACHE_DIR": str(tmp_path)}
    del environment["ADGEN_VERIFY"]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == (output, "")


def test_every_link_leads_somewhere() -> None:
    prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", prose)
    assert len(targets) >= 8
    for target in targets:
        assert (ROOT / target).exists(), target


@pytest.mark.usefixtures("toolchain")
def test_the_demonstration_runs_without_what_it_does_not_install(tmp_path: Path) -> None:
    """`make demo` installs no matplotlib; the rest of the demonstration needs none."""
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not installed')\n")
    code = (
        "import importlib.util, runpy, sys; found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'matplotlib' else found(name, *more)\n"
        "sys.path.insert(0, 'examples/black_scholes')\n"
        "sys.argv = ['demo.py', '--contracts', '1000']\n"
        "runpy.run_path('examples/black_scholes/demo.py', run_name='__main__')\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "no plot: matplotlib is not installed" in done.stdout
