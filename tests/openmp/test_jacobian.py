"""Sparse Jacobians on the host against dense ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.errors import ArgumentError, CheckFailedError
from enzyme_driver.runtime.transforms.colouring import coloured
from enzyme_driver.runtime.transforms.star_colouring import star

pytestmark = [pytest.mark.openmp, pytest.mark.usefixtures("toolchain")]
sparse = pytest.importorskip("scipy.sparse")

SOURCE = """
__global__ void stencil(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) y[i] = sin(x[i - 1]) * x[i] + exp(x[i + 1]);
  else if (i < n) y[i] = x[i] * x[i];
}

__global__ void relax(double *u, const float *w, const int *at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) u[i] = u[i] * u[i] + w[at[i]];
}

__global__ void sums(const float *x, float *rows, int n) {
  __shared__ float part[8];
  part[threadIdx.x] = x[blockIdx.x * 8 + threadIdx.x] * x[blockIdx.x * 8 + threadIdx.x];
  __syncthreads();
  for (int half = 4; half; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) rows[blockIdx.x] = part[0];
}
"""
N = 37


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401
    source = tmp_path_factory.mktemp("jacobian") / "sparse.cu"
    source.write_text(SOURCE)
    return adgen.compile(source, modes=["forward"])


def _tridiagonal() -> Any:  # noqa: ANN401
    pattern = sparse.diags_array([np.ones(N - 1), np.ones(N), np.ones(N - 1)], offsets=[-1, 0, 1]).tolil()
    pattern[0, 1] = pattern[N - 1, N - 2] = 0
    return pattern.tocsr()


def _exact(x: Any) -> Any:  # noqa: ANN401
    wanted = np.diag(np.sin(np.roll(x, 1)))
    for i in range(1, N - 1):
        wanted[i, i - 1], wanted[i, i + 1] = np.cos(x[i - 1]) * x[i], np.exp(x[i + 1])
    wanted[0, 0], wanted[-1, -1] = 2 * x[0], 2 * x[-1]
    return wanted


def test_a_stencil_needs_three_directions(kernels: Any) -> None:  # noqa: ANN401
    x, pattern = np.random.default_rng(0).uniform(-1, 1, N), _tridiagonal()
    known = coloured(pattern, (N, N))
    assert (known.column_colours, known.row_colours) == (3, 3)
    found = kernels.stencil.jacobian[2, 32](x, np.zeros(N), N, of="y", wrt="x", pattern=pattern, check=True)
    assert found.nnz == 3 * N - 4
    np.testing.assert_allclose(found.toarray(), _exact(x), rtol=1e-12)


def test_without_a_pattern_all_entries_are_there(kernels: Any) -> None:  # noqa: ANN401
    x = np.random.default_rng(0).uniform(-1, 1, N)
    found = kernels.stencil.jacobian[2, 32](x, np.zeros(N), N, of="y", wrt="x", check=True)
    np.testing.assert_allclose(found.toarray(), _exact(x), rtol=1e-12)


@pytest.mark.parametrize("dropped", [(5, 6), (5, 5), (0, 0)])
def test_an_entry_that_the_pattern_lacks_is_found(kernels: Any, dropped: tuple[int, int]) -> None:  # noqa: ANN401
    x, pattern = np.random.default_rng(0).uniform(0.5, 1, N), _tridiagonal().tolil()
    pattern[dropped] = 0
    with pytest.raises(CheckFailedError, match="the pattern lacks an entry"):
        kernels.stencil.jacobian[2, 32](x, np.zeros(N), N, of="y", wrt="x", pattern=pattern.tocsr(), check=True)


def test_an_array_that_is_overwritten(kernels: Any) -> None:  # noqa: ANN401
    u, w = np.linspace(1, 2, N), np.ones(N, np.float32)
    at, before = np.random.default_rng(0).integers(0, N, N).astype(np.int32), u.copy()
    own = kernels.relax.jacobian[2, 32](u, w, at, N, of="u", wrt="u", pattern=sparse.eye_array(N).tocsr(), check=True)
    assert (u == before).all()
    np.testing.assert_allclose(own.toarray(), np.diag(2 * u), rtol=1e-12)
    gathered = sparse.csr_array((np.ones(N), (np.arange(N), at)), shape=(N, N))
    by_w = kernels.relax.jacobian[2, 32](u, w, at, N, of="u", wrt="w", pattern=gathered, check=True)
    assert (by_w.toarray() == gathered.toarray()).all()


def test_rows_without_a_common_column_go_back_together(kernels: Any) -> None:  # noqa: ANN401
    x = np.random.default_rng(0).uniform(-1, 1, 32).astype(np.float32)
    pattern = sparse.csr_array(np.kron(np.eye(4), np.ones((1, 8))))
    known = coloured(pattern, (4, 32))
    assert (known.column_colours, known.row_colours) == (8, 1)
    found = kernels.sums.jacobian[4, 8](x, np.zeros(4, np.float32), 32, of="rows", wrt="x", pattern=pattern, check=True)
    np.testing.assert_allclose(found.toarray(), pattern.toarray() * 2 * x, rtol=1e-6)


def test_what_is_no_pattern(kernels: Any) -> None:  # noqa: ANN401
    x, y, run = np.zeros(N), np.zeros(N), kernels.stencil.jacobian[2, 32]
    with pytest.raises(ArgumentError, match=r"the Jacobian is \(37, 37\)"):
        run(x, y, N, of="y", wrt="x", pattern=sparse.eye_array(N - 1))
    with pytest.raises(ArgumentError, match="no array 'n' with a derivative"):
        run(x, y, N, of="y", wrt="n")
    empty = run(x, y, N, of="y", wrt="x", pattern=sparse.csr_array((N, N)))
    assert empty.nnz == 0


HESSIAN = """
__global__ void chain(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1) y[i] = sin(x[i]) * x[i + 1] * x[i + 1];
  else if (i < n) y[i] = x[i] * x[i] * x[i];
}
"""


def test_a_sparse_hessian(tmp_path: Path) -> None:
    """A tridiagonal one needs three products whatever its size, found from the Jacobian's pattern or given."""
    source = tmp_path / "chain.cu"
    source.write_text(HESSIAN)
    kernel = adgen.compile(source, modes=["second"])
    x, weights = np.random.default_rng(2).normal(size=(2, N))
    y = np.zeros(N)
    wanted = np.zeros((N, N))
    for i in range(N - 1):
        wanted[i, i] -= weights[i] * np.sin(x[i]) * x[i + 1] ** 2
        wanted[i + 1, i + 1] += weights[i] * 2 * np.sin(x[i])
        wanted[i, i + 1] = wanted[i + 1, i] = weights[i] * 2 * np.cos(x[i]) * x[i + 1]
    wanted[-1, -1] += 6 * weights[-1] * x[-1]
    pattern = sparse.diags_array([np.ones(N - 1), np.ones(N), np.ones(N - 1)], offsets=[-1, 0, 1])
    assert star(pattern, N).colour_count <= 3
    for given in (None, pattern):
        found = kernel.chain.hessian[2, 32](x, y, N, of="y", wrt="x", pattern=given, cotangents={"y": weights})
        np.testing.assert_allclose(found.toarray(), wanted, atol=1e-12)
        assert found.nnz == 3 * N - 2
    with pytest.raises(ArgumentError, match="symmetric"):
        kernel.chain.hessian[2, 32](x, y, N, of="y", wrt="x", pattern=sparse.triu(pattern))


@pytest.mark.parametrize("density", [0.02, 0.1, 0.3])
def test_each_entry_of_a_hessian_stands_alone(density: float) -> None:
    """The products of a random symmetric matrix with its colours hold every entry."""
    rng = np.random.default_rng(int(100 * density))
    upper = sparse.triu(sparse.random_array((40, 40), density=density, rng=rng))
    matrix = sparse.csr_array(upper + upper.T)
    known = star(matrix, 40)
    products = (known.colours[None] == np.arange(known.colour_count)[:, None]) @ matrix.toarray().T
    colour, row = known.places
    np.testing.assert_array_equal(products[colour, row], matrix.data)


ARROW = """
__global__ void arrow(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i > 0) { y[i] = x[i] * x[0]; return; }
  double sum = 0;
  for (int j = 0; j < n; ++j) sum += x[j] * x[j];
  y[0] = sum;
}
"""


def test_an_arrow_needs_three_directions(tmp_path: Path) -> None:
    """A full row, a full column and a diagonal: the row is carried back, and two colours of columns forward."""
    source = tmp_path / "arrow.cu"
    source.write_text(ARROW)
    kernel = adgen.compile(source, modes=["forward"])
    x, y = np.random.default_rng(2).normal(size=N), np.zeros(N)
    wanted = np.diag(np.full(N, x[0]))
    wanted[:, 0], wanted[0] = x, 2 * x
    pattern = sparse.csr_array(wanted != 0)
    known = coloured(pattern, (N, N))
    assert min(known.column_colours, known.row_colours) == N
    assert known.both_ways
    assert sum(part.column_colours if forward else part.row_colours for forward, part, _ in known.both_ways) == 3
    for given in (pattern, None):
        found = kernel.arrow.jacobian[2, 32](x, y, N, of="y", wrt="x", pattern=given, check=True)
        np.testing.assert_allclose(found.toarray(), wanted, rtol=1e-12)
