"""Gradients by some of the parameters: the others have no derivative in what runs, and the numbers are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel

KERNELS = """
struct Field { const float *in; float *out; };
__global__ void weigh(int n, float bias, const float *a, const float *b, float *inout, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = a[i] * b[i] * inout[i] + bias;
    inout[i] = a[i] * a[i];
  }
}
__global__ void through(int n, Field f, const float *w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f.out[i] = f.in[i] * w[i] * w[i];
}
"""
SCALED = """
__constant__ float scale;
__global__ void scaled(int n, const float *a, const float *b, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = scale * a[i] * b[i];
}
"""
N, WHERE = 40, (2, 32)


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> adgen.Module:
    path = tmp_path_factory.mktemp("narrower") / "kernels.cu"
    path.write_text(KERNELS, encoding="utf-8")
    return adgen.compile(path, activity={"bias": "active"})


def _drawn(count: int) -> list[Any]:
    rng = np.random.default_rng()
    return [rng.uniform(0.5, 2, N).astype(np.float32) for _ in range(count)]


def _derived(kernel: Kernel, wrt: str | tuple[str, ...]) -> list[str]:
    """What has a derivative in the code that such a call runs."""
    assert kernel.narrower
    return [parameter.name for parameter in (kernel.narrower(wrt) or kernel).signature.shadowed]


@pytest.mark.parametrize(
    ("wrt", "derived"),
    [
        ("a", ["a", "inout", "y"]),
        (("b", "inout"), ["b", "inout", "y"]),
        ("bias", ["bias", "inout", "y"]),
        (("a", "b", "bias"), ["bias", "a", "b", "inout", "y"]),
    ],
)
def test_what_is_read_and_not_asked_for_has_no_derivative(
    module: adgen.Module, wrt: str | tuple[str, ...], derived: list[str]
) -> None:
    kernel = cast("Kernel", module["weigh"])
    a, b, inout, d_inout, d_y = _drawn(5)
    args, seeds = (N, 0.5, a, b, inout, np.zeros(N, np.float32)), {"y": d_y, "inout": d_inout}
    found = kernel.vjp[WHERE](*args, cotangents=seeds, wrt=wrt)
    expected = {
        "a": b * inout * d_y + 2 * a * d_inout,
        "b": a * inout * d_y,
        "inout": a * b * d_y,
        "bias": np.float32(d_y.sum(dtype=np.float64)),
    }
    assert list(found) == ([wrt] if isinstance(wrt, str) else list(wrt))
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-5)
    assert _derived(kernel, wrt) == derived


def test_a_struct_through_which_the_kernel_writes_keeps_its_cotangents(module: adgen.Module) -> None:
    kernel = cast("Kernel", module["through"])
    field, w, seed = *_drawn(2), _drawn(1)[0]
    given = {"in": field, "out": np.zeros(N, np.float32)}
    found = kernel.vjp[WHERE](N, given, w, cotangents={"f": {"out": seed}}, wrt="w")["w"]
    np.testing.assert_allclose(found, 2 * field * w * seed, rtol=1e-5)
    only = kernel.vjp[WHERE](N, given, w, cotangents={"f": {"out": seed}}, wrt="f.in")["f.in"]
    np.testing.assert_allclose(only, w * w * seed, rtol=1e-5)
    assert _derived(kernel, "f.in") == ["f"]


def test_variables_of_the_device_are_those_of_the_kernel_that_was_asked(tmp_path: Path) -> None:
    path = tmp_path / "scaled.cu"
    path.write_text(SCALED, encoding="utf-8")
    kernel = adgen.compile(path, kernel="scaled")
    kernel.variables["scale"] = 3.0
    a, b, seed = _drawn(3)
    found = kernel.vjp[WHERE](N, a, b, np.zeros(N, np.float32), cotangents={"y": seed}, wrt="a")["a"]
    np.testing.assert_allclose(found, 3 * b * seed, rtol=1e-5)


def test_functions_and_names_that_are_unknown(tmp_path: Path) -> None:
    path = tmp_path / "dot.cpp"
    path.write_text(
        "double dot(int n, const double *a, const double *b) { double s = 0;"
        " for (int i = 0; i < n; ++i) s += a[i] * b[i] * b[i]; return s; }"
    )
    dot = adgen.compile(path, function="dot")
    assert isinstance(dot, Function)
    a, b = np.random.default_rng().uniform(1, 2, (2, N))
    np.testing.assert_allclose(dot.vjp(N, a, b, wrt=(name for name in ("b",)), cotangent=2.0)["b"], 4 * a * b)
    assert dot.narrower
    assert [p.name for p in (dot.narrower(("b",)) or dot).signature.shadowed] == ["b"]
    with pytest.raises(adgen.ArgumentError, match="no such parameter"):
        dot.vjp(N, a, b, wrt="c")


def test_what_does_not_compile_is_not_needed(module: adgen.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = cast("Kernel", module["weigh"])
    a, b, inout, seed = _drawn(4)
    args, asked = (N, 0.5, a, b, inout, np.zeros(N, np.float32)), ("a", "bias")
    wanted = kernel.vjp[WHERE](*args, cotangents={"y": seed})

    def fails(*_: object, **__: object) -> Path:
        raise adgen.ToolchainError("no compiler any more")

    monkeypatch.setattr("enzyme_driver.cache.build", fails)
    found = kernel.vjp[WHERE](*args, cotangents={"y": seed}, wrt=asked)
    for name in asked:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-5)
