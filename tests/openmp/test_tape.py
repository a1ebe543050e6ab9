"""Gradients through many launches, against differences of the whole computation."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.model import Activity
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.module import Module
from enzyme_driver.runtime.tape.checkpoints import fewest_advances

FOLDER = Path(__file__).parent
N, BLOCK = 40, 16
GRID = -(-N // BLOCK)
BYTES = 8 * N

Array = np.ndarray[Any, np.dtype[np.float64]]
Arrays = Mapping[str, Array]
Program = Callable[[dict[str, Array]], Array]
"""Launches on the arrays it is given, the last of which it returns."""


@pytest.fixture(scope="module")
def steps(toolchain: object) -> Module:
    del toolchain
    return adgen.compile(FOLDER / "steps.cu", activity={"dt": "active"})


@pytest.fixture(scope="module")
def functions(toolchain: object) -> Module:
    del toolchain
    return adgen.compile(FOLDER / "loss.cpp")


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(secrets.randbits(64))


def assert_gradient(
    program: Program, arrays: Arrays, wrt: Sequence[str], random: np.random.Generator, limit: int | None = None
) -> adgen.Tape:
    """The tape's derivatives along random directions are those of central differences; the arrays end as without it."""
    plain = {name: array.copy() for name, array in arrays.items()}
    end = program(plain)
    given = {name: array.copy() for name, array in arrays.items()}
    with adgen.Tape(memory_limit=limit) as tape:
        output = program(given)
    np.testing.assert_array_equal(output, end)
    weights = random.uniform(-1, 1, output.shape)
    gradients = tape.gradient(output, [given[name] for name in wrt], weights)
    for name in arrays:
        np.testing.assert_array_equal(given[name], plain[name])
    for name, gradient in zip(wrt, gradients, strict=True):
        direction = np.asarray(random.uniform(-1, 1, arrays[name].shape))
        low, high = (program(_moved(arrays, name, step * direction)) for step in (-1e-6, 1e-6))
        expected = np.sum(weights * (high - low)) / 2e-6
        assert gradient.shape == arrays[name].shape
        np.testing.assert_allclose(np.sum(gradient * direction), expected, rtol=2e-6, atol=1e-8, err_msg=name)
    return tape


def _moved(arrays: Arrays, name: str, by: Array) -> dict[str, Array]:
    return {each: array + by if each == name else array.copy() for each, array in arrays.items()}


def arrays_of(random: np.random.Generator, *names: str) -> dict[str, Array]:
    return {name: random.uniform(0.5, 1.5, N) for name in names}


def ping_pong(steps: Module, count: int) -> Program:
    def program(arrays: dict[str, Array]) -> Array:
        u, v = arrays["u"], arrays["v"]
        for step in range(count):
            steps.diffuse[GRID, BLOCK](u, arrays["k"], v, N, 0.1 + 0.01 * step)
            u, v = v, u
        return u

    return program


@pytest.mark.parametrize("count", [1, 2, 7])
def test_buffers_that_are_swapped(steps: Module, random: np.random.Generator, count: int) -> None:
    tape = assert_gradient(ping_pong(steps, count), arrays_of(random, "u", "v", "k"), ("u", "v", "k"), random)
    assert tape.launches == count
    assert tape.peak_bytes == (count - 1) * BYTES
    assert tape.recomputed == 0


@pytest.mark.parametrize("states", [1, 2, 3, 5])
def test_memory_limit(steps: Module, random: np.random.Generator, states: int) -> None:
    count, limit = 13, states * 2 * BYTES
    tape = assert_gradient(ping_pong(steps, count), arrays_of(random, "u", "v", "k"), ("u", "v", "k"), random, limit)
    assert 0 < tape.peak_bytes <= limit
    assert tape.kept_bytes == 0
    assert tape.recomputed <= fewest_advances(count, states)
    assert states > 1 or tape.recomputed == count * (count - 1) // 2


@pytest.mark.parametrize("states", [None, 1, 2, 4, 20])
def test_array_in_place(steps: Module, random: np.random.Generator, states: int | None) -> None:
    def program(arrays: dict[str, Array]) -> Array:
        for _ in range(9):
            steps.squash[GRID, BLOCK](arrays["x"], arrays["bias"], N)
        return arrays["x"]

    limit = states and states * BYTES
    tape = assert_gradient(program, arrays_of(random, "x", "bias"), ("x", "bias"), random, limit)
    assert tape.peak_bytes == min(states or 20, 9) * BYTES
    most = fewest_advances(9, min(states or 9, 9))  # from the first state alone; the recording itself runs 8 of them
    assert most - 8 <= tape.recomputed <= (0 if most == 8 else most)


@pytest.mark.parametrize("limit", [None, 5 * BYTES, 100 * BYTES])
def test_several_kernels_and_a_sum_that_is_set_to_zero(
    steps: Module, random: np.random.Generator, limit: int | None
) -> None:
    def program(arrays: dict[str, Array]) -> Array:
        x, force, places = arrays["x"], arrays["force"], np.arange(N, dtype=np.int32)
        for step in range(6):
            zero(force)
            steps.spread[GRID, BLOCK](x, force, N)
            steps.push[GRID, BLOCK](x, force, N, 0.02 * step)
            steps.shift[GRID, BLOCK](places, N)
            steps.pick[GRID, BLOCK](x, places, arrays["y"], N)
        return arrays["y"]

    def zero(array: Array) -> None:
        from enzyme_driver.runtime.tape.record import recording

        tape = recording()
        if tape:
            tape.zero(array)
        else:
            array[:] = 0

    assert_gradient(program, arrays_of(random, "x", "force", "y"), ("x", "force", "y"), random, limit)


@pytest.mark.parametrize("limit", [None, 40 * BYTES])
def test_views_of_one_array(steps: Module, random: np.random.Generator, limit: int | None) -> None:
    """Each step writes a row of the history; what follows uses all rows at once, then a part across two of them."""

    def program(arrays: dict[str, Array]) -> Array:
        rows = arrays["rows"].reshape(8, N)
        for step in range(7):
            steps.diffuse[GRID, BLOCK](rows[step], arrays["k"], rows[step + 1], N, 0.1)
        steps.squash[8 * GRID, BLOCK](arrays["rows"], arrays["bias"], 8 * N)
        steps.squash[GRID, BLOCK](arrays["rows"][N // 2 : N // 2 + N], arrays["bias"][:N], N)
        return arrays["rows"]

    arrays = {"rows": random.uniform(0.5, 1.5, 8 * N), "bias": random.uniform(0.5, 1.5, 8 * N)}
    arrays |= arrays_of(random, "k")
    assert_gradient(program, arrays, ("rows", "k", "bias"), random, limit)


@pytest.mark.parametrize("limit", [None, 3 * BYTES])
def test_struct_of_arrays(steps: Module, random: np.random.Generator, limit: int | None) -> None:
    def program(arrays: dict[str, Array]) -> Array:
        for step in range(5):
            field = {"value": arrays["x"], "rate": arrays["rate"], "dt": 0.1 * step, "n": N}
            steps.grow[GRID, BLOCK](field, arrays["input"])
        return arrays["x"]

    assert_gradient(program, arrays_of(random, "x", "rate", "input"), ("x", "rate", "input"), random, limit)


@pytest.mark.parametrize("limit", [None, 4 * BYTES])
def test_functions_and_numbers(
    steps: Module, functions: Module, random: np.random.Generator, limit: int | None
) -> None:
    """A sum of two losses, one on the way; the derivative with respect to the number of each launch."""
    start = arrays_of(random, "u", "v", "k", "target")
    dts = random.uniform(0.05, 0.15, 6)

    def losses(arrays: dict[str, Array], dts: Array) -> tuple[float, float]:
        u, v = arrays["u"], arrays["v"]
        for step, dt in enumerate(dts):
            steps.diffuse[GRID, BLOCK](u, arrays["k"], v, N, dt)
            u, v = v, u
            if step == 2:
                early = functions.misfit(u, arrays["target"], N)
        functions.relax(u, 0.3, N)
        return early, functions.misfit(u, arrays["target"], N)

    given = {name: array.copy() for name, array in start.items()}
    with adgen.Tape(memory_limit=limit) as tape:
        early, late = losses(given, dts)
    d_target, d_dts = tape.gradient([early, late], (given["target"], "dt"), [2.0, 3.0])

    def total(dts: Array, target: Array) -> float:
        early, late = losses({name: array.copy() for name, array in (start | {"target": target}).items()}, dts)
        return 2 * early + 3 * late

    for gradient, at in ((d_dts, (1e-6, 0.0)), (d_target, (0.0, 1e-6))):
        direction = random.uniform(-1, 1, gradient.shape)
        high, low = (
            total(dts + sign * at[0] * direction if at[0] else dts,
                  start["target"] + sign * at[1] * direction if at[1] else start["target"])
            for sign in (1, -1)
        )  # fmt: skip
        np.testing.assert_allclose(np.sum(gradient * direction), (high - low) / 2e-6, rtol=1e-6)


def test_a_tape_that_is_retained_gives_any_number_of_gradients(steps: Module, random: np.random.Generator) -> None:
    arrays = arrays_of(random, "u", "v", "k")
    with adgen.Tape(memory_limit=6 * BYTES) as tape:
        end = ping_pong(steps, 9)(arrays)
    first, second = random.uniform(-1, 1, (2, N))
    together = tape.gradient(end, arrays["k"], first + second, retain=True)
    apart = tape.gradient(end, arrays["k"], first, retain=True) + tape.gradient(end, arrays["k"], second)
    np.testing.assert_allclose(together, apart, rtol=1e-12, atol=1e-12)
    with pytest.raises(adgen.UsageError, match="has given its gradient"):
        tape.gradient(end, arrays["k"], first)


def test_launches_that_the_output_does_not_depend_on_are_left_out(
    steps: Module, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = arrays_of(random, "x", "bias", "other")
    with adgen.Tape() as tape:
        steps.squash[GRID, BLOCK](arrays["x"], arrays["bias"], N)
        for _ in range(3):
            steps.squash[GRID, BLOCK](arrays["other"], arrays["bias"], N)
    launched = []
    backend = steps.squash._backend
    monkeypatch.setattr(type(backend), "launch", lambda *_, gradient: launched.append(gradient))
    tape.gradient(arrays["x"], arrays["bias"], np.ones(N))
    assert launched == [True]


def test_a_change_between_launches_is_an_error(steps: Module, random: np.random.Generator) -> None:
    arrays = arrays_of(random, "x", "bias")
    with adgen.Tape() as tape:
        steps.squash[GRID, BLOCK](arrays["x"], arrays["bias"], N)
        arrays["x"][3] = 0
        with pytest.raises(adgen.UsageError, match="changed by something else") as caught:
            steps.squash[GRID, BLOCK](arrays["x"], arrays["bias"], N)
    assert "tape.zero" in caught.value.hint
    assert tape.launches == 1


def test_a_change_after_the_launches_is_an_error_where_it_matters(steps: Module, random: np.random.Generator) -> None:
    arrays = arrays_of(random, "x", "bias")
    with adgen.Tape() as tape:
        steps.squash[GRID, BLOCK](arrays["x"], arrays["bias"], N)
    arrays["x"][:] = 7  # nothing reads it again
    tape.gradient(arrays["x"], arrays["bias"], np.ones(N), retain=True)
    arrays["bias"][0] += 1
    with pytest.raises(adgen.UsageError, match="since it was recorded"):
        tape.gradient(arrays["x"], arrays["bias"], np.ones(N))


def test_limit_below_one_state(steps: Module, random: np.random.Generator) -> None:
    arrays = arrays_of(random, "u", "v", "k")
    with adgen.Tape(memory_limit=2 * BYTES - 1), pytest.raises(adgen.UsageError, match="below one state") as caught:
        ping_pong(steps, 5)(arrays)
    assert str(2 * BYTES) in caught.value.hint


def test_questions_that_make_no_sense(steps: Module, functions: Module, random: np.random.Generator) -> None:
    arrays = arrays_of(random, "u", "v", "k")
    with adgen.Tape() as tape:
        end = ping_pong(steps, 3)(arrays)
        loss = functions.misfit(end, arrays["k"], N)
        with pytest.raises(adgen.RefusedError, match="derivatives go through arrays"):
            steps.squash[GRID, BLOCK](end, arrays["k"], loss)
        with pytest.raises(adgen.UsageError, match="while a tape records"):
            steps.squash.vjp[GRID, BLOCK](end, arrays["k"], N)
        with pytest.raises(adgen.UsageError, match="records already"), adgen.Tape():
            pass
        with pytest.raises(adgen.UsageError, match="still records"):
            tape.gradient(loss, arrays["k"])
    ones = np.ones(N)
    for outputs, wrt, cotangents, message in (
        (end.copy(), arrays["k"], ones, r"no launch has used outputs\[0\]"),
        (end, arrays["k"], None, "without a cotangent"),
        (end, arrays["k"], ones.astype(np.float32), "float32 of shape"),
        (end, ones, ones, r"no launch has used wrt\[0\]"),
        (end, "dx", ones, "no recorded launch has an active parameter"),
        (loss + 1, arrays["k"], None, "no recorded function returned as it is"),
        ([loss, end], arrays["k"], [1.0], "2 outputs have 1 cotangents"),
        ([end, end[:5]], arrays["k"], [ones, ones[:5]], "share memory"),
        (loss, arrays["k"], ones, r"cotangents\[0\] is ndarray"),
    ):
        with pytest.raises(adgen.ArgumentError, match=message):
            tape.gradient(outputs, wrt, cotangents)
    assert tape.gradient(loss, arrays["k"]).shape == (N,)


def test_a_derivative_that_was_compiled_away_is_refused(toolchain: object, random: np.random.Generator) -> None:
    del toolchain
    frozen = adgen.compile(FOLDER / "steps.cu", kernel="squash", activity={"x": "const"})
    moving = adgen.compile(FOLDER / "steps.cu", kernel="squash")
    arrays = arrays_of(random, "x", "bias")
    with adgen.Tape() as tape:
        moving[GRID, BLOCK](arrays["x"], arrays["bias"], N)
        frozen[GRID, BLOCK](arrays["x"], arrays["bias"], N)
    with pytest.raises(adgen.RefusedError, match="no derivative is taken"):
        tape.gradient(arrays["x"], arrays["bias"], np.ones(N))


LONE: Mapping[str, Activity] = {"u": "fresh", "v": "discarded"}


@pytest.fixture(scope="module")
def lone(toolchain: object) -> Kernel:
    """A step that has its shadows to itself."""
    del toolchain
    return adgen.compile(FOLDER / "steps.cu", kernel="diffuse", activity={**LONE, "dt": "active"})


@pytest.mark.parametrize("limit", [None, 20 * BYTES])
def test_shadows_of_one_launch_alone(lone: Kernel, random: np.random.Generator, limit: int | None) -> None:
    def program(arrays: dict[str, Array]) -> Array:
        u = arrays["u"]
        for _ in range(5):
            u, old = np.ones(N), u
            lone[GRID, BLOCK](old, arrays["k"], u, N, 0.1)
        return u

    tape = assert_gradient(program, arrays_of(random, "u", "k"), ("u", "k"), random, limit)
    assert limit or tape.peak_bytes == 0  # nothing is overwritten that a launch has read


def test_what_is_discarded_has_been_used_before(lone: Kernel, random: np.random.Generator) -> None:
    arrays = arrays_of(random, "u", "k", "v")
    with adgen.Tape():
        lone[GRID, BLOCK](arrays["u"], arrays["k"], arrays["v"], N, 0.1)
        with pytest.raises(adgen.RefusedError, match="'v' is discarded, but launches before have used this array"):
            lone[GRID, BLOCK](arrays["v"], arrays["k"], arrays["u"], N, 0.1)


def test_what_is_discarded_is_asked_for(lone: Kernel, random: np.random.Generator) -> None:
    arrays = arrays_of(random, "u", "k", "v")
    with adgen.Tape() as tape:
        lone[GRID, BLOCK](arrays["u"], arrays["k"], arrays["v"], N, 0.1)
    with pytest.raises(adgen.RefusedError, match="'v' is discarded, but the derivative with respect to its array"):
        tape.gradient(arrays["v"], arrays["v"], np.ones(N))


@pytest.mark.parametrize("as_output", [False, True])
def test_what_is_fresh_is_used_again(lone: Kernel, random: np.random.Generator, *, as_output: bool) -> None:
    arrays = arrays_of(random, "u", "k", "v", "w")
    with adgen.Tape() as tape:
        lone[GRID, BLOCK](arrays["u"], arrays["k"], arrays["v"], N, 0.1)
        lone[GRID, BLOCK](arrays["v" if as_output else "u"], arrays["k"], arrays["w"], N, 0.1)
    with pytest.raises(adgen.RefusedError, match="'u' is fresh, but its array is an output, or later launches"):
        tape.gradient([arrays["v"], arrays["w"]], arrays["k"], [np.ones(N), np.ones(N)])


def test_one_array_given_twice_is_refused(steps: Module, random: np.random.Generator) -> None:
    x = random.uniform(0.5, 1.5, N)
    with adgen.Tape(), pytest.raises(adgen.RefusedError, match="share memory"):
        steps.diffuse[GRID, BLOCK](x, x, np.zeros(N), N, 0.1)


def test_a_failed_launch_breaks_the_tape(steps: Module, random: np.random.Generator) -> None:
    arrays = arrays_of(random, "x", "bias")
    with adgen.Tape() as tape:
        steps.squash[GRID, BLOCK](arrays["x"], arrays["bias"], N)
        with pytest.raises(adgen.ArgumentError):
            steps.squash[GRID, BLOCK](arrays["x"].astype(np.float32), arrays["bias"], N)
    assert tape.gradient(arrays["x"], arrays["x"], np.ones(N)).shape == (N,)
    broken = adgen.Tape()
    with pytest.raises(ZeroDivisionError), broken:
        raise ZeroDivisionError
    with pytest.raises(adgen.UsageError, match="something failed"):
        broken.gradient(arrays["x"], arrays["x"], np.ones(N))
