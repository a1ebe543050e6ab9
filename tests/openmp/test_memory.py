"""Gradients on the host leave no memory behind, also where loops are left early."""

from __future__ import annotations

import gc
import resource
from pathlib import Path

import numpy as np
import pytest
from programs.program import Program
from programs.table import PROGRAMS

import enzyme_driver as adgen

CALLS = 150
MOST = 1 << 20
"""Bytes that so many calls may leave to the allocator's own ways; what was lost here before was 5 to 20 MB."""
NAMES = ("ray_march-render", "mie-efficiencies", "sph-acceleration")

STEPS = """
#include <cmath>
#include <vector>
double steps(const double *x, int n, int count)
{
    std::vector<double> u(x, x + n), v(u), w(u);
    for (int t = 0; t < count; t++)
        for (int i = 0; i < n; i++) {
            u[i] = std::sin(u[i] * w[i]);
            v[i] = std::sin(v[i] * u[i]);
            w[i] = std::sin(w[i] * v[i]);
        }
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += u[i] + v[i] + w[i];
    return sum;
}
"""


def resident() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return 4096 * pages


def named(name: str) -> Program:
    return next(program for program in PROGRAMS if program.name == name)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", NAMES)
def test_many_gradients_take_no_more_memory_than_one(name: str) -> None:
    program = named(name)
    kernel = adgen.compile(program.path, kernel=program.entry, activity=program.activity)
    args = program.make(np.random.default_rng())
    cotangents = {name: np.ones_like(args[name]) for name in program.outputs}

    def gradient() -> None:
        kernel.vjp[program.launch](*args.values(), cotangents=cotangents)

    for _ in range(5):
        gradient()
    before = resident()
    for _ in range(CALLS):
        gradient()
    assert resident() - before < MOST


@pytest.mark.usefixtures("toolchain")
def test_what_is_kept_lies_where_gradients_before_kept_theirs(tmp_path: Path) -> None:
    (tmp_path / "steps.cpp").write_text(STEPS, encoding="utf-8")
    function = adgen.compile(tmp_path / "steps.cpp", function="steps")
    n, count = 20_000, 200
    args, shadows = (np.random.default_rng().standard_normal(n), n, count), {"x": np.zeros(n)}
    for _ in range(3):
        function.gradient(*args, shadows=shadows)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    function.gradient(*args, shadows=shadows)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 8 * n * count / 4096 / 4


ROWS = """
#include <cmath>
#include <vector>
double rows(int n, int m, const double *x)
{
    double sum = 0;
    std::vector<double> y(m);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            y[j] = std::sin(x[j] * (i + 1)) * y[(j + 1) % m] + x[j];
        double s = 0;
        for (int j = 0; j < m; j++)
            s += y[j] * y[j];
        sum += std::log(s + 1);
    }
    return sum;
}
"""


@pytest.mark.usefixtures("toolchain")
def test_what_is_kept_may_be_more_than_stays_for_later(tmp_path: Path) -> None:
    file = tmp_path / "rows.cpp"
    file.write_text(ROWS, encoding="utf-8")
    function = adgen.compile(file, function="rows")
    assert isinstance(function, adgen.Function)
    x = np.random.default_rng().uniform(1e-5, 1e-4, 1000)
    function.check(20_000, x.size, x)  # keeps 480 MB
