"""How clang is called, what it says, and what it read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fakes import FakeProcess
from stage_support import workspace_in, writes

from enzyme_driver.errors import Location, SourceError
from enzyme_driver.settings import Settings
from enzyme_driver.stages import common_headers, frontend
from enzyme_driver.stages.common_headers import CUDA_PRELUDE
from enzyme_driver.stages.reading import dependencies
from enzyme_driver.stages.source import Source
from enzyme_driver.stages.workspace import Workspace

CUDA = Source(Path("/home/u/k.cu"), "cuda", ("-DN=4", "-I/home/u/include"), "0")
CPP = Source(Path("/home/u/f.cpp"), "c++", (), "0")

COMMON = (
    *("-O2", "-Xclang", "-disable-llvm-passes", "-fno-color-diagnostics"),
    *("-w", "-Wno-register", "-Wno-c++11-narrowing", "-Wno-reserved-user-defined-literal"),
    *("-g", "-Xclang", "-debug-info-kind=standalone", "-Xclang", "-dwarf-version=4", "-fno-discard-value-names"),
)


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings, fake_process: FakeProcess) -> Workspace:
    fake_process.reply("clang", effect=writes())
    return workspace_in(tmp_path, settings, fake_process)


def test_clang_for_cuda(workspace: Workspace, fake_process: FakeProcess) -> None:
    made = frontend.compile_source(CUDA, workspace, arch="sm_80")
    output, macros = workspace.file("k.sm_80.primal.ll"), workspace.file("k.macros.h")
    assert macros.read_text() == "#define N 4\n"
    assert fake_process.argvs == [
        (
            *("/llvm/bin/clang", "-x", "cuda", "--cuda-device-only", "-nogpulib", "--cuda-gpu-arch=sm_80"),
            *("--cuda-path=/cuda", "-Xclang", "-target-sdk-version=12.8"),
            *("-isystem", str(frontend.HEADERS / "cccl"), "-isystem", "/cuda/include/cccl"),
            *("-idirafter", str(frontend.HEADERS), "-idirafter", str(frontend.INCLUDE)),
            *COMMON,
            "-I/home/u/include",
            *("-include", str(CUDA_PRELUDE), "-include", str(macros), "-S", "-emit-llvm"),
            *("-MD", "-MF", str(workspace.file("k.sm_80.d")), "/home/u/k.cu", "-o", str(output)),
        )
    ]
    assert (made.path, made.language) == (output, "cuda")


def test_clang_for_cpp(workspace: Workspace, fake_process: FakeProcess) -> None:
    frontend.compile_source(CPP, workspace, arch="sm_90")
    assert fake_process.argvs == [
        (
            *("/llvm/bin/clang", "-x", "c++", "-fopenmp", "-fPIC", "-ffp-contract=on"),
            *("-fcx-fortran-rules", "-isystem", str(frontend.HEADERS / "libstdcxx")),
            *("-idirafter", str(frontend.INCLUDE)),
            *COMMON,
            *("-include", str(frontend.PRELUDE), "-S", "-emit-llvm"),
            *("-MD", "-MF", str(workspace.file("f.d")), "/home/u/f.cpp", "-o", str(workspace.file("f.primal.ll"))),
        )
    ]


def with_flags(*flags: str) -> Source:
    return Source(Path("/home/u/k.cu"), "cuda", flags, "0")


def headers_of(fake_process: FakeProcess) -> list[str | None]:
    """What each call of clang took its first headers from: a compiled file, or None for the prelude."""
    return [
        "made" if "-emit-pch" in argv else argv[argv.index("-include-pch") + 2] if "-include-pch" in argv else None
        for argv in fake_process.argvs
    ]


def test_the_first_headers_are_compiled_once(
    workspace: Workspace, fake_process: FakeProcess, settings: Settings
) -> None:
    for _ in range(2):
        frontend.compile_source(with_flags("-O3", "-std=c++17", "-Wall"), workspace, arch="sm_90")
    (compiled,) = (settings.home / "headers").iterdir()
    assert headers_of(fake_process) == ["made", str(compiled), str(compiled)]
    made, *_ = fake_process.argvs
    assert made[-3] == str(CUDA_PRELUDE)
    assert not any(str(CUDA_PRELUDE) in argv for argv in fake_process.argvs[1:])


def test_other_flags_have_other_headers_and_the_oldest_go(
    workspace: Workspace, fake_process: FakeProcess, settings: Settings
) -> None:
    used = []
    for level in range(common_headers.MOST + 2):
        frontend.compile_source(with_flags(f"-O{level}"), workspace, arch="sm_90")
        used.append(Path(headers_of(fake_process)[-1] or ""))
        os.utime(used[-1], (level, level))
    assert len(set(used)) == len(used)
    assert set((settings.home / "headers").iterdir()) == set(used[2:])


@pytest.mark.parametrize(
    "flags",
    [
        ("-D_N=4",),
        ("-I", "include"),
        ("-include", "a.h"),
        ("-isystem/x",),
        ("-Xclang", "-x"),
        ("-Wp,-DN",),
        ("-mllvm", "x"),
    ],
)
def test_flags_that_could_change_headers(
    flags: tuple[str, ...], workspace: Workspace, fake_process: FakeProcess
) -> None:
    frontend.compile_source(with_flags("-O3", *flags), workspace, arch="sm_90")
    assert headers_of(fake_process) == [None]


def test_compiled_headers_that_clang_refuses_are_made_anew(
    workspace: Workspace, fake_process: FakeProcess, settings: Settings
) -> None:
    frontend.compile_source(with_flags(), workspace, arch="sm_90")
    (compiled,) = (settings.home / "headers").iterdir()
    fake_process.reply("-include-pch", returncode=1, stderr=f"'{compiled}' was built before")
    made = frontend.compile_source(with_flags(), workspace, arch="sm_90")
    assert made.path.read_text() == "made"
    assert headers_of(fake_process)[2:] == [str(compiled), None]
    assert not compiled.exists()


def test_an_error_in_the_users_file_leaves_the_headers(
    workspace: Workspace, fake_process: FakeProcess, settings: Settings
) -> None:
    fake_process.reply("-include-pch", returncode=1, stderr="/home/u/k.cu:1:1: error: no\n")
    with pytest.raises(SourceError):
        frontend.compile_source(with_flags(), workspace, arch="sm_90")
    assert len([*(settings.home / "headers").iterdir()]) == 1
    assert len(fake_process.calls) == 2


def test_without_a_place_for_headers_they_are_read(
    workspace: Workspace, fake_process: FakeProcess, settings: Settings
) -> None:
    settings.home.mkdir(parents=True, exist_ok=True)
    (settings.home / "headers").touch()
    frontend.compile_source(with_flags(), workspace, arch="sm_90")
    assert headers_of(fake_process) == [None]


@pytest.mark.parametrize(
    ("source", "flags"), [(CUDA, ["-ffast-math", "-fgpu-approx-transcendentals"]), (CPP, ["-ffast-math"])]
)
def test_fast_math_is_said_before_the_users_flags(
    source: Source, flags: list[str], workspace: Workspace, fake_process: FakeProcess
) -> None:
    frontend.compile_source(source, workspace, arch="sm_90", fast_math=True)
    (argv,) = fake_process.argvs
    start = argv.index(COMMON[-1]) + 1
    assert argv[start : argv.index("-include")] == (*flags, *source.flags[-1:])


def test_instances_are_asked_for_by_a_file_that_includes_the_users(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    frontend.compile_source(CUDA, workspace, arch="sm_90", instances=("axpy<float>", "helper"))
    (argv,) = fake_process.argvs
    unit = workspace.file("k.instances.cu")
    assert argv[-3:] == (str(unit), "-o", str(workspace.file("k.sm_90.primal.ll")))
    text = unit.read_text()
    assert text.startswith('#include "/home/u/k.cu"\n')
    assert "&axpy<float>;" in text
    assert "&helper;" in text


def test_what_was_read(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("clang", effect=writes("", "/home/u/k.cu", "/cuda/include/math.h", "\\\n  relative.h"))
    made = frontend.compile_source(CUDA, workspace, arch="sm_90")
    assert made.dependencies == (Path("/cuda/include/math.h"), Path("relative.h").absolute())


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("o.ll: /a.cu /b.h\n", ["/b.h"]),
        ("/tmp/my\\ file.ll: \\\n  /my\\ folder/b\\ c.h \\\n  /d.h\n", ["/my folder/b c.h", "/d.h"]),
        ("o.ll: /price$$.h /c\\#.h\n", ["/price$.h", "/c#.h"]),
        ("/tmp/a:b.ll: /x:y.h\n", ["/x:y.h"]),
        ("o.ll: /a.cu\n", []),
    ],
    ids=["plain", "spaces", "signs", "colons", "nothing"],
)
def test_the_dependency_file_is_a_make_rule(text: str, read: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.d").write_text(text)
    assert [str(path) for path in dependencies(tmp_path / "a.d", Path("/a.cu"))] == read


def test_an_error_of_clang_has_its_place_and_is_said_once(workspace: Workspace, fake_process: FakeProcess) -> None:
    said = (
        "In file included from /home/u/k.cu:1:\n"
        "/home/u/my part.h:3:14: error: use of undeclared identifier 'y'\n"
        "    3 |   x[i] = 2 * y;\n      |              ^\n"
        "1 error generated when compiling for sm_90.\n"
    )
    fake_process.reply("clang", returncode=1, stderr=said)
    with pytest.raises(SourceError) as caught:
        frontend.compile_source(CUDA, workspace, arch="sm_90")
    error = caught.value
    assert error.location == Location("/home/u/my part.h", 3, 14)
    assert error.reason.startswith("error: use of undeclared identifier 'y'\n    3 |   x[i] = 2 * y;")
    assert str(error).count("undeclared identifier") == 1
    assert "22" in error.hint


def test_a_missing_header_is_a_fatal_error_with_a_place(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("clang", returncode=1, stderr="/home/u/k.cu:1:10: fatal error: 'no.h' file not found\n")
    with pytest.raises(SourceError, match=r"error: 'no\.h' file not found") as caught:
        frontend.compile_source(CUDA, workspace, arch="sm_90")
    assert caught.value.location == Location("/home/u/k.cu", 1, 10)


@pytest.mark.parametrize(
    ("said", "way"),
    [
        ("initialization is not supported for __shared__ variables\n    4 | B b;", "__syncthreads"),
        ("Thrust requires at least C++17. Define CCCL_IGNORE to suppress this message.", "--std c++17"),
    ],
)
def test_what_clang_says_of_libraries_and_shared_variables_has_a_way_out(
    said: str, way: str, workspace: Workspace, fake_process: FakeProcess
) -> None:
    said = f"/home/u/k.cu:4:20: error: {said}\n"
    fake_process.reply("clang", returncode=1, stderr=said)
    with pytest.raises(SourceError) as caught:
        frontend.compile_source(CUDA, workspace, arch="sm_90")
    assert way in caught.value.hint


@pytest.mark.parametrize(
    ("said", "reason"),
    [("clang: error: unknown argument: '-fno'\n", "clang: error: unknown argument: '-fno'"), ("", "without a message")],
)
def test_an_error_without_a_place_is_the_files(
    said: str, reason: str, workspace: Workspace, fake_process: FakeProcess
) -> None:
    fake_process.reply("clang", returncode=1, stderr=said)
    with pytest.raises(SourceError, match="flags") as caught:
        frontend.compile_source(CUDA, workspace, arch="sm_90")
    assert reason in caught.value.reason
    assert caught.value.location == Location("/home/u/k.cu")


def test_the_time_limit_and_the_log(workspace: Workspace, fake_process: FakeProcess, settings: Settings) -> None:
    frontend.compile_source(CUDA, workspace, arch="sm_90")
    (call,) = fake_process.calls
    assert call.timeout == settings.timeout
    assert call.log == settings.cache_dir / "logs" / "scratch-clang.log"


def test_templates_of_the_file_come_before_those_of_its_headers(tmp_path: Path) -> None:
    path, header = tmp_path / "a.cu", tmp_path / "a.cuh"
    path.write_text('#include "a.cuh"\ntemplate <class T> __global__ void own(T *x) { x[0] = 1; }\n')
    header.write_text("template <class T> __global__ void theirs(T *x) { x[0] = 2; }\n")
    found = frontend.templates(Source(path, "cuda", (), "0"), [header, tmp_path / "missing.cuh"])
    assert found == {"own<T>": 2, "theirs<T>": 1}
