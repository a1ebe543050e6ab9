"""Which files seem to include a header that is not there, and what clang is asked of those."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import Argv, FakeProcess
from stage_support import workspace_in, writes

from enzyme_driver.settings import Settings
from enzyme_driver.stages import frontend
from enzyme_driver.stages.included import seems_incomplete
from enzyme_driver.stages.source import Source
from enzyme_driver.stages.workspace import Workspace

MISSING = "fatal error: 'mpi_of_mine.h' file not found\n"


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings, fake_process: FakeProcess) -> Workspace:
    return workspace_in(tmp_path, settings, fake_process)


@pytest.mark.parametrize(
    ("text", "flags", "incomplete"),
    [
        ("#include <vector>\n#include <stdio.h>\n", (), False),
        ("#include <nowhere_at_all.h>\n", (), True),
        ("#include <deep/own.h>\n", (), True),
        ("#include <deep/own.h>\n", ("-O2", "-I{}"), False),
        ("#include <deep/own.h>\n", ("-isystem", "{}"), False),
        ('#include "beside.h"\n', (), True),
        ("// #include <nowhere_at_all.h>\n", (), False),
    ],
)
def test_headers_are_looked_for_where_clang_would(
    text: str, flags: tuple[str, ...], incomplete: bool, tmp_path: Path
) -> None:
    """Also in the user's headers: `beside.h` includes what is missing, and itself."""
    folder = tmp_path / "include"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "own.h").touch()
    (tmp_path / "beside.h").write_text('#include "beside.h"\n  # include "also_nowhere.cuh"\n')
    file = tmp_path / "k.cu"
    file.write_text(text)
    assert seems_incomplete(file, tuple(flag.format(folder) for flag in flags), ()) == incomplete


def test_a_file_is_not_parsed_up_to_a_header_that_is_missing(
    tmp_path: Path, workspace: Workspace, fake_process: FakeProcess
) -> None:
    file = tmp_path / "k.cu"
    file.write_text("#include <mpi_of_mine.h>\n__global__ void k(float *x) { x[0] = 1; }\n")

    fake_process.reply("clang", "-M", returncode=1, stderr=f"{file}:1:10: {MISSING}")
    fake_process.reply("clang", "-MG", effect=lambda argv: Path(argv[-1]).write_text(f"x: {file} mpi_of_mine.h\n"))
    fake_process.reply("clang", "-emit-pch", effect=lambda argv: _read(argv, file))
    fake_process.reply("clang", "-fsyntax-only")
    fake_process.reply("clang", "nothing.cu", effect=writes())
    entry = f'{{"file": "k.cu", "directory": "{tmp_path}", "line": 2, "kernel": true}}'
    fake_process.reply("-passes=adgen-name-halves,adgen-describe", stdout=f'{{"entries": [{entry}]}}')
    made = frontend.compile_source(Source(file, "cuda", (), "0"), workspace, arch="sm_90")
    assert made.left_out == 1
    parsed = [argv for argv in fake_process.argvs if "-emit-llvm" in argv and str(file) in argv]
    assert parsed
    assert all("-fallow-pch-with-compiler-errors" in argv for argv in parsed)


def test_what_the_preprocessor_finds_is_read_as_ever(
    tmp_path: Path, workspace: Workspace, fake_process: FakeProcess
) -> None:
    file = tmp_path / "k.cu"
    file.write_text("#if 0\n#include <mpi_of_mine.h>\n#endif\n__global__ void k(float *x) { x[0] = 1; }\n")
    fake_process.reply("clang", "-M")
    fake_process.reply("clang", "-emit-llvm", effect=lambda argv: _read(argv, file))
    made = frontend.compile_source(Source(file, "cuda", (), "0"), workspace, arch="sm_90")
    assert (made.left_out, made.parsed) == (0, None)
    assert len([argv for argv in fake_process.argvs if "-M" in argv]) == 1


def _read(argv: Argv, file: Path) -> None:
    writes()(argv)
    if "-MF" in argv:
        Path(argv[argv.index("-MF") + 1]).write_text(f"x: {file}\n")
