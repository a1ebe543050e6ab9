"""Tensors on the host: every operator against NumPy and finite differences, on shapes and numbers drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_support import OPERATORS, STEP, WRITE_SHADOWS, check_operator, check_whole_shadows

import enzyme_driver as adgen
from enzyme_driver import tensor as ad
from enzyme_driver.runtime.backends.teams import wanted_threads
from enzyme_driver.tensor import launches, operators
from enzyme_driver.tensor.application import apply
from enzyme_driver.tensor.devices import Name

Array = np.ndarray[Any, np.dtype[Any]]

DEVICES: tuple[Name, ...] = ("cpu", "openmp")
extents, wide = st.integers(1, 70), st.integers(1, 200)
ON = ad.Device("openmp")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", OPERATORS)
@settings(max_examples=6)
@given(rows=extents, columns=extents, depth=extents, seed=st.integers(0, 2**31))
def test_operator(device: Name, name: str, rows: int, columns: int, depth: int, seed: int) -> None:
    check_operator(device, name, rows, columns, depth, seed)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", WRITE_SHADOWS)
@settings(max_examples=8)
@given(rows=wide, columns=wide, seed=st.integers(0, 2**31))
def test_whole_shadows_are_written(name: str, rows: int, columns: int, seed: int) -> None:
    check_whole_shadows("openmp", name, rows, columns, seed)


PRODUCTS: dict[str, tuple[operators.Operator, Callable[[Array, Array], tuple[Array, Array]]]] = {
    "plain": (operators.MATMUL, lambda a, b: (a, b)),
    "first turned": (operators.MATMUL_TURNED_A, lambda a, b: (a.T, b)),
    "second turned": (operators.MATMUL_TURNED_B, lambda a, b: (a, b.T)),
}


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("kernel", [kernel for kernel in launches.PRODUCTS if kernel != "large"])  # of GPUs
@pytest.mark.parametrize("layout", PRODUCTS)
@settings(max_examples=8)
@given(rows=wide, columns=wide, depth=extents, seed=st.integers(0, 2**31))
def test_every_kernel_of_the_product(kernel: str, layout: str, rows: int, columns: int, depth: int, seed: int) -> None:
    operator, lying = PRODUCTS[layout]
    rng = np.random.default_rng(seed)
    a, b, cotangent = (rng.standard_normal(shape) for shape in ((rows, depth), (depth, columns), (rows, columns)))
    launch = next(item for item in operator.choices(False, (rows, columns, depth)) if item.kernel == kernel)
    arrays = tuple(map(np.ascontiguousarray, lying(a, b)))
    applied = apply(operator, ON, arrays, launch)
    np.testing.assert_allclose(applied.out, a @ b, rtol=1e-10, atol=1e-10)
    shadows = [np.ones_like(array) for array in arrays]
    applied.backward(cotangent.copy(), shadows)
    for shadow, expected in zip(shadows, lying(cotangent @ b.T, a.T @ cotangent), strict=True):
        np.testing.assert_allclose(shadow, 1 + expected, rtol=1e-10, atol=1e-10)


@pytest.mark.usefixtures("toolchain")
def test_single_precision() -> None:
    values = np.random.default_rng().uniform(0.5, 2, (9, 13)).astype(np.float32)
    a = ad.tensor(values, ad.Device("openmp"), requires_grad=True)
    ad.sum(ad.log(a) * a).backward()
    assert a.grad.dtype == np.float32
    np.testing.assert_allclose(a.grad, np.log(values) + 1, rtol=1e-5)


@pytest.mark.usefixtures("toolchain")
def test_operands_are_repeated_to_a_common_shape_and_gradients_added_up() -> None:
    rng, on = np.random.default_rng(), ad.Device("openmp")
    matrix, row, column = (rng.uniform(0.5, 2, shape) for shape in ((4, 3), (1, 3), (4, 1)))
    a, b, c = (ad.tensor(value, on, requires_grad=True) for value in (matrix, row, column))
    result = 2.0 / (a * b - c) + (a * a) ** 0.5
    np.testing.assert_allclose(result.numpy(), 2 / (matrix * row - column) + matrix, rtol=1e-12)
    ad.sum(result).backward()
    inner = -2 / (matrix * row - column) ** 2
    np.testing.assert_allclose(a.grad, inner * row + 1, rtol=1e-10)
    np.testing.assert_allclose(b.grad, (inner * matrix).sum(0, keepdims=True), rtol=1e-10)
    np.testing.assert_allclose(c.grad, -inner.sum(1, keepdims=True), rtol=1e-10)


@pytest.mark.usefixtures("toolchain")
def test_a_cotangent_that_several_tensors_have_is_changed_by_none_of_them() -> None:
    rng, on = np.random.default_rng(), ad.Device("openmp")
    values = [rng.uniform(0.5, 2, (5, 4)) for _ in range(3)]
    a, b, c = (ad.tensor(value, on, requires_grad=True) for value in values)
    weights = rng.standard_normal((5, 4))
    (a + b).backward(weights)
    assert not np.shares_memory(a.grad, b.grad)
    a.grad *= 2.0
    np.testing.assert_array_equal(b.grad, weights)
    a.grad = b.grad = None
    together = a + ad.copy(b)
    result = (together + together) + (ad.copy(together) - c) + (ad.exp(together) + (a + a))
    result.backward(weights)
    common = weights * (3 + np.exp(values[0] + values[1]))
    np.testing.assert_allclose(a.grad, common + 2 * weights, rtol=1e-12)
    np.testing.assert_allclose(b.grad, common, rtol=1e-12)
    np.testing.assert_array_equal(c.grad, -weights)


@pytest.mark.usefixtures("toolchain")
def test_a_network_of_two_layers() -> None:
    rng, on = np.random.default_rng(), ad.Device("openmp")
    x, first, second = rng.standard_normal((20, 6)), rng.standard_normal((6, 9)), rng.standard_normal((9, 4))
    chosen = np.eye(4)[rng.integers(0, 4, 20)]

    def loss(one: Array, two: Array) -> tuple[ad.Tensor, ad.Tensor, ad.Tensor]:
        a, b = (ad.tensor(value, on, requires_grad=True) for value in (one, two))
        logarithms = ad.log_softmax(ad.relu(ad.tensor(x, on) @ a) @ b)
        return ad.negative_log_likelihood(logarithms, ad.tensor(chosen, on)), a, b

    found, a, b = loss(first, second)
    logits = np.maximum(x @ first, 0) @ second
    expected = np.log(np.exp(logits).sum(1)) - (logits * chosen).sum(1)
    assert found.item() == pytest.approx(expected.mean())
    found.backward()
    along = rng.standard_normal(first.shape), rng.standard_normal(second.shape)
    ahead, behind = (loss(first + s * STEP * along[0], second + s * STEP * along[1])[0].item() for s in (1, -1))
    assert (a.grad * along[0]).sum() + (b.grad * along[1]).sum() == pytest.approx(
        (ahead - behind) / (2 * STEP), rel=1e-5
    )


@pytest.mark.usefixtures("toolchain")
def test_nothing_is_remembered_without_gradients() -> None:
    on = ad.Device("openmp")
    a = ad.tensor([1.0, 2.0], on, requires_grad=True)
    with ad.no_grad():
        assert not (a * a).requires_grad
    assert not ad.exp(ad.tensor([1.0], on)).requires_grad
    result = a * a
    result.backward([[1.0, 1.0]])
    (a * 3.0).backward([[1.0, 1.0]])
    np.testing.assert_allclose(a.grad, [[5, 7]])


WRONG: tuple[tuple[str, Callable[[ad.Tensor], object]], ...] = (
    ("do not fit together", lambda a: a + ad.tensor(np.ones((3, 3)), ON)),
    ("have no product", lambda a: a @ a),
    ("no axis", lambda a: ad.sum(a, 2)),
    ("more than one element along axis", lambda a: ad.broadcast(a, 3, 0)),
    ("no number of copies", lambda a: ad.broadcast(ad.sum(a), 0, 0)),
    ("holds float64, the other float32", lambda a: a + ad.tensor(np.ones((2, 3), np.float32), ON)),
    ("on openmp, the other on cpu", lambda a: a + ad.tensor(np.ones((2, 3)), ad.Device("cpu"))),
    ("needs a cotangent", lambda a: ad.exp(a).backward()),
    ("the cotangent has the shape", lambda a: ad.exp(a).backward(np.ones((1, 2)))),
    ("is not one number", lambda a: a.item()),
    ("neither operand is a tensor", lambda _: ad.add(1.0, 2.0)),
    ("two axes", lambda _: ad.tensor(np.ones((2, 2, 2)), ON)),
    ("int64 do not exist", lambda _: ad.tensor([1, 2], ON, dtype="int64")),
    ("not a type of numbers", lambda _: ad.tensor(["a"], ON)),
)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize(("message", "call"), WRONG, ids=[message for message, _ in WRONG])
def test_what_does_not_fit_is_an_error(message: str, call: Callable[[ad.Tensor], object]) -> None:
    with pytest.raises(adgen.ArgumentError, match=message) as caught:
        call(ad.tensor(np.ones((2, 3)), ON, requires_grad=True))
    assert caught.value.hint


def test_devices_have_names() -> None:
    with pytest.raises(adgen.UsageError, match="is no device"):
        ad.Device("tpu")  # type: ignore[arg-type]
    with ad.Device("cpu").running():
        assert wanted_threads() == 1
    assert wanted_threads() is None
