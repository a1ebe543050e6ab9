"""From what adgen-describe prints to signatures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeProcess
from stage_support import OPT, workspace_in

from enzyme_driver.errors import CompilerCrashError
from enzyme_driver.model import DataType, Signature
from enzyme_driver.settings import Settings
from enzyme_driver.stages import signature
from enzyme_driver.stages.frontend import PrimalIR
from enzyme_driver.stages.signature import Description
from enzyme_driver.stages.source import Source
from enzyme_driver.stages.workspace import Workspace

Json = dict[str, Any]

CUDA = Source(Path("/home/u/k.cu"), "cuda", (), "0")
CPP = Source(Path("/home/u/f.cpp"), "c++", (), "0")

VOID = {"kind": "void", "name": "void", "size": 0}
FLOAT = {"kind": "float", "name": "float", "size": 4}
UNSIGNED = {"kind": "uint", "name": "unsigned long", "size": 8}


def pointer(pointee: Json | None, *, const: bool = False, restrict: bool = False, reference: bool = False) -> Json:
    facts = {"kind": "pointer", "name": "pointer", "size": 8, "const": const, "restrict": restrict}
    return facts | {"reference": reference} | ({"pointee": pointee} if pointee else {})


def entry(symbol: str, parameters: list[tuple[str, Json]] | None = None, **facts: object) -> Json:
    by_value = {"by_address": False, "reference": False, "const": False}
    listed = [{"name": name, "type": declared, **by_value} for name, declared in parameters or []]
    place = {"directory": "/home/u", "file": "k.cu", "line": 7}
    own = {"symbol": symbol, "name": symbol, "kernel": True, "dynamic_shared": False, "local": False, "returns": VOID}
    return own | place | {"parameters": listed} | facts


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings, fake_process: FakeProcess) -> Workspace:
    return workspace_in(tmp_path, settings, fake_process)


def describe(workspace: Workspace, fake_process: FakeProcess, source: Source, *entries: Json) -> Description:
    fake_process.reply("opt", stdout=json.dumps({"entries": entries, "instances": {}, "variables": []}))
    return signature.describe(PrimalIR(Path("/scratch/k.ll"), source.language, ()), source, workspace)


def one(workspace: Workspace, fake_process: FakeProcess, *parameters: tuple[str, Json]) -> Signature:
    (made,) = describe(workspace, fake_process, CUDA, entry("k", list(parameters))).entries
    return made


def test_opt_is_asked(workspace: Workspace, fake_process: FakeProcess) -> None:
    describe(workspace, fake_process, CUDA)
    assert fake_process.argvs == [
        (*OPT, "-passes=adgen-name-halves,adgen-describe", "/scratch/k.ll", "-disable-output")
    ]


def test_a_failure_of_the_pass_is_a_crash_with_a_log(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("opt", returncode=1, stderr="opt: error: expected top-level entity\n")
    with pytest.raises(CompilerCrashError, match="describe failed: opt: error: expected top-level entity") as caught:
        signature.describe(PrimalIR(Path("/scratch/k.ll"), "cuda", ()), CUDA, workspace)
    assert caught.value.log is not None
    assert "adgen-describe" in caught.value.log.read_text()


def test_pointers(workspace: Workspace, fake_process: FakeProcess) -> None:
    declared = [
        ("x", pointer(FLOAT, const=True, restrict=True)),
        ("y", pointer(FLOAT)),
        ("r", pointer(UNSIGNED, reference=True)),
    ]
    x, y, r = one(workspace, fake_process, *declared)
    assert (x.form, x.dtype, x.const, x.restrict, x.reference) == (
        *("pointer", DataType("float32", "float", 4)),
        *(True, True, False),
    )
    assert (x.reads, x.writes, y.reads, y.writes) == (True, False, True, True)
    assert (r.dtype, r.reference, r.is_pointer) == (DataType("uint64", "uint", 8), True, True)
    assert {p.activity for p in (x, y, r)} == {"const"}


@pytest.mark.parametrize(
    ("declared", "dtype"),
    [
        ({"kind": "float", "name": "double", "size": 8}, DataType("float64", "float", 8)),
        ({"kind": "int", "name": "char", "size": 1}, DataType("int8", "int", 1)),
        ({"kind": "int", "name": "Colour", "size": 4}, DataType("int32", "int", 4)),
        ({"kind": "bool", "name": "bool", "size": 1}, DataType("bool", "bool", 1)),
        ({"kind": "float", "name": "long double", "size": 16}, DataType("long double", "opaque", 16)),
        ({"kind": "opaque", "name": "", "size": 3}, DataType("opaque", "opaque", 3)),
    ],
    ids=lambda value: value.name if isinstance(value, DataType) else "",
)
def test_scalars(declared: Json, dtype: DataType, workspace: Workspace, fake_process: FakeProcess) -> None:
    (made,) = one(workspace, fake_process, ("n", declared))
    assert made.dtype == dtype
    assert made.form == ("struct" if dtype.kind == "opaque" else "scalar")
    assert not made.writes


def test_structs_nest_and_pointers_in_them_end_somewhere(workspace: Workspace, fake_process: FakeProcess) -> None:
    def member(name: str, offset: int, declared: Json, count: int = 1) -> Json:
        return {"name": name, "offset": offset, "count": count, "type": declared}

    inner = {"kind": "struct", "name": "Pair", "size": 8, "members": [member("ab", 0, FLOAT, 2)]}
    outer = [member("pair", 0, inner), member("next", 8, pointer(None)), member("x", 16, pointer(FLOAT))]
    (made,) = one(workspace, fake_process, ("s", {"kind": "struct", "name": "S", "size": 24, "members": outer}))
    pair, following, x = made.dtype.fields
    assert (made.form, made.dtype.kind, made.dtype.size) == ("struct", "struct", 24)
    assert (pair.type.fields[0].name, pair.type.fields[0].count) == ("ab", 2)
    assert (following.offset, following.type.kind, following.type.pointee) == (8, "pointer", None)
    assert x.type.pointee == DataType("float32", "float", 4)
    assert made.dtype.has_pointers
    assert made.dtype.has_floats


def test_of_cuda_only_kernels_are_entries_those_of_the_file_first(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    found = describe(
        *(workspace, fake_process, CUDA),
        entry("from_header", directory="/lib", file="h.cuh", line=1),
        entry("second", line=9),
        entry("helper", kernel=False),
        entry("first", line=2),
    )
    assert [each.symbol for each in found.entries] == ["first", "second", "from_header"]
    assert (found.entries[0].file, found.entries[0].line) == ("/home/u/k.cu", 2)


def test_an_instance_is_called_as_it_was_asked_for(workspace: Workspace, fake_process: FakeProcess) -> None:
    entries = [entry("_Z4axpyIfLj16EE", name="axpy<float, 16U>"), entry("k")]
    answer = {"entries": entries, "instances": {"0": "_Z4axpyIfLj16EE"}, "variables": []}
    fake_process.reply("opt", stdout=json.dumps(answer))
    primal = PrimalIR(Path("/scratch/k.ll"), "cuda", ())
    found = signature.describe(primal, CUDA, workspace, instances=("axpy<float, WIDTH>",))
    assert [each.name for each in found.entries] == ["axpy<float, WIDTH>", "k"]


@pytest.mark.parametrize("folder", ["/cuda/include/thrust", "/llvm/lib/clang", "/usr/include"])
def test_kernels_of_libraries_wait_to_be_asked_for(
    folder: str, workspace: Workspace, fake_process: FakeProcess
) -> None:
    found = describe(workspace, fake_process, CUDA, entry("own"), entry("theirs", directory=folder, file="a.cuh"))
    assert [each.symbol for each in found.entries] == ["own", "theirs"]
    assert found.local == {"theirs"}


def test_of_cpp_functions_of_the_file_are_entries(workspace: Workspace, fake_process: FakeProcess) -> None:
    facts: Json = {"kernel": False, "file": "f.cpp", "returns": FLOAT}
    found = describe(
        *(workspace, fake_process, CPP),
        entry("loss", **facts),
        entry("main", **facts),
        entry("hidden", **facts | {"local": True}),
        entry("included", **facts | {"file": "lib.h"}),
    )
    assert [(each.symbol, each.kind) for each in found.entries] == [("loss", "function"), ("hidden", "function")]
    assert found.entries[0].returns == DataType("float32", "float", 4)
    assert found.local == {"hidden"}


def test_a_file_named_by_an_absolute_path(workspace: Workspace, fake_process: FakeProcess) -> None:
    found = describe(workspace, fake_process, CPP, entry("f", kernel=False, directory="/else", file="/home/u/f.cpp"))
    assert found.entries[0].file == "/home/u/f.cpp"


@pytest.mark.parametrize(("const", "spelled"), [(True, "const S &s"), (False, "S &s")])
def test_a_struct_behind_a_reference(
    workspace: Workspace, fake_process: FakeProcess, const: bool, spelled: str
) -> None:
    declared = {"kind": "struct", "name": "S", "size": 8, "members": []}
    listed = [{"name": "s", "type": declared, "by_address": True, "reference": True, "const": const}]
    (made,) = describe(workspace, fake_process, CUDA, entry("k", parameters=None) | {"parameters": listed}).entries
    (parameter,) = made
    assert (parameter.form, parameter.writes, str(parameter)) == ("struct", not const, spelled)
    assert parameter.loses_members != const
