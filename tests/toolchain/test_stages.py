"""The stages with the real tools: what only clang, our passes, Enzyme and ptxas together can show."""

from __future__ import annotations

import ctypes
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from host_code_support import much_host_code

import enzyme_driver as adgen
from enzyme_driver import artifact, command, pipeline, request
from enzyme_driver.artifact import Artifact
from enzyme_driver.command import Completed
from enzyme_driver.errors import RefusedError
from enzyme_driver.model import DataType
from enzyme_driver.request import Request
from enzyme_driver.settings import Settings
from enzyme_driver.stages.frontend import compile_source
from enzyme_driver.stages.source import Source
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets.registers import ENTRY
from enzyme_driver.targets.spilling import ASKS
from enzyme_driver.toolchain import Toolchain

pytestmark = pytest.mark.usefixtures("toolchain")

Build = Callable[..., Artifact]


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Request]:
    """A request for a file with this text."""

    def write(text: str, suffix: str = ".cu", **options: object) -> Request:
        path = tmp_path / f"file{suffix}"
        path.write_text(textwrap.dedent(text))
        return request.new(path, **options)  # type: ignore[arg-type]

    return write


@pytest.fixture
def build(tmp_path: Path, machine_settings: Settings, written: Callable[..., Request]) -> Build:
    def compiled(text: str, suffix: str = ".cu", **options: object) -> Artifact:
        return pipeline.build(written(text, suffix, **options), tmp_path / "made", settings=machine_settings)

    return compiled


def reason(made: Artifact, name: str) -> str:
    (entry,) = (each for each in made.entries if each.signature.name == name)
    refusal = next(iter(entry.targets.values())).gradient_refused
    return f"{refusal.line}: {refusal.reason}" if refusal else ""


WAVE = """
    __global__ void wave(const float *x, float *y) {
        int i = threadIdx.x;
        y[i] = sinf(x[i]) * x[i];
    }
"""


def test_headers_that_are_read_once_change_nothing(
    tmp_path: Path, toolchain: Toolchain, machine_settings: Settings, written: Callable[..., Request]
) -> None:
    """What clang makes with the compiled headers, with damaged ones, and without: the same code."""
    source = Source(written(WAVE).path, "cuda", (), "0")
    codes = []
    (tmp_path / "nowhere").write_text("no folder")
    for home in ("home", "home", "nowhere"):
        workspace = Workspace(tmp_path, toolchain, replace(machine_settings, home=tmp_path / home))
        made = compile_source(source, workspace, arch="sm_90")
        assert any(path.name == "__clang_cuda_math.h" for path in made.dependencies)
        stripped = tmp_path / "stripped.ll"
        workspace.must("opt", [toolchain.opt.path, "-passes=strip", "-S", made.path, "-o", stripped])
        codes.append(stripped.read_text(encoding="utf-8"))
        for compiled in (tmp_path / "home" / "headers").iterdir():
            compiled.write_bytes(b"CPCH" + bytes(100))
    assert len(set(codes)) == 1


@pytest.mark.parametrize(("fast", "found"), [(False, []), (True, ["cos", "sin"])])
def test_nothing_is_approximate_unless_that_was_asked_for(
    fast: bool, found: list[str], written: Callable[..., Request], machine_settings: Settings
) -> None:
    wanted = written(WAVE, targets=["cuda"], fast_math=fast)
    ptx = pipeline.emit(wanted, "ptx", settings=machine_settings)
    assert sorted(set(re.findall(r"\b(sin|cos)\.approx", ptx))) == found


def test_what_clang_says_of_a_signature(build: Build) -> None:
    made = build("""
        namespace fin {
        typedef double real;
        struct Point { float x, y; };
        struct Option : Point { real k[3]; enum Kind { Call, Put } kind; const float *rates; };
        template <typename T, unsigned N> __global__ void price(
            const T *__restrict__ spot, Option option, unsigned char n, bool call, Point *points, T *out) {
            out[n] = spot[n] * T(option.k[call]) * T(option.rates[N]) + points[n].y;
        }
        template __global__ void price<float, 2>(const float *, Option, unsigned char, bool, Point *, float *);
        }
    """)
    (entry,) = made.entries
    spot, option, n, call, points, out = entry.signature
    assert re.fullmatch(r"fin::price<float, 2U?>", entry.signature.name)
    assert (spot.dtype.name, spot.const, spot.restrict, spot.reads, spot.writes) == ("float32", True, True, True, False)
    assert (out.const, out.reads, out.writes, out.activity) == (False, False, True, "duplicated")
    assert (n.dtype.name, call.dtype.name) == ("uint8", "bool")
    assert [(field.name, field.offset, str(field.type), field.count) for field in option.dtype.fields] == [
        *(("x", 0, "float32", 1), ("y", 4, "float32", 1), ("k", 8, "float64", 3)),
        *(("kind", 32, "int32", 1), ("rates", 40, "pointer", 1)),
    ]
    assert (option.activity, option.dtype.size) == ("duplicated", 48)
    assert points.dtype == DataType("Point", "struct", 8, option.dtype.fields[:2])


def test_one_kernel_that_enzyme_cannot_do_takes_no_other_with_it(build: Build) -> None:
    made = build("""
        #include <string.h>
        __global__ void good(const float *x, float *y) { y[0] = x[0] * x[0]; }
        __global__ void raw(const char *x, float *y, int n) { memcpy(y, x, n); }
    """)
    assert reason(made, "good") == ""
    assert re.match(r"4: Enzyme cannot differentiate", reason(made, "raw"))
    x, y, d_x = np.full(1, 3, np.float32), np.zeros(1, np.float32), np.zeros(1, np.float32)
    adgen.load(made.folder).good.gradient[1, 1](x, y, shadows={"x": d_x, "y": np.ones(1, np.float32)})
    assert d_x[0] == 6


def test_a_refusal_is_about_the_line_in_the_users_file(build: Build) -> None:
    text = """\
        __global__ void k(const float *x, float *y) {
            y[0] = x[0];
            asm volatile("st.async.f32 [%0], %1;" ::"l"(y), "f"(x[1]));
        }
    """
    with pytest.raises(RefusedError, match="inline assembly") as caught:
        build(text, names=["k"], targets=["cuda"])
    location = caught.value.location
    assert location is not None
    assert (Path(location.file).name, location.line) == ("file.cu", 3)


def test_a_register_that_the_host_does_not_have(build: Build) -> None:
    made = build("""\
        __global__ void good(const float *x, float *y) { y[0] = x[0] * x[0]; }
        __global__ void odd(float *x) { x[0] *= (float)__nvvm_read_ptx_sreg_smid(); }
    """)
    assert reason(made, "good") == ""
    assert reason(made, "odd") == "2: the openmp target has no counterpart of llvm.nvvm.read.ptx.sreg.smid"


SHARED = """
    extern __shared__ float dynamic[];
    __global__ void tile(const float *x, float *y) {
        __shared__ float tile[SIZE];
        const int i = blockIdx.x * blockDim.x + threadIdx.x;
        tile[threadIdx.x] = x[i];
        __syncthreads();
        y[i] = tile[threadIdx.x ^ 1] * tile[threadIdx.x];
    }
    __global__ void region(const float *x, float *y) {
        dynamic[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        y[threadIdx.x] = dynamic[threadIdx.x ^ 1] * dynamic[threadIdx.x];
    }
"""


def test_shared_memory_is_counted_with_shadows(build: Build) -> None:
    made = build(SHARED, targets=["cuda"], flags=["-DSIZE=64"])
    facts = {entry.signature.name: entry.targets["cuda"] for entry in made.entries}
    assert (facts["tile"].static_shared_bytes, facts["tile"].dynamic_shared) == (528, False)
    assert (facts["region"].static_shared_bytes, facts["region"].dynamic_shared) == (0, True)
    assert not facts["tile"].heap
    ptx = made.ptx("sm_90").decode()
    barriers = re.findall(r"bar\.sync", ptx.partition("tilePKfPf__gradient(")[2].partition("\n}")[0])
    assert len(barriers) == 1 + 2 * 2  # behind zeros, and two on each of two ways: elements are a thread's own, or not


def test_shadows_that_do_not_fit_beside_static_arrays_are_dynamic(build: Build) -> None:
    made = build(SHARED, targets=["cuda"], flags=["-DSIZE=8192"])
    facts = {entry.signature.name: entry.targets["cuda"] for entry in made.entries}
    assert (facts["tile"].static_shared_bytes, facts["tile"].dynamic_shadow_bytes) == (65536, 32768)
    assert facts["tile"].gradient
    assert facts["region"].dynamic_shadow_bytes == 0


def test_cotangents_of_second_derivatives_that_do_not_fit_are_dynamic(build: Build) -> None:
    made = build(SHARED, targets=["cuda"], flags=["-DSIZE=8192"], modes=["reverse", "second"])
    tile = next(entry.second["cuda"] for entry in made.entries if entry.signature.name == "tile")
    assert tile.gradient, tile.gradient_refused
    assert (tile.static_shared_bytes, tile.dynamic_shadow_bytes) == (4 * 32768, 3 * 32768)


def test_arrays_that_do_not_fit_are_refused(build: Build) -> None:
    made = build(SHARED, targets=["cuda"], flags=["-DSIZE=16384"])
    facts = {entry.signature.name: entry.targets["cuda"] for entry in made.entries}
    refusal = facts["tile"].primal_refused
    assert refusal is not None
    assert "more static shared memory than a block may have" in refusal.reason
    assert facts["region"].gradient


LOOP = """
__global__ void loop(const float *x, float *y, int *steps) {
    float v = x[threadIdx.x];
    COUNT
    for (int i = 0; i < steps[threadIdx.x]; i++) v = sinf(v) * v;
    y[threadIdx.x] = v;
}
"""


def test_what_is_kept_lies_on_a_tape(build: Build) -> None:
    made = build(LOOP.replace("COUNT", ""), targets=["cuda"])
    entry, ptx = made.entries[0].targets["cuda"], made.ptx("sm_90").decode()
    assert entry.tape
    assert f".entry {entry.tape}(" in ptx
    assert not entry.heap
    assert "malloc" not in ptx


def test_what_cannot_be_measured_is_kept_on_the_heap_and_watched(build: Build) -> None:
    racing = LOOP.replace("COUNT", "int bound = atomicAdd(&most, 1);").replace("steps[threadIdx.x]; i++", "bound; i++")
    made = build(f"__device__ int most; {racing}", targets=["cuda"])
    entry = made.entries[0].targets["cuda"]
    assert entry.heap
    assert entry.tape is None
    assert "adgen_heap_exhausted" in made.ptx("sm_90").decode()


def test_what_the_kernel_itself_decides_is_measured_by_running_it(build: Build) -> None:
    made = build(LOOP.replace("COUNT", "steps[threadIdx.x] += 1;"), targets=["cuda"])
    entry, ptx = made.entries[0].targets["cuda"], made.ptx("sm_90").decode()
    assert not entry.heap
    assert entry.tape_size_from == "run in place"
    assert "adgen_tape_exceeded" in ptx
    assert "malloc" not in ptx


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_double), ("b", ctypes.c_double))


class Small(ctypes.Structure):
    _fields_ = (("a", ctypes.c_float), ("b", ctypes.c_float), ("c", ctypes.c_float))


class Big(ctypes.Structure):
    _fields_ = (("a", ctypes.c_double * 5),)


def test_structs_that_the_abi_takes_apart(build: Build) -> None:
    made = build(
        """
        struct Pair { double a, b; };
        struct Small { float a, b, c; };
        struct Big { double a[5]; };
        double f(Pair p, const double *x, Small s, Big b, int n) {
            return p.a * p.b * x[0] + s.a * s.c * x[1] + b.a[3] * x[n];
        }
        """,
        ".cpp",
        activity={"p": "active", "b": "active"},
    )
    f = adgen.load(made.folder).f
    x = np.array([2.0, 3.0, 5.0])
    arguments = (Pair(7, 11), x, Small(1.5, 0, 4), Big((0, 0, 0, 13, 0)), 2)
    assert f(*arguments) == 7 * 11 * 2 + 1.5 * 4 * 3 + 13 * 5
    g = f.vjp(*arguments, wrt=("x", "p", "b"))
    np.testing.assert_allclose(g["x"], [77, 6, 13])
    assert (g["p"]["a"].item(), g["p"]["b"].item()) == (22, 14)
    np.testing.assert_allclose(np.ravel(g["b"]["a"]), [0, 0, 0, 5, 0])


def test_assembly_on_the_host(build: Build) -> None:
    made = build(
        """
        double f(const double *x) {
            asm volatile("nop" ::: "memory");
            return x[0] * x[0];
        }
        """,
        ".cpp",
    )
    assert adgen.load(made.folder).f(np.array([3.0])) == 9


def test_the_files_of_every_stage_are_kept_where_that_is_asked_for(
    tmp_path: Path, machine_settings: Settings, written: Callable[..., Request]
) -> None:
    kept = tmp_path / "kept"
    wanted = written(WAVE, targets=["openmp", "cuda"])
    pipeline.build(wanted, tmp_path / "made", settings=replace(machine_settings, keep=kept))
    ends = ("primal.ll", "prepared.ll", "gradient.ll", "cuda.ll", "host.ll", "ptx", "cubin")
    assert {f"file.sm_90.{end}" for end in ends} <= {path.name for path in kept.iterdir()}
    assert artifact.read(tmp_path / "made").archs == ("sm_90",)


def test_much_host_code_is_read_in_few_runs_of_clang(
    tmp_path: Path, machine_settings: Settings, toolchain: Toolchain
) -> None:
    path, folder = tmp_path / "much.cu", tmp_path / "scratch"
    folder.mkdir()
    path.write_text(much_host_code(100))
    started: list[set[str]] = []

    def run(argv: Sequence[str | Path], **options: object) -> Completed:
        started.append({Path(word).name for word in argv})
        return command.run(argv, **options)  # type: ignore[arg-type]

    workspace = Workspace(folder, toolchain, machine_settings, run)
    made = compile_source(Source(path, "cuda", (), "0"), workspace, arch="sm_90")
    assert made.left_out > 500
    assert not made.unread
    assert "_Z5scaleIfEvPKT_PS0_i" in made.path.read_text()
    of_clang = [words for words in started if any(word.startswith("clang-") for word in words)]
    assert len(of_clang) <= 8
    alone = [words for words in of_clang if "much.cu" in words and "much.first.pch" not in words]
    assert len(alone) == 2, "once as it is, and once for the headers that are missing; then behind its first headers"


HIDDEN_IN_A_HOST_FUNCTION = """
    struct Pair { float a, b; };
    #define TWICE(x) (2 * (x))
    template <class F> __global__ void each(F f, float *x) { x[threadIdx.x] = f(x[threadIdx.x]); }
    __device__ float helper(float v) { return v * missing_in_helper; }
    __global__ void calls_helper(float *x) { x[0] = helper(x[0]); }
    void run(float *x) {
        unknown_t before = 1;
        each<<<1, 32>>>([] __device__ (float v) { return v * v; }, x);
        each<<<1, 32>>>([] __device__ (float v) { return v * unknown_v; }, x);
    }
"""


def test_no_error_in_device_code_is_passed_over(build: Build) -> None:
    made = build(HIDDEN_IN_A_HOST_FUNCTION, targets=["openmp"])
    refused = {entry.signature.name: reason(made, entry.signature.name) for entry in made.entries}
    good = [name for name, why in refused.items() if not why]
    assert len(good) == 1
    assert "each" in good[0]
    assert "does not read: error: use of undeclared identifier 'missing_in_helper'" in refused["calls_helper"]


def test_a_header_of_the_users_may_have_the_name_of_one_of_cudas(tmp_path: Path, build: Build) -> None:
    """As darknet's `cuda.h`, which clang's own headers had found in place of CUDA's."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "cuda.h").write_text("#define SCALE 2.0f\n")
    (own / "scale.h").write_text('#include "cuda.h"\n')
    text = """
    #include "scale.h"
    __global__ void scaled(const float *x, float *y) { y[threadIdx.x] = SCALE * x[threadIdx.x]; }
    """
    (entry,) = build(text, targets=["openmp"], flags=[f"-I{own}"]).entries
    assert entry.targets["openmp"].gradient


def test_numbers_without_a_register_go_to_shared_memory_where_the_largest_block_is_of_whole_warps(
    tmp_path: Path, machine_settings: Settings
) -> None:
    """ptxas 13.0 takes too little of it for a block whose last warp is not whole."""
    kept = tmp_path / "kept"
    source = Path(__file__).parents[1] / "gpu" / "spilling.cu"
    settings = replace(machine_settings, keep=kept)
    made = pipeline.build(request.new(source, targets=("cuda",)), tmp_path / "made", settings=settings)
    (arch,) = made.manifest.binaries.cuda
    assembled = (kept / f"spilling.{arch}.tried.ptx").read_text()
    asking = {entry["name"] for entry in ENTRY.finditer(assembled) if ASKS in entry["body"]}
    (bounded,) = (entry.targets["cuda"].gradient for entry in made.entries if "64" in entry.signature.name)
    assert asking == {bounded}
    assert ASKS.encode() not in made.ptx(arch)
