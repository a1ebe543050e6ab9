"""How a file is read in which clang meets errors: what is asked of clang, what is left out, and what stops it."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import Argv, FakeProcess
from stage_support import workspace_in, writes

from enzyme_driver.errors import Location, SourceError
from enzyme_driver.settings import Settings
from enzyme_driver.stages import frontend
from enzyme_driver.stages.dialect import in_words_of_clang, with_template, without_constructors, without_static
from enzyme_driver.stages.precompiled import without_errors
from enzyme_driver.stages.reading import dependencies
from enzyme_driver.stages.source import Source
from enzyme_driver.stages.workspace import Workspace

KERNEL = "__global__ void k(float *x) { x[0] = 1; }\n"
MAIN = f"{KERNEL}int main() {{ MPI_Init(0, 0); return 0; }}\n"
MARKED = (35 | 22 << 32 | 1 << 48 | 0b1100 << 64) << 5  # with an error, and five bits before it
CLEARED = (35 | 22 << 32 | 1 << 48 | 0b0100 << 64) << 5


def precompiled(argv: Argv) -> None:
    """Write what clang writes where it meets errors."""
    Path(argv[argv.index("-o") + 1]).write_bytes(MARKED.to_bytes(64, "little"))
    if "-MF" in argv:
        Path(argv[argv.index("-MF") + 1]).write_text(f"x: {argv[-3]}\n")


def described(*entries: tuple[Path, int, bool]) -> str:
    each = [{"file": path.name, "directory": str(path.parent), "line": at, "kernel": is_} for path, at, is_ in entries]
    return json.dumps({"entries": each})


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings, fake_process: FakeProcess) -> Workspace:
    return workspace_in(tmp_path, settings, fake_process)


@pytest.fixture
def broken(tmp_path: Path) -> Source:
    path = tmp_path / "broken.cu"
    path.write_text(MAIN)
    return Source(path, "cuda", (), "0")


def says(fake_process: FakeProcess, text: str, *, generated: tuple[int, ...] = (1,)) -> None:
    """clang says this of the file that it reads, and makes code of functions that begin in these lines."""
    fake_process.reply("clang", returncode=1, stderr=text, effect=writes())
    fake_process.reply("clang", "-emit-pch", stderr=text, effect=precompiled)
    fake_process.reply("clang", "nothing.cu", effect=writes())
    file = Path(text.partition(":")[0])
    fake_process.reply(
        "-passes=adgen-name-halves,adgen-describe", stdout=described(*((file, line, True) for line in generated))
    )


def test_an_error_in_a_function_of_the_host_does_no_harm(
    broken: Source, workspace: Workspace, fake_process: FakeProcess
) -> None:
    says(fake_process, f"{broken.path}:2:14: error: use of undeclared identifier 'MPI_Init'\n")
    made = frontend.compile_source(broken, workspace, arch="sm_90")
    assert (made.left_out, made.unread) == (1, ())
    file = workspace.file("broken.sm_90.primal.pch")
    assert file.read_bytes() == CLEARED.to_bytes(64, "little")
    assert [argv for argv in fake_process.argvs if "-ivfsoverlay" in argv] == []
    (generated,) = (argv for argv in fake_process.argvs if str(workspace.file("nothing.cu")) in argv)
    assert generated[generated.index("-include-pch") + 2] == str(file)


def test_an_error_in_a_function_that_there_is_code_of_is_cut_out(
    broken: Source, workspace: Workspace, fake_process: FakeProcess
) -> None:
    said = f"{broken.path}:2:14: error: use of undeclared identifier 'MPI_Init'\n"
    says(fake_process, said, generated=(1, 2))  # as for a lambda of the device in main
    fake_process.reply("clang", "-emit-pch", "-ivfsoverlay", effect=precompiled)
    made = frontend.compile_source(broken, workspace, arch="sm_90")
    copy = workspace.file("copy-0-of-broken.cu").read_text()
    assert "int main() { adgen_host_code_left_out(); return 0; }" in copy
    assert made.left_out == 1


def test_an_error_in_a_kernel_is_the_kernels(broken: Source, workspace: Workspace, fake_process: FakeProcess) -> None:
    says(fake_process, f"{broken.path}:1:37: error: use of undeclared identifier 'WIDTH'\n")
    fake_process.reply("clang", "-emit-pch", "-ivfsoverlay", effect=precompiled)
    made = frontend.compile_source(broken, workspace, arch="sm_90")
    (unread,) = made.unread
    assert (unread.name, unread.kernel, unread.error.location) == ("k", True, Location(str(broken.path), 1, 37))
    assert "-D WIDTH=VALUE" in unread.error.hint


def test_an_error_in_a_library_alone_is_told_at_once(
    broken: Source, workspace: Workspace, fake_process: FakeProcess
) -> None:
    says(fake_process, "/usr/include/x.h:2:1: error: no\n")
    with pytest.raises(SourceError, match="error: no"):
        frontend.compile_source(broken, workspace, arch="sm_90")


def test_a_declaration_of_the_users_headers_is_left_out(
    broken: Source, workspace: Workspace, fake_process: FakeProcess
) -> None:
    header = broken.path.with_name("names.h")
    header.write_text("using at::Half;\nint f();\n")
    says(fake_process, f"{header}:1:7: error: use of undeclared identifier 'at'\n")
    fake_process.reply("clang", "-emit-pch", "-ivfsoverlay", effect=precompiled)
    frontend.compile_source(broken, workspace, arch="sm_90")
    assert workspace.file("copy-0-of-names.h").read_text() == "\nint f();\n"
    (root,) = json.loads(workspace.file("copies.json").read_text())["roots"]
    assert root["name"] == str(header)


def test_kernels_may_be_templates_of_the_users_headers(
    broken: Source, workspace: Workspace, fake_process: FakeProcess
) -> None:
    header = broken.path.with_name("kernels.cuh")
    header.write_text("template <class T> __global__ void scale(T *x) { x[0] *= 2; }\n")
    broken.path.write_text('#include "kernels.cuh"\nint main() { MPI_Init(0, 0); }\n')

    def read(argv: Argv) -> None:
        precompiled(argv)
        if "-MF" in argv:
            Path(argv[argv.index("-MF") + 1]).write_text(f"x: {broken.path} {header}\n")

    says(fake_process, f"{broken.path}:2:14: error: no\n", generated=())
    fake_process.reply("clang", "-emit-pch", stderr=f"{broken.path}:2:14: error: no\n", effect=read)
    assert frontend.compile_source(broken, workspace, arch="sm_90").left_out == 1
    header.write_text("int f();\n")
    with pytest.raises(SourceError, match="error: no"):
        frontend.compile_source(broken, workspace, arch="sm_90")


def test_clang_may_end_abruptly_over_what_it_has_written_of_errors(
    broken: Source, workspace: Workspace, fake_process: FakeProcess
) -> None:
    says(fake_process, f"{broken.path}:2:14: error: use of undeclared identifier 'MPI_Init'\n")
    fake_process.reply("clang", "-emit-pch", "-ivfsoverlay", effect=precompiled)
    fake_process.reply("clang", "nothing.cu", returncode=1, stderr="PLEASE submit a bug report")
    fake_process.reply("clang", "whole-nothing.cu", effect=writes())
    frontend.compile_source(broken, workspace, arch="sm_90")
    assert "adgen_host_code_left_out" in workspace.file("copy-0-of-broken.cu").read_text()
    whole = workspace.file("whole-nothing.cu")
    assert whole.read_text() == f'#include "{broken.path}"\n'
    (last,) = (argv for argv in fake_process.argvs if str(whole) in argv)
    assert str(workspace.file("broken.sm_90.primal.pch")) not in last


def test_a_file_that_clang_has_not_marked_is_not_used(
    broken: Source, workspace: Workspace, fake_process: FakeProcess
) -> None:
    says(fake_process, f"{broken.path}:2:14: error: no\n")
    fake_process.reply("clang", "-emit-pch", stderr=f"{broken.path}:2:14: error: no\n", effect=writes())
    with pytest.raises(SourceError, match="error: no"):
        frontend.compile_source(broken, workspace, arch="sm_90")


@pytest.mark.parametrize(("mark", "version", "cleared"), [(1, "22.1.8", 1), (0, "22.1.8", 0), (1, "22.2", 0)])
def test_only_the_mark_of_errors_changes(mark: int, version: str, cleared: int, tmp_path: Path) -> None:
    file = tmp_path / "a.pch"
    record = 35 | 22 << 32 | 1 << 48 | (0b0100 | mark << 3) << 64
    content = ((record << 3) | 5).to_bytes(4096, "little")
    file.write_bytes(content)
    assert without_errors(file, version) is bool(cleared)
    changed = int.from_bytes(content, "little") ^ int.from_bytes(file.read_bytes(), "little")
    assert changed == (cleared << 67 + 3)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("k<3><< <g, b>> >(x);", "k<3><<<  g, b>>> (x);".replace("  ", " ")),
        ("k < < < g, b > > >(x);", "k <<<   g, b >>>  (x);"),
        ("k<<<g, b>>>(x); A<A<A<int> > > a;", "k<<<g, b>>>(x); A<A<A<int> > > a;"),
        (
            "#if defined(__NVCC__) && \\\n __NVCC__\nint __NVCC__;",
            "#if defined(__CUDACC__) && \\\n __CUDACC__\nint __NVCC__;",
        ),
    ],
)
def test_what_nvcc_reads_in_words_of_clang(text: str, read: str) -> None:
    assert in_words_of_clang(text) == read


def test_a_function_that_is_static_only_where_it_is_declared_again() -> None:
    text = "static int a;\ntemplate <int N> static int\nf();\nstatic int g() { return 0; }\n"
    read = "static int a;\ntemplate <int N>        int\nf();\nstatic int g() { return 0; }\n"
    assert without_static(text, [(3, 1)]) == read


@pytest.mark.parametrize("column", [1, 8])
def test_a_member_of_a_template_that_is_a_template(column: int) -> None:
    text = "{ g<T>::h(x);\nA<T>:: f<n>(B<T>::f<n>(x)); }\n"
    read = "{ g<T>::h(x);\nA<T>:: template f<n>(B<T>::f<n>(x)); }\n"
    assert with_template(text, [(2, column)]) == read
    assert with_template(read, [(2, 8)]) == read.replace("B<T>::f", "B<T>::template f")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("__shared__ A<2, n> a;", "__shared__ adgen_room<A<2, n>> adgen_room_a; auto &a = adgen_room_a.value;"),
        (
            "static __shared__ alignas(sizeof(A)) A\na[2 * n][m[0]] ;",
            (
                "static __shared__ alignas(sizeof(A)) adgen_room<A[2 * n][m[0]]> adgen_room_a; "
                "auto &a = adgen_room_a.value\n;"
            ),
        ),
        (
            "__shared__ A a[2], b;",
            (
                "__shared__ adgen_room<A[2]> adgen_room_a; auto &a = adgen_room_a.value; "
                "__shared__ adgen_room<A> adgen_room_b; auto &b = adgen_room_b.value;"
            ),
        ),
        ("__shared__ A a = 1;", "__shared__ A a = 1;"),
        ("__shared__ A a(1);", "__shared__ A a(1);"),
        ("A a;", "A a;"),
    ],
)
def test_shared_variables_whose_constructors_do_not_run(text: str, read: str) -> None:
    names = [text.count("\n", 0, at.start()) + 1 for at in re.finditer(r"\b[ab]\b", text)]
    columns = [at.start() - text.rfind("\n", 0, at.start()) for at in re.finditer(r"\b[ab]\b", text)]
    assert without_constructors(text, zip(names, columns, strict=True)) == read


def starts(
    workspace: Workspace, fake_process: FakeProcess, text: str, *, headers_say: str = "", again: str = ""
) -> list[Argv]:
    """How clang was started for a file with an error in its `main`, with what it says of its first headers."""
    path = workspace.folder.parent / "broken.cu"
    path.write_text(text + MAIN)
    line = text.count("\n") + 2
    said = f"{path}:{line}:14: error: use of undeclared identifier 'MPI_Init'\n"
    fake_process.reply("clang", returncode=1, stderr=said, effect=lambda argv: rule(argv, path))
    fake_process.reply("clang", "-emit-pch", stderr=said, effect=precompiled)
    first = str(workspace.file("broken.first.h"))

    def first_headers(argv: Argv) -> None:
        precompiled(argv)
        rule(argv, path)

    fake_process.reply("clang", first, stderr=headers_say, effect=first_headers)
    fake_process.reply("clang", "-fsyntax-only", first, stderr=again)
    fake_process.reply("clang", "nothing.cu", effect=lambda argv: Path(argv[argv.index("-o") + 1]).write_text(""))
    fake_process.reply("-passes=adgen-name-halves,adgen-describe", stdout=described((path, line - 1, True)))
    frontend.compile_source(Source(path, "cuda", (), "0"), workspace, arch="sm_90")
    return [argv for argv in fake_process.argvs if "clang" in argv[0]]


def rule(argv: Argv, path: Path) -> None:
    """Write down that clang has read a header of the system and the headers beside the file."""
    if "-MF" in argv:
        read = ["/usr/include/stdio.h", *map(str, path.parent.glob("*.cuh"))]
        Path(argv[argv.index("-MF") + 1]).write_text(f"x: {path} \\\n {' '.join(read)}\n")


def prefix(workspace: Workspace) -> str:
    file = workspace.file("broken.first.h")
    return file.read_text() if file.exists() else ""


def test_what_is_included_first_is_read_once(workspace: Workspace, fake_process: FakeProcess) -> None:
    started = starts(workspace, fake_process, "// a\n#include <stdio.h> // b\n#define N 3\n#include <cub/cub.cuh>\n")
    assert prefix(workspace) == "#include <stdio.h>\n#define N 3\n#include <cub/cub.cuh>\n"
    (again,) = (argv for argv in started if "-emit-pch" in argv and str(workspace.folder.parent / "broken.cu") in argv)
    assert again[again.index("-include-pch") + 2] == str(workspace.file("broken.first.pch"))


def test_it_is_known_that_its_headers_were_read(workspace: Workspace, fake_process: FakeProcess) -> None:
    starts(workspace, fake_process, "#include <stdio.h>\n")
    read = dependencies(workspace.file("broken.sm_90.d"), workspace.folder.parent / "broken.cu")
    assert Path("/usr/include/stdio.h") in read


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ('#include <stdio.h>\n#include "own.cuh"\n#include <math.h>\n', "#include <stdio.h>\n"),
        ("#include <stdio.h>\n#include <parts/own.cuh>\n", "#include <stdio.h>\n"),
        ("#include <stdio.h>\n#ifdef A\n#include <math.h>\n#endif\n", "#include <stdio.h>\n"),
        ("#include <stdio.h>\n#undef N\n#include <math.h>\n", "#include <stdio.h>\n"),
        ("#include <stdio.h>\nint n;\n#include <math.h>\n", "#include <stdio.h>\n"),
        ("#define N 3\nint n;\n", ""),
        ("", ""),
    ],
)
def test_it_ends_where_something_else_begins(
    workspace: Workspace, fake_process: FakeProcess, text: str, first: str
) -> None:
    for folder in (workspace.folder.parent, workspace.folder.parent / "parts"):
        folder.mkdir(exist_ok=True)
        (folder / "own.cuh").write_text("int own();\n")
    starts(workspace, fake_process, text)
    assert prefix(workspace) == first


@pytest.mark.parametrize("said", [{"headers_say": "x.h:1:1: error: no\n"}, {"again": "x.h:1:1: error: twice\n"}])
def test_headers_with_errors_are_read_with_the_file(
    workspace: Workspace, fake_process: FakeProcess, said: dict[str, str]
) -> None:
    started = starts(workspace, fake_process, "#include <stdio.h>\n", **said)
    of_file = [argv for argv in started if str(workspace.folder.parent / "broken.cu") in argv]
    assert of_file
    assert not any(str(workspace.file("broken.first.pch")) in argv for argv in of_file)


def test_macros_are_written_once_since_what_was_read_behind_them_asks_for_their_time(
    broken: Source, workspace: Workspace, fake_process: FakeProcess
) -> None:
    says(fake_process, f"{broken.path}:2:14: error: use of undeclared identifier 'MPI_Init'\n")
    with_macro = replace(broken, flags=("-DWIDTH=3",))
    made = frontend.compile_source(with_macro, workspace, arch="sm_90")
    macros = workspace.file("broken.macros.h")
    os.utime(macros, ns=(1, 1))
    fake_process.reply("clang", "broken.instances.cu", effect=writes())
    frontend.compile_source(with_macro, workspace, arch="sm_90", instances=("scale<float>",), parsed=made.parsed)
    assert macros.stat().st_mtime_ns == 1
