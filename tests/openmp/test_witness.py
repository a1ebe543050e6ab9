"""Dual numbers through kernels and functions as their authors wrote them: tangents against closed forms.

Among them are the programs that Enzyme was seen to get wrong in both of its modes.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from libdevice_judge import BLOCK, POINTS, Computed, Problem, errors, inputs
from libdevice_support import Trial, files, problem, source, trials
from libdevice_table import FUNCTIONS

from enzyme_driver import cache, request
from enzyme_driver.runtime import module
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.module import Module
from enzyme_driver.settings import Settings

FOLDER = Path(__file__).parent
WITHOUT = ("norm of zeros", "rnorm of zeros")
"""Points at which a derivative is a matter of taste, and the witness has another."""

FILES = files(
    trial
    for trial in trials(FUNCTIONS)
    if trial.function.group not in {"half", "bits"} and not trial.function.name.startswith(WITHOUT)
)
Array = np.ndarray[Any, np.dtype[Any]]

pytestmark = pytest.mark.usefixtures("toolchain")


def witness(path: Path) -> Module:
    wanted = replace(request.new(path, targets=["openmp"]), witness="duals")
    return module.load(cache.build(wanted, settings=Settings.from_environment(), use_cache=False), "openmp")


@pytest.fixture(scope="module")
def kernels() -> Module:
    return witness(FOLDER / "duals.cu")


@pytest.fixture(scope="module")
def functions() -> Module:
    return witness(FOLDER / "duals.cpp")


@pytest.mark.parametrize("stem", FILES)
def test_formulas_of_mathematics(stem: str, tmp_path: Path) -> None:
    """Against derivatives in sixty digits."""
    path = tmp_path / f"{stem}.cu"
    path.write_text(source(FILES[stem]), encoding="utf-8")
    made, seed = witness(path), secrets.randbits(31)
    rng = np.random.default_rng(seed)
    wrong = []
    for trial in FILES[stem]:
        given = problem(trial, rng)
        entry = made[trial.kernel]
        assert entry.has_forward, f"{trial.kernel}: {entry._entry.forward['openmp'].gradient_refused}"
        found = errors(given, _computed(entry, given, trial))
        if found.slope > given.tolerance:
            wrong.append(f"{trial.kernel}: {found.slope:.1e} (allowed {given.tolerance:.0e}); {found.where}")
    assert not wrong, f"seed {seed}"


def _computed(kernel: Any, given: Problem, trial: Trial) -> Computed:  # noqa: ANN401  (a Kernel, once mypy knows)
    launch, slopes = ((POINTS + BLOCK - 1) // BLOCK, BLOCK), []
    values = np.zeros_like(given.cotangents)
    for name in inputs(trial.function.arity):
        found = kernel.jvp[launch](*given.points, values, POINTS, tangents={name: given.cotangents})
        slopes.append(found["ys"])
    return Computed(given.values, slopes)


def draw(count: int, dtype: type = np.float64) -> tuple[Array, Array]:
    """Random numbers and a random direction."""
    rng = np.random.default_rng(secrets.randbits(31))
    return rng.normal(size=count).astype(dtype), rng.normal(size=count).astype(dtype)


def tangent(kernel: Any, launch: Any, args: list[Any], **tangents: Array) -> Array:  # noqa: ANN401
    assert isinstance(kernel, Kernel)
    found: Array = kernel.jvp[launch](*args, tangents=tangents)["y"]
    return found


@pytest.mark.parametrize("kernel", ["insertion", "left_early", "heap"])
def test_sorts(kernels: Module, kernel: str) -> None:
    x, dx = draw(7 * 64)
    found = tangent(kernels[kernel], (2, 32), [x, np.zeros(64)], x=dx)
    rows, towards = x.reshape(64, 7), dx.reshape(64, 7)
    order = np.argsort(rows, axis=1)
    a, d = np.take_along_axis(rows, order, 1), np.take_along_axis(towards, order, 1)
    expected = d[:, 0] * a[:, 1] + a[:, 0] * d[:, 1] - d[:, 2] * a[:, 4] - a[:, 2] * d[:, 4]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_signs_of_others(kernels: Module) -> None:
    x, dx = draw(64, np.float32)
    found = tangent(kernels["signs_of_others"], (2, 32), [x, np.zeros(64, np.float32)], x=dx)
    wide, sign = x.astype(float), np.sign(0.3 - x.astype(float))
    v, dv = wide**3, 3 * wide**2 * dx
    expected = sign * np.sign(v) * dv - 2 * np.abs(v) * dv
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_bits_move(kernels: Module) -> None:
    """Through integers, unions, packed words, memcpy; signs and absolute values by bits."""
    x, dx = draw(64, np.float32)
    found = tangent(kernels["bits"], (2, 32), [x, np.zeros(64, np.float32)], x=dx)
    wide, towards = x.astype(float), dx.astype(float)
    expected = -towards * np.abs(wide) - wide * np.sign(wide) * towards + 2 * wide * towards
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_threads_together(kernels: Module) -> None:
    """A store of all threads, a tree in shared memory, shuffles, atomic sums, one by swaps, a maximum by bits."""
    x, dx = draw(64)
    found = tangent(kernels["together"], (1, 64), [x, np.zeros(5)], x=dx)
    expected = [dx[0] * x[63] + x[0] * dx[63], 2 * (x * dx).sum(), dx.sum(), 3 * (x * x * dx).sum(), dx[np.argmax(x)]]
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_pointers_that_are_no_addresses_of_numbers(kernels: Module) -> None:
    x, dx = draw(64)
    found = tangent(kernels["pointed"], (2, 32), [x, np.zeros(64)], x=dx)
    t = np.arange(64)
    expected = np.where(t % 3 > 0, 6 * x**2 * dx, dx) + np.where(t % 2 > 0, 16 * dx[t // 32 * 32 + 1], 0)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_what_is_lost_is_noted(kernels: Module) -> None:
    x, dx = draw(64, np.float32)
    kernel = kernels["root_by_bits"]
    kernel._backend.write_variable("adgen_shadow_notes", bytes(16))
    tangent(kernel, (2, 32), [x, np.zeros(64, np.float32)], x=dx)
    notes = np.frombuffer(kernel._backend.read_variable("adgen_shadow_notes", 16), np.uint32)
    assert notes[0]
    assert not notes[1:].any()


def test_functions(functions: Module) -> None:
    """Vectors, maps, virtual calls, calls through pointers, exceptions, static tables, recursion, OpenMP."""
    x, dx = draw(50)
    for name, expected in {
        "containers": np.sort(x)[:3] @ dx[np.argsort(x)[:3]] * 2,
        "shapes": 3 * x[0] ** 2 * dx[0] + 2 * x[1] * dx[1],
        "teams": 2 * (x * dx).sum(),
        "powers": 5 * x[0] ** 4 * dx[0] * x[1] + x[0] ** 5 * dx[1],
        "caught": dx[0] * x[1] + x[0] * dx[1],
    }.items():
        found = functions[name].jvp(x, len(x), tangents={"x": dx})["return"]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=name)
