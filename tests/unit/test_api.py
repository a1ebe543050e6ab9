"""The public module: what it hands on, what it returns, and how little it imports."""

from __future__ import annotations

import _ctypes  # some shared library that can be loaded
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import enzyme_driver as adgen
from enzyme_driver import artifact, cache
from enzyme_driver.model import DataType, Entry, Parameter, Signature, TargetEntry
from enzyme_driver.request import Request
from enzyme_driver.runtime.backends.teams import wanted_threads

F32 = DataType("float32", "float", 4)
X = Parameter("x", "pointer", F32, const=True, activity="duplicated")


def entry(name: str, kind: Any = "kernel") -> Entry:  # noqa: ANN401
    return Entry(Signature(name, kind, name, (X,)), {"openmp": TargetEntry("p", "g")})


class Store:
    """In place of the cache: an artifact with the given entries."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.entries: tuple[Entry, ...] = (entry("price"),)
        self.calls: list[tuple[Request, bool]] = []

    def build(self, wanted: Request, *, settings: object, use_cache: bool) -> Path:
        del settings
        self.calls.append((wanted, use_cache))
        contents = artifact.Contents(
            adgen="0",
            source=artifact.Source("a.cu", "0"),
            options=artifact.Options(),
            entries=self.entries,
            files={"liba.so": Path(_ctypes.__file__)},
            library="liba.so",
        )
        return artifact.write(self.folder / "made", contents).folder


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    fake = Store(tmp_path)
    monkeypatch.setattr(cache, "build", fake.build)
    return fake


def test_a_kernel(store: Store) -> None:
    kernel = adgen.compile("a.cu", kernel="price", activity={"n": "const"}, flags=["-DN"], fast_math=True, cache=False)
    assert isinstance(kernel, adgen.Kernel)
    assert kernel.signature.names == ("x",)
    wanted, use_cache = store.calls[0]
    assert wanted == Request(
        Path("a.cu").absolute(), ("price",), ("openmp",), ("sm_90",), (("n", "const"),), ("-DN",), fast_math=True
    )
    assert use_cache is False


def test_one_or_several_architectures(store: Store) -> None:
    adgen.compile("a.cu", "price", arch="sm_80")
    adgen.compile("a.cu", "price", arch=["sm_80", "sm_100"])
    assert [wanted.archs for wanted, _ in store.calls] == [("sm_80",), ("sm_80", "sm_100")]


def test_an_instance_of_a_template_is_found_however_it_is_written(store: Store) -> None:
    store.entries = (entry("axpy<float, 4>"),)
    assert adgen.compile("a.cu", kernel="axpy<float,4>").signature.name == "axpy<float, 4>"


def test_a_function(store: Store) -> None:
    store.entries = (entry("loss", "function"),)
    assert isinstance(adgen.compile("a.cpp", function="loss"), adgen.Function)


def test_the_whole_file(store: Store) -> None:
    store.entries = (entry("price"), entry("greeks"), entry("loss", "function"))
    module = adgen.compile("a.cu")
    assert isinstance(module, adgen.Module)
    assert isinstance(module.price, adgen.Kernel)
    assert isinstance(module.loss, adgen.Function)
    assert store.calls[0][0].names == ()


def test_kernels_and_functions_are_not_mixed_up(store: Store) -> None:
    with pytest.raises(adgen.UsageError, match="price is a kernel") as caught:
        adgen.compile("a.cu", function="price")
    assert caught.value.hint == "compile it with kernel='price'"
    with pytest.raises(adgen.UsageError, match="both"):
        adgen.compile("a.cu", kernel="a", function="b")  # type: ignore[call-overload]
    assert len(store.calls) == 1


def test_load(store: Store) -> None:
    adgen.compile("a.cu")
    assert isinstance(adgen.load(store.folder / "made").price, adgen.Kernel)
    with pytest.raises(adgen.ArtifactError):
        adgen.load(store.folder / "made", target="cuda")
    with pytest.raises(adgen.ArtifactError):
        adgen.load(store.folder / "nothing")


def test_unknown_attributes() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'kernel'"):
        _ = adgen.kernel


def test_the_signature_that_others_rely_on() -> None:
    parameters = inspect.signature(adgen.compile).parameters
    assert {name: parameter.default for name, parameter in parameters.items() if name != "path"} == {
        "kernel": None,
        "function": None,
        "target": "openmp",
        "arch": "sm_90",
        "activity": None,
        "flags": (),
        "fast_math": False,
        "cache": True,
        "modes": (),
        "inactive": (),
        "derivatives": None,
        "verify": None,
    }


def test_import_is_light() -> None:
    code = "import enzyme_driver, sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "llvmlite", "click", "rich", "jinja2", "platformdirs", "filelock"} & set(modules)


def test_loading_needs_no_compiler(store: Store) -> None:
    adgen.compile("a.cu")
    code = f"import enzyme_driver, sys; enzyme_driver.load({str(store.folder / 'made')!r}).price; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    unwanted = {
        "llvmlite",
        "click",
        "rich",
        "jinja2",
        "enzyme_driver.pipeline",
        "enzyme_driver.toolchain",
        "subprocess",
    }
    assert not unwanted & set(modules)


def test_the_number_of_threads_is_said_for_a_block() -> None:
    with adgen.threads(3):
        assert wanted_threads() == 3
        with adgen.threads(1):
            assert wanted_threads() == 1
        assert wanted_threads() == 3
    assert wanted_threads() is None
    with pytest.raises(adgen.UsageError, match="no number of threads"), adgen.threads(0):
        pass
