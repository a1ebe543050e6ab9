"""What the gradient of a recursion keeps: very many small blocks, which come from lists that each thread has."""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from benchmarks.host_adjoints import SOURCE
from enzyme_driver.runtime.function import Function

pytestmark = pytest.mark.usefixtures("toolchain")

PARALLEL = """
static double minors(const double *m, int n, int row, unsigned columns) {
  if (row == n)
    return 1;
  double sum = 0, sign = 1;
  for (int j = 0; j < n; j++)
    if (columns >> j & 1) {
      sum += sign * m[row * n + j] * minors(m, n, row + 1, columns & ~(1u << j));
      sign = -sign;
    }
  return sum;
}
double determinants(const double *matrices, int count, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < count; i++)
    sum += minors(matrices + i * n * n, n, 0, (1u << n) - 1);
  return sum;
}
"""


def cofactors(matrices: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.linalg.det(matrices)[..., None, None] * np.swapaxes(np.linalg.inv(matrices), -1, -2)
    return found


@pytest.fixture(scope="module")
def determinant() -> Function:
    return adgen.compile(SOURCE, function="determinant", verify="never")


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_determinant_by_minors(determinant: Function, n: int) -> None:
    matrix = np.random.default_rng(n).standard_normal((n, n))
    np.testing.assert_allclose(determinant.vjp(matrix, n)["matrix"], cofactors(matrix), rtol=1e-9, atol=1e-12)


def test_threads_of_python(determinant: Function) -> None:
    """Which end, and whose blocks others take."""
    matrices = np.random.default_rng(1).standard_normal((40, 5, 5))
    for _ in range(3):
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda matrix: determinant.vjp(matrix, 5)["matrix"], matrices))
        np.testing.assert_allclose(found, cofactors(matrices), rtol=1e-9, atol=1e-12)


def test_memory_is_used_again(determinant: Function) -> None:
    matrix = np.random.default_rng(2).standard_normal((7, 7))
    for _ in range(5):
        determinant.vjp(matrix, 7)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        determinant.vjp(matrix, 7)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 << 10  # KiB


def test_threads_of_openmp(tmp_path: Path) -> None:
    path = tmp_path / "determinants.cpp"
    path.write_text(PARALLEL, encoding="utf-8")
    function = adgen.compile(path, function="determinants", verify="never")
    matrices = np.random.default_rng(3).standard_normal((50, 5, 5))
    for threads in (1, 3):
        with adgen.threads(threads):
            found = function.vjp(matrices, 50, 5)["matrices"]
        np.testing.assert_allclose(found, cofactors(matrices), rtol=1e-9, atol=1e-12)
