"""Values and flags that a `break` out of several loops leaves behind, against central differences; on both targets the
same code comes out of Enzyme.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver.artifact import read
from enzyme_driver.cache import build
from enzyme_driver.model import TARGETS
from enzyme_driver.request import new
from enzyme_driver.settings import Settings

KERNELS = {
    "flag": """
    bool found = false;
    for (int k = 0; k < 2 && !found; k++)
        for (int j = 0; j < 3; j++) {
            v = 0.61 * v + x[(6 * i + j) % n];
            if (v > 1.01) { found = true; break; }
            double r = 1 + v * v;
            for (int t = 0; t < 9; t++) {
                double next = 0.5 * (r + (1 + v * v) / r);
                if (fabs(next - r) < 1e-3) break;
                r = next;
            }
            v = 0.39 * r;
        }
    if (found) v *= 0.36;""",
    "reason": """
    int why = 0;
    for (int k = 0; k < 4 && !why; k++)
        for (int j = 0; j < 3 + k; j++) {
            v = 0.61 * v + x[(6 * i + j) % n];
            if (v > 1.0) { why = 1; break; }
            if (v < -0.9) { why = 2; break; }
            v = 0.5 * v + 0.2 * v * v;
        }
    v = why == 1 ? v * v : why == 2 ? sin(v) : v;""",
    "deep": """
    bool found = false;
    for (int k = 0; k < 3 && !found; k++)
        for (int j = 0; j < 3 && !found; j++)
            for (int l = 0; l < 3; l++) {
                v = 0.61 * v + x[(6 * i + j + k + l) % n];
                if (v > 1.0) { found = true; break; }
                v = 0.5 * v + 0.2 * v * v;
            }
    if (found) v = v * v * 0.3;""",
    "until": """
    bool found = false;
    int k = 0;
    while (!found && k < 5) {
        k++;
        int j = 0;
        do {
            v = 0.61 * v + x[(6 * i + j) % n];
            if (v > 0.8) { found = true; break; }
            v = cos(v) * 0.5;
        } while (++j < 3 + k);
    }
    if (found) v *= v;""",
    "again": """
    for (int m = 0; m < 3; m++) {
        double last = 0;
        int at = 0;
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 9; j++) {
                last = v * x[(6 * i + j + k + m) % n];
                at = (j * k + m) % n;
                if (last > 0.3) goto out;
                v += 0.1 * last * last;
            }
    out:
        v = v * last + sin(x[at] * v);
    }""",
}

N = 53


def _source(head: str, end: str) -> str:
    bodies = (
        f"{head.format(name=name)}\n    double v = x[i];{body}\n    y[i] = v;\n{end}" for name, body in KERNELS.items()
    )
    return "#include <cmath>\nusing namespace std;\n" + "\n".join(bodies)


CUDA = _source(
    "__global__ void {name}(const double *x, double *y, int n)\n{{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;",
    "}",
)
CPP = _source("void {name}(const double *x, double *y, int n)\n{{\n    for (int i = 0; i < n; i++) {{", "    }\n}")


@pytest.fixture(scope="module", params=["cu", "cpp"])
def module(request: pytest.FixtureRequest, toolchain: object, tmp_path_factory: pytest.TempPathFactory) -> adgen.Module:
    del toolchain
    path = tmp_path_factory.mktemp("left") / f"loops.{request.param}"
    path.write_text(CUDA if request.param == "cu" else CPP, encoding="utf-8")
    return adgen.compile(path, cache=False)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", range(3))
def test_gradient(module: adgen.Module, name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, weights = rng.uniform(-1, 1, N), rng.normal(size=N)
    one = getattr(module, name)
    is_kernel = module[name].signature.kind == "kernel"
    call, vjp = (one[2, 32], one.vjp[2, 32]) if is_kernel else (one, one.vjp)

    def weighted(at: np.ndarray) -> float:
        y = np.zeros(N)
        call(at, y, N)
        return float(weights @ y)

    gradient = vjp(x, np.zeros(N), N, cotangents={"y": weights})["x"]
    step = 1e-6
    for k in range(N):
        away = np.zeros(N)
        away[k] = step
        difference = (weighted(x + away) - weighted(x - away)) / (2 * step)
        assert gradient[k] == pytest.approx(difference, rel=1e-5, abs=1e-6), k


@pytest.mark.usefixtures("toolchain")
def test_gpu_code_is_made(tmp_path: Path) -> None:
    path = tmp_path / "loops.cu"
    path.write_text(CUDA, encoding="utf-8")
    made = read(build(new(path, targets=TARGETS), settings=Settings.from_environment(), use_cache=False))
    refused = [entry.targets[target].gradient_refused for entry in made.entries for target in TARGETS]
    assert refused == [None] * (2 * len(KERNELS))
