"""Requests are checked field by field, and sources are read once."""

import hashlib
from pathlib import Path

import pytest

from enzyme_driver import request
from enzyme_driver.errors import SourceError, UsageError
from enzyme_driver.stages import source


def make(folder: Path, name: str, content: bytes = b"void f() {}\n") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "language"),
    [("a.cu", "cuda"), ("a.cuh", "cuda"), ("a.cpp", "c++"), ("a.cc", "c++"), ("a.C", "c++"), ("a.c", "c++")],
)
def test_language_follows_the_suffix(tmp_path: Path, name: str, language: str) -> None:
    found = source.read(request.new(make(tmp_path, name)))
    assert (found.language, found.stem) == (language, "a")
    assert found.digest == hashlib.sha256(b"void f() {}\n").hexdigest()


@pytest.mark.parametrize("name", ["a.py", "a.f90", "a", "a.o"])
def test_other_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="language"):
        source.read(request.new(make(tmp_path, name)))


def test_missing_file_lists_what_is_there(tmp_path: Path) -> None:
    make(tmp_path, "black_scholes.cu")
    with pytest.raises(SourceError, match="no such file") as caught:
        source.read(request.new(tmp_path / "blackscholes.cu"))
    assert "black_scholes.cu" in caught.value.hint
    assert caught.value.location is not None


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist either"):
        source.read(request.new(tmp_path / "nowhere" / "a.cu"))


def test_folder_and_binary_are_refused(tmp_path: Path) -> None:
    (tmp_path / "dir.cu").mkdir()
    with pytest.raises(SourceError, match="folder"):
        source.read(request.new(tmp_path / "dir.cu"))
    with pytest.raises(SourceError, match="not a text file"):
        source.read(request.new(make(tmp_path, "b.cu", b"\x7fELF\0\0")))


def test_path_that_cannot_be_included(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="quote"):
        source.read(request.new(make(tmp_path, 'a"b.cu')))


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(SourceError, match="Permission denied"):
        source.read(request.new(make(tmp_path, "a.cu")))


def test_equal_meaning_gives_an_equal_request() -> None:
    one = request.new("a.cu", targets=["cuda", "openmp", "cuda"], activity={"b": "const", "a": "active"}, names=["k"])
    two = request.new("a.cu", targets=["openmp", "cuda"], activity={"a": "active", "b": "const"}, names=("k", "k "))
    assert one == two
    assert one.path.is_absolute()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"targets": ["metal"]}, "no target 'metal'"),
        ({"targets": []}, "no target is given"),
        ({"targets": "cuda"}, "targets is a string"),
        ({"archs": ["90"]}, "not a GPU architecture"),
        ({"archs": ["compute_90"]}, "not a GPU architecture"),
        ({"names": ["f; }"]}, "not the name"),
        ({"names": [""]}, "not the name"),
        ({"names": ["f\nint x"]}, "not the name"),
        ({"activity": {"n": "constant"}}, "cannot be 'constant'"),
        ({"activity": {"2n": "const"}}, "name of a parameter"),
        ({"flags": ["-o"]}, "set by adgen itself"),
        ({"flags": ["--cuda-gpu-arch=sm_80"]}, "set by adgen itself"),
        ({"flags": ["other.cu"]}, "second file"),
        ({"flags": "-O2"}, "flags is a string"),
    ],
)
def test_senseless_options_are_refused(options: dict[str, object], reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as caught:
        request.new("a.cu", **options)  # type: ignore[arg-type]
    assert caught.value.hint


@pytest.mark.parametrize("name", ["axpy<float>", "ns::f", "::g", "h<float, 4>", "A<const float *>::run", "f<'c'>"])
def test_names_as_in_cpp_are_taken(name: str) -> None:
    assert request.new("a.cu", names=[name]).names == (name,)
