"""Functions of Thrust's complex numbers: what they compute is NumPy's, and they have derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.runtime.kernel import Kernel

pytestmark = pytest.mark.usefixtures("toolchain")

FUNCTIONS = ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
N = 24
KERNEL = """\
__global__ void NAME_REAL(const thrust::complex<REAL> *z, thrust::complex<REAL> *w, int n) {
    int i = threadIdx.x;
    if (i < n) w[i] = thrust::NAME(z[i]MORE);
}
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> adgen.Module:
    file = tmp_path_factory.mktemp("complex") / "functions.cu"
    named = [*((name, "") for name in FUNCTIONS), ("pow", ", REAL(1.5)")]
    each = [KERNEL.replace("NAME", name).replace("MORE", more) for name, more in named]
    both = [text.replace("REAL", real) for text in each for real in ("float", "double")]
    file.write_text("#include <thrust/complex.h>\n" + "".join(both), encoding="utf-8")
    return adgen.compile(file)


@pytest.mark.parametrize("name", [*FUNCTIONS, "pow"])
@pytest.mark.parametrize("real", ["float", "double"])
def test_function(module: adgen.Module, name: str, real: str) -> None:
    rng = np.random.default_rng()
    z = (rng.uniform(0.2, 1.5, N) * np.exp(1j * rng.uniform(-3, 3, N))).astype("c8" if real == "float" else "c16")
    z[:3] = [0.6 + 0.8j, 30 + 1j, -30 + 2j] if name == "tanh" else [0.6 + 0.8j, 1, 2j]
    w = np.zeros_like(z)
    function = module[f"{name}_{real}"]
    assert isinstance(function, Kernel)
    function[1, 32](z, w, N)
    expected = z**1.5 if name == "pow" else getattr(np, name)(z)
    np.testing.assert_allclose(w, expected, rtol=2e-5 if real == "float" else 1e-13)
    function.check[1, 32](z, w, N)


@pytest.mark.parametrize("name", ["exp", "sinh", "cosh", "sin", "cos"])
@pytest.mark.parametrize(("real", "large"), [("float", 89.0), ("double", 710.0)])
def test_results_below_overflow_of_their_exponentials(module: adgen.Module, name: str, real: str, large: float) -> None:
    z = np.array([large + 1.57j, large + 1.5709j, large + 1j, 1j], "c16")
    z = 1j * z if name in {"sin", "cos"} else z
    z = np.concatenate([z, -z]).astype("c8" if real == "float" else "c16")
    w = np.zeros_like(z)
    function = module[f"{name}_{real}"]
    assert isinstance(function, Kernel)
    function[1, 32](z, w, len(z))
    with np.errstate(over="ignore"):
        expected = getattr(np, name)(z.astype("c16"))
    fits = (np.abs(expected.real) < np.finfo(z.dtype).max, np.abs(expected.imag) < np.finfo(z.dtype).max)
    assert fits[0].sum() > len(z) / 2
    rtol = 5e-5 if real == "float" else 1e-12
    np.testing.assert_allclose(w.real[fits[0]], expected.real[fits[0]], rtol=rtol, atol=1e-6)
    np.testing.assert_allclose(w.imag[fits[1]], expected.imag[fits[1]], rtol=rtol, atol=1e-6)
