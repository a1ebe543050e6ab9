"""Gradients that verify themselves at their first call."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import enzyme_driver as adgen
from enzyme_driver import cli, request
from enzyme_driver.runtime.call.geometry import launch_of
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.module import standing_for
from enzyme_driver.runtime.transforms import check_case, outcomes
from enzyme_driver.runtime.transforms.guard import VERDICTS, Guard
from enzyme_driver.runtime.transforms.verdict import Verdict
from enzyme_driver.runtime.transforms.verify import TOLERANCE, verify
from enzyme_driver.settings import Settings
from enzyme_driver.verification import guard, witness_of

pytestmark = pytest.mark.usefixtures("toolchain")


@pytest.fixture(autouse=True)
def default(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users have it, who set nothing."""
    monkeypatch.delenv("ADGEN_VERIFY")


FILE = Path(__file__).with_name("verified.cu")
LAUNCH = (2, 32)
OWN = """\
__device__ float f(float x) { return x * x; }
__device__ void g(float x, float c, float *d) { *d = 2 * x * c; }
__global__ void k(const float *x, float *y) { y[threadIdx.x] = f(x[threadIdx.x]); }
"""
Array = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def kernels() -> adgen.Module:
    return adgen.compile(FILE)


@pytest.fixture(scope="module")
def witness(kernels: adgen.Module) -> dict[str, Kernel | Function]:
    wanted = request.new(FILE)
    settings = Settings.from_environment()
    return {each.name: witness_of(each, wanted, settings, use_cache=True) for each in kernels}


def arguments(count: int = 64) -> tuple[Array, Array]:
    return np.random.default_rng(1).normal(size=count).astype(np.float32), np.zeros(count, np.float32)


def found(kernels: adgen.Module, witness: dict[str, Kernel | Function], name: str) -> Verdict:
    return verify(kernels[name], witness[name], arguments(), launch_of(LAUNCH))


def planted() -> Kernel:
    """A gradient that is wrong in one element; `witness["planted"]` has no part in what makes it so."""
    return adgen.compile(FILE, kernel="planted", derivatives={"odd": "wrong_slope"}, cache=False)


@pytest.fixture
def with_witness(monkeypatch: pytest.MonkeyPatch, witness: dict[str, Kernel | Function]) -> None:
    """What the user says of functions has no witness; here it has that of the file."""

    def made(subject: Kernel, *_: object, **__: object) -> Kernel | Function:
        return standing_for(witness[subject.name], subject)

    monkeypatch.setattr("enzyme_driver.verification.witness_of", made)


@pytest.mark.parametrize("name", ["square", "planted", "shuffled"])
def test_right(kernels: adgen.Module, witness: dict[str, Kernel | Function], name: str) -> None:
    verdict = found(kernels, witness, name)
    assert verdict.state == "right"
    assert verdict.tolerance > 0
    assert verdict.error < verdict.tolerance / 10


def test_wrong(witness: dict[str, Kernel | Function]) -> None:
    """One element of the gradient is not what the witness says."""
    subject = planted()
    verdict = verify(subject, standing_for(witness["planted"], subject), arguments(), launch_of(LAUNCH))
    assert (verdict.state, verdict.parameter) == ("wrong", "x")
    (element,) = verdict.elements
    x, _ = arguments()
    assert element.index == 41
    weight = element.expected / (2 * x[41])
    assert element.gradient == pytest.approx(3 * weight * x[41] ** 2, rel=1e-4)


SHIFTED = """\
__global__ void square(const float *x, float *y) { int i = blockIdx.x * 32 + threadIdx.x; y[i] = x[i] * x[i]; }
__global__ void shifted(const float *x, float *y) {
    int i = blockIdx.x * 32 + threadIdx.x;
    y[i] = x[i] * x[i] + (i == 41);
}
"""


def test_another_result_is_wrong_though_the_derivative_is_the_same(tmp_path: Path) -> None:
    """What optimised the primal wrongly did so to its gradient, too: finite differences find nothing."""
    path = tmp_path / "shifted.cu"
    path.write_text(SHIFTED, encoding="utf-8")
    subject, shifted = (adgen.compile(path, kernel=name, cache=False) for name in ("square", "shifted"))
    other = witness_of(shifted, request.new(path), Settings.from_environment(), use_cache=False)
    subject.guard = Guard(lambda: standing_for(other, subject), tmp_path)
    x, y = arguments()
    with pytest.raises(adgen.GradientMismatchError, match=r"what square on openmp computes for 'y'.*element 41 is"):
        subject.vjp[LAUNCH](x, y, cotangents={"y": np.ones_like(y)})


def test_a_gradient_that_leaves_another_result_is_wrong(
    kernels: adgen.Module, witness: dict[str, Kernel | Function], monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = outcomes.of_gradient

    def spoiled(case: check_case.Case, weights: Any) -> outcomes.Outcome:  # noqa: ANN401
        left = genuine(case, weights)
        return {"y": left["y"] + (np.arange(64) == 7)}

    monkeypatch.setattr(outcomes, "of_gradient", spoiled)
    verdict = found(kernels, witness, "square")
    assert (verdict.state, verdict.result, verdict.parameter) == ("wrong", "gradient", "y")
    (element,) = verdict.elements
    assert element.index == 7
    assert element.gradient == pytest.approx(element.expected + 1)


def test_what_is_rounded_on_the_way_is_no_error(kernels: adgen.Module, witness: dict[str, Kernel | Function]) -> None:
    x = np.random.default_rng(4).normal(size=64)
    subject, other = kernels["mixed_precision"], witness["mixed_precision"]
    verdict = verify(subject, other, (x, np.zeros_like(x)), launch_of(LAUNCH))
    assert verdict.state == "right"
    assert 1e-12 < verdict.error < verdict.tolerance == TOLERANCE[4]  # the parameters alone say 1e-9


def test_a_kink_is_no_error(kernels: adgen.Module, witness: dict[str, Kernel | Function]) -> None:
    """At zero Enzyme takes the one side of a maximum, and dual numbers another: both are right."""
    zeros = np.zeros(64, np.float32)
    verdict = verify(kernels["rectified"], witness["rectified"], (zeros, zeros.copy()), launch_of(LAUNCH))
    assert verdict.state == "right"


def test_what_is_not_finite_is_said(kernels: adgen.Module, witness: dict[str, Kernel | Function]) -> None:
    x, y = arguments()
    x[3] = np.nan
    verdict = verify(kernels["square"], witness["square"], (x, y), launch_of(LAUNCH))
    assert (verdict.state, "not finite" in verdict.reason) == ("unchecked", True)


def test_once(tmp_path: Path, kernels: adgen.Module, witness: dict[str, Kernel | Function]) -> None:
    """What was found right is remembered, and no witness is made again."""
    made = []

    def make() -> Kernel | Function:
        made.append(1)
        return witness["square"]

    square, (x, y) = kernels["square"], arguments()
    for _ in range(2):
        Guard(make, tmp_path)(square, (x, y), launch_of(LAUNCH))
    assert len(made) == 1
    key = f"{square.signature.symbol} on openmp {square.binary}"
    assert json.loads((tmp_path / VERDICTS).read_text("utf-8")) == {key: "right"}
    always = Guard(make, tmp_path, always=True)
    for _ in range(2):
        always(square, (x, y), launch_of(LAUNCH))
    assert len(made) == 2


def test_a_wrong_gradient_is_not_returned(witness: dict[str, Kernel | Function], tmp_path: Path) -> None:
    kernel = planted()
    kernel.guard = Guard(lambda: standing_for(witness["planted"], kernel), tmp_path)
    x, y = arguments()
    for _ in range(2):
        with pytest.raises(adgen.GradientMismatchError, match=r"planted on openmp with respect to 'x' is wrong by"):
            kernel.vjp[LAUNCH](x, y, cotangents={"y": np.ones_like(y)})
        shadow = np.zeros_like(x)
        with pytest.raises(adgen.GradientMismatchError):
            kernel.gradient[LAUNCH](x, y, shadows={"x": shadow, "y": np.ones_like(y)})
        assert not shadow.any()
    assert not (tmp_path / VERDICTS).exists()


def test_what_has_no_witness_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.cu"
    path.write_text(OWN, encoding="utf-8")
    kernel = adgen.compile(path, kernel="k", derivatives={"f": "g"}, verify="first", cache=False)
    x, y = arguments(32)
    for _ in range(2):
        found = kernel.vjp[1, 32](x, y, cotangents={"y": np.ones_like(y)})
        np.testing.assert_allclose(found["x"], 2 * x, rtol=1e-6)
    said = capsys.readouterr().err
    assert said.count("was not verified") == 1
    assert "derivatives that the user gives have no witness" in said


def test_numbers_that_become_integers_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "integers.cu"
    path.write_text(
        """
        __device__ bool done;
        __global__ void buckets(long long *y, const float *x) {
            const int i = threadIdx.x;
            if (y[i] < 0) { y[i] = (long long)x[i] - 2; done = false; }
        }
        """
    )
    kernel = adgen.compile(path, kernel="buckets", verify="always")
    found = kernel.vjp[1, 8](np.full(8, -1), np.arange(8, dtype=np.float32), cotangents={})
    assert not found["x"].any()
    assert "the derivative is zero at these arguments" in capsys.readouterr().err


def test_what_differences_cannot_tell_is_asked_of_dual_numbers(tmp_path: Path) -> None:
    path = tmp_path / "large.cu"
    path.write_text("__global__ void k(const float *x, float *y) { y[threadIdx.x] = 1e9f + x[threadIdx.x]; }\n")
    found = adgen.compile(path, kernel="k").check[1, 8](np.linspace(1, 2, 8, dtype=np.float32), np.zeros(8, np.float32))
    assert found.agrees
    assert not found.is_settled
    assert found.dual_numbers is not None
    assert found.dual_numbers.state == "right"


def test_functions(tmp_path: Path) -> None:
    path = tmp_path / "f.cpp"
    path.write_text("double f(const double *x, double w) { return x[0] * x[1] * w; }\n", encoding="utf-8")
    made = adgen.compile(path, function="f", activity={"w": "active"}, verify="first")
    found = made.vjp(np.array([2.0, 3.0]), 4.0)
    np.testing.assert_allclose(found["x"], [12, 8])
    assert (Path(made._backend._path).parent / VERDICTS).exists()  # type: ignore[attr-defined]


def test_a_module_has_a_guard_for_each_gradient(kernels: adgen.Module) -> None:
    guard(kernels, request.new(FILE), always=False)
    try:
        assert all(each.guard for each in kernels)
    finally:
        for each in kernels:
            each.guard = None


CHECK = ("--grid", "1", "--block", "32", "--json", "-t", "openmp")


def checked(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> tuple[int, dict[str, Any]]:
    code = cli.run(["check", str(path), *CHECK, *words])
    return code, json.loads(capsys.readouterr().out)


STEEP = "__global__ void k(const double *x, double *y) { y[threadIdx.x] = fabs(sin(1e7 * x[threadIdx.x])); }\n"


def test_check_has_two_witnesses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where finite differences go over kinks everywhere, dual numbers decide."""
    path = tmp_path / "steep.cu"
    path.write_text(STEEP, encoding="utf-8")
    code, said = checked(capsys, path, "--arg", "x=normal:f64:32", "--arg", "y=zeros:f64:32")
    (found,) = said["checks"]
    assert found["parameters"][0]["error"] > found["tolerance"]
    assert found["dual_numbers"]["state"] == "right"
    assert (code, said["passed"]) == (0, True)


def test_differences_over_kinks_do_not_fail_a_check(tmp_path: Path) -> None:
    path = tmp_path / "steep.cu"
    path.write_text(STEEP, encoding="utf-8")
    x, y = np.random.default_rng(0).normal(size=32), np.zeros(32)
    compiled = adgen.compile(path, "k", target="openmp")
    found = compiled.check[1, 32](x, y)
    assert not found.agrees
    assert found.dual_numbers is not None
    assert found.dual_numbers.state == "right"
    compiled.witness = None
    with pytest.raises(adgen.CheckFailedError, match="finite differences give"):
        compiled.check[1, 32](x, y)


@pytest.mark.usefixtures("with_witness")
def test_a_check_says_what_dual_numbers_say() -> None:
    kernel, (x, y) = planted(), arguments()
    kernel.guard = None
    with pytest.raises(adgen.GradientMismatchError, match="by dual numbers"):
        kernel.check[LAUNCH](x, y)


def test_an_artifact_has_one_witness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "made"
    assert cli.run(["compile", str(FILE), "-k", "square", "-t", "openmp", "-o", str(folder)]) == 0
    capsys.readouterr()
    code, said = checked(capsys, folder, "--arg", "x=normal:f32:32", "--arg", "y=zeros:f32:32")
    assert code == 0
    assert said["checks"][0]["dual_numbers"] is None


@pytest.mark.usefixtures("with_witness")
@pytest.mark.parametrize("way", ["vjp", "gradient", "prepared", "tape"])
def test_by_default(way: str) -> None:
    """A wrong gradient is found by who asked for nothing, whichever way leads to it, and nothing is written."""
    kernel, (x, y) = planted(), arguments()
    weights = np.ones_like(y)
    shadows = {"x": np.zeros_like(x), "y": weights.copy()}

    def on_tape() -> None:
        with adgen.Tape() as tape:
            kernel[LAUNCH](x, y)
        tape.gradient(y, wrt=x, cotangents=weights)

    calls: dict[str, Callable[[], object]] = {
        "vjp": lambda: kernel.vjp[LAUNCH](x, y, cotangents={"y": weights}),
        "gradient": lambda: kernel.gradient[LAUNCH](x, y, shadows=shadows),
        "prepared": kernel.gradient[LAUNCH].prepare(x, y, shadows=shadows),
        "tape": on_tape,
    }
    with pytest.raises(adgen.GradientMismatchError, match=r"with respect to 'x'.*element 41 is"):
        calls[way]()
    assert not shadows["x"].any()


@pytest.mark.usefixtures("with_witness")
def test_the_command_that_bisects(capsys: pytest.CaptureFixture[str]) -> None:
    """It is complete, and its arguments are those of the call."""
    kernel, (x, y) = planted(), arguments()
    with pytest.raises(adgen.GradientMismatchError) as caught:
        kernel.vjp[LAUNCH](x, y, cotangents={"y": np.ones_like(y)})
    line = next(each.strip() for each in caught.value.hint.splitlines() if each.strip().startswith("adgen bisect"))
    words = shlex.split(line)
    np.testing.assert_array_equal(np.load(words[words.index("--arg") + 1].removeprefix("x=")), x)
    assert cli.run(["check", *words[2:]]) == 0  # without the wrong derivative
    capsys.readouterr()


def test_nothing_is_said_by_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither where there is no witness, nor of arguments that say nothing; what was found is remembered."""
    path = tmp_path / "own.cu"
    path.write_text(OWN, encoding="utf-8")
    x, y = arguments(32)
    for _ in range(2):
        kernel = adgen.compile(path, kernel="k", derivatives={"f": "g"})
        kernel.vjp[1, 32](x, y, cotangents={"y": np.ones_like(y)})
    assert kernel.guard is not None
    assert kernel.guard._witness is None
    assert "derivatives that the user gives" in (kernel.guard._folder / VERDICTS).read_text("utf-8")
    square = adgen.compile(FILE, kernel="square", cache=False)
    square.vjp[1, 32](np.full_like(x, np.nan), y, cotangents={"y": np.ones_like(y)})
    assert capsys.readouterr() == ("", "")


def test_zeros_do_not_decide(witness: dict[str, Kernel | Function]) -> None:
    """Where the derivative is zero everywhere, points beside the arguments are looked at."""
    subject, square, zeros = planted(), adgen.compile(FILE, kernel="square"), np.zeros(64, np.float32)
    verdict = verify(square, standing_for(witness["square"], square), (zeros, zeros.copy()), launch_of(LAUNCH))
    assert (verdict.state, verdict.reason) == ("right", "beside where the derivative is zero")
    verdict = verify(subject, standing_for(witness["planted"], subject), (zeros, zeros.copy()), launch_of(LAUNCH))
    assert verdict.state != "right"


def test_a_loaded_artifact_is_not_verified(tmp_path: Path) -> None:
    assert cli.run(["compile", str(FILE), "-k", "square", "-t", "openmp", "-o", str(tmp_path / "made")]) == 0
    assert all(entry.guard is None for entry in adgen.load(tmp_path / "made"))


def test_never(monkeypatch: pytest.MonkeyPatch) -> None:
    assert adgen.compile(FILE, kernel="square", verify="never").guard is None
    monkeypatch.setenv("ADGEN_VERIFY", "never")
    assert adgen.compile(FILE, kernel="square").guard is None
    assert adgen.compile(FILE, kernel="square", verify="first").guard is not None


def test_as_many_blocks_as_there_is_time_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gradient and witness run the same first blocks, which are told, in the shape of the whole grid."""
    monkeypatch.setattr("enzyme_driver.runtime.transforms.verify.PROBE_SECONDS", 1e-4)
    path = tmp_path / "long.cu"
    path.write_text(
        "__global__ void k(const double *x, double *y) { int i = (blockIdx.y * gridDim.x + blockIdx.x) * 32 + "
        "threadIdx.x; double v = x[i]; for (int j = 0; j < 300; ++j) v = sin(v) + x[i]; y[i] = v / gridDim.x; }\n",
        encoding="utf-8",
    )
    kernel = adgen.compile(path, kernel="k", cache=False)
    x = np.random.default_rng(2).normal(size=32 * 400)
    kernel.vjp[(20, 20), 32](x, np.zeros_like(x), cotangents={"y": np.ones_like(x)})
    said = capsys.readouterr().err
    assert re.search(r"was verified on the first \d+ blocks", said), said


def test_what_takes_too_long_is_said_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("enzyme_driver.runtime.transforms.verify.SECONDS", 1e-9)
    square = adgen.compile(FILE, kernel="square", cache=False)
    x, y = arguments()
    for _ in range(2):
        square.vjp[LAUNCH](x, y, cotangents={"y": np.ones_like(y)})
    assert capsys.readouterr().err.count("was not verified: it could take more than 1e-09 s") == 1


def test_what_takes_too_much_memory_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("enzyme_driver.runtime.transforms.guard.available_bytes", lambda: 1000)
    square = adgen.compile(FILE, kernel="square", cache=False)
    x, y = arguments()
    for _ in range(2):
        square.vjp[LAUNCH](x, y, cotangents={"y": np.ones_like(y)})
    assert capsys.readouterr().err.count("more than half of the free memory") == 1


def test_two_calls_that_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A function with a state of its own computes something else each time: that is no error, but it is said."""
    path = tmp_path / "state.cpp"
    text = "static int calls = 0;\ndouble counted(const double *x) { return x[0] * ++calls; }\n"
    path.write_text(text, encoding="utf-8")
    function = adgen.compile(path, function="counted", cache=False)
    for _ in range(4):
        assert function.vjp(np.array([2.0]))["x"][0] >= 1
    assert capsys.readouterr().err.count("two calls of the primal with the same arguments differ") == 1
    with pytest.raises(adgen.CheckFailedError, match=r"nothing says whether .* two calls of the primal") as caught:
        function.check(np.array([2.0]))
    assert "from an argument" in str(caught.value.hint)


UNSTEADY = """\
double odd(double x) { return x * x; }
int calls = 0;
void unsteady_slope(double x, double cotangent, double *d_x) { *d_x = (2 + SIZE * (calls++ % 3)) * x * cotangent; }
void planted(const double *x, double *y) {
    for (int i = 0; i < 64; ++i)
        y[i] = i == 41 ? odd(x[i]) : x[i] * x[i];
}
"""


def unsteady(path: Path, size: float) -> list[Verdict]:
    """Of a gradient that alone differs between calls, in one element by so much, with several directions."""
    path.write_text(UNSTEADY.replace("SIZE", repr(size)), encoding="utf-8")
    right = adgen.compile(path, function="planted")
    other = witness_of(right, request.new(path), Settings.from_environment(), use_cache=True)
    subject = adgen.compile(path, function="planted", derivatives={"odd": "unsteady_slope"}, cache=False)
    values = (np.random.default_rng(1).normal(size=64), np.zeros(64))
    return [verify(subject, standing_for(other, subject), values, None, seed) for seed in range(4)]


def test_a_gradient_that_alone_differs_between_calls_is_wrong(tmp_path: Path) -> None:
    """As of threads that race in it: also where one of the calls was right by chance."""
    for verdict in unsteady(tmp_path / "unsteady.cpp", 1.0):
        assert (verdict.state, verdict.parameter) == ("wrong", "x")
        assert verdict.reason == "another call gives another gradient"
        assert [element.index for element in verdict.elements] == [41]


def test_sums_in_another_order_are_not_wrong(tmp_path: Path) -> None:
    for verdict in unsteady(tmp_path / "unsteady.cpp", 1e-7):
        assert verdict.state in ("right", "unchecked")
        if verdict.state == "unchecked":
            assert "sums in another order" in verdict.reason


def test_state_that_another_function_has_set(tmp_path: Path) -> None:
    """The witness has variables of its own, which nobody has set."""
    path = tmp_path / "state.cpp"
    text = 'static double scale = 0;\nextern "C" void set(double by) { scale = by; }\n'
    text += "double scaled(const double *x) { return x[0] * x[0] * scale; }\n"
    path.write_text(text, encoding="utf-8")
    made = adgen.compile(path, cache=False)
    made["set"](3.0)
    for _ in range(4):
        np.testing.assert_allclose(made["scaled"].vjp(np.array([2.0]))["x"], [12.0])


def test_a_maximum_by_atomics_is_verified_at_the_arguments_themselves(tmp_path: Path) -> None:
    """The derivative runs with what remains; dual numbers find out themselves."""
    file = tmp_path / "largest.cu"
    file.write_text(
        "__global__ void largest(const float *x, float *y) "
        "{ atomicMax((int *)y, __float_as_int(x[threadIdx.x] * x[threadIdx.x])); }",
        encoding="utf-8",
    )
    largest = adgen.compile(file, kernel="largest", verify="always")
    x = np.random.default_rng(3).uniform(0.5, 1.5, 32).astype(np.float32)
    found = largest.vjp[1, 32](x, np.zeros(1, np.float32), cotangents={"y": np.ones(1, np.float32)})
    np.testing.assert_allclose(found["x"], np.where(x == x.max(), 2 * x, 0))
    assert found["y"] == 0
