"""Products of single tiles on Tensor Cores, in all shapes, formats and layouts of wmma, and what they should give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Put = Callable[[Array], Any]
Get = Callable[[Any], Array]

SIDE = 32
"""All matrices lie in the corner of an array of so many rows and columns."""

_TYPES: Mapping[str, type] = {
    "half": np.float16,
    "__nv_bfloat16": ml_dtypes.bfloat16,
    "float": np.float32,
    "double": np.float64,
}
_ROUNDING: Mapping[str, float] = {"half": 2.0**-10, "__nv_bfloat16": 2.0**-7, "float": 2e-6, "double": 1e-14}
"""Relative to the sum of the absolute values of all products."""

_HEAD = """#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
template <class In, class Out, class Precision, int M, int N, int K, class LA, class LB>
__device__ void product(const In *a, const In *b, const Out *c, Out *d, wmma::layout_t layout)
{
  wmma::fragment<wmma::matrix_a, M, N, K, Precision, LA> left;
  wmma::fragment<wmma::matrix_b, M, N, K, Precision, LB> right;
  wmma::fragment<wmma::accumulator, M, N, K, Out> sum;
  wmma::load_matrix_sync(sum, c, SIDE, layout);
  wmma::load_matrix_sync(left, a, SIDE);
  wmma::load_matrix_sync(right, b, SIDE);
  if constexpr (sizeof(In) == 4) {
    for (int i = 0; i < left.num_elements; ++i) left.x[i] = wmma::__float_to_tf32(left.x[i]);
    for (int i = 0; i < right.num_elements; ++i) right.x[i] = wmma::__float_to_tf32(right.x[i]);
  }
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(d, sum, SIDE, layout);
}
"""


@dataclass(frozen=True)
class Product:
    """D = A B + C of one tile. `layouts` has `r` (row by row) or `c` (column by column) for A, B, and both C and D."""

    factor: str
    sum: str
    shape: tuple[int, int, int]
    layouts: str

    @property
    def name(self) -> str:
        return "_".join((self.factor.strip("_"), self.sum, *map(str, self.shape), self.layouts))

    @property
    def source(self) -> str:
        """A kernel of that name."""
        precision = "wmma::precision::tf32" if self.factor == "float" else self.factor
        words = [{"r": "wmma::row_major", "c": "wmma::col_major"}[layout] for layout in self.layouts[:2]]
        arguments = ", ".join((self.factor, self.sum, precision, *map(str, self.shape), *words))
        layout = {"r": "wmma::mem_row_major", "c": "wmma::mem_col_major"}[self.layouts[2]]
        parameters = f"const {self.factor} *a, const {self.factor} *b, const {self.sum} *c, {self.sum} *d"
        return f"__global__ void {self.name}({parameters}) {{ product<{arguments}>(a, b, c, d, {layout}); }}\n"

    def assert_right(self, kernel: Any, seed: int, put: Put, get: Get, *, forward: bool) -> None:  # noqa: ANN401
        """The primal, the gradient and, with `forward`, the tangents of `kernel` are those of the closed form."""
        rng = np.random.default_rng(seed)
        (m, n, k), (of_a, of_b, of_c) = self.shape, tuple(self.layouts)
        factor, total = _TYPES[self.factor], _TYPES[self.sum]
        kinds = (factor, factor, total, total, total, factor, factor, total)
        drawn: list[Array] = [rng.uniform(-1, 1, (SIDE, SIDE)).astype(kind) for kind in kinds]
        a, b, c, d, g, da, db, dc = drawn
        arguments = [put(each) for each in (a, b, c, d)]
        result = kernel.vjp[1, 32](*arguments, cotangents={"d": put(g)}, wrt=("a", "b", "c"))
        left, right = _corner(_taken(a, self), m, k, of_a), _corner(_taken(b, self), k, n, of_b)
        cotangent = _corner(g, m, n, of_c)
        self._assert_near(_corner(get(result["a"]).view(factor), m, k, of_a), cotangent, right.T, self.factor)
        self._assert_near(_corner(get(result["b"]).view(factor), k, n, of_b), left.T, cotangent, self.factor)
        np.testing.assert_array_equal(_corner(get(result["c"]).view(total), m, n, of_c), cotangent)
        for name, rows, columns, layout in (("a", m, k, of_a), ("b", k, n, of_b), ("c", m, n, of_c)):
            beside = get(result[name]).view(total if name == "c" else factor).astype(np.float64)
            _corner(beside, rows, columns, layout, own=True)[:] = 0
            assert not beside.any(), f"the gradient by {name} is not zero beside the matrix"
        kernel[1, 32](*arguments)
        sums = _corner(get(arguments[3]).view(total), m, n, of_c) - _corner(c, m, n, of_c)
        self._assert_near(sums, left, right, self.sum)
        if forward:
            tangents = {"a": put(da), "b": put(db), "c": put(dc)}
            moved = kernel.jvp[1, 32](*arguments, tangents=tangents)["d"]
            found = _corner(get(moved).view(total), m, n, of_c) - _corner(dc, m, n, of_c)
            lefts = np.hstack([_corner(da, m, k, of_a), left])
            self._assert_near(found, lefts, np.vstack([right, _corner(db, k, n, of_b)]), self.sum)

    @staticmethod
    def _assert_near(found: Array, left: Array, right: Array, kind: str) -> None:
        size = np.abs(left) @ np.abs(right) + 1
        assert np.abs(found - left @ right).max() <= 2 * _ROUNDING[kind] * size.max()


def _corner(array: Array, rows: int, columns: int, layout: str, *, own: bool = False) -> Array:
    corner = array[:rows, :columns] if layout == "r" else array[:columns, :rows].T
    return corner if own else corner.astype(np.float64)


def _taken(factor: Array, product: Product) -> Array:
    """What a Tensor Core takes of it."""
    if product.factor != "float":
        return factor
    return ((factor.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)


def _products() -> tuple[Product, ...]:
    shapes = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
    halves = [Product("half", "float", shape, layouts) for shape in shapes for layouts in ("rrr", "rcc", "ccr")]
    narrow = [Product("half", "half", *each) for each in zip(shapes, ("crc", "rcr", "rrc"), strict=True)]
    brains = [Product("__nv_bfloat16", "float", *each) for each in zip(shapes, ("rcr", "ccc", "rrr"), strict=True)]
    wide = [Product("float", "float", (16, 16, 8), layouts) for layouts in ("rrr", "ccc", "rcr")]
    double = [Product("double", "double", (8, 8, 4), layouts) for layouts in ("rrr", "ccc", "crr")]
    return (*halves, *narrow, *brains, *wide, *double)


PRODUCTS = _products()
SOURCE = _HEAD.replace("SIDE", str(SIDE)) + "".join(product.source for product in PRODUCTS)
