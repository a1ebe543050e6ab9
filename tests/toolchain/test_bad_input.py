"""What bad input gets: place, reason, what to do, its exit code, no traceback, and nothing is left behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cli_support import Adgen

from enzyme_driver import errors
from enzyme_driver.errors import AdgenError
from enzyme_driver.toolchain import Toolchain
from enzyme_driver.toolchain.build import find_llvm

BROKEN = """\
__global__ void k(float *x) {
    x[0] = undeclared + 1;
}
"""

BROKEN_BESIDE_A_LIBRARY = f"#include <thrust/sort.h>\n{BROKEN}"
"""Whose kernels are none of the file's."""

DECIDED = """\
#include "nowhere.h"
__global__ void k(Number *x) {
#ifdef USE_DOUBLE
    x[0] *= 2;
#endif
}
"""

MULTIPROCESSOR = """\
__global__ void scaled(const float *x, float *y) {
    unsigned where;
    asm("mov.u32 %0, %%smid;" : "=r"(where));
    y[threadIdx.x] = where * x[threadIdx.x];
}
"""


@dataclass(frozen=True)
class Bad:
    """A command line that must fail: `says` are regular expressions, `files` are written before."""

    arguments: tuple[str, ...]
    error: type[AdgenError]
    says: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)


CASES = {
    "missing file": Bad(("compile", "kernel.cu"), errors.SourceError, ("kernel.cu: there is no such", "kernels.cu")),
    "folder": Bad(("compile", "."), errors.UsageError, ("language",)),
    "folder with a suffix": Bad(("compile", "d.cu"), errors.SourceError, ("folder",), {"d.cu/a": ""}),
    "binary": Bad(("compile", "b.cu"), errors.SourceError, ("b.cu: this is not a text file",), {"b.cu": "\0ELF"}),
    "another language": Bad(("compile", "a.py"), errors.UsageError, ("CUDA is .cu",), {"a.py": ""}),
    "empty file": Bad(("compile", "e.cu"), errors.NameNotFoundError, ("e.cu", "no kernel"), {"e.cu": ""}),
    "does not compile": Bad(
        ("compile", "bad.cu"),
        errors.SourceError,
        (r"bad\.cu:2:12: .*use of undeclared identifier 'undeclared'",),
        {"bad.cu": BROKEN},
    ),
    "does not compile beside a library with kernels": Bad(
        ("compile", "bad.cu"),
        errors.SourceError,
        (r"bad\.cu:3:12: .*use of undeclared identifier 'undeclared'",),
        {"bad.cu": BROKEN_BESIDE_A_LIBRARY},
    ),
    "missing header": Bad(
        ("compile", "h.cu"), errors.SourceError, (r"h\.cu:1:10: .*'nowhere.h' file not found",),
        {"h.cu": '#include "nowhere.h"\n'},
    ),
    "missing header that may decide": Bad(
        ("compile", "h.cu"),
        errors.SourceError,
        (r"h\.cu:1:10: .*'nowhere.h'", r"-I FOLDER; or whether it defines USE_DOUBLE, .* -D NAME, or -- -UNAME"),
        {"h.cu": DECIDED},
    ),
    "missing header that a kernel needs": Bad(
        ("compile", "h.cu", "--", "-UUSE_DOUBLE"),
        errors.SourceError,
        (r"h\.cu:1:10: .*'nowhere.h'", r"-I FOLDER. Without it: .*h\.cu:2:.* unknown type name 'Number'"),
        {"h.cu": DECIDED},
    ),
    "missing header with what is in a kernel": Bad(
        ("compile", "h.cu"),
        errors.SourceError,
        (r"h\.cu:3:\d+: .*undeclared identifier 'FACTOR'", r"not found \(nowhere.h\): adgen compile FILE -I FOLDER"),
        {"h.cu": '#include "nowhere.h"\n__global__ void k(float *x) {\n  x[0] *= FACTOR;\n}\n'},
    ),
    "missing header that may have the kernels": Bad(
        ("compile", "h.cu"),
        errors.NameNotFoundError,
        (r"h\.cu: the file has no kernel", r"not found \(kernels.cuh\): adgen compile FILE -I FOLDER"),
        {"h.cu": '#include "kernels.cuh"\n#define KERNEL(name) __global__ void name\n'},
    ),
    "error in a statement of two lines": Bad(
        ("compile", "bad.cu"),
        errors.SourceError,
        (r"bad\.cu:3:\d+: .*use of undeclared identifier 'FACTOR'",),
        {"bad.cu": "__global__ void k(float *x) {\n  if (x)\n    x[0] *= FACTOR;\n}\n"},
    ),
    "function of another file": Bad(
        ("compile", "f.cpp"),
        errors.RefusedError,
        (r"f\.cpp:2:\d*.*f calls there\(double\), which is defined nowhere", "include the file that has it"),
        {"f.cpp": "double there(double v);\nvoid f(const double *x, double *y) { *y = there(*x); }\n"},
    ),
    "function of C of another file": Bad(
        ("compile", "f.cpp"),
        errors.RefusedError,
        (r"f\.cpp:2: .*f calls there, which is defined nowhere", "include the file that has it"),
        {"f.cpp": 'extern "C" double there(double v);\nvoid f(const double *x, double *y) { *y = there(*x); }\n'},
    ),
    "gradient of Enzyme's plugin": Bad(
        ("compile", "e.cu"),
        errors.RefusedError,
        (r"e\.cu:4: g calls __enzyme_autodiff, which stands for a gradient", "name what is differentiated there"),
        {
            "e.cu": "template <class... T> __device__ void __enzyme_autodiff(T...);\n"
            "__device__ void square(float *x, float *y) { *y = *x * *x; }\n"
            "__global__ void g(float *x, float *dx, float *y, float *dy) {\n"
            "  __enzyme_autodiff((void *)square, x, dx, y, dy);\n}\n"
        },
    ),
    "memory that grows": Bad(
        ("compile", "f.cpp"),
        errors.RefusedError,
        (r"f\.cpp:6:\d+: .*memory that grows by realloc", "std::vector"),
        {
            "f.cpp": "#include <cstdlib>\nvoid f(const double *x, double *y, int n)\n{\n"
            "    double *a = (double *)malloc(8);\n    for (int k = 0; k < n; k++) {\n"
            "        a = (double *)realloc(a, 8 * (k + 1));\n        a[k] = x[k] * x[k];\n    }\n"
            "    *y = a[n - 1] * a[0];\n    free(a);\n}\n"
        },
    ),
    "header": Bad(("compile", "h.hpp"), errors.UsageError, ("header", '#include "h.hpp"'), {"h.hpp": "int f();"}),
    "flag before --": Bad(("compile", "kernels.cu", "-fno-rtti"), errors.UsageError, ("-f", "after --")),
    "name not there": Bad(("compile", "kernels.cu", "-k", "scales"), errors.NameNotFoundError, ("scales", "scale")),
    "wrong instance": Bad(
        ("compile", "kernels.cu", "-k", "axpy<nothing>"), errors.NameNotFoundError, ("axpy<nothing>", "axpy")
    ),
    "parameter not there": Bad(
        ("compile", "kernels.cu", "-k", "scale", "--activity", "z=const"), errors.NameNotFoundError, ("'?z'?", "x")
    ),
    "active integer": Bad(
        ("compile", "kernels.cu", "-k", "scale", "--activity", "n=active"), errors.UsageError, ("n", "int32")
    ),
    "C++ on the GPU": Bad(("compile", "functions.cpp", "-t", "cuda"), errors.UsageError, ("C\\+\\+",)),
    "no architecture": Bad(("compile", "kernels.cu", "--arch", "volta"), errors.UsageError, ("volta", "sm_80")),
    "unknown architecture": Bad(
        ("compile", "kernels.cu", "--arch", "sm_52"), errors.ToolchainError, ("sm_52", "choose one of .*sm_90")
    ),
    "refused on the only target": Bad(
        ("compile", "t.cu", "-t", "openmp"), errors.RefusedError, (r"t\.cu:\d+.*", "no counterpart", "cuda"),
        {"t.cu": MULTIPROCESSOR},
    ),
    "bad flag": Bad(("compile", "kernels.cu", "--", "-fnonsense"), errors.SourceError, ("-fnonsense",)),
    "missing tool": Bad(
        ("compile", "kernels.cu"), errors.ToolchainError, ("ADGEN_CLANG", "/nowhere/clang"),
        variables={"ADGEN_CLANG": "/nowhere/clang"},
    ),
    "missing Enzyme": Bad(
        ("compile", "kernels.cu"), errors.ToolchainError, ("ADGEN_ENZYME", "LLVMEnzyme-22.so"),
        variables={"ADGEN_ENZYME": "/nowhere/LLVMEnzyme-22.so"},
    ),
    "time limit": Bad(
        ("compile", "kernels.cu"), errors.CompilerCrashError, ("did not end within 0.001 s", "ADGEN_TIMEOUT"),
        variables={"ADGEN_TIMEOUT": "0.001"},
    ),
    "senseless setting": Bad(
        ("compile", "kernels.cu"), errors.UsageError, ("ADGEN_TIMEOUT",), variables={"ADGEN_TIMEOUT": "soon"}
    ),
    "cache folder that cannot be": Bad(
        ("compile", "kernels.cu"), errors.CacheError, ("ADGEN_CACHE_DIR", "--no-cache"),
        variables={"ADGEN_CACHE_DIR": "/proc/adgen"},
    ),
    "output folder that cannot be": Bad(
        ("compile", "kernels.cu", "-k", "scale", "-o", "/proc/adgen"), errors.CacheError, ("/proc/adgen",)
    ),
    "output folder of somebody else": Bad(
        ("compile", "kernels.cu", "-k", "scale", "-o", "mine"), errors.CacheError, ("mine exists",), {"mine/a.txt": "a"}
    ),
    "no artifact": Bad(("inspect", "mine"), errors.ArtifactError, ("manifest.json",), {"mine/a.txt": "a"}),
    "exception": Bad(
        ("check", "functions.cpp", "-k", "loss", "--arg", "x=zeros:f64:2", "--arg", "n=-1"), errors.PrimalError,
        ("n is negative",),
    ),
    "wrong dtype": Bad(
        ("check", "functions.cpp", "-k", "loss", "--arg", "x=zeros:f32:2", "--arg", "n=2"), errors.ArgumentError,
        ("'x'", "float64", "float32"),
    ),
    "wrong number": Bad(
        ("check", "functions.cpp", "-k", "loss", "--arg", "x=zeros:f64:2", "--arg", "n=0.5"), errors.ArgumentError,
        ("'n'", "int32", "0.5"),
    ),
}  # fmt: skip


@pytest.fixture
def user(tmp_path: Path) -> Adgen:
    return Adgen(tmp_path / "work")


def assert_told(done: subprocess.CompletedProcess[str], error: type[AdgenError], says: tuple[str, ...]) -> None:
    assert done.returncode == error.exit_code, done.stderr
    assert "adgen: error: " in done.stderr
    assert "what to do: " in done.stderr
    assert "Traceback" not in done.stderr
    for text in says:
        assert re.search(text, done.stderr), f"{text!r} is not in {done.stderr}"


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", CASES)
def test_bad_input(user: Adgen, name: str) -> None:
    bad = CASES[name]
    for file, text in bad.files.items():
        (user.folder / file).parent.mkdir(exist_ok=True)
        (user.folder / file).write_text(text)
    before, cached = user.files, bad.arguments[0] == "check" or "-o" in bad.arguments
    done = user(*bad.arguments, variables=bad.variables)
    assert_told(done, bad.error, bad.says)
    assert done.stdout == ""
    assert user.files == before
    assert cached or user.cached == []


@pytest.mark.usefixtures("toolchain")
def test_clangs_message_is_there_once(user: Adgen) -> None:
    (user.folder / "bad.cu").write_text(BROKEN)
    assert user("compile", "bad.cu").stderr.count("use of undeclared identifier") == 1


def script(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


WRAPPED = """case " $* " in *" --version "*|*" -print-"*|*" -mcpu=help "*) exec {tool} "$@";; esac"""


def wrapped_opt(user: Adgen, toolchain: Toolchain, *lines: str) -> dict[str, str]:
    """An opt that answers what it is asked of itself, but does this where it is to work; LLVM's headers beside it."""
    llvm = find_llvm(toolchain.clang, toolchain.opt)
    assert isinstance(llvm, Path)
    (user.folder / "llvm" / "bin").mkdir(parents=True)
    (user.folder / "llvm" / "include").symlink_to(llvm / "include")
    opt = script(user.folder / "llvm" / "bin" / "opt", WRAPPED.format(tool=toolchain.opt.path), *lines)
    return {"ADGEN_OPT": str(opt)}


def test_a_tool_of_another_version(user: Adgen, toolchain: Toolchain) -> None:
    del toolchain
    old = script(user.folder / "old-clang", "echo 'clang version 14.0.6'")
    done = user("compile", "kernels.cu", variables={"ADGEN_CLANG": str(old)})
    assert_told(done, errors.ToolchainError, ("old-clang", "14.0.6", "22"))


def test_a_compiler_that_crashes(user: Adgen, toolchain: Toolchain) -> None:
    done = user("compile", "kernels.cu", variables=wrapped_opt(user, toolchain, "kill -SEGV $$"))
    assert_told(done, errors.CompilerCrashError, ("SIGSEGV",))
    assert user.cached == []


def test_a_compiler_that_does_not_end(user: Adgen, toolchain: Toolchain) -> None:
    endless = wrapped_opt(user, toolchain, "exec sleep 60")
    done = user("compile", "kernels.cu", variables={**endless, "ADGEN_TIMEOUT": "3"})
    assert_told(done, errors.CompilerCrashError, ("did not end within 3 s", "ADGEN_TIMEOUT"))
    assert user.cached == []


@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) == signal.SIG_IGN, reason="run in the background, where Ctrl-C is ignored"
)
def test_interruption_leaves_nothing(user: Adgen, toolchain: Toolchain) -> None:
    endless = wrapped_opt(user, toolchain, "exec sleep 60")
    before = user.files
    with user.start("-m", "enzyme_driver", "compile", "kernels.cu", variables=endless) as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert (user.files, user.cached) == (before, [])


def newer(manifest: Path) -> None:
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "version": 99}))


def truncated(manifest: Path) -> None:
    manifest.write_text(manifest.read_text()[:200])


def without_library(manifest: Path) -> None:
    (manifest.parent / "libfunctions.so").unlink()


def with_cut_library(manifest: Path) -> None:
    library = manifest.parent / "libfunctions.so"
    library.write_bytes(library.read_bytes()[:1000])


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("damage", [newer, truncated, without_library, with_cut_library])
def test_a_damaged_artifact(user: Adgen, damage: Callable[[Path], None]) -> None:
    assert user("compile", "functions.cpp").returncode == 0
    damage(user.folder / "functions.adgen" / "manifest.json")
    done = user("check", "functions.adgen", "--arg", "x=zeros:f64:2", "--arg", "n=2")
    assert_told(done, errors.ArtifactError, ("functions.adgen", "adgen compile"))


@pytest.mark.usefixtures("toolchain")
def test_a_full_disk(user: Adgen, tmp_path: Path) -> None:
    """A file system of 200 kB holds the cache's folders, but no artifact."""
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run([mount, "-t", "tmpfs", "-o", "size=200k", "tmpfs", small], check=False).returncode:
        pytest.skip("this machine does not allow to mount")
    try:
        done = user("compile", "functions.cpp", variables={"ADGEN_CACHE_DIR": str(small)})
        assert_told(done, errors.CacheError, ("No space left", "ADGEN_CACHE_DIR"))
        assert not list(small.glob("v1/entries/*")) + list(small.glob("v1/building/*"))
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.mark.usefixtures("toolchain")
def test_a_gpu_that_is_not_there(user: Adgen) -> None:
    call = ["--arg", "x=zeros:f32:2", "--arg", "y=zeros:f32:2", "--arg", "n=2", "--grid", "1", "--block", "2"]
    done = user("check", "kernels.cu", "-k", "scale", "-t", "cuda", *call, variables={"CUDA_VISIBLE_DEVICES": ""})
    assert_told(done, errors.DeviceError, ("GPU",))
