"""`adgen bisect`, `pipeline` and `--print-after`: a bug that is planted in an optional pass is found by one command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import enzyme_driver
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import Toolchain

ROOT = Path(enzyme_driver.__file__).resolve().parents[1]
KERNEL = """
__global__ void scale(const double *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * x[i];
}
"""
CHECK = (
    "-t",
    "openmp",
    "--arg",
    "x=uniform:f64:6",
    "--arg",
    "y=zeros:f64:6",
    "--arg",
    "n=6",
    "--grid",
    "2",
    "--block",
    "4",
)


def adgen(package: Path, settings: Settings, *words: str) -> subprocess.CompletedProcess[str]:
    """The command, of the package in that folder."""
    own = {"PYTHONPATH": str(package), "ADGEN_HOME": str(settings.home), "PYTHONDONTWRITEBYTECODE": "1"}
    argv = [sys.executable, "-m", "enzyme_driver", *words]
    return subprocess.run(
        argv, capture_output=True, text=True, env=os.environ | own, timeout=600, check=False, cwd=package
    )


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "scale.cu"
    path.write_text(KERNEL, encoding="utf-8")
    return str(path)


def planted(tmp_path: Path, pass_class: str, right: str, wrong: str) -> Path:
    """A copy of the package with one word of a pass changed; all other passes are compiled already."""
    package = tmp_path / "planted"
    shutil.copytree(ROOT / "enzyme_driver", package / "enzyme_driver", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "templates", package / "templates")
    (file,) = (package / "enzyme_driver" / "passes").rglob(f"{pass_class}.cpp")
    text = file.read_text(encoding="utf-8")
    assert text.count(right) == 1
    file.write_text(text.replace(right, wrong), encoding="utf-8")
    return package


def test_a_planted_bug_is_found(
    tmp_path: Path, source: str, machine_settings: Settings, toolchain: Toolchain, filecheck: Path
) -> None:
    right = "Old = addPlainly(Atomic, FastMathFlags());"
    minus = "Atomic.setOperand(1, IRBuilder<>(&Atomic).CreateFNeg(Atomic.getValOperand()));"
    package = planted(tmp_path, "RelaxPrivateAtomics", right, f"{minus} {right}")
    done = adgen(package, machine_settings, "bisect", source, *CHECK, "-o", str(tmp_path), "--reduce", "1", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["pass"], found["verdict"], found["alone"]) == ("adgen-relax-private-atomics", "wrong", True)
    stub = Path(found["stub"])
    text = stub.read_text(encoding="utf-8")
    assert "; RUN: %opt -passes=adgen-relax-private-atomics -S %s | %filecheck %s" in text
    assert "; CHECK-LABEL: @" in text
    plugin = f"-load-pass-plugin={toolchain.passes}"
    opt = [str(toolchain.opt.path), plugin, "-passes=adgen-relax-private-atomics", "-S", str(stub)]
    made = subprocess.run(opt, capture_output=True, text=True, timeout=60, check=True)
    subprocess.run([str(filecheck), str(stub)], input=made.stdout, text=True, timeout=60, check=True)


def test_a_planted_crash_is_found(tmp_path: Path, source: str, machine_settings: Settings) -> None:
    package = planted(tmp_path, "RelaxPrivateAtomics", "    moveUp(*Old);", "    __builtin_trap();")
    done = adgen(package, machine_settings, "bisect", source, *CHECK, "-o", str(tmp_path), "--reduce", "3", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["pass"], found["verdict"]) == ("adgen-relax-private-atomics", "crash")
    assert "atomicrmw" in Path(found["stub"]).read_text(encoding="utf-8")


def test_where_nothing_is_wrong_there_is_nothing_to_find(source: str, machine_settings: Settings) -> None:
    done = adgen(ROOT, machine_settings, "bisect", source, *CHECK)
    assert done.returncode == 2
    assert "the gradient is right, there is nothing to bisect" in done.stderr


def test_the_pipeline_is_what_ran(source: str, machine_settings: Settings) -> None:
    done = adgen(ROOT, machine_settings, "pipeline", source, "-t", "openmp", "--disable", "sink-zero-stores", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    runs = json.loads(done.stdout)
    names = [run["pipeline"] for run in runs]
    assert names == ["describe", "prepare CUDA", "verify", "host from CUDA", "threads of blocks"]
    passes = [each["name"] for run in runs for each in run["passes"]]
    assert "adgen-sink-zero-stores" not in passes
    assert (
        passes.index("adgen-make-bodies")
        < passes.index("adgen-make-gradients")
        < passes.index("adgen-relax-private-atomics")
    )
    text = adgen(ROOT, machine_settings, "pipeline", source, "-t", "openmp").stdout
    assert "--disable sink-zero-stores; consumed cotangents" in text


def test_ir_behind_a_pass(source: str, machine_settings: Settings) -> None:
    words = ("compile", source, "-t", "openmp", "--print-after")
    done = adgen(ROOT, machine_settings, *words, "adgen-make-bodies")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "define" in done.stdout
    assert "@adgen_body_" in done.stdout
    unknown = adgen(ROOT, machine_settings, *words, "adgen-nothing")
    assert unknown.stdout == ""
    assert unknown.returncode == 2
    assert "no pass adgen-nothing has run" in unknown.stderr


def test_ir_of_what_is_refused(tmp_path: Path, machine_settings: Settings) -> None:
    """The IR is shown up to the refusal, which is the error then."""
    source = tmp_path / "refused.cu"
    source.write_text(KERNEL.replace("y[i] =", 'asm volatile("brkpt;");\n        y[i] ='), encoding="utf-8")
    words = ("compile", str(source), "-t", "openmp", "--print-after", "adgen-canonicalize-nvvm")
    done = adgen(ROOT, machine_settings, *words)
    assert done.returncode == 5
    assert "brkpt" in done.stdout
    assert "inline assembly of the GPU has no meaning on the openmp target" in done.stderr
