"""Second derivatives: forward over reverse against central differences of gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver import pipeline, request
from enzyme_driver.settings import Settings

pytestmark = pytest.mark.usefixtures("toolchain")

FOLDER = Path(__file__).parent
KERNELS = FOLDER / "second.cu"
STEP = 1e-5
N = 20
WEIGHTS = np.dtype([("a", "f8"), ("b", "f8")])

Arguments = dict[str, Any]


@pytest.fixture(scope="module")
def kernels() -> adgen.Module:
    own = {"own": "gradient_of_own"}
    return adgen.compile(KERNELS, modes=["forward", "second"], activity={"weights": "active"}, derivatives=own)


@pytest.fixture(scope="module")
def functions() -> adgen.Module:
    return adgen.compile(FOLDER / "second.cpp", modes=["second", "forward"], activity={"walk": "active"})


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng()


def moved(args: Mapping[str, Any], tangents: Mapping[str, Any], step: float) -> Arguments:
    def one(value: Any, by: Any) -> Any:  # noqa: ANN401
        if isinstance(value, dict):
            return {name: one(item, by.get(name, 0)) for name, item in value.items()}
        if isinstance(value, np.void):
            return np.array(tuple(value[name] + step * by[name] for name in WEIGHTS.names or ()), WEIGHTS)[()]
        return value + step * by

    return {name: one(value, tangents[name]) if name in tangents else value for name, value in args.items()}


def differences(vjp: Callable[..., Mapping[str, Any]], args: Arguments, tangents: Mapping[str, Any]) -> Arguments:
    """Central differences of a gradient."""
    above, below = (vjp(*moved(args, tangents, step).values()) for step in (STEP, -STEP))
    return {name: apart(above[name], below[name]) for name in above}


def apart(above: Any, below: Any) -> Any:  # noqa: ANN401
    if isinstance(above, dict):
        return {name: apart(above[name], below[name]) for name in above}
    if getattr(above, "dtype", None) is not None and above.dtype.names:
        return {name: (above[name] - below[name]) / (2 * STEP) for name in above.dtype.names}
    return (above - below) / (2 * STEP)


def assert_same(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    assert set(found.dtype.names if hasattr(found, "dtype") else found) == set(expected)
    for name, wanted in expected.items():
        if isinstance(wanted, dict):
            assert_same(found[name], wanted)
        else:
            size = np.abs(wanted).max() + 1
            np.testing.assert_allclose(found[name], wanted, rtol=1e-5, atol=1e-6 * size, err_msg=name)


def assert_second(kernel: Any, args: dict[str, Any], rng: np.random.Generator) -> None:  # noqa: ANN401
    """The second derivatives of a kernel from `x` to `y`, in random directions, are differences of first ones."""
    cotangents, tangents = {"y": rng.standard_normal(N)}, {"x": rng.standard_normal(N)}
    found = kernel.hvp[1, 32](*args.values(), tangents=tangents, cotangents=cotangents)
    assert_same(found, differences(lambda *a: kernel.vjp[1, 32](*a, cotangents=cotangents), args, tangents))


def test_arrays_numbers_structs_and_sums(kernels: adgen.Module, rng: np.random.Generator) -> None:
    x, w, y = (rng.uniform(0.5, 1.5, N) for _ in range(3))
    weights, direction = (np.array(pair, WEIGHTS)[()] for pair in ((1.5, -0.5), (0.3, 1.1)))
    args = {"x": x, "w": w, "y": y, "sum": np.zeros(1), "scale": 1.3, "weights": weights, "n": N}
    cotangents = {"y": rng.standard_normal(N), "sum": rng.standard_normal(1)}
    tangents: Arguments = {name: rng.standard_normal(N) for name in "xwy"}
    tangents |= {"scale": 0.7, "weights": direction}
    kept = {name: np.copy(value) for name, value in args.items() if isinstance(value, np.ndarray)}
    k = kernels.mixed
    found = k.hvp[1, 32](*args.values(), tangents=tangents, cotangents=cotangents)
    expected = differences(lambda *a: k.vjp[1, 32](*a, cotangents=cotangents), args, tangents)
    assert_same(found, expected)
    for name, value in kept.items():
        np.testing.assert_array_equal(args[name], value)


def test_several_directions(kernels: adgen.Module, rng: np.random.Generator) -> None:
    x, y = rng.uniform(0.5, 1.5, N), np.zeros(N)
    cotangents, tangents = {"y": rng.standard_normal(N)}, rng.standard_normal((3, N))
    run = kernels.uses_own.hvp[1, 32]
    both = run(x, y, N, tangents={"x": tangents}, cotangents=cotangents, directions=3)
    for direction in range(3):
        one = run(x, y, N, tangents={"x": tangents[direction]}, cotangents=cotangents)
        np.testing.assert_array_equal(both["x"][direction], one["x"])


def test_a_gradient_of_the_users_own(kernels: adgen.Module, rng: np.random.Generator) -> None:
    args = {"x": rng.uniform(0.5, 1.5, N), "y": np.zeros(N), "n": N}
    assert_second(kernels.uses_own, args, rng)


def test_a_loop_that_the_data_ends(kernels: adgen.Module, rng: np.random.Generator) -> None:
    args = {"x": rng.uniform(2, 9, N), "y": np.zeros(N), "steps": np.zeros(N, np.int32), "n": N}
    assert_second(kernels.converges, args, rng)


def test_functions_whose_derivatives_are_others(kernels: adgen.Module, rng: np.random.Generator) -> None:
    args = {"x": rng.uniform(-1, 1, N), "y": np.zeros(N), "n": N}
    assert_second(kernels.of_library, args, rng)


def test_a_number_rounded_by_a_large_constant(kernels: adgen.Module, rng: np.random.Generator) -> None:
    args = {"x": rng.uniform(0.5, 1, N), "y": np.zeros(N), "n": N}
    assert_second(kernels.rounded, args, rng)


def test_a_struct_of_arrays(kernels: adgen.Module, rng: np.random.Generator) -> None:
    args = {"arrays": {"from": rng.uniform(0.5, 1.5, N), "to": np.zeros(N)}, "n": N}
    cotangents = {"arrays": {"to": rng.standard_normal(N)}}
    tangents = {"arrays": {"from": rng.standard_normal(N)}}
    k = kernels.through_struct
    found = k.hvp[1, 32](*args.values(), tangents=tangents, cotangents=cotangents)
    expected = differences(lambda *a: k.vjp[1, 32](*a, cotangents=cotangents), args, tangents)
    np.testing.assert_allclose(found["arrays"]["from"], expected["arrays"]["from"], rtol=1e-5, atol=1e-6)


def test_a_hessian_in_cpp(functions: adgen.Module, rng: np.random.Generator) -> None:
    x = rng.uniform(-1, 1, 5)
    found = functions.rosenbrock.hvp(x, 5, tangents={"x": np.eye(5)}, directions=5)["x"]
    hessian = np.zeros((5, 5))
    for i in range(4):
        hessian[i, i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
        hessian[i + 1, i + 1] += 200
        hessian[i, i + 1] = hessian[i + 1, i] = -400 * x[i]
    np.testing.assert_allclose(found, hessian, rtol=1e-10, atol=1e-9)


def test_kept_values_and_own_derivatives_in_cpp(functions: adgen.Module, rng: np.random.Generator) -> None:
    args = {"x": rng.uniform(1.2, 2.5, N), "y": rng.uniform(0.5, 1, N), "scale": 0.8, "n": N}
    cotangents, tangents = {"y": rng.standard_normal(N)}, {"x": rng.standard_normal(N), "y": rng.standard_normal(N)}
    f = functions.chain
    found = f.hvp(*args.values(), tangents={**tangents, "scale": 0.4}, cotangents=cotangents, cotangent=1.7)
    expected = differences(lambda *a: f.vjp(*a, cotangents=cotangents, cotangent=1.7), args, {**tangents, "scale": 0.4})
    assert_same(found, expected)


@pytest.mark.parametrize(("name", "parameter"), [("walked", "by"), ("walked_by_value", "walk")])
def test_tangents_of_a_struct_by_its_members(
    functions: adgen.Module, rng: np.random.Generator, name: str, parameter: str
) -> None:
    """A dict, in which nothing is said of members whose tangent is zero, and several, one a direction."""
    paths, steps = 5, 7
    f, noise = functions[name], rng.standard_normal(paths * steps)
    start, pull, along = *rng.uniform(0.2, 1, 2), {"start": 0.7, "pull": -0.4}

    def gradient(by: float) -> Any:  # noqa: ANN401
        walk = {"start": start + by * along["start"], "pull": pull + by * along["pull"], "steps": steps}
        return f.vjp(walk, noise, paths)[parameter].reshape(-1)[0]

    args, above, below = ({"start": start, "pull": pull, "steps": steps}, noise, paths), gradient(STEP), gradient(-STEP)
    expected, first = apart(above, below), gradient(0)
    carried = f.jvp(*args, tangents={parameter: along})["return"]
    np.testing.assert_allclose(carried, sum(first[member] * by for member, by in along.items()), rtol=1e-10)
    second = f.hvp(*args, tangents={parameter: along})[parameter].reshape(-1)[0]
    each = [{member: 1.0} for member in along]
    rows = f.hvp(*args, tangents={parameter: each}, directions=2)[parameter].reshape(2)
    for member in along:
        np.testing.assert_allclose(second[member], expected[member], rtol=1e-6)
        parts = [by * row[member] for by, row in zip(along.values(), rows, strict=True)]
        np.testing.assert_allclose(sum(parts), second[member], rtol=1e-10)


def test_tangents_of_members_that_are_not_there(functions: adgen.Module) -> None:
    args = {"start": 1.0, "pull": 1.0, "steps": 1}, np.ones(2), 2
    with pytest.raises(adgen.ArgumentError, match="Walk has no member 'end'"):
        functions.walked_by_value.jvp(*args, tangents={"walk": {"end": 1.0}})
    with pytest.raises(adgen.ArgumentError, match="Walk has no member 'end'"):
        functions.walked.jvp(*args, tangents={"by": {"end": 1.0}})


@pytest.mark.parametrize(
    ("name", "launch", "count"), [("together", (1, 32), 20), ("block_sums", (3, 64), 150), ("left_early", (1, 64), 20)]
)
def test_threads_that_work_together(
    kernels: adgen.Module, rng: np.random.Generator, name: str, launch: tuple[int, int], count: int
) -> None:
    """By static shared memory, barriers, shuffles and atomics."""
    kernel: Any = kernels[name]
    args = {"x": rng.uniform(0.2, 0.6, count), "y": np.zeros(count), "n": count}
    cotangents, tangents = {"y": rng.standard_normal(count)}, {"x": rng.standard_normal(count)}
    found = kernel.hvp[launch](*args.values(), tangents=tangents, cotangents=cotangents)
    assert_same(found, differences(lambda *a: kernel.vjp[launch](*a, cotangents=cotangents), args, tangents))


def test_what_is_refused_by_name(kernels: adgen.Module, functions: adgen.Module) -> None:
    x = np.ones(16)
    with pytest.raises(
        adgen.RefusedError, match=r"of in_dynamic_memory: .* dynamic shared memory\n.*with its size, or"
    ):
        kernels.in_dynamic_memory.hvp[1, 16, None, 128](x, x.copy(), tangents={"x": x})
    with pytest.raises(
        adgen.RefusedError, match=r"of in_parallel: .* a parallel region\n.*same loop and no region, or"
    ):
        functions.in_parallel.hvp(x, 16, tangents={"x": x})
    np.testing.assert_allclose(functions.in_parallel.vjp(x, 16)["x"], 3 * x * x)


def test_the_mode_has_to_be_asked_for() -> None:
    f = adgen.compile(FOLDER / "second.cpp", function="rosenbrock")
    with pytest.raises(adgen.UsageError, match="without second derivatives"):
        f.hvp(np.ones(3), 3, tangents={"x": np.ones(3)})


def test_names_of_tangents(kernels: adgen.Module) -> None:
    x = np.ones(16)
    with pytest.raises(adgen.ArgumentError, match="n"):
        kernels.uses_own.hvp[1, 32](x, x.copy(), 16, tangents={"n": 1.0}, cotangents={})


def test_for_the_gpu_too(tmp_path: Path, machine_settings: Settings) -> None:
    wanted = request.new(KERNELS, names=["mixed", "block_sums"], targets=["cuda"], modes=["second"])
    for entry in pipeline.build(wanted, tmp_path / "made", settings=machine_settings).entries:
        assert entry.second["cuda"].gradient == f"{entry.signature.symbol}__second"
