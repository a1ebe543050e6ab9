"""The examples on the GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cupy")

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("black_scholes/demo.py", ["--contracts", "50000", "--plot", "greeks.png"]),
        ("heat2d/recover.py", ["--target", "cuda", "--plot", "recovered.png"]),
        ("nbody/forces.py", ["--target", "cuda"]),
        ("bitstream/train.py", ["--target", "cuda", "--steps", "60"]),
    ],
)
def test_script(script: str, options: list[str], tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / script), *options]
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": paths}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "no GPU" not in ended.stdout
