"""Tensor Core products on the GPU against their closed form: the layouts of all shapes, and the adjoints."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensor_core_support import PRODUCTS, SOURCE, Array, Product

import enzyme_driver as adgen

cupy = pytest.importorskip("cupy")


def _put(array: Array) -> Any:  # noqa: ANN401
    """On the GPU; CuPy has no bfloat16, but its bits."""
    return cupy.asarray(array.view(np.uint16) if array.dtype.name == "bfloat16" else array)


@pytest.fixture(scope="module")
def products(tmp_path_factory: pytest.TempPathFactory, toolchain: object) -> Any:  # noqa: ANN401, ARG001
    path: Path = tmp_path_factory.mktemp("tensor_cores") / "products.cu"
    path.write_text(SOURCE, encoding="utf-8")
    return adgen.compile(path, target="cuda", modes="forward")


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_products_have_their_closed_form(product: Product, products: Any) -> None:  # noqa: ANN401
    product.assert_right(products[product.name], secrets.randbits(31), _put, lambda array: array.get(), forward=True)
