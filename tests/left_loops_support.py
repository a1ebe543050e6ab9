"""Kernels with values and flags that a `break` out of several loops leaves behind, as CUDA and as C++."""

from __future__ import annotations

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
