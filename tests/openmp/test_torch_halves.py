"""PyTorch's class of 16-bit numbers and the types that a tensor is asked for, without PyTorch's headers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

SOURCE = Path(__file__).with_name("torch_halves.cu")


def test_each_type_that_may_be_asked_for_has_its_kernel(toolchain: object) -> None:
    del toolchain
    module = adgen.compile(SOURCE)
    names = {each.name for each in module.signatures}
    assert module["looked_up<at::Half, 2>"].signature.name == "looked_up<c10::Half, 2>"
    others = ("squared_through_words", "pooled", "summed_by_warp")
    assert names == {*others, *(f"looked_up<{x}, 2>" for x in ("double", "float", "c10::Half"))}


def test_bits_that_go_through_words(toolchain: object) -> None:
    del toolchain
    random = np.random.default_rng()
    x, cotangent = random.normal(size=(2, 8)).astype(np.float16)
    kernel = adgen.compile(SOURCE, kernel="squared_through_words", target="openmp")
    found = kernel.vjp[1, 8](x, np.zeros(8, np.float16), 8, cotangents={"y": cotangent})
    assert np.allclose(found["x"], 2.0 * x * cotangent, rtol=1e-2)


def test_the_largest_takes_the_cotangent(toolchain: object) -> None:
    del toolchain
    x = np.random.default_rng(4).permutation(32).reshape(4, 8).astype(np.float16)
    y, place = np.zeros(4, np.float16), np.zeros(4, np.int32)
    kernel = adgen.compile(SOURCE, kernel="pooled", target="openmp")
    kernel[1, 4](x, y, place, 8)
    assert (y == x.max(1)).all()
    assert (place == x.argmax(1)).all()
    cotangent = np.array([1, 2, 3, 4], np.float16)
    found = kernel.vjp[1, 4](x, y, place, 8, cotangents={"y": cotangent})["x"]
    assert (found == cotangent[:, None] * (x == y[:, None])).all()


def test_bits_of_the_other_class_are_added(toolchain: object) -> None:
    del toolchain
    x = np.random.default_rng(5).integers(-300, 300, 32).astype(np.float16) / np.float16(2)
    y, rounded = np.zeros(1, np.float16), np.zeros(32, np.int8)
    kernel = adgen.compile(SOURCE, kernel="summed_by_warp", target="openmp")
    kernel[1, 32](x, y, rounded)
    assert y[0] == x.sum()
    assert (rounded == np.clip(np.trunc(x.astype(float)), -128, 127)).all()
    found = kernel.vjp[1, 32](x, y, rounded, cotangents={"y": np.ones(1, np.float16)})["x"]
    assert (found == 1).all()


@pytest.mark.parametrize(("name", "dtype"), [("float", np.float32), ("at::Half", np.float16)])
def test_the_gradient(name: str, dtype: type[np.floating], toolchain: object) -> None:
    del toolchain
    random = np.random.default_rng(3)
    size, n = 6, 16
    at = random.uniform(size=n).astype(np.float32)
    table = random.normal(size=(size, 2)).astype(dtype)
    cotangent = random.normal(size=(n, 2)).astype(dtype)
    kernel = adgen.compile(SOURCE, kernel=f"looked_up<{name}, 2>", target="openmp")
    out, total = np.zeros((n, 2), dtype), np.zeros(1, dtype)
    found = kernel.vjp[1, n](at, table, out, total, n, size, cotangents={"out": cotangent, "total": np.ones(1, dtype)})

    place = at.astype(np.float64) * (size - 1)
    low = np.minimum(place.astype(int), size - 2)
    weight = (place - low)[:, None]
    values = 2 * ((1 - weight) * table[low] + weight * table[low + 1]).astype(np.float64)
    taken = cotangent.astype(np.float64)
    taken[:, 0] += 1
    taken *= np.where(values < 0, -0.5, 2)
    expected = np.zeros((size, 2))
    np.add.at(expected, low, (1 - weight) * taken)
    np.add.at(expected, low + 1, weight * taken)
    assert np.allclose(found["table"], expected, atol=2e-2 if dtype is np.float16 else 1e-5)
