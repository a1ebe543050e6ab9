"""`adgen check`: the arguments that it understands, and what it does with them."""

from __future__ import annotations

import _ctypes  # some shared library that can be loaded
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from enzyme_driver import artifact, cli, errors
from enzyme_driver.artifact import Artifact
from enzyme_driver.cli import check
from enzyme_driver.cli.arguments import parse
from enzyme_driver.errors import UsageError
from enzyme_driver.model import DataType, Entry, Parameter, Signature, TargetEntry
from enzyme_driver.runtime.check import CheckResult, ParameterCheck

F32 = DataType("float32", "float", 4)
I32 = DataType("int32", "int", 4)
X = Parameter("x", "pointer", F32, const=True, activity="duplicated", writes=False)
N = Parameter("n", "scalar", I32, const=False, activity="const")
KERNEL = Entry(Signature("k", "kernel", "k", (X, N)), {"openmp": TargetEntry("p", "g")})
FUNCTION = Entry(Signature("f", "function", "f", (X, N)), {"openmp": TargetEntry("p", "g")})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("-1", -1),
        ("0.5", 0.5),
        ("1e-3", 1e-3),
        ("true", True),
        ("zeros:f64:3", np.zeros(3)),
        ("ones:f32:2x2", np.ones((2, 2), np.float32)),
        ("const:i32:3:7", np.full(3, 7, np.int32)),
        ("arange:u8:4", np.arange(4, dtype=np.uint8)),
        ("arange:float64:3:1:0.5", np.array([1.0, 1.5, 2.0])),
        ("arange:i64:2x2", np.array([[0, 1], [2, 3]])),
    ],
)
def test_values(text: str, value: Any) -> None:  # noqa: ANN401
    made = parse([f"x={text}"], seed=0)["x"]
    np.testing.assert_array_equal(made, value)
    assert getattr(made, "dtype", type(made)) == getattr(value, "dtype", type(value))


def test_random_values() -> None:
    texts = ["a=uniform:f32:1000", "b=uniform:f64:1000:-3:-2", "c=normal:f64:1000:5:0.1", "d=uniform:i32:1000:0:10"]
    first, again, other = parse(texts, 1), parse(texts, 1), parse(texts, 2)
    a, b, c, d = (np.asarray(first[name]) for name in "abcd")
    assert (a.dtype.name, d.dtype.name) == ("float32", "int32")
    assert a.min() >= 0
    assert a.max() <= 1
    assert np.ptp(a) > 0.9
    assert b.min() >= -3
    assert b.max() <= -2
    assert abs(c.mean() - 5) < 0.1
    assert set(d) == set(range(10))
    assert all(np.array_equal(np.asarray(first[name]), np.asarray(again[name])) for name in "abcd")
    assert not np.array_equal(a, np.asarray(other["a"]))


def test_arrays_from_files(tmp_path: Path) -> None:
    saved = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.save(tmp_path / "x.npy", saved)
    made = np.asarray(parse([f"x={tmp_path / 'x.npy'}"], 0)["x"])
    np.testing.assert_array_equal(made, saved)
    assert made.flags.c_contiguous


@pytest.mark.parametrize(
    "text",
    ["x", "x=", "=1", "x=one", "x=uniform", "x=uniform:f32", "x=uniform:f32:a", "x=uniform:q9:3", "x=zeros:f32:3:1",
     "x=const:f32:3", "x=uniform:f32:-1", "x=nowhere.npy", "x=uniform:f32:3:0:1:2"],
)  # fmt: skip
def test_texts_that_are_not_understood(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse([text], 0)
    assert caught.value.hint


def test_a_name_given_twice() -> None:
    with pytest.raises(UsageError, match="twice"):
        parse(["x=1", "x=2"], 0)


class Checked:
    """In place of the derivative check: remembers the call and answers with `error`."""

    def __init__(self) -> None:
        self.values: tuple[Any, ...] = ()
        self.launch: Any = None
        self.error = 1e-5

    def kernel(self, _: object, values: tuple[Any, ...], launch: object, **options: Any) -> CheckResult:  # noqa: ANN401
        self.launch = launch
        return self.function(_, values, **options)

    def function(self, _: object, values: tuple[Any, ...], *, seed: int, tolerance: float | None) -> CheckResult:
        self.values = values
        found = ParameterCheck("x", self.error, 1.0, 1.0, 1e-3)
        return CheckResult(tolerance or 1e-3, seed, (found,))


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checked:
    fake = Checked()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("enzyme_driver.runtime.check.check_kernel", fake.kernel)
    monkeypatch.setattr("enzyme_driver.runtime.check.check_function", fake.function)
    write("k.adgen", KERNEL)
    return fake


def write(folder: str, *entries: Entry) -> Artifact:
    contents = artifact.Contents(
        adgen="0.1.0",
        source=artifact.Source("a.cu", "0"),
        options=artifact.Options(),
        entries=entries,
        files={"liba.so": Path(_ctypes.__file__)},
        library="liba.so",
    )
    return artifact.write(folder, contents)


CALL = ["check", "k.adgen", "--arg", "x=ones:f32:8", "--arg", "n=8", "--grid", "2,3", "--block", "4x2"]


def test_a_right_gradient(checked: Checked, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*CALL, "--shared-bytes", "64"]) == 0
    assert "the gradient is right (largest error 1.0e-05, tolerance 1.0e-03)" in capsys.readouterr().out
    np.testing.assert_array_equal(checked.values[0], np.ones(8, np.float32))
    assert checked.values[1] == 8
    assert (checked.launch.grid, checked.launch.block) == ((2, 3, 1), (4, 2, 1))
    assert checked.launch.shared_bytes == 64


def test_a_wrong_gradient(checked: Checked, capsys: pytest.CaptureFixture[str]) -> None:
    checked.error = 0.5
    assert cli.run(CALL) == errors.CheckFailedError.exit_code
    out, err = capsys.readouterr()
    assert "5.0e-01" in out
    assert "wrong by 0.5" in err
    assert cli.run([*CALL, "--json"]) == errors.CheckFailedError.exit_code
    told = json.loads(capsys.readouterr().out)
    assert (told["passed"], told["parameters"][0]["error"]) == (False, 0.5)
    assert cli.run([*CALL, "--tolerance", "0.6"]) == 0


def test_a_function_has_no_launch(checked: Checked) -> None:
    write("f.adgen", FUNCTION)
    arguments = ["check", "f.adgen", "--arg", "x=ones:f32:8", "--arg", "n=8"]
    assert cli.run(arguments) == 0
    assert checked.launch is None
    assert cli.run([*arguments, "--grid", "1"]) == errors.UsageError.exit_code


@pytest.mark.usefixtures("checked")
@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (CALL[:-2], 2, "needs a launch"),
        ([*CALL, "--grid", "many"], 2, "not a size"),
        ([*CALL, "--grid", "0"], 8, "out of range"),
        ([*CALL, "--arg", "m=1"], 8, "m is unknown"),
        ([*CALL[:4], *CALL[6:]], 8, "n is missing"),
        ([*CALL, "-k", "kk"], 4, "no kernel or function 'kk'"),
        ([*CALL, "-t", "cuda"], 9, "no code for cuda"),
        ([*CALL, "--arch", "sm_80"], 2, "compiled already"),
    ],
)
def test_calls_that_make_no_sense(
    arguments: list[str], code: int, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(arguments) == code
    assert reason in capsys.readouterr().err


@pytest.mark.usefixtures("checked")
def test_which_of_several(capsys: pytest.CaptureFixture[str]) -> None:
    write("two.adgen", KERNEL, FUNCTION)
    assert cli.run(["check", "two.adgen"]) == errors.UsageError.exit_code
    assert "give -k with one of k, f" in capsys.readouterr().err


def test_arrays_go_to_the_gpu_for_the_cuda_target(monkeypatch: pytest.MonkeyPatch) -> None:
    from enzyme_driver.runtime import buffers

    monkeypatch.setattr(buffers.BufferLibrary, "from_host", lambda _, data, __: ("on the GPU", data.shape))
    assert check._placed(np.zeros(3), "cuda") == ("on the GPU", (3,))
    assert check._placed(3, "cuda") == 3
