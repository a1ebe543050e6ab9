"""Operators that C++ loads without Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import operators_under_test as ops
import pytest

from enzyme_driver import toolchain
from enzyme_driver.errors import UsageError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import packages

torch: Any = pytest.importorskip("torch", minversion="2.10", reason="PyTorch is not installed")
pytestmark = pytest.mark.usefixtures("toolchain")
PROGRAM = Path(__file__).with_name("exported.cpp")
ROWS, COLUMNS = 3, 4


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    clang = toolchain.ensure(Settings.from_environment()).clang
    made = tmp_path_factory.mktemp("program") / "exported"
    room = Path(torch.__file__).parent
    libraries: list[str | Path] = [
        "-L",
        room / "lib",
        f"-Wl,-rpath,{room / 'lib'}",
        "-ltorch",
        "-ltorch_cpu",
        "-lc10",
        "-ldl",
    ]
    flags = ["-std=c++17", *packages.compile_flags(clang), *packages.link_flags(clang)]
    command: list[str | Path] = [
        clang.prefix / "bin" / "clang++",
        *flags,
        "-isystem",
        room / "include",
        PROGRAM,
        "-o",
        made,
        *libraries,
    ]
    subprocess.run(command, check=True)
    return made


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    row = torch.randn(COLUMNS)
    found: Path = ops.layer_norm.torch.export(
        tmp_path_factory.mktemp("exported"), (torch.randn(ROWS, COLUMNS), row, row), (torch.randn(5, COLUMNS), row, row)
    )
    return found


def numbers(line: str) -> Any:
    return torch.tensor([float(word) for word in line.split()])


@pytest.mark.parametrize("rows", [ROWS, 5])
def test_a_program_of_cpp(program: Path, library: Path, rows: int) -> None:
    ended = subprocess.run([program, library, str(rows), str(COLUMNS)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    y, *gradients = map(numbers, ended.stdout.splitlines())
    count = torch.arange(rows * COLUMNS, dtype=torch.float32)
    row = torch.arange(COLUMNS, dtype=torch.float32)
    inputs = [(0.1 * count * count).reshape(rows, COLUMNS), 1 + row, row]
    for each in inputs:
        each.requires_grad_()
    wanted = torch.nn.functional.layer_norm(inputs[0], (COLUMNS,), *inputs[1:], 1e-5)
    torch.testing.assert_close(y, wanted.detach().ravel(), rtol=1e-4, atol=1e-4)
    for found, each in zip(gradients, torch.autograd.grad(wanted, inputs, count.reshape(rows, COLUMNS)), strict=True):
        torch.testing.assert_close(found, each.ravel(), rtol=1e-3, atol=1e-3)


def test_other_shapes_are_an_error(program: Path, library: Path) -> None:
    ended = subprocess.run([program, library, "7", str(COLUMNS)], capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert "was not exported for these shapes" in ended.stdout + ended.stderr


def test_the_library_lies_with_what_it_launches(program: Path, library: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    library.parent.rename(moved)
    ended = subprocess.run([program, moved / library.name, str(ROWS), str(COLUMNS)], capture_output=True, check=False)
    moved.rename(library.parent)
    assert ended.returncode == 0


class Model(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.row = torch.nn.Parameter(torch.arange(1.0, 1 + COLUMNS))

    def forward(self, x: Any) -> Any:
        return torch.relu(ops.layer_norm.torch(2 * x, self.row, self.row))


LOADS = """
import sys, torch
torch.ops.load_library(sys.argv[1])
model = torch._inductor.aoti_load_package(sys.argv[2])
x, wanted = torch.load(sys.argv[3])
torch.testing.assert_close(model(x), wanted)
assert "enzyme_driver" not in sys.modules
"""


@pytest.mark.filterwarnings("ignore")  # PyTorch's own
@pytest.mark.skipif(shutil.which("g++") is None, reason="AOTInductor needs a C++ compiler")
def test_aotinductor_finds_the_operator_in_the_library(library: Path, tmp_path: Path) -> None:
    """In a process that has no adgen."""
    x, model = torch.randn(ROWS, COLUMNS), Model()
    with torch.no_grad():
        exported = torch.export.export(model, (x,))
        package = torch._inductor.aoti_compile_and_package(exported, package_path=str(tmp_path / "model.pt2"))
        torch.save((x, model(x)), tmp_path / "wanted.pt")
    ended = subprocess.run(
        [sys.executable, "-c", LOADS, library, package, tmp_path / "wanted.pt"],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="without an example"):
        ops.layer_norm.torch.export(tmp_path)
