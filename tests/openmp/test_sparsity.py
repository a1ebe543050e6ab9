"""Patterns of Jacobians against what is known of each kernel, and against dense Jacobians of the collection's."""

from __future__ import annotations

import secrets
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from benchmarks import sparsity
from cuda_kernels.sparsity_check import check
from cuda_kernels.suite import by_name
from enzyme_driver.errors import ArgumentError, RefusedError, UsageError
from enzyme_driver.runtime.call.geometry import launch_of
from enzyme_driver.runtime.transforms import jacobian as module_of_jacobians
from enzyme_driver.runtime.transforms.jacobian import Asked, jacobian

pytestmark = [pytest.mark.openmp, pytest.mark.usefixtures("toolchain")]
sparse = pytest.importorskip("scipy.sparse")

N, LAUNCH = 64, (1, 64)
I = np.arange(N)  # noqa: E741  (as the kernels call it)
Array = np.ndarray[Any, np.dtype[Any]]


@pytest.fixture(scope="module")
def kernels() -> Any:  # noqa: ANN401  (a Module, whose entries are all kernels)
    return adgen.compile(Path(__file__).parent / "sparsity.cu", modes=["forward"])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(secrets.randbits(31))


def ones(*columns: Array, size: int = N) -> Array:
    """The dense pattern with these columns, one array for each entry of a row."""
    made = np.zeros((len(columns[0]), size), bool)
    for column in columns:
        made[np.arange(len(column)), column] = True
    return made


def found(kernel: Any, args: list[Any], of: str = "y", wrt: str = "x", launch: Any = LAUNCH) -> Array:  # noqa: ANN401
    pattern = kernel.sparsity[launch](*args, of=of, wrt=wrt)
    assert sparse.issparse(pattern)
    assert pattern.has_sorted_indices
    assert (pattern.data == 1).all()
    return np.asarray(pattern.toarray() != 0)


def same(one: Array, other: Array) -> None:
    assert one.shape == other.shape
    assert not np.argwhere(one != other).tolist()


def draw(rng: np.random.Generator, dtype: Any = np.float32, size: int = N) -> list[Array]:  # noqa: ANN401
    return [rng.normal(size=size).astype(dtype), np.zeros(size, dtype)]


def test_indirect_indices(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    (x, y), at = draw(rng), rng.integers(0, N, N).astype(np.int32)
    args = [x, x.copy(), at, y]
    same(found(kernels["gathered"], args), ones(at))
    same(found(kernels["gathered"], args, wrt="w"), ones(I))


def test_an_index_out_of_numbers_is_no_dependence(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    (x, y), place = draw(rng), rng.uniform(0, N, N).astype(np.float32)
    same(found(kernels["looked_up"], [x, place, y]), ones(place.astype(int)))
    assert not found(kernels["looked_up"], [x, place, y], wrt="place").any()


def test_other_contents_have_another_pattern(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    kernel, args = kernels["shifted"], draw(rng, np.float64)
    for by in (3, 11, 3):
        kernel.variables["shift"] = by
        same(found(kernel, args), ones(I, (I + by) % N))


def test_shared_memory(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    same(found(kernels["turned"], draw(rng)), ones(N - 1 - I))


def test_shuffles(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    same(found(kernels["shuffled"], draw(rng, np.float64)), ones(I // 32 * 32 + 5, I // 32 * 32 + 4))


@pytest.mark.parametrize(("name", "dtype"), [("added", np.float32), ("swapped", np.float64), ("largest", np.float32)])
def test_atomics(kernels: Any, rng: np.random.Generator, name: str, dtype: type) -> None:  # noqa: ANN401
    (x, y), bins = draw(rng, dtype), rng.integers(0, 9, N).astype(np.int32)
    expected = np.zeros((N, N), bool)
    expected[bins, I] = True
    pattern = found(kernels[name], [abs(x), bins, y])
    same(pattern, expected)
    same(found(kernels[name], [abs(x), bins, y], wrt="y"), np.eye(N, dtype=bool))


def test_the_way_taken(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    """A product with zero is a dependence: patterns are of structure, not of values."""
    x, y = draw(rng, np.float64)
    positive, small = x > 0, x < -1
    expected = ones(np.where(positive, I, np.where(small, (I + 2) % N, (I + 3) % N)))
    expected |= ones((I + 1) % N) & positive[:, None]
    same(found(kernels["branched"], [x, y]), expected)


def test_for_all_contents(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    """Of what is chosen both sides count, and what it is chosen by, also through whole numbers and flags in memory."""
    (x, y), w = draw(rng), np.ones(N, np.float32)
    kernel = kernels["chosen"]

    def pattern(kernel: Any, *args: Array, wrt: str = "x") -> Array:  # noqa: ANN401
        made = kernel.sparsity[LAUNCH](*args, of="y", wrt=wrt, global_=True)
        return np.asarray(made.toarray() != 0)

    same(pattern(kernel, x, w, y), ones(I, (I + 1) % N, (I + 2) % N))
    by_w = ones(I) & (np.roll(x, -1) > np.roll(x, -2))[:, None]  # what x decides stays decided
    same(pattern(kernel, x, w, y, wrt="w"), by_w)
    same(found(kernel, [x, w, y], wrt="w"), by_w)
    same(found(kernel, [x, w, y]), ones(I) & (x > 0)[:, None])
    same(pattern(kernels["in_steps"], x, y), ones(I, (I + 1) % N, (I + 2) % N))
    assert not found(kernels["in_steps"], [x, y]).any()
    same(pattern(kernels["flagged"], x, y), ones(N - 1 - I))
    same(pattern(kernels["extremes"], x, y), ones(I, (I + 1) % N, (I + 2) % N))
    at = rng.integers(0, N, N).astype(np.int32)
    same(pattern(kernels["gathered"], x, w, at, y), ones(at))
    same(pattern(kernels["turned"], x, y), ones(N - 1 - I))


@pytest.mark.parametrize("name", ["counted", "pointed", "voted", "looked_up", "sorted", "swapped", "branched"])
def test_what_depends_on_data_has_no_pattern_for_all(kernels: Any, rng: np.random.Generator, name: str) -> None:  # noqa: ANN401
    """A loop, a pointer, a vote, an index, a sort, whether a swap succeeds, loads under a condition."""
    kernel = kernels[name]
    dtype = np.float64 if name in {"sorted", "swapped", "branched"} else np.float32
    x, y = draw(rng, dtype, 7 * N)
    between: dict[str, list[Any]] = {"looked_up": [abs(x)], "swapped": [np.zeros(N, np.int32)]}
    wrt = "place" if name == "looked_up" else "x"
    with pytest.raises(RefusedError, match=r"which way is taken, or an address, depends on it \(line \d+\)"):
        kernel.sparsity[LAUNCH](x, *between.get(name, []), y, of="y", wrt=wrt, global_=True)


def test_extremes_depend_on_all(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    same(found(kernels["extremes"], draw(rng)), ones(I, (I + 1) % N, (I + 2) % N))


def test_bits(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    x, _ = draw(rng)
    args = [np.where(I % 2, x, 2.0).astype(np.float32), np.zeros(2 * N, np.float32)]
    expected = np.zeros((2 * N, N), bool)
    expected[::2], expected[1::2] = ones(I), ones((I + 1) % N, (I + 2) % N)
    same(found(kernels["packed"], args), expected)
    same(found(kernels["root_by_bits"], draw(rng)), ones(I, (I + 1) % N))
    same(found(kernels["bytewise"], draw(rng)), ones(N - 1 - I))


def test_narrow_numbers(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    same(found(kernels["narrow"], draw(rng, np.float64)), ones(I, (I + 33) % N))
    same(found(kernels["halves"], draw(rng, np.float16)), ones(I, N - 1 - I))
    same(found(kernels["brain"], draw(rng, np.uint16)), ones(I, N - 1 - I))


def test_structs(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    """The numbers of elements count: four of x, two of y."""
    x = rng.normal(size=(N, 4)).astype(np.float32)
    expected = np.zeros((2 * N, 4 * N), bool)
    expected[2 * I, 4 * I + 1] = expected[2 * I, 4 * I + 3] = expected[2 * I + 1, 4 * (N - 1 - I)] = True
    four, two = (np.dtype([(name, np.float32) for name in names]) for names in ("xyzw", "xy"))
    args = [x.view(four).reshape(N), np.zeros(N, two)]
    same(found(kernels["vectors"], args), expected)
    jacobian = kernels["vectors"].jacobian[LAUNCH](*args, of="y", wrt="x", check=True)
    wanted = np.zeros((2 * N, 4 * N))
    wanted[2 * I, 4 * I + 1], wanted[2 * I, 4 * I + 3], wanted[2 * I + 1, 4 * (N - 1 - I)] = x[:, 3], x[:, 1], 1
    np.testing.assert_allclose(jacobian.toarray(), wanted, rtol=1e-6)


def test_members(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    (data, out), at = draw(rng), rng.integers(0, N, N).astype(np.int32)
    args = [{"data": data, "at": at, "stride": 7, "out": out}]
    same(found(kernels["fields"], args, of="f.out", wrt="f.data"), ones(at, 7 * I % N))
    jacobian = kernels["fields"].jacobian[LAUNCH](*args, of="f.out", wrt="f.data", check=True)
    wanted = np.zeros((N, N))
    np.add.at(wanted, (I, at), data[7 * I % N])
    np.add.at(wanted, (I, 7 * I % N), data[at])
    np.testing.assert_allclose(jacobian.toarray(), wanted, rtol=1e-6)


def test_sorting_is_a_permutation(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    x, y = draw(rng, np.float64, 7 * N)
    order = np.argsort(x.reshape(N, 7), axis=1) + 7 * I[:, None]
    same(found(kernels["sorted"], [x, y]), ones(order.ravel(), size=7 * N))


def test_what_stays_depends_on_itself(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    u, at = rng.normal(size=N), rng.integers(0, N, N).astype(np.int32)
    same(found(kernels["in_place"], [u, at], of="u", wrt="u"), ones(I, np.where(I % 2, at & ~1, I)))


def test_thousands_of_inputs(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    """More than two levels of groups."""
    n = 3000
    (x, y), at = draw(rng, size=n), rng.permutation(n).astype(np.int32)
    pattern = kernels["permuted"].sparsity[5, 64](x, at, y, n, of="y", wrt="x")
    expected = sparse.csr_array((np.ones(2 * n), (np.tile(np.arange(n), 2), np.r_[at, np.arange(n)])), shape=(n, n))
    expected.sum_duplicates()
    assert abs(pattern - (expected != 0)).nnz == 0


def test_refusals(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    x, y = draw(rng)
    with pytest.raises(RefusedError, match="assembly"):
        kernels["assembled"].sparsity[LAUNCH](x, y, of="y", wrt="x")
    with pytest.raises(RefusedError, match=r"stored to memory without a derivative \(line 1[0-9][0-9]\)"):
        kernels["hidden"].sparsity[LAUNCH](x, np.zeros(N, np.int32), y, of="y", wrt="x")


def test_bad_input(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    x, y = draw(rng)
    run = kernels["turned"].sparsity[LAUNCH]
    with pytest.raises(ArgumentError, match="does not write 'x'"):
        run(x, y, of="x", wrt="x")
    with pytest.raises(ArgumentError, match="no array 'z' with a derivative"):
        run(x, y, of="y", wrt="z")
    with pytest.raises(UsageError, match="launched over a grid"):
        kernels["turned"].sparsity(x, y, of="y", wrt="x")
    loaded: Any = adgen.load(kernels.artifact.folder)
    with pytest.raises(UsageError, match="the source of turned is not known"):
        loaded["turned"].sparsity[LAUNCH](x, y, of="y", wrt="x")


def test_all_directions_at_once(kernels: Any, rng: np.random.Generator) -> None:  # noqa: ANN401
    """What a GPU does by one launch, the host does one after the other, on copies of what is written."""
    u, at = rng.normal(size=N), rng.integers(0, N, N).astype(np.int32)
    kernel, before = kernels["in_place"], u.copy()
    plain = kernel.jacobian[LAUNCH](u, at, of="u", wrt="u")
    launch = launch_of(LAUNCH)
    runs = [partial(kernel.gradients, launch, forward=forward) for forward in (True, False)]
    for carry in (None, kernel.jvp[LAUNCH]):
        asked = Asked(kernel.signature, (u, at), "u", "u", kernel.vjp[LAUNCH], carry, *runs)
        found = jacobian(asked, plain, check=True)
        np.testing.assert_allclose(found.toarray(), plain.toarray(), rtol=1e-14)
    assert (u == before).all()


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_few_directions_at_a_time(
    kernels: Any,  # noqa: ANN401
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
    at_once: int,
) -> None:
    args = draw(rng, np.float64)
    whole = kernels["shuffled"].jacobian[LAUNCH](*args, of="y", wrt="x")
    monkeypatch.setattr(module_of_jacobians, "LARGEST", at_once * N * 8)
    parts = kernels["shuffled"].jacobian[LAUNCH](*args, of="y", wrt="x", pattern=adgen.colour(whole))
    assert (parts.toarray() == whole.toarray()).all()
    assert whole.nnz == 2 * N


@pytest.mark.parametrize("operator", sparsity.operators(), ids=lambda each: each.kernel)
def test_the_first_operators_of_vgg11(operator: sparsity.Operator) -> None:
    """At their real size, to the digits that are published."""
    kernel: Any = adgen.compile(sparsity.SOURCE, modes=["forward"])[operator.kernel]
    pattern = kernel.sparsity[operator.launch](*operator.args, of="y", wrt=operator.wrt)
    assert round(sparsity.sparsity_of(pattern), 5) == operator.paper[0]
    found = kernel.jacobian[operator.launch](*operator.args, of="y", wrt=operator.wrt, pattern=pattern, check=True)
    assert found.shape == pattern.shape


SAMPLE = ("histogram-deposit", "warp_scan-warp_scan", "complex_numbers-julia")


@pytest.mark.parametrize("name", SAMPLE)
def test_the_collection(name: str) -> None:
    """Some of it; `python -m cuda_kernels.sparsity_check` looks at all."""
    compared = list(check(by_name()[name], secrets.randbits(31)))
    assert compared
    assert not [str(each) for each in compared if each.wrong]
