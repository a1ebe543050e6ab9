"""Operators on NumPy arrays, and what is refused."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import operators_under_test as ops
import pytest

import enzyme_driver as adgen
from enzyme_driver.frameworks import Array, Launch

pytestmark = pytest.mark.usefixtures("toolchain")
RNG = np.random.default_rng(0)
U, K, C = RNG.standard_normal((3, 40))
FILE = str(Path(__file__).parent / "operators.cu")


def stepped(u: Any, k: Any) -> Any:
    for _ in range(3):
        u = u - 0.1 * k * u * u
    return u


def test_several_launches_that_change_an_array() -> None:
    before = U.copy()
    assert ops.decay(U, K) == pytest.approx(stepped(U, K), rel=1e-12)
    assert (before == U).all()
    found, h = ops.decay.vjp(U, K, cotangents=C), 1e-6
    assert found["u"] == pytest.approx(C * (stepped(U + h, K) - stepped(U - h, K)) / (2 * h), abs=1e-7)
    assert found["k"] == pytest.approx(C * (stepped(U, K + h) - stepped(U, K - h)) / (2 * h), abs=1e-7)


def test_an_active_number() -> None:
    a = np.array(1.3)
    assert ops.wave(U, a) == pytest.approx(np.sin(1.3 * U) * U, rel=1e-12)
    found = ops.wave.vjp(U, a, cotangents=C)
    assert float(found["a"]) == pytest.approx(float((C * np.cos(1.3 * U) * U * U).sum()), rel=1e-12)
    assert found["x"] == pytest.approx(C * (np.cos(1.3 * U) * U * 1.3 + np.sin(1.3 * U)), rel=1e-10)


def test_only_what_is_wanted() -> None:
    assert set(ops.wave.vjp(U, np.array(1.3), cotangents=C, wrt="a")) == {"a"}


def test_an_output_of_indices() -> None:
    x = RNG.standard_normal((5, 7))
    largest, where = ops.row_max(x)
    assert (where == x.argmax(1)).all()
    assert (largest == x.max(1)).all()
    found = ops.row_max.vjp(x, cotangents=(np.arange(5.0), None))["x"]
    assert (found == np.where(x == x.max(1, keepdims=True), np.arange(5.0)[:, None], 0)).all()


def test_a_function_that_returns_a_number() -> None:
    assert float(ops.weighted(U, K)) == pytest.approx(float((K * U * U).sum()), rel=1e-12)
    found = ops.weighted.vjp(U, K, cotangents=np.array(2.0))
    assert found["x"] == pytest.approx(4 * K * U, rel=1e-12)
    assert found["w"] == pytest.approx(2 * U * U, rel=1e-12)


def test_an_exception_names_the_operator_and_the_next_call_works() -> None:
    with pytest.raises(adgen.PrimalError, match=r"the operator checked_positive: .*a negative number"):
        ops.checked(np.array([-1.0]))
    assert ops.checked(np.array([3.0])) == pytest.approx([9.0])


def test_empty_arrays() -> None:
    nothing = np.empty((0, 5), np.float32)
    row = np.ones(5, np.float32)
    assert ops.layer_norm(nothing, row, row).shape == (0, 5)
    found = ops.layer_norm.vjp(nothing, row, row, cotangents=nothing)
    assert (found["gamma"] == np.zeros(5)).all()


def described(body: Any, **options: Any) -> adgen.Operator:
    return adgen.operator(FILE, kernel="decay", name="wrong", **options)(body)


def returns_input(launch: Launch, u: Array, k: Array) -> Any:
    del launch, k
    return u


def writes_input(launch: Launch, u: Array, k: Array) -> Any:
    launch(grid=1, block=32, args=(u, k, u.size))
    return launch.empty_like(u)


def returns_nothing(launch: Launch, u: Array, k: Array) -> None:
    launch(grid=1, block=32, args=(launch.copy(u), k, u.size))


def empty_grid(launch: Launch, u: Array, k: Array) -> Any:
    made = launch.copy(u)
    return launch(grid=0, block=32, args=(made, k, u.size), outputs=made)


def unwritten(launch: Launch, u: Array, k: Array) -> Any:
    launch(grid=1, block=32, args=(launch.copy(u), k, u.size))
    return launch.empty_like(u)


def twice_the_same(launch: Launch, u: Array, k: Array) -> Any:
    made = launch.copy(u)
    launch(grid=1, block=32, args=(made, k, u.size))
    return made, made


def of_a_table(launch: Launch, u: Array, k: Array) -> Any:
    rows, cols = u.shape
    return launch(grid=rows, block=cols, args=(launch.copy(u), k, u.size))


KEPT: list[Array] = []


def of_another_call(launch: Launch, u: Array, k: Array) -> Any:
    """The second plan is given the array of the first one, whose shape is another."""
    made = launch.copy(u)
    launch(grid=1, block=32, args=(made, k, u.size))
    KEPT.append(made)
    return KEPT[0]


def no_shape(launch: Launch, u: Array, k: Array) -> Any:
    made = launch.zeros(u.size - 100, u.dtype)
    return launch(grid=1, block=32, args=(made, k, u.size), outputs=made)


def too_few(launch: Launch, u: Array, k: Array) -> Any:
    made = launch.copy(u)
    return launch(grid=1, block=32, args=(made, k), outputs=made)


def like_a_tensor(launch: Launch, u: Any, k: Array) -> Any:
    return launch(grid=u.numel(), block=32, args=(launch.copy(u), k, u.size))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (like_a_tensor, r"no attribute 'numel'\n.*sees the shape, dtype, ndim and size of an array and nothing else"),
        (returns_input, "returns its own input 'u'"),
        (writes_input, "a launch writes to its input 'u'"),
        (returns_nothing, "returns NoneType"),
        (empty_grid, "an empty grid"),
        (unwritten, "returns an array that no launch writes"),
        (twice_the_same, "returns one array twice"),
        (of_a_table, r"fails for u: float64\[40\], k: float64\[40\]: not enough values"),
        (too_few, "takes 3 arguments, got 2"),
        (no_shape, r"no array has the shape \(-60,\)"),
    ],
)
def test_wrong_descriptions(body: Any, message: str) -> None:
    with pytest.raises(adgen.AdgenError, match=message) as caught:
        described(body)(U, K)
    assert "wrong" in str(caught.value)


def test_arrays_of_another_call_are_not_taken_for_its_own() -> None:
    operator = described(of_another_call)
    operator(U, K)
    with pytest.raises(adgen.UsageError, match="wrong: Array is no array of this launch"):
        operator(U[:20].copy(), K[:20].copy())


def test_zeros_of_either_sign_are_two_numbers() -> None:
    for eps, sign in ((0.0, 1.0), (-0.0, -1.0)):
        assert np.copysign(1.0, ops.signed(U, bias=eps)).tolist() == [sign] * U.size


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            (U.astype("f"), K),
            r"'u'.*expected a .*float64.*\n.*x\.astype.*, of PyTorch x\.to\(torch\.float64\)",
        ),
        ((U,), "argument 'k' is missing"),
        ((U, None), "argument 'k' is None"),
        ((U, K, 1, 2), "takes 3 arguments, got 4"),
        ((U, K, "three"), "'count' is described as int, got str"),
        ((U, K, 2.7), "'count' is described as int, got 2.7"),
    ],
)
def test_wrong_arguments(arrays: Any, message: str) -> None:
    with pytest.raises(adgen.ArgumentError, match=message):
        ops.decay(*arrays)


def test_what_is_given_by_name_alone_is_said_to_be() -> None:
    with pytest.raises(adgen.ArgumentError, match=r"takes 2 arguments, got 3\n.*are u, k; by name: bias"):
        adgen.operator(FILE, kernel="decay")(by_name)(U, K, 0.5)


def by_name(launch: Launch, u: Array, k: Array, *, bias: float = 0.0) -> Any:
    made = launch.copy(u)
    return launch(grid=1, block=32, args=(made, k, u.size), outputs=made) if not bias else None


def test_operators_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(ops.decay)) is ops.decay  # noqa: S301
    assert copy.deepcopy([ops.decay])[0] is ops.decay


def test_a_gradient_that_was_refused() -> None:
    for _ in range(2):
        assert ops.running(U)[-1] == pytest.approx(U.sum(), rel=1e-12)
        with pytest.raises(adgen.RefusedError, match=r"running.*floating point"):
            ops.running.vjp(U, cotangents=np.ones(U.size + 1))


def test_a_cotangent_of_another_shape() -> None:
    with pytest.raises(adgen.ArgumentError, match="decay: a cotangent"):
        ops.decay.vjp(U, K, cotangents=C[:3])
    assert set(ops.decay.vjp(U, K, cotangents=C)) == {"u", "k"}


def test_another_number_of_results() -> None:
    with pytest.raises(adgen.UsageError, match="returns 1 arrays, and results=2"):
        described(ops.decay.describe, results=2)(U, K)


def test_one_array_for_two_parameters() -> None:
    found = ops.squares.vjp(U, cotangents=C)["x"]
    assert found == pytest.approx(C * (np.cos(U) * U + np.sin(U)), rel=1e-12)
    with pytest.raises(adgen.RefusedError, match="squares_in_place: one array is given for 'w' and 'y'"):
        ops.squares_in_place.vjp(U, cotangents=C)


def test_arrays_of_a_foreign_byte_order() -> None:
    foreign = U.astype(U.dtype.newbyteorder())
    assert ops.squares(foreign) == pytest.approx(np.sin(U) * U, rel=1e-12)
    found = ops.squares.vjp(foreign, cotangents=C.astype(C.dtype.newbyteorder()))["x"]
    assert found == pytest.approx(C * (np.cos(U) * U + np.sin(U)), rel=1e-12)


def test_a_mode_that_was_not_compiled() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = torch.ones(2, 3, requires_grad=True)
    row = torch.ones(3)
    (first,) = torch.autograd.grad(ops.layer_norm.torch(x, row, row).sum(), x, create_graph=True)
    with pytest.raises(adgen.UsageError, match="without second derivatives"):
        first.sum().backward()


def test_a_launch_says_how_much_shared_memory_a_kernel_has_that_asks(tmp_path: Path) -> None:
    path = tmp_path / "turned.cu"
    path.write_text("""
        extern __shared__ double tile[];
        __global__ void turned(const double *x, double *y, int n) {
            tile[threadIdx.x] = x[threadIdx.x];
            __syncthreads();
            y[threadIdx.x] = x[threadIdx.x] * tile[n - 1 - threadIdx.x];
        }
    """)

    @adgen.operator(str(path))
    def turned(launch: Launch, x: Array, *, told: bool) -> Any:
        y = launch.empty_like(x)
        shared = 8 * x.size if told else None
        return launch(grid=1, block=x.size, args=(x, y, x.size), outputs=y, shared_bytes=shared)

    assert turned(U, told=True) == pytest.approx(U * U[::-1], rel=1e-12)
    assert turned.vjp(U, told=True, cotangents=C)["x"] == pytest.approx(U[::-1] * (C + C[::-1]), rel=1e-12)
    with pytest.raises(adgen.ArgumentError, match="does not say how much"):
        turned(U, told=False)
