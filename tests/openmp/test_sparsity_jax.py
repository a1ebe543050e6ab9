"""Sparse Jacobians of six kernels of the collection against forward mode of JAX, of the same mathematics in JAX."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from cuda_kernels.suite import by_name

pytest.importorskip("scipy.sparse")
jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

pytestmark = [pytest.mark.openmp, pytest.mark.usefixtures("toolchain")]

Args = dict[str, Any]


def embed(a: Args, table: Any) -> Any:  # noqa: ANN401
    return a["scale"][:, None] * table.reshape(-1, a["width"])[a["token"]]


def csr_product(a: Args, x: Any) -> Any:  # noqa: ANN401
    rows = np.repeat(np.arange(a["rows"]), np.diff(a["row_start"]))
    return jnp.zeros(a["rows"], x.dtype).at[rows].add(a["value"] * x[a["column"]])


def edge_strength(a: Args, image: Any) -> Any:  # noqa: ANN401
    padded = jnp.pad(image.reshape(a["height"], a["width"]), 1, mode="edge")
    across, down = padded[:, 2:] - padded[:, :-2], padded[2:] - padded[:-2]
    gx = across[:-2] + 2 * across[1:-1] + across[2:]
    gy = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    return jnp.sqrt(gx**2 + gy**2 + 1e-3)


def softmax(a: Args, given: Any) -> Any:  # noqa: ANN401
    return jax.nn.softmax(given.reshape(-1, a["columns"]), axis=1)


def scan(a: Args, x: Any) -> Any:  # noqa: ANN401
    del a
    return jnp.concatenate([jnp.cumsum(jnp.sin(x[first : first + 64])) for first in range(0, len(x), 64)])


def transpose(a: Args, given: Any) -> Any:  # noqa: ANN401
    return (given.reshape(a["rows"], a["columns"]) * a["scale"][:, None]).T


@pytest.mark.parametrize(
    ("case", "wrt", "of", "function"),
    [
        ("gather-embed", "table", "out", embed),
        ("csr_product-csr_product<int, double>", "x", "y", csr_product),
        ("image_gradient-edge_strength", "image", "strength", edge_strength),
        ("softmax_rows-softmax", "in", "out", softmax),
        ("scan-scan", "x", "prefix", scan),
        ("transpose_tile-transpose", "in", "out", transpose),
    ],
)
def test_against_jax(case: str, wrt: str, of: str, function: Callable[[Args, Any], Any]) -> None:
    drawn, seed = by_name()[case], secrets.randbits(31)
    args = drawn.make(np.random.default_rng(seed))
    with jax.enable_x64(True):
        exact = jax.jacfwd(lambda x: function(args, x).reshape(-1))(jnp.asarray(args[wrt], jnp.float64).reshape(-1))
        wanted = np.asarray(exact)
    kernel = adgen.compile(drawn.path, kernel=drawn.kernel, modes=["forward"])
    found = kernel.jacobian[drawn.launch](*args.values(), of=of, wrt=wrt, check=True)
    assert found.nnz == np.count_nonzero(wanted), f"seed {seed}"
    tolerance = 1e-10 if args[wrt].dtype == np.float64 else 2e-5
    np.testing.assert_allclose(found.toarray(), wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())
