"""`adgen check`: the arguments that it understands, and what it does with them."""

from __future__ import annotations

import _ctypes  # some shared library that can be loaded
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import FakeGpu

from enzyme_driver import artifact, cli, errors
from enzyme_driver.artifact import Artifact
from enzyme_driver.cli.arguments import example, parse, with_members
from enzyme_driver.errors import UsageError
from enzyme_driver.model import DataType, Entry, Parameter, Refusal, Signature, StructField, Target, TargetEntry
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.transforms.check import CheckResult
from enzyme_driver.runtime.transforms.check_difference import ParameterCheck

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


def test_members_of_a_struct() -> None:
    given = {"p.grid.n": 3, "p.x": 0.5, "scheme.w": 1, "y": 2}
    assert with_members(given, ("p", "y")) == {"p": {"grid": {"n": 3}, "x": 0.5}, "scheme.w": 1, "y": 2}
    with pytest.raises(UsageError, match=r"gives p and p\.x"):
        with_members({"p": 1, "p.x": 2}, ("p",))


def test_the_example_for_a_struct_names_its_members() -> None:
    pointer = DataType("pointer", "pointer", 8, pointee=F32)
    inner = DataType("Grid", "struct", 16, fields=(StructField("n", 0, I32), StructField("cells", 8, pointer)))
    whole = DataType("P", "struct", 28, fields=(StructField("grid", 0, inner), StructField("w", 16, F32, 3)))
    texts = example(Parameter("p", "struct", whole, const=False, activity="const")).split(" --arg ")
    assert texts == ["p.grid.n=64", "p.grid.cells=uniform:float32:1024", "p.w=zeros:float32:3"]


def test_a_name_given_twice() -> None:
    with pytest.raises(UsageError, match="twice"):
        parse(["x=1", "x=2"], 0)


class Checked:
    """In place of the derivative check: remembers the call and answers with `error`."""

    def __init__(self) -> None:
        self.values: tuple[Any, ...] = ()
        self.launch: Any = None
        self.error = 1e-5
        self.pairs: list[tuple[str, str]] = []

    def kernel(
        self,
        kernel: Kernel,
        values: tuple[Any, ...],
        launch: object,
        *,
        against: Kernel | None,
        **options: Any,  # noqa: ANN401
    ) -> CheckResult:
        self.launch = launch
        self.pairs.append((kernel.target, against.target if against else ""))
        result = self.function(kernel, values, **options)
        across = replace(result.parameters[0], across=1e-7 if against else None)
        return replace(result, parameters=(across,))

    def function(self, _: object, values: tuple[Any, ...], *, seed: int, tolerance: float | None) -> CheckResult:
        self.values = values
        found = ParameterCheck("x", self.error, 1.0, 1.0, 1e-3)
        return CheckResult(tolerance or 1e-3, seed, (found,))


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checked:
    fake = Checked()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("enzyme_driver.runtime.transforms.check.check_kernel", fake.kernel)
    monkeypatch.setattr("enzyme_driver.runtime.transforms.check.check_function", fake.function)
    monkeypatch.setattr("enzyme_driver.runtime.backends.driver.why_there_is_no_gpu", lambda: "there is no GPU")
    write("k.adgen", KERNEL)
    return fake


def write(folder: str, *entries: Entry, cubin: bool = False) -> Artifact:
    contents = artifact.Contents(
        adgen="0.1.0",
        source=artifact.Source("a.cu", "0"),
        options=artifact.Options(),
        entries=entries,
        files={"liba.so": Path(_ctypes.__file__), **({"a.cubin": b"code", "a.ptx": b"text"} if cubin else {})},
        library="liba.so",
        cuda={"sm_90": ("a.cubin", "a.ptx")} if cubin else {},
    )
    return artifact.write(folder, contents)


CALL = ["check", "k.adgen", "--arg", "x=ones:f32:8", "--arg", "n=8", "--grid", "2,3", "--block", "4x2"]


def test_a_right_gradient(checked: Checked, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*CALL, "--shared-bytes", "64"]) == 0
    out = capsys.readouterr().out
    assert "the gradient is right (largest error 1.0e-05, tolerance 1.0e-03)" in out
    assert "right (1.0e-05)" in out
    assert "not checked on cuda: there is no GPU" in out
    np.testing.assert_array_equal(checked.values[0], np.ones(8, np.float32))
    assert checked.values[1] == 8
    assert (checked.launch.grid, checked.launch.block) == ((2, 3, 1), (4, 2, 1))
    assert checked.launch.shared_bytes == 64


def test_a_wrong_gradient(checked: Checked, capsys: pytest.CaptureFixture[str]) -> None:
    checked.error = 0.5
    assert cli.run(CALL) == errors.CheckFailedError.exit_code
    out, err = capsys.readouterr()
    assert "wrong (5.0e-01)" in out
    assert "wrong by 0.5" in err
    assert cli.run([*CALL, "--json"]) == errors.CheckFailedError.exit_code
    told = json.loads(capsys.readouterr().out)
    (only,) = told["checks"]
    assert (told["passed"], only["target"], only["parameters"][0]["error"]) == (False, "openmp", 0.5)
    assert told["unchecked"] == {"cuda": "there is no GPU"}
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
        ([*CALL[:4], *CALL[6:]], 8, "such as --arg n=64"),
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


BOTH: dict[Target, TargetEntry] = {"openmp": TargetEntry("p", "g"), "cuda": TargetEntry("k", "k__gradient")}


@pytest.fixture
def gpu(checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were one; `checked` does not ask for more."""
    del checked
    monkeypatch.setattr("enzyme_driver.runtime.backends.driver.why_there_is_no_gpu", lambda: "")
    monkeypatch.setattr("enzyme_driver.runtime.module._cuda_backend", FakeGpu)
    monkeypatch.setattr(
        "enzyme_driver.runtime.backends.buffers.BufferLibrary.from_host", lambda _, data, __: ("on it", data)
    )


@pytest.mark.usefixtures("gpu")
def test_both_targets_are_checked_and_compared(checked: Checked, capsys: pytest.CaptureFixture[str]) -> None:
    write("k.adgen", Entry(KERNEL.signature, BOTH), cubin=True)
    assert cli.run([*CALL, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert checked.pairs == [("openmp", "cuda"), ("cuda", "")]
    assert checked.values[0][0] == "on it"
    assert [each["target"] for each in told["checks"]] == ["openmp", "cuda"]
    assert told["checks"][0]["parameters"][0]["across"] == 1e-7
    assert told["unchecked"] == {}
    assert cli.run(CALL) == 0
    assert "other target" in capsys.readouterr().out


@pytest.mark.usefixtures("gpu")
def test_a_target_without_a_gradient_is_said_not_to_be_checked(
    checked: Checked, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = Refusal("it has a texture", "", "a.cu", 3)
    refused = TargetEntry("k", None, gradient_refused=refusal)
    write("k.adgen", Entry(KERNEL.signature, {**BOTH, "cuda": refused}), cubin=True)
    assert cli.run(CALL) == 0
    assert checked.pairs == [("openmp", "")]
    assert "not checked on cuda: it has a texture" in capsys.readouterr().out
    write("k.adgen", Entry(KERNEL.signature, BOTH), cubin=True)
    assert cli.run([*CALL, "-t", "cuda"]) == 0
    assert checked.pairs[1:] == [("cuda", "")]
