"""Kernels with values and flags that loops leave behind, as CUDA and as C++: by a `break` out of several loops, or read
from an array that each iteration has anew.
"""

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
    "two_entries": """
    int k = i % 7;
    if (x[i] > 0) goto up;
    goto down;
up:
    v = v * x[(i + k) % n] + 0.1 * k;
    goto both;
down:
    v = sin(v + 0.1 * k) * x[k];
both:
    if (k > 0) {
        k--;
        if ((k * 7 >> 1) & 1) goto up;
        goto down;
    }""",
    "odd_or_even": """
    int k = i + 3, turns = 0;
    while (k != 1) {
        if (k & 1) {
            k = 3 * k + 1;
            v = 0.9 * v + 0.3 * x[k % n];
            if (++turns > 4) { v *= 2; break; }
        } else {
            k >>= 1;
            v = sqrt(v * v + 0.1);
            if (v > 0.8) goto left;
        }
    }
    v += 1;
left:
    v *= v;""",
    "own_array": """
    for (int k = 0; k < i % 4 + 1; k++) {
        double c[2] = {0.9, v};
        c[i & 1] = 0.9 + 0.53 * v;
        v = c[0] * c[1] * x[k];
    }""",
    "own_indices": """
    int at = i % 3;
    for (int k = 0; k < i % 4 + 2; k++) {
        int next[3] = {1, 2, 0};
        next[(at + k) % 3] = (i + k) % 3;
        double c[3] = {v, x[k], x[(i + k) % n]};
        c[at] = c[at] * v + 0.5;
        v = sin(c[0] * c[1] + c[2]);
        at = next[at];
    }""",
    "own_of_an_inner_loop": """
    for (int m = 0; m < i % 3 + 2; m++) {
        double last = v;
        for (int k = 0; k < i % 4 + 1; k++) {
            double c[2] = {0.9 + x[k], x[k + 1] * v};
            c[i & 1] = 0.9 + 0.53 * v * x[m];
            last = c[0] * c[1];
        }
        v = sin(last) * v + x[m];
    }""",
    "own_condition": """
    double best = 0.1;
    for (int k = 0; k < i % 4 + 1; k++) {
        double c[2] = {0.9 + x[k], v};
        c[(i + x[k] > 0) & 1] = 0.9 + 0.53 * v * best;
        if (c[0] * c[1] > best) best = best * 1.5 + x[k + 2];
        v = sin(v) + best * v * x[k];
    }
    v *= best;""",
    "descends": """
    int at = (7 * i) % n;
    #pragma unroll 1
    for (int k = 0; k < 6 && at > 2; k++) {
        v = 0.34 * v + x[at] * x[at];
        at = x[at] < v ? at / 2 : at - 3;
    }
    v *= v;""",
    "overwrites": """
    double more = 0.3;
    int at = (i + 3) % n;
    for (int k = 0; k < 6 && at > 2; k++) {
        more = 0.68 * v + x[at] * x[(at + 1) % n];
        at = x[at] < x[at / 2] ? at / 2 : at - 3;
    }
    v *= more;""",
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
