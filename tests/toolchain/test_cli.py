"""`adgen` as a user runs it, with the real compilers."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from pathlib import Path

import pytest
from cli_support import Adgen

from enzyme_driver import artifact, pipeline
from enzyme_driver.targets.registers import used_registers
from enzyme_driver.toolchain import Toolchain

PRODUCT = """
__global__ void product(const float *table, const int *place, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = table[place[i]] * x[i];
}
"""

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.usefixtures("toolchain")


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Adgen:
    return Adgen(tmp_path_factory.mktemp("user") / "work")


@pytest.fixture(scope="module")
def made(user: Adgen, toolchain: Toolchain) -> Path:
    del toolchain
    done = user("compile", "kernels.cu", "-k", "scale", "--arch", "sm_80", "--arch", "sm_90")
    assert done.returncode == 0, done.stderr
    return user.folder / "kernels.adgen"


def test_the_artifact_is_complete(made: Path) -> None:
    read = artifact.read(made)
    assert read.targets == ("openmp", "cuda")
    assert read.archs == ("sm_80", "sm_90")
    assert {path.name for path in made.iterdir()} == {
        *("manifest.json", "kernels.h", "kernels.py", "libkernels.so", "libomp.so.5"),
        *("kernels.sm_80.cubin", "kernels.sm_80.ptx", "kernels.sm_90.cubin", "kernels.sm_90.ptx"),
    }
    assert ".target sm_80" in read.ptx("sm_80")[:2000].decode()
    assert read.cubin("sm_90")[:4] == b"\x7fELF"


def test_the_second_time_comes_from_the_cache(user: Adgen, made: Path) -> None:
    before = list(user.cached)
    arguments = ["kernels.cu", "-k", "scale", "--arch", "sm_80", "--arch", "sm_90"]
    assert user("cache", "explain", *arguments).stdout == "in the cache\n"
    told = json.loads(user("compile", *arguments, "-o", "again", "--json").stdout)
    assert told["seconds"] < 1
    assert user.cached == before
    assert (user.folder / "again" / "libkernels.so").read_bytes() == (made / "libkernels.so").read_bytes()


def test_check(user: Adgen, made: Path) -> None:
    call = ["--arg", "x=normal:f32:100", "--arg", "y=zeros:f32:100", "--arg", "n=100", "--grid", "4", "--block", "32"]
    done = user("check", made.name, *call, "--seed", "7")
    assert done.returncode == 0, done.stderr
    assert "the gradient is right" in done.stdout
    told = json.loads(user("check", "kernels.cu", "-k", "scale", *call, "--json").stdout)
    assert told["passed"] is True
    assert 0 <= told["checks"][0]["parameters"][0]["error"] < 1e-3


def test_inspect(user: Adgen, made: Path) -> None:
    shown = user("inspect", made.name).stdout
    assert "scale(const float32 *x, float32 *y, int32 n)" in shown
    told = json.loads(user("inspect", made.name, "--json").stdout)
    x, y, n = told["entries"][0]["parameters"]
    assert (x["activity"], x["reads"], x["writes"]) == ("duplicated", True, False)
    assert (y["activity"], y["writes"], n["activity"]) == ("duplicated", True, "const")


def test_inspect_says_what_const_would_save(user: Adgen, toolchain: Toolchain) -> None:
    """Of registers what ptxas says; to an array without a derivative nothing is added."""
    (user.folder / "product.cu").write_text(PRODUCT)
    told = json.loads(user("inspect", "product.cu", "--const", "-t", "cuda", "--json").stdout)
    rows = {row["parameter"]: row["figures"] for row in told["const"]["product"]}
    assert list(rows) == ["as it is", "table", "x"]
    for name, what in itertools.product(("table", "x"), ("additions", "instructions")):
        assert rows[name][what] < rows["as it is"][what]
    (ptx,) = Path(told["artifact"]).glob("*.ptx")
    flags = ("-arch=sm_90", "-O3", "-v", ptx, "-o", user.folder / "k.cubin")
    argv = [str(each) for each in (toolchain.ptxas.path, *flags)]
    said = used_registers(subprocess.run(argv, check=True, capture_output=True, text=True).stderr)
    assert rows["as it is"]["registers"] == said[told["entries"][0]["targets"]["cuda"]["gradient"]]


def test_flags_reach_clang(user: Adgen) -> None:
    found = [
        set(re.findall(r"\bfmul\b.* (\S+e\+00)", user("compile", "kernels.cu", "--emit", "primal", *flags).stdout))
        for flags in ([], ["--", "-DFACTOR=3"], ["-DFACTOR=4"])
    ]
    assert found == [{"2.000000e+00"}, {"3.000000e+00"}, {"4.000000e+00"}]


def test_a_macro_with_the_name_of_a_parameter_in_the_headers(user: Adgen) -> None:
    """`size_t N` in cuda.h, `Between` in adgen's own."""
    done = user("compile", "kernels.cu", "--emit", "primal", "-DN=4", "-D", "Between=0")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("stage", pipeline.STAGES)
def test_every_stage_can_be_seen(user: Adgen, stage: str) -> None:
    done = user("compile", "kernels.cu", "-k", "scale", "--emit", stage)
    assert done.returncode == 0, done.stderr
    sign = {"ptx": ".visible .entry", "gfx90a": ".amdhsa_kernel", "gfx942": ".amdhsa_kernel"}.get(stage, "define ")
    assert sign in done.stdout
    assert "scale" in done.stdout


def test_the_help_names_the_stages() -> None:
    from enzyme_driver.cli.compile import STAGES

    assert tuple(re.split(r", | or ", STAGES)) == pipeline.STAGES


def test_an_instance_of_a_template(user: Adgen) -> None:
    arguments = ["-k", "axpy<double>", "--activity", "alpha=active", "-t", "openmp"]
    call = ["--arg", "x=normal:f64:50", "--arg", "y=normal:f64:50", "--arg", "n=50", "--grid", "2", "--block", "32"]
    done = user("check", "kernels.cu", *arguments, *call, "--arg", "alpha=0.7", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert {parameter["name"] for parameter in told["checks"][0]["parameters"]} == {"alpha", "x", "y"}


def test_a_function(user: Adgen) -> None:
    done = user("check", "functions.cpp", "-k", "loss", "--arg", "x=normal:f64:20", "--arg", "n=20")
    assert done.returncode == 0, done.stderr


CALLER = r"""
#include "kernels.h"
#include <math.h>
#include <stdio.h>
#define N 100

int main(void) {
    static float x[N], y[N], d_x[N], d_y[N];
    adgen_dim3 grid = {4, 1, 1}, block = {32, 1, 1};
    double worst = 0;
    for (int i = 0; i < N; i++) {
        x[i] = 0.03f * (float)i;
        d_y[i] = 1;
    }
    if (scale_primal(grid, block, 0, x, y, N) || scale_gradient(grid, block, 0, x, y, N, d_x, d_y))
        return puts(adgen_last_error());
    for (int i = 0; i < N; i++) {
        worst = fmax(worst, fabs(y[i] - 2 * x[i] * sin(x[i])));
        worst = fmax(worst, fabs(d_x[i] - 2 * (sin(x[i]) + x[i] * cos(x[i]))));
        worst = fmax(worst, fabs(d_y[i]));
    }
    printf("%g\n", worst);
    return 0;
}
"""


def test_a_c_program_calls_the_gradient(user: Adgen, made: Path, toolchain: Toolchain) -> None:
    (user.folder / "caller.c").write_text(CALLER)
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
    link = [f"-L{made}", "-lkernels", "-lm", f"-Wl,-rpath,{made}"]
    argv: list[str | Path] = [toolchain.clang.path, *strict, f"-I{made}", "caller.c", "-o", "caller", *link]
    subprocess.run(argv, cwd=user.folder, check=True)
    done = subprocess.run([user.folder / "caller"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert float(done.stdout) < 1e-5


def test_the_generated_module_is_imported(user: Adgen, made: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(made)!r})\n"
        "import numpy as np, kernels\n"
        "x, y = np.ones(4, np.float32), np.zeros(4, np.float32)\n"
        "kernels.scale[1, 4](x, y, 4)\n"
        "print(y[0], kernels.scale.signature.names, 'scale(' in kernels.__doc__, 'llvmlite' in sys.modules)"
    )
    done = user.python("-c", code)
    assert done.stdout.split(maxsplit=1)[1] == "('x', 'y', 'n') True False\n", done.stderr
    assert abs(float(done.stdout.split()[0]) - 1.6829419) < 1e-6


def test_two_processes_at_once_compile_once(tmp_path: Path) -> None:
    user = Adgen(tmp_path / "work")
    processes = [
        user.start("-m", "enzyme_driver", "compile", "functions.cpp", "-o", name, "--json") for name in ("one", "two")
    ]
    results = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], results
    assert len(user.cached) == 1
    libraries = [(user.folder / name / "libfunctions.so").read_bytes() for name in ("one", "two")]
    assert libraries[0] == libraries[1]


def test_doctor_is_content(user: Adgen) -> None:
    done = user("doctor", "--json")
    assert done.returncode == 0, done.stdout
    assert {finding["part"] for finding in json.loads(done.stdout)} > {"clang", "opt", "ptxas", "Enzyme"}
