"""Every example's script, and the Makefile that a user can copy, as they are run from a shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import enzyme_driver as adgen

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A copy of the folder, so that what is built does not stay."""
    ignored = shutil.ignore_patterns("build", "*.adgen", "*.png", "__pycache__")
    return Path(shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=ignored))


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    # Other tests run beside this one: threads that wait must not keep a core busy.
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_WAIT_POLICY": "passive"}
    del environment["ADGEN_VERIFY"]  # as users run them
    return subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize(
    "script",
    [
        "heat2d/recover.py",
        "nbody/forces.py",
        "least_squares/fit.py",
        "digits/train.py",
        "bitstream/train.py",
        "splatting/train.py",
        "radiance_field/train.py",
        "jax_fit/fit.py",
    ],
)
def test_script(script: str, examples: Path) -> None:
    ended = run(examples, sys.executable, script)
    assert ended.returncode == 0, ended.stdout


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("subject", ["heat", "placement", "training", "views", "ratios", "chunks"])
def test_several_processes(subject: str, examples: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    ended = run(examples, sys.executable, "distributed/run.py", "--subject", subject)
    assert ended.returncode == 0, ended.stdout
    assert "differs from one device" in ended.stdout


@pytest.mark.usefixtures("toolchain")
def test_several_devices_of_xla(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax", reason="JAX is not installed")
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    ended = run(examples, sys.executable, "distributed/run.py", "--subject", "jax")
    assert ended.returncode == 0, ended.stdout
    assert "one process with 4 devices" in ended.stdout


@pytest.mark.usefixtures("toolchain")
def test_demo(examples: Path) -> None:
    ended = run(examples, sys.executable, "black_scholes/demo.py", "--contracts", "50000")
    assert ended.returncode == 0, ended.stdout
    for greek in ("delta", "dual delta", "rho", "vega", "theta"):
        assert greek in ended.stdout
    assert (examples / "black_scholes/greeks.png").stat().st_size > 10_000
    assert list((examples / "build/black_scholes.adgen").glob("*.cubin"))


@pytest.mark.usefixtures("toolchain")
def test_make_builds_every_example_once(examples: Path) -> None:
    command = ("make", "examples", f"ADGEN={sys.executable} -m enzyme_driver")
    ended = run(examples, *command)
    assert ended.returncode == 0, ended.stdout
    for name in ("black_scholes", "heat2d", "nbody", "least_squares"):
        assert len(adgen.load(examples / name / f"{name}.adgen", target="openmp")) > 0
    assert "enzyme_driver" not in run(examples, *command).stdout
