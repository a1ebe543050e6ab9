"""Forward mode on the host: tangents against finite differences, and against reverse mode."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forward_support import apart
from programs.program import Program
from programs.rows.cooperative import ROWS as COOPERATIVE
from programs.rows.openmp import ROWS as OPENMP
from threads_support import set_threads

import enzyme_driver as adgen
from cuda_kernels.suite import by_name

pytestmark = pytest.mark.usefixtures("toolchain")

FOLDER = Path(__file__).parent
STEP = 1e-6

Arguments = dict[str, Any]


@pytest.fixture(scope="module")
def kernels() -> adgen.Module:
    return adgen.compile(FOLDER / "tangents.cu", activity={"w": "active", "gain": "active"}, modes=["forward"])


@pytest.fixture(scope="module")
def functions() -> adgen.Module:
    return adgen.compile(FOLDER / "tangents.cpp", modes=["forward"])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng()


def moved(args: Arguments, tangents: Mapping[str, Any], step: float) -> Arguments:
    """Fresh arguments, moved along the tangents."""
    made = {name: np.copy(value) if isinstance(value, np.ndarray) else value for name, value in args.items()}
    return made | {name: made[name] + step * tangent for name, tangent in tangents.items()}


def differences(
    call: Callable[..., object], args: Arguments, tangents: Mapping[str, Any], outputs: tuple[str, ...]
) -> dict[str, Any]:
    """Central differences of what a call writes and returns."""
    ends: list[dict[str, Any]] = []
    for step in (STEP, -STEP):
        given = moved(args, tangents, step)
        returned = call(*given.values())
        ends.append({name: np.copy(given[name]) for name in outputs} | {"return": returned})
    above, below = ends
    if above["return"] is None:
        del above["return"]
    return {name: (above[name] - below[name]) / (2 * STEP) for name in above}


def assert_same(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, wanted in expected.items():
        np.testing.assert_allclose(found[name], wanted, rtol=1e-6, atol=1e-6, err_msg=name)


def test_tangents_of_arrays_and_numbers(kernels: adgen.Module, rng: np.random.Generator) -> None:
    x, y, sum_ = rng.uniform(-2, 2, 50), rng.standard_normal(50), rng.standard_normal(1)
    weights = np.array((0.3, 1.2), [("a", "f8"), ("b", "f8")])
    kernels.mixed.variables["gain"] = 0.7
    args: Arguments = {"x": x, "y": y, "sum": sum_, "scale": 1.3}
    tangents = {"x": rng.standard_normal(50), "y": rng.standard_normal(50), "sum": np.array([2.0]), "scale": -0.4}

    def call(x: object, y: object, sum_: object, scale: float) -> None:
        kernels.mixed[2, 32](x, y, sum_, scale, weights, 50)

    found = kernels.mixed.jvp[2, 32](*args.values(), weights, 50, tangents=tangents)
    assert found.pop("gain") == 0
    assert_same(found, differences(call, args, tangents, ("y", "sum")))


def test_tangents_of_structs_and_variables(kernels: adgen.Module, rng: np.random.Generator) -> None:
    x, ends = rng.uniform(-2, 2, 40), []
    layout = [("a", "f8"), ("b", "f8")]
    for step in (STEP, -STEP):
        y, total = np.ones(40), np.zeros(1)
        kernels.mixed.variables["gain"] = 0.7 + 2.0 * step
        kernels.mixed[2, 32](x, y, total, 1.0, np.array((0.3 + 0.5 * step, 1.2 - step), layout), 40)
        ends.append(y)
    kernels.mixed.variables["gain"] = 0.7
    tangents = {"w": np.array((0.5, -1.0), layout), "gain": np.array(2.0)}
    weights = np.array((0.3, 1.2), layout)
    found = kernels.mixed.jvp[2, 32](x, np.ones(40), np.zeros(1), 1.0, weights, 40, tangents=tangents)
    np.testing.assert_allclose(found["y"], (ends[0] - ends[1]) / (2 * STEP), rtol=1e-6, atol=1e-6)
    assert found["gain"] == 2.0


def test_tangents_through_barriers_and_shuffles(kernels: adgen.Module, rng: np.random.Generator) -> None:
    args: Arguments = {"x": rng.standard_normal(50), "y": np.zeros(50), "scale": 0.8, "n": 50}
    tangents = {"x": rng.standard_normal(50), "scale": 0.3}
    expected = differences(kernels.together[1, 64], args, tangents, ("y",))
    found = kernels.together.jvp[1, 64](*args.values(), tangents=tangents)
    assert_same({"y": found["y"]}, expected)


def test_what_is_constant_has_no_tangent_wherever_a_pointer_leads(rng: np.random.Generator) -> None:
    k = adgen.compile(FOLDER / "tangents.cu", kernel="chooses", modes=["forward"])
    args: Arguments = {"x": rng.standard_normal(8), "z": rng.standard_normal(8), "y": np.zeros(8), "n": 8}
    tangents = {"x": rng.standard_normal(8), "z": rng.standard_normal(8)}
    expected = differences(k[1, 8], args, tangents, ("y",))
    assert_same(k.jvp[1, 8](*args.values(), tangents=tangents), expected)


def test_arguments_stay_as_they_are(kernels: adgen.Module, rng: np.random.Generator) -> None:
    x, y = rng.standard_normal(50), rng.standard_normal(50)
    before = x.copy(), y.copy()
    tangent = rng.standard_normal(50)
    kept = tangent.copy()
    kernels.together.jvp[1, 64](x, y, 1.0, 50, tangents={"y": tangent})
    np.testing.assert_array_equal((x, y), before)
    np.testing.assert_array_equal(tangent, kept)


@pytest.mark.parametrize("threads", [1, 3])
def test_tangents_through_parallel_regions(functions: adgen.Module, rng: np.random.Generator, threads: int) -> None:
    set_threads(threads)
    args: Arguments = {"x": rng.standard_normal(30), "y": np.zeros(30), "stiffness": 1.7, "n": 30}
    tangents = {"x": rng.standard_normal(30), "stiffness": 0.6}
    found = functions.energy.jvp(*args.values(), tangents=tangents)
    assert_same(found, differences(functions.energy, args, tangents, ("y",)))


def test_a_function_of_numbers(functions: adgen.Module) -> None:
    found = functions.half_of.jvp(3.0, tangents={"x": 2.0})
    digamma_of_3 = 0.9227843350984671
    assert found == {"return": pytest.approx(2.0 * digamma_of_3, rel=1e-5)}


def test_a_whole_number_has_no_tangent(functions: adgen.Module) -> None:
    assert functions.count.jvp(np.ones(3), 3, tangents={"x": np.ones(3)}) == {}


def test_a_call_through_a_pointer_is_refused_in_forward_mode_alone(functions: adgen.Module) -> None:
    with pytest.raises(adgen.RefusedError, match=r"tangents\.cpp:\d+: forward mode of chosen: .*function pointer"):
        functions.chosen.jvp(np.ones(1), 1, tangents={})
    functions.energy.gradient(np.ones(3), np.ones(3), 1.0, 3, shadows={"x": np.zeros(3), "y": np.zeros(3)})


@pytest.mark.parametrize(
    ("tangents", "said"),
    [
        ({"x": np.ones(3)}, r"tangent 'x' of together.* shape \(50,\) like the array"),
        ({"x": np.ones(50, np.float32)}, r"tangent 'x' of together.*float64 array"),
        ({"n": 1}, "tangent 'n': no derivative is taken"),
        ({"z": 1}, "tangent 'z': together has no such parameter"),
        ({"scale": "much"}, "tangent 'scale' of together"),
    ],
)
def test_tangents_that_do_not_fit(kernels: adgen.Module, tangents: Arguments, said: str) -> None:
    with pytest.raises(adgen.ArgumentError, match=said):
        kernels.together.jvp[1, 64](np.ones(50), np.ones(50), 1.0, 50, tangents=tangents)


def test_tangents_are_given_by_name(kernels: adgen.Module) -> None:
    with pytest.raises(adgen.ArgumentError, match="tangents: expected a dict from the names of parameters"):
        kernels.together.jvp[1, 64](np.ones(50), np.ones(50), 1.0, 50, tangents=np.ones(50))


def test_forward_mode_has_to_be_asked_for() -> None:
    k = adgen.compile(FOLDER / "tangents.cu", kernel="together")
    with pytest.raises(adgen.UsageError, match="compiled without forward mode") as caught:
        k.jvp[1, 64](np.ones(50), np.ones(50), 1.0, 50, tangents={})
    assert 'modes=["forward"]' in caught.value.hint


def test_no_tangents_while_a_tape_records(kernels: adgen.Module) -> None:
    with adgen.Tape(), pytest.raises(adgen.UsageError, match="a jvp of together while a tape records"):
        kernels.together.jvp[1, 64](np.ones(50), np.ones(50), 1.0, 50, tangents={})


KERNELS = (
    "matmul_tiled",
    "heat3d",
    "warp_scan",
    "recursion",
    "struct_by_value",
    "softmax_rows",
    "math_mix",
    "histogram",
)


@pytest.mark.parametrize("name", [case for case in by_name() if case.startswith(KERNELS)])
def test_both_modes_of_a_kernel_agree(name: str) -> None:
    case, seed = by_name()[name], secrets.randbits(31)
    k = adgen.compile(case.path, kernel=case.kernel, activity=case.activity, modes=["forward"])
    assert apart(k, case.launch, case.make(np.random.default_rng(seed)), seed) < 1e-4 * case.slack, f"seed {seed}"


@functools.cache
def whole_file(path: Path, activity: tuple[tuple[str, str], ...]) -> adgen.Module:
    return adgen.compile(path, activity=dict(activity), modes=["forward"])


def compiled(program: Program) -> adgen.Kernel | adgen.Function:
    if "<" in program.entry:
        return adgen.compile(program.path, kernel=program.entry, activity=program.activity, modes=["forward"])
    return whole_file(program.path, tuple(program.activity.items()))[program.entry]


@pytest.mark.parametrize(
    "program", [p for p in (*OPENMP, *COOPERATIVE) if not p.refused], ids=lambda program: program.name
)
def test_both_modes_of_threads_that_work_together_agree(program: Program) -> None:
    seed = secrets.randbits(31)
    entry, launch = compiled(program), None if program.block is None else program.launch
    tolerance = 1e-3 if "float32" in str(entry.signature) else 1e-9
    assert apart(entry, launch, program.make(np.random.default_rng(seed)), seed) < tolerance, f"seed {seed}"


def test_a_check_asks_forward_mode_too(
    kernels: adgen.Module, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = (rng.uniform(-2, 2, 50), rng.standard_normal(50), rng.standard_normal(1), 1.5, {"a": 2.0, "b": 0.5}, 50)
    result = kernels.mixed.check[2, 32](*args)
    for part in result.parameters:
        assert part.tangent is not None
        assert part.tangent == pytest.approx(part.gradient, rel=1e-3, abs=1e-6)

    def wrong(*_: object, **__: object) -> dict[str, Any]:
        return {"y": np.ones(50), "sum": np.ones(1)}

    monkeypatch.setattr(kernels.mixed, "_run_jvp", wrong)  # not the witness's
    with pytest.raises(adgen.CheckFailedError, match="forward mode gives"):
        kernels.mixed.check[2, 32](*args)


def test_a_check_of_a_function_asks_forward_mode_too(functions: adgen.Module, rng: np.random.Generator) -> None:
    result = functions.energy.check(rng.uniform(0.5, 1.5, 20), rng.uniform(0.5, 1.5, 20), 0.7, 20)
    assert all(part.tangent == pytest.approx(part.gradient, rel=1e-3, abs=1e-6) for part in result.parameters)
