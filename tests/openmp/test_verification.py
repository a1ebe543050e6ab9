"""Gradients that verify themselves at their first call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import enzyme_driver as adgen
from enzyme_driver import cli, request
from enzyme_driver.runtime.call.geometry import launch_of
from enzyme_driver.runtime.module import Function, Kernel, standing_for
from enzyme_driver.runtime.transforms.guard import VERDICTS, Guard
from enzyme_driver.runtime.transforms.verify import Verdict, verify
from enzyme_driver.settings import Settings
from enzyme_driver.verification import guard, witness_of

pytestmark = pytest.mark.usefixtures("toolchain")

FILE = Path(__file__).with_name("verified.cu")
LAUNCH = (2, 32)
Array = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def kernels() -> adgen.Module:
    return adgen.compile(FILE)


@pytest.fixture(scope="module")
def witness(kernels: adgen.Module) -> dict[str, Kernel | Function]:
    wanted = request.new(FILE)
    settings = Settings.from_environment()
    return {each.name: witness_of(each, wanted, settings, use_cache=True) for each in kernels}


def arguments(count: int = 64) -> tuple[Array, Array]:
    return np.random.default_rng(1).normal(size=count).astype(np.float32), np.zeros(count, np.float32)


def found(kernels: adgen.Module, witness: dict[str, Kernel | Function], name: str, other: str = "") -> Verdict:
    other_witness = standing_for(witness[other or name], kernels[name])
    return verify(kernels[name], other_witness, arguments(), launch_of(LAUNCH))


@pytest.mark.parametrize("name", ["square", "cube", "shuffled"])
def test_right(kernels: adgen.Module, witness: dict[str, Kernel | Function], name: str) -> None:
    verdict = found(kernels, witness, name)
    assert verdict.state == "right"
    assert verdict.tolerance > 0
    assert verdict.error < verdict.tolerance / 10


def test_wrong(kernels: adgen.Module, witness: dict[str, Kernel | Function]) -> None:
    """One element of the gradient is not what the witness says: it is another kernel's, which differs there alone."""
    verdict = found(kernels, witness, "square", "square_but_one")
    assert (verdict.state, verdict.parameter) == ("wrong", "x")
    (element,) = verdict.elements
    x, _ = arguments()
    assert element.index == 41
    weight = element.gradient / (2 * x[41])
    assert element.expected == pytest.approx(3 * weight * x[41] ** 2, rel=1e-4)


def test_a_kink_is_no_error(kernels: adgen.Module, witness: dict[str, Kernel | Function]) -> None:
    """At zero Enzyme takes the one side of a maximum, and dual numbers another: both are right."""
    zeros = np.zeros(64, np.float32)
    verdict = verify(kernels["rectified"], witness["rectified"], (zeros, zeros.copy()), launch_of(LAUNCH))
    assert verdict.state == "right"


def test_what_is_not_finite_is_said(kernels: adgen.Module, witness: dict[str, Kernel | Function]) -> None:
    x, y = arguments()
    x[3] = np.nan
    verdict = verify(kernels["square"], witness["square"], (x, y), launch_of(LAUNCH))
    assert (verdict.state, "not finite" in verdict.reason) == ("unchecked", True)


def test_once(tmp_path: Path, kernels: adgen.Module, witness: dict[str, Kernel | Function]) -> None:
    """What was found right is remembered, and no witness is made again."""
    made = []

    def make() -> Kernel | Function:
        made.append(1)
        return witness["square"]

    square, (x, y) = kernels["square"], arguments()
    for _ in range(2):
        Guard(make, tmp_path)(square, (x, y), launch_of(LAUNCH))
    assert len(made) == 1
    assert json.loads((tmp_path / VERDICTS).read_text("utf-8")) == [f"{square.signature.symbol} on openmp"]
    always = Guard(make, tmp_path, always=True)
    for _ in range(2):
        always(square, (x, y), launch_of(LAUNCH))
    assert len(made) == 2


def test_a_wrong_gradient_is_not_returned(witness: dict[str, Kernel | Function], tmp_path: Path) -> None:
    square = adgen.compile(FILE, kernel="square", cache=False)
    square.guard = Guard(lambda: standing_for(witness["cube"], square), tmp_path)
    x, y = arguments()
    for _ in range(2):
        with pytest.raises(adgen.GradientMismatchError, match=r"square on openmp with respect to 'x' is wrong by"):
            square.vjp[LAUNCH](x, y, cotangents={"y": np.ones_like(y)})
        shadow = np.zeros_like(x)
        with pytest.raises(adgen.GradientMismatchError):
            square.gradient[LAUNCH](x, y, shadows={"x": shadow, "y": np.ones_like(y)})
        assert not shadow.any()
    assert not (tmp_path / VERDICTS).exists()


def test_what_has_no_witness_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.cu"
    text = "__device__ float f(float x) { return x * x; }\n"
    text += "__device__ void g(float x, float c, float *d) { *d = 2 * x * c; }\n"
    text += "__global__ void k(const float *x, float *y) { y[threadIdx.x] = f(x[threadIdx.x]); }\n"
    path.write_text(text, encoding="utf-8")
    kernel = adgen.compile(path, kernel="k", derivatives={"f": "g"}, verify="first", cache=False)
    x, y = arguments(32)
    for _ in range(2):
        found = kernel.vjp[1, 32](x, y, cotangents={"y": np.ones_like(y)})
        np.testing.assert_allclose(found["x"], 2 * x, rtol=1e-6)
    said = capsys.readouterr().err
    assert said.count("was not verified") == 1
    assert "derivatives that the user gives have no witness" in said


def test_functions(tmp_path: Path) -> None:
    path = tmp_path / "f.cpp"
    path.write_text("double f(const double *x, double w) { return x[0] * x[1] * w; }\n", encoding="utf-8")
    made = adgen.compile(path, function="f", activity={"w": "active"}, verify="first")
    found = made.vjp(np.array([2.0, 3.0]), 4.0)
    np.testing.assert_allclose(found["x"], [12, 8])
    assert (Path(made._backend._path).parent / VERDICTS).exists()  # type: ignore[attr-defined]


def test_a_module_has_a_guard_for_each_gradient(kernels: adgen.Module) -> None:
    guard(kernels, request.new(FILE), Settings.from_environment(), always=False, use_cache=True)
    try:
        assert all(each.guard for each in kernels)
    finally:
        for each in kernels:
            each.guard = None


CHECK = ("--grid", "1", "--block", "32", "--json", "-t", "openmp")


def checked(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> tuple[int, dict[str, Any]]:
    code = cli.run(["check", str(path), *CHECK, *words])
    return code, json.loads(capsys.readouterr().out)


def test_check_has_two_witnesses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where finite differences go over kinks everywhere, dual numbers decide."""
    path = tmp_path / "steep.cu"
    text = "__global__ void k(const double *x, double *y) { y[threadIdx.x] = fabs(sin(1e7 * x[threadIdx.x])); }\n"
    path.write_text(text, encoding="utf-8")
    code, said = checked(capsys, path, "--arg", "x=normal:f64:32", "--arg", "y=zeros:f64:32")
    (found,) = said["checks"]
    assert found["parameters"][0]["error"] > found["tolerance"]
    assert found["dual_numbers"]["state"] == "right"
    assert (code, said["passed"]) == (0, True)


def test_an_artifact_has_one_witness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "made"
    assert cli.run(["compile", str(FILE), "-k", "square", "-t", "openmp", "-o", str(folder)]) == 0
    capsys.readouterr()
    code, said = checked(capsys, folder, "--arg", "x=normal:f32:32", "--arg", "y=zeros:f32:32")
    assert code == 0
    assert said["checks"][0]["dual_numbers"] is None
