"""Tensor Core products on the host against their closed form, and what wmma orders among the lanes of a warp."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensor_core_support import PRODUCTS, SOURCE, Product

import enzyme_driver as adgen

WITHOUT_BARRIERS = """
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda::wmma;
__global__ void chained(const __half *a, const __half *b, float *d, int steps)
{
  __shared__ __half tile[256];
  __shared__ float sums[256];
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, row_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  load_matrix_sync(right, b, 16);
  for (int s = 0; s < steps; ++s) {
    for (int i = threadIdx.x; i < 256; i += 32) tile[i] = a[s * 256 + i];
    load_matrix_sync(left, tile, 16);
    mma_sync(sum, left, right, sum);
    store_matrix_sync(sums, sum, 16, mem_row_major);
    load_matrix_sync(sum, sums, 16, mem_col_major);
  }
  store_matrix_sync(d, sum, 16, mem_row_major);
}
"""
"""What lanes write, others load as a tile, and the reverse: all wmma waits for, and nothing else does."""


@pytest.fixture(scope="module")
def products(tmp_path_factory: pytest.TempPathFactory, toolchain: object) -> Any:  # noqa: ANN401, ARG001
    path = tmp_path_factory.mktemp("tensor_cores") / "products.cu"
    path.write_text(SOURCE, encoding="utf-8")
    return adgen.compile(path, modes="forward")


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_products_have_their_closed_form(product: Product, products: Any) -> None:  # noqa: ANN401
    product.assert_right(products[product.name], secrets.randbits(31), np.copy, np.asarray, forward=True)


@pytest.mark.usefixtures("toolchain")
def test_tiles_that_only_wmma_orders_wait_for_all_lanes(tmp_path: Path) -> None:
    path = tmp_path / "chained.cu"
    path.write_text(WITHOUT_BARRIERS, encoding="utf-8")
    kernel: Any = adgen.compile(path, kernel="chained", modes="forward")
    rng = np.random.default_rng(secrets.randbits(31))
    a, b = rng.uniform(-1, 1, (3, 16, 16)).astype(np.float16), rng.uniform(-1, 1, (16, 16)).astype(np.float16)
    d, g = np.zeros((16, 16), np.float32), rng.uniform(-1, 1, (16, 16)).astype(np.float32)
    first, second, third = a.astype(np.float64)
    right, cotangent = b.astype(np.float64), g.astype(np.float64)
    found = kernel.vjp[1, 32](a, b, d, 3, cotangents={"d": g}, wrt=("a", "b"))
    kernel[1, 32](a, b, d, 3)
    # d = ((A1 B)^T + A2 B)^T + A3 B, transposed
    np.testing.assert_allclose(d, (first @ right + (second @ right).T + third @ right).T, atol=1e-4)
    towards = np.stack([cotangent.T, cotangent, cotangent.T])
    np.testing.assert_allclose(found["a"], towards @ right.T, atol=0.02)
    by_right = first.T @ cotangent.T + second.T @ cotangent + third.T @ cotangent.T
    np.testing.assert_allclose(found["b"], by_right, atol=0.05)
