"""The worker has Enzyme lower the calls that it is told of, and no others."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from enzyme_driver.toolchain import Toolchain

_ASKED = """
define double @caller_{name}(double %x) {{
  %d = call double (...) @__enzyme_autodiff_{name}(ptr @square, double %x)
  ret double %d
}}
declare double @__enzyme_autodiff_{name}(...)
"""
_MODULE = """
define double @square(double %x) {
  %s = fmul double %x, %x
  ret double %s
}
"""


@pytest.mark.parametrize(
    ("only", "left"),
    [("__enzyme_autodiff_a,__enzyme_autodiff_c", ["b"]), ("__enzyme_autodiff_b", ["a", "c"]), ("", [])],
)
def test_only_these_calls_are_lowered(only: str, left: list[str], pinned: Toolchain, tmp_path: Path) -> None:
    done, output = _run(only, pinned, tmp_path)
    assert done.returncode == 0, done.stderr
    text = output.read_text()
    assert [name for name in "abc" if f"call double (...) @__enzyme_autodiff_{name}(" in text] == left


def test_a_name_that_nothing_asks_for_is_an_error(pinned: Toolchain, tmp_path: Path) -> None:
    """Else nothing would be lowered, and all be well."""
    done, output = _run("__enzyme_autodiff_a,__enzyme_autodiff_d", pinned, tmp_path)
    assert done.returncode != 0
    assert "enzyme-error: nothing asks for __enzyme_autodiff_d" in done.stderr
    assert not output.exists()


def _run(only: str, toolchain: Toolchain, folder: Path) -> tuple[subprocess.CompletedProcess[str], Path]:
    source, output, empty = (folder / name for name in ("source.ll", "output.ll", "empty.mlir"))
    source.write_text(_MODULE + "".join(_ASKED.format(name=name) for name in "abc"))
    empty.write_text("module {}\n")
    said = {"ADGEN_WORKER_INPUT": str(source), "ADGEN_WORKER_OUTPUT": str(output)}
    environment = os.environ | said | ({"ADGEN_WORKER_ONLY": only} if only else {})
    command = [str(toolchain.enzyme.path), str(empty), f"--load-pass-plugin={toolchain.worker}"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False), output
