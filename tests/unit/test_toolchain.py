"""The search for tools: what is taken, what is refused, what is said, which processes are started."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import executable, writes_output
from machines import Machine

from enzyme_driver import resources
from enzyme_driver.errors import CompilerCrashError, ToolchainError
from enzyme_driver.toolchain import check_arch, enzyme, identity


def test_everything_is_found_and_says_how(machine: Machine) -> None:
    found = machine.ensure()
    clang = machine.root / "bin" / "clang-22"
    assert (found.clang.path, found.clang.version, found.clang.found_by) == (clang, "22.1.8", "PATH")
    assert (found.opt.version, found.opt.major) == ("22.1.8", 22)
    assert (found.ptxas.path, found.ptxas.version) == (machine.cuda / "bin" / "ptxas", "13.0.88")
    assert found.ptxas.found_by == "ADGEN_CUDA_PATH"
    assert found.cuda_root == machine.cuda
    assert found.libdevice == machine.cuda / "nvvm" / "libdevice" / "libdevice.10.bc"
    assert found.libomp == machine.llvm / "lib" / "libomp.so.5"
    assert (found.enzyme.kind, found.enzyme.llvm_major, found.enzyme.opt) == ("wheel", 22, None)
    assert all(file.is_file() for file in (found.passes, found.worker, found.rules, found.host_runtime))


def test_the_exact_questions(machine: Machine) -> None:
    machine.ensure()
    clang, opt = (str(machine.root / "bin" / name) for name in ("clang-22", "opt-22"))
    ptxas = str(machine.cuda / "bin" / "ptxas")
    assert [argv for argv in machine.process.argvs if "-o" not in argv] == [
        (clang, "--version"),
        (opt, "--version"),
        (ptxas, "--version"),
        (opt, "-mtriple=nvptx64", "-mcpu=help", "-disable-output", "/dev/null"),
        (ptxas, "--help"),
    ]


def test_the_second_time_no_process_is_started(machine: Machine) -> None:
    first = machine.ensure()
    machine.process.calls.clear()
    assert machine.ensure() == first
    assert machine.process.calls == []


def test_a_changed_tool_is_asked_again(machine: Machine) -> None:
    machine.ensure()
    machine.process.calls.clear()
    clang = machine.llvm / "bin" / "clang"
    clang.write_text("a newer clang")
    machine.process.reply("clang-22", "--version", stdout="clang version 22.2.0")
    assert machine.ensure().clang.version == "22.2.0"
    assert (str(machine.root / "bin" / "clang-22"), "--version") in machine.process.argvs


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"key": 3}', '{"key": [1]}', "\\ud800"])
def test_damaged_memory_only_costs_time(machine: Machine, content: str) -> None:
    first = machine.ensure()
    (machine.settings.cache_dir / "facts.json").write_text(content)
    assert machine.ensure() == first


def test_a_cache_folder_that_cannot_be_written_only_costs_time(machine: Machine) -> None:
    settings = replace(machine.settings, cache_dir=Path("/dev/null/cache"))
    assert machine.ensure(settings).clang.version == "22.1.8"


def test_another_version_is_passed_over(machine: Machine) -> None:
    older = executable(machine.root / "older" / "clang-22", "older")
    machine.process.reply(str(older), "--version", stdout="clang version 19.1.7")
    settings = replace(machine.settings, search=(older.parent, *machine.settings.search))
    assert machine.ensure(settings).clang.path == machine.root / "bin" / "clang-22"


def test_an_explicit_tool_is_never_replaced(machine: Machine) -> None:
    older = executable(machine.root / "older" / "clang", "older")
    machine.process.reply(str(older), "--version", stdout="clang version 19.1.7")
    problem = machine.problem(replace(machine.settings, clang=older))
    assert f"ADGEN_CLANG names {older} (version 19.1.7); clang 22 is needed" in problem.reason
    assert "ADGEN_CLANG" in problem.hint
    assert machine.ensure(replace(machine.settings, opt=machine.llvm / "bin" / "opt")).opt.found_by == "ADGEN_OPT"


def test_an_explicit_tool_that_is_not_there(machine: Machine) -> None:
    problem = machine.problem(replace(machine.settings, ptxas=machine.root / "nowhere"))
    assert f"ADGEN_PTXAS names {machine.root / 'nowhere'}, which is not an executable file" in problem.reason


def test_a_tool_that_crashes_is_not_taken(machine: Machine) -> None:
    machine.process.reply("clang-22", "--version", error=CompilerCrashError("clang-22 was ended by SIGILL"))
    assert "does not say its version" in machine.problem().reason


def test_a_tool_that_lacks_a_library_says_so_and_is_asked_again(machine: Machine) -> None:
    said = "clang-22: error while loading shared libraries: libatomic.so.1: cannot open shared object file"
    machine.process.reply("clang-22", "--version", returncode=127, stderr=f"{said}\n")
    assert said in machine.problem().reason
    machine.process.reply("clang-22", "--version", stdout="clang version 22.1.8")
    assert machine.ensure().clang.version == "22.1.8"


def test_all_that_is_missing_is_said_at_once(machine: Machine) -> None:
    for name in ("clang-22", "opt-22"):
        (machine.root / "bin" / name).unlink()
    (machine.cuda / "nvvm" / "libdevice" / "libdevice.10.bc").unlink()
    problem = machine.problem()
    for part in ("clang 22 was not found; looked in PATH, ", "opt 22 was not found", "libdevice.10.bc"):
        assert part in problem.reason
    for way in ("make setup", "adgen toolchain install", "apt-get install clang-22", "apt-get install llvm-22"):
        assert way in problem.hint
    assert problem.exit_code == 6
    assert machine.process.argvs == [(str(machine.cuda / "bin" / "ptxas"), "--version")]


def test_libomp_elsewhere_is_asked_for(machine: Machine) -> None:
    (machine.llvm / "lib" / "libomp.so.5").unlink()
    elsewhere = executable(machine.root / "lib" / "libomp.so")
    machine.process.reply("-print-file-name=libomp.so", stdout=f"{elsewhere}\n")
    assert machine.ensure().libomp == elsewhere


def test_libomp_that_is_nowhere(machine: Machine) -> None:
    (machine.llvm / "lib" / "libomp.so.5").unlink()
    machine.process.reply("-print-file-name=libomp.so", stdout="libomp.so\n")
    assert "libomp-22-dev" in machine.problem().hint


def test_an_arch_that_only_one_tool_knows_is_refused(machine: Machine) -> None:
    found = machine.ensure()
    assert found.archs == ("sm_75", "sm_90", "sm_90a", "sm_100")
    assert check_arch("sm_90", found) == "sm_90"
    for arch in ("sm_52", "sm_70", "sm_101", "sm_9000", ""):
        with pytest.raises(ToolchainError, match=f"'{arch}'") as caught:
            check_arch(arch, found)
        assert "sm_75, sm_90, sm_90a, sm_100" in caught.value.hint


def test_missing_enzyme_says_what_to_run(machine: Machine) -> None:
    enzyme.PINNED.file(machine.settings).unlink()
    problem = machine.problem()
    assert "Enzyme was not found" in problem.reason
    assert "adgen toolchain install" in problem.hint


@pytest.mark.parametrize("name", ["LLVMEnzyme-22.so", "ClangEnzyme-22.so", "LLVMEnzyme-22.dylib"])
def test_a_plugin_of_the_user_comes_first(machine: Machine, name: str) -> None:
    plugin = executable(machine.root / name)
    source = machine.ensure(replace(machine.settings, enzyme=plugin)).enzyme
    assert (source.kind, source.path, source.llvm_major, source.found_by) == ("plugin", plugin, 22, "ADGEN_ENZYME")
    assert source.opt is not None
    assert source.opt.major == 22


def test_a_plugin_for_another_llvm_is_refused_before_anything_runs(machine: Machine) -> None:
    plugin = executable(machine.root / "LLVMEnzyme-19.so")
    problem = machine.problem(replace(machine.settings, enzyme=plugin))
    assert "built for LLVM 19" in problem.reason
    assert "is LLVM 22.1.8" in problem.reason
    assert "LLVMEnzyme-22.so" in problem.hint
    assert all("-o" not in argv for argv in machine.process.argvs)


@pytest.mark.parametrize(
    ("name", "there", "said"),
    [
        ("LLVMEnzyme-22.so", False, "is not there"),
        ("libEnzyme.so", True, "is not named LLVMEnzyme-NN.so"),
        ("LLDEnzyme-22.so", True, "is not named LLVMEnzyme-NN.so"),
    ],
)
def test_a_plugin_that_is_none(machine: Machine, name: str, there: bool, said: str) -> None:
    plugin = machine.root / name
    if there:
        executable(plugin)
    assert said in machine.problem(replace(machine.settings, enzyme=plugin)).reason


@pytest.mark.parametrize(
    ("label", "place"),
    [
        ("Homebrew", "brew/opt/enzyme/lib"),
        ("Spack", "spack/opt/spack/linux-zen4/enzyme-0.0.238-abc/lib"),
        ("Spack", "spack/opt/spack/linux-debian12-zen4/gcc-12.2.0/enzyme-0.0.238-abc/lib"),
        ("nixpkgs", "nix/lib"),
        ("nixpkgs", ".nix-profile/lib"),
        ("conda", "conda/lib"),
    ],
)
def test_plugins_of_package_managers(machine: Machine, label: str, place: str) -> None:
    executable(machine.root / place / "LLVMEnzyme-19.so")
    plugin = executable(machine.root / place / "LLVMEnzyme-22.so")
    settings = replace(machine.settings, spack_root=machine.root / "spack", conda_prefix=machine.root / "conda")
    assert machine.ensure(settings).enzyme.kind == "wheel"
    enzyme.PINNED.file(settings).unlink()
    source = machine.ensure(settings).enzyme
    assert (source.kind, source.path, source.found_by) == ("plugin", plugin, label)


def test_identity_follows_every_byte(machine: Machine) -> None:
    found = machine.ensure()
    before = identity(found, machine.settings)
    assert identity(found, machine.settings) == before
    labels = [label for label, _ in before]
    assert len(labels) == len(set(labels))
    for path in (found.enzyme.path, found.libdevice, found.passes, found.worker, found.rules, found.host_runtime):
        path.write_text(path.read_text() + "x")
        after = identity(found, machine.settings)
        assert sum(one != other for one, other in zip(before, after, strict=True)) == 1
        before = after


def test_identity_notices_a_change_that_keeps_the_size(machine: Machine) -> None:
    found = machine.ensure()
    before = identity(found, machine.settings)
    found.libdevice.write_text("X" * found.libdevice.stat().st_size)
    os.utime(found.libdevice, ns=(1, 1))
    assert identity(found, machine.settings) != before


def test_own_code_is_compiled_by_these_commands(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    for name in ("passes/A.cpp", "passes/B.cpp", "passes/A.h", "worker/worker.cpp", "rules/barrier.cu"):
        executable(package / name, name)
    executable(package / "host_runtime" / "runtime.cpp")
    monkeypatch.setattr(resources, "PACKAGE", package)
    found = machine.ensure()
    compiled = [argv for argv in machine.process.argvs if "-o" in argv]
    clangxx, clang = machine.llvm / "bin" / "clang++", machine.llvm / "bin" / "clang"
    include = f"-I{machine.llvm / 'include'}"
    plugin = ("-std=c++17", "-O1", "-fPIC", "-fno-rtti", "-fno-exceptions")

    def words(tool: Path, sign: str) -> list[tuple[str, ...]]:
        """What the tool was told, where the sign is among it; the four parts are compiled in no order."""
        return [argv[1:] for argv in compiled if Path(argv[0]) == tool and any(sign in word for word in argv)]

    a, b = words(clangxx, f"-I{package / 'passes'}")
    [link], [worker], [rules] = (
        words(clangxx, "libadgen-passes"),
        words(clangxx, "worker.cpp"),
        words(clang, "barrier.cu"),
    )
    [link_rules], [link_host] = words(machine.llvm / "bin" / "llvm-link", "rules.bc"), words(clangxx, "-nostdlib")
    [host] = words(clangxx, "runtime.cpp")
    [link_worker] = words(clangxx, "worker.so")
    assert len(compiled) == 9
    assert sorted((a[:-1], b[:-1])) == [
        (*plugin, include, f"-I{package / 'passes'}", "-c", str(package / "passes" / name), "-o")
        for name in ("A.cpp", "B.cpp")
    ]
    objects = sorted(word.replace(".new", ".o") for word in (a[-1], b[-1]))
    assert link == ("-shared", *objects, "-o", link[-1])
    shim = next(word for word in worker if word.endswith("/shim"))
    source = str(package / "worker" / "worker.cpp")
    assert worker[:-1] == (shim, *plugin, include, "-c", source, "-o")
    assert link_worker == ("-shared", worker[-1], "-o", link_worker[-1])
    assert rules[:-1] == (
        *("-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_70"),
        *("-O1", "-emit-llvm", "-Wno-unknown-cuda-version", f"--cuda-path={machine.cuda}"),
        *(f"-I{package / 'rules'}", "-c", str(package / "rules" / "barrier.cu"), "-o"),
    )
    assert link_rules == (rules[-1].replace(".new", ".o"), "-o", link_rules[-1])
    source = str(package / "host_runtime" / "runtime.cpp")
    assert host[:-1] == ("-std=c++17", "-O2", "-fPIC", "-fopenmp", f"-I{package / 'host_runtime'}", "-c", source, "-o")
    assert link_host == ("-r", "-nostdlib", host[-1].replace(".new", ".o"), "-o", link_host[-1])
    assert found.passes.parent.parent == machine.settings.home / "build"


def test_the_worker_sees_the_checks_switched_on(machine: Machine) -> None:
    seen = []

    def look(argv: tuple[str, ...]) -> None:
        shim = next(Path(word.removeprefix("-I")) for word in argv if word.endswith("/shim"))
        seen.append((shim / "llvm" / "Config" / "abi-breaking.h").read_text())
        writes_output()(argv)

    machine.process.reply("worker.cpp", effect=look)
    machine.ensure()
    assert seen == ["#define LLVM_ENABLE_ABI_BREAKING_CHECKS 1\n"]


def compiled(machine: Machine) -> list[str]:
    """The names of the files whose objects compilers were asked to make and adgen keeps."""
    kept = [argv for argv in machine.process.argvs if "-c" in argv and argv[-1].endswith(".new")]
    return [Path(argv[argv.index("-c") + 1]).name for argv in kept]


def linked(machine: Machine) -> list[str]:
    """The objects that the passes were linked from."""
    [link] = [argv for argv in machine.process.argvs if argv[-1].endswith("libadgen-passes.so")]
    return [word for word in link if word.endswith(".o")]


def test_files_that_cannot_change_each_other_are_compiled_together(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not a file of another folder, nor one that keeps to itself what another declares, includes or keeps to itself."""
    package = tmp_path / "package"
    for name in ("passes/Support/Common.h", "worker/w.cpp", "rules/b.cu", "host_runtime/r.cpp"):
        executable(package / name)
    for name, text in {
        "One/A.cpp": "namespace {\nstruct Row {\n};\nbool isSum(int I) {\n}\n} // namespace\n",
        "One/B.cpp": "namespace {\nconstexpr unsigned Most = 1;\n} // namespace\nvoid B::isSum(int I) {\n}\n",
        "One/C.cpp": 'STATISTIC(NumRows, "");\nstatic void add(Row *R) {\n  Most = 1;\n}\n',
        "One/D.cpp": "bool isSum(Value *V) {\n}\n",
        "One/E.cpp": '#include "One/E.h"\n',
        "One/E.h": "struct Row;\nunsigned add(unsigned A);\n",
        "One/F.cpp": 'STATISTIC(NumRows, "");\nstatic constexpr unsigned Row = 1;\n',
        "Two/G.cpp": "",
    }.items():
        executable(package / "passes" / name).write_text(text)
    monkeypatch.setattr(resources, "PACKAGE", package)
    machine.ensure()
    root = f"{package / 'passes'}/"
    files = [[word[len(root) :] for word in argv if word.startswith(root)] for argv in machine.process.argvs]
    together = ["".join(Path(name).stem for name in names if name.endswith(".cpp")) for names in files]
    assert sorted(filter(None, together)) == ["ABC", "DE", "F", "G"]
    assert len(linked(machine)) == 4


def test_a_changed_source_is_compiled_again_and_only_its_group(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    for name in (
        *("passes/One/A.cpp", "passes/Two/B.cpp", "passes/Two/C.cpp", "passes/Support/Common.h"),
        *("worker/worker.cpp", "rules/barrier.cu", "host_runtime/runtime.cpp"),
    ):
        executable(package / name, name)
    monkeypatch.setattr(resources, "PACKAGE", package)
    first = machine.ensure()
    machine.process.calls.clear()
    (package / "passes" / "Two" / "B.cpp").write_text("changed")
    second = machine.ensure()
    assert second.passes != first.passes
    assert first.passes.is_file()
    assert compiled(machine) == ["C.cpp"]  # which includes B.cpp


def test_only_files_that_include_a_changed_header_are_compiled_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    others = ("passes/Two/B.cpp", "worker/worker.cpp", "rules/barrier.cu", "host_runtime/runtime.cpp")
    for name in others:
        executable(package / name, name)
    for name, text in {
        "One/A.cpp": '#include "Two/Outer.h"\n',
        "One/C.cpp": '#include "Beside.h"\n',
        "One/Beside.h": '#include "Three/Inner.h"\n',
        "Two/Outer.h": '#include "Three/Inner.h"\n',
        "Two/Inner.h": "another of that name",
        "Three/Inner.h": "before",
    }.items():
        executable(package / "passes" / name).write_text(text)
    monkeypatch.setattr(resources, "PACKAGE", package)
    first = machine.ensure()
    for header, changed in {"Three/Inner.h": ["A.cpp", "C.cpp"], "Two/Outer.h": ["A.cpp"], "Two/Inner.h": []}.items():
        machine.process.calls.clear()
        (package / "passes" / header).write_text(f"after, in {header}")
        assert machine.ensure().passes != first.passes
        assert sorted(compiled(machine)) == changed


def test_files_of_one_name_in_two_folders_are_both_linked(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    for name in ("passes/One/A.cpp", "passes/Two/A.cpp", "worker/w.cpp", "rules/b.cu", "host_runtime/r.cpp"):
        executable(package / name, "the same")
    monkeypatch.setattr(resources, "PACKAGE", package)
    machine.ensure()
    assert len(set(linked(machine))) == 2
    assert sorted(compiled(machine)).count("A.cpp") == 2


def test_what_an_object_was_made_of_is_what_is_linked(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A header that goes back to what it was links the object that was made of it, and no other."""
    package = tmp_path / "package"
    for name in ("passes/One/A.cpp", "worker/w.cpp", "rules/b.cu", "host_runtime/r.cpp"):
        executable(package / name, '#include "Two/H.h"')
    header = executable(package / "passes" / "Two" / "H.h", "before")
    monkeypatch.setattr(resources, "PACKAGE", package)

    def linked_anew() -> list[str]:
        shutil.rmtree(machine.settings.home / "build" / machine.ensure().passes.parent.name)
        machine.process.calls.clear()
        machine.ensure()
        return linked(machine)

    before = linked_anew()
    header.write_text("after")
    after = linked_anew()
    header.write_text("before")
    assert linked_anew() == before != after


def test_common_headers_are_compiled_once_where_many_files_are(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    passes = [f"passes/{name}/{name}.cpp" for name in "ABCD"]
    for name in (
        *passes,
        "passes/Support/Common.h",
        "worker/worker.cpp",
        "rules/barrier.cu",
        "host_runtime/runtime.cpp",
    ):
        executable(package / name, name)
    monkeypatch.setattr(resources, "PACKAGE", package)
    machine.ensure()
    headers = [argv for argv in machine.process.argvs if str(package / "passes" / "Support" / "Common.h") in argv]
    assert [argv[argv.index("-x") + 1] for argv in headers] == ["c++-header"]
    users = [argv for argv in machine.process.argvs if "-include-pch" in argv]
    assert {argv[argv.index("-include-pch") + 1] for argv in users} == {headers[0][-1]}
    assert sorted(argv[argv.index("-c") + 1] for argv in users) == [str(package / name) for name in passes]
    machine.process.calls.clear()
    (package / "passes" / "B" / "B.cpp").write_text("changed")
    machine.ensure()
    assert all("-include-pch" not in argv for argv in machine.process.argvs)


def test_own_code_that_does_not_compile_leaves_no_build(machine: Machine) -> None:
    message = "worker.cpp:3:1: error: unknown type name 'x'"
    machine.process.reply("worker.cpp", returncode=1, stderr=f"warning: w\n{message}\n")
    problem = machine.problem()
    assert message in problem.reason
    assert problem.log is not None
    assert message in problem.log.read_text()
    builds = machine.settings.home / "build"
    assert sorted(path.name for path in builds.iterdir() if path.is_dir()) == ["objects"]


def test_missing_headers_name_the_package(machine: Machine) -> None:
    (machine.llvm / "include" / "llvm" / "Config" / "abi-breaking.h").unlink()
    assert "llvm-22-dev" in machine.problem().hint


def test_a_data_folder_that_cannot_be_written(machine: Machine) -> None:
    plugin = executable(machine.root / "LLVMEnzyme-22.so")
    settings = replace(machine.settings, home=Path("/dev/null/data"), enzyme=plugin)
    assert "ADGEN_HOME" in machine.problem(settings).hint
