"""Memory that a gradient keeps values in on a GPU: it follows the resident threads, and a limit is kept or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from cuda_kernels.suite import by_name
from enzyme_driver.runtime.backends import caches

cupy = pytest.importorskip("cupy")

BLOCK = 256


def logistic(name: str) -> adgen.Kernel:
    case = by_name()[name]
    kernel = adgen.compile(case.path, kernel=case.kernel, target="cuda")
    assert isinstance(kernel, adgen.Kernel)
    return kernel


def gradient(kernel: adgen.Kernel, threads: int, steps: int, dtype: str) -> Any:  # noqa: ANN401, a CuPy array
    """That of the last value with respect to the first."""
    x0, rate = cupy.linspace(0.2, 0.8, threads, dtype=dtype), cupy.full(threads, 2.9, dtype)
    shadows = {name: cupy.zeros(threads, dtype) for name in ("x0", "rate")} | {"out": cupy.ones(threads, dtype)}
    launch = kernel.gradient[threads // BLOCK, BLOCK]
    launch(x0, rate, cupy.zeros(threads, dtype), threads, steps, shadows=shadows)
    return shadows["x0"]


@pytest.mark.usefixtures("toolchain")
def test_what_a_block_needs_is_said_where_the_limit_is_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADGEN_TAPE_LIMIT", "1000")
    with pytest.raises(adgen.AdgenError, match=r"needs \d+ bytes for one block; the limit is 1000"):
        gradient(logistic("recurrence-logistic"), 4 * BLOCK, 1000, "float64")


@pytest.mark.usefixtures("toolchain")
def test_fewer_blocks_at_once_give_the_same_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, steps = 64 * BLOCK, 100
    wanted = gradient(logistic("recurrence-logistic"), threads, steps, "float64").get()
    monkeypatch.setenv("ADGEN_TAPE_LIMIT", str(3 * BLOCK * 8 * steps))
    np.testing.assert_array_equal(gradient(logistic("recurrence-logistic"), threads, steps, "float64").get(), wanted)


@pytest.mark.usefixtures("toolchain")
def test_a_tape_that_was_measured_by_running_and_is_too_small_is_an_error_once(monkeypatch: pytest.MonkeyPatch) -> None:
    case = by_name()["jacobi-jacobi"]
    kernel = adgen.compile(case.path, kernel=case.kernel, target="cuda")
    args = {name: cupy.asarray(value) for name, value in case.make(np.random.default_rng(1)).items()}
    shadows = {name: cupy.zeros_like(args[name]) for name in ("f", "coupling", "u")}

    def launch() -> None:
        values = [args[name].item() if name in {"n", "tolerance"} else args[name] for name in args]
        kernel.gradient[case.launch](*values, shadows=shadows)

    monkeypatch.setattr(caches, "_SLACK", 0.5)
    with pytest.raises(adgen.AdgenError, match="kept more than when it was measured"):
        launch()
    monkeypatch.undo()
    launch()


@pytest.mark.usefixtures("toolchain")
def test_measuring_in_place_leaves_the_arrays_as_they_were() -> None:
    case = by_name()["relaxation-relax"]
    kernel = adgen.compile(case.path, kernel=case.kernel, target="cuda")
    *arrays, n, tolerance = case.make(np.random.default_rng(2)).values()
    pull, stiffness, chain = map(cupy.asarray, arrays)
    wanted, found, taped = chain.copy(), chain.copy(), chain.copy()
    kernel[case.launch](pull, stiffness, wanted, n, tolerance)
    shadows = {"pull": cupy.zeros_like(pull), "stiffness": cupy.zeros_like(stiffness), "chain": cupy.ones_like(chain)}
    kernel.gradient[case.launch](pull, stiffness, found, n, tolerance, shadows=shadows)
    with adgen.Tape() as launches:
        kernel[case.launch](pull, stiffness, taped, n, tolerance)
    on_tape = launches.gradient(taped, (pull, stiffness), cupy.ones_like(chain))
    for array in (found, taped):
        cupy.testing.assert_array_equal(array, wanted)
    for name, gradient in zip(("pull", "stiffness"), on_tape, strict=True):
        cupy.testing.assert_allclose(gradient, shadows[name], rtol=1e-12)


@pytest.mark.usefixtures("toolchain")
def test_a_tape_for_resident_threads_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a terabyte, if each of 2^26 threads kept all of its 1,000 values."""
    monkeypatch.setenv("ADGEN_DISABLE", "strip-mine-recurrences")
    threads, kernel = 1 << 26, logistic("recurrence-logistic_float")
    if cupy.cuda.runtime.memGetInfo()[1] < 40 * threads:
        pytest.skip("the GPU has too little memory for the arrays")
    gradient(kernel, BLOCK, 1000, "float32")
    memory = cupy.cuda.MemoryPool()
    with cupy.cuda.using_allocator(memory.malloc):
        before = cupy.cuda.runtime.memGetInfo()[0]
        result = gradient(kernel, threads, 1000, "float32")
        tape = before - cupy.cuda.runtime.memGetInfo()[0] - memory.total_bytes()
        assert cupy.isfinite(result).all()
    assert tape < 8 << 30
