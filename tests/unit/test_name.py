"""`adgen` is `enzyme_driver`: one package under two names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ALIAS = Path(__file__).resolve().parents[2] / "enzyme_driver" / "alias"


def python(*words: str) -> subprocess.CompletedProcess[str]:
    """Warnings are errors, as in all tests."""
    path = os.pathsep.join([str(ALIAS), str(ALIAS.parents[1])])
    argv = [sys.executable, "-W", "error", *words]
    return subprocess.run(
        argv, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=60, check=False
    )


def test_both_names_give_the_same_objects() -> None:
    code = """if True:
        import adgen, adgen.tensor, adgen.runtime.tape.record
        from adgen import errors, Tape
        import enzyme_driver, enzyme_driver.tensor
        from enzyme_driver.runtime.tape.record import Tape as same
        assert adgen is enzyme_driver
        assert adgen.tensor is enzyme_driver.tensor
        assert errors is enzyme_driver.errors
        assert Tape is same
        assert enzyme_driver.tensor.__spec__.name == "enzyme_driver.tensor"
        from adgen.runtime import module
        assert module.__name__ == "enzyme_driver.runtime.module"
    """
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


def test_what_is_not_there_is_not_there_by_either_name() -> None:
    done = python("-c", "import adgen.nothing")
    assert "ModuleNotFoundError: No module named 'adgen.nothing'" in done.stderr


def test_the_command_runs_under_both_names() -> None:
    first, second = (python("-m", name, "--version") for name in ("adgen", "enzyme_driver"))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
