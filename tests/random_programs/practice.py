"""Draws kernels as people write them: local arrays that are sorted, shifted and searched, loops with several ways out,
the smallest of many and where it is, several stores to one element, helpers with results by pointer, tiles used twice.

Their derivatives have kinks, and finite differences go over them: the oracle is the dual numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

HELPERS = """
struct Span {
    const double *from;
    double *to;
    int n;
};
HELPER void halves(double v, double *low, double *high)
{
    *low = v < 0 ? v * 0.5 : v * v;
    if (high) *high = v - *low;
}
HELPER int smallest(const double *a, int n, double *value)
{
    int at = 0;
    double best = a[0];
    for (int k = 1; k < n; k++)
        if (a[k] < best) { best = a[k]; at = k; }
    *value = best;
    return at;
}
template <int N> HELPER void reversed(double (&a)[N])
{
    for (int l = 0, r = N - 1; l < r; l++, r--) { double t = a[l]; a[l] = a[r]; a[r] = t; }
}
HELPER void moved(Span s, int by)
{
    for (int k = 0; k < s.n; k++) s.to[k] = s.from[(k + by) % s.n];
}
"""

_SORTS = (
    (
        "for (int p = {first}; p < {size}; p++) {{ double v = a[p]; int q = p - 1;"
        " while (q >= 0 && a[q] {more} v) {{ a[q + 1] = a[q]; q--; }} a[q + 1] = v; }}"
    ),
    (
        "for (int p = {first}; p < {size}; p++) {{ double v = a[p]; int q = p;"
        " for (; q > 0; q--) {{ if (!(a[q - 1] {more} v)) break; a[q] = a[q - 1]; }} a[q] = v; }}"
    ),
    (
        "for (int p = 0; p + 1 < {size}; p++) {{ int at = p;"
        " for (int q = p + 1; q < {size}; q++) if (a[at] {more} a[q]) at = q;"
        " double t = a[p]; a[p] = a[at]; a[at] = t; }}"
    ),
    (
        "{{ bool swapped = true; for (int p = 0; p < {size} && swapped; p++) {{ swapped = false;"
        " for (int q = 0; q + 1 < {size}; q++) if (a[q] {more} a[q + 1])"
        " {{ double t = a[q]; a[q] = a[q + 1]; a[q + 1] = t; swapped = true; }} }} }}"
    ),
    (
        "for (int gap = {size} / 2; gap > 0; gap /= 2) for (int p = gap; p < {size}; p++) {{ double v = a[p];"
        " int q = p;"
        " for (; q >= gap && a[q - gap] {more} v; q -= gap) a[q] = a[q - gap]; a[q] = v; }}"
    ),
    (
        "for (int p = 0; p < {size}; p++) for (int q = p & 1; q + 1 < {size}; q += 2) if (a[q] {more} a[q + 1])"
        " {{ double low = a[q]; a[q] = a[q + 1]; a[q + 1] = low; }}"
    ),
)

_MOVES = (
    "{{ double first = a[0]; for (int k = 0; k + 1 < {size}; k++) a[k] = a[k + 1]; a[{size} - 1] = first * {c}; }}",
    "for (int k = {size} - 1; k > 0; k--) a[k] = a[k - 1] + {c} * a[k];",
    "reversed(a);",
    "{{ double b[{size}]; Span s = {{a, b, {size}}}; moved(s, {by}); for (int k = 0; k < {size}; k++) a[k] = b[k]; }}",
    (
        "{{ int at = (i + {by}) % {size}; for (int k = 0; k < {by} + 3; k++)"
        " {{ a[at] = 0.5 * a[at] + {c} * x[(i + k) % n]; at = (at + 1) % {size}; }} }}"
    ),
    (
        "{{ int l = 0, r = {size} - 1; double pivot = a[{size} / 2]; while (l <= r) {{ while (a[l] < pivot) l++;"
        " while (a[r] > pivot) r--; if (l <= r) {{ double t = a[l]; a[l] = a[r]; a[r] = t; l++; r--; }} }} }}"
    ),
    (
        "for (int k = 0, at = {by} % {size}; k < {size}; k++, at = (at * 3 + 1) % {size})"
        " {{ double t = a[k]; a[k] = a[at]; a[at] = t; }}"
    ),
)

_LOOPS = (
    (
        "{{ int k = 0; while (k < {size} && acc < {limit} && !(a[k] > 0.9)) {{ acc += a[k] * a[k]; k++; }}"
        " acc += 0.1 * k; }}"
    ),
    (
        "for (int k = 0; k < {size}; k++) {{ if (a[k] < -0.5) continue; acc = acc * {c} + sin(a[k]);"
        " if (acc > {limit}) break; }}"
    ),
    (
        "{{ double t = 0.5 + a[0] * a[0]; int k = 0; do {{ double next = 0.5 * (t + (1 + a[1] * a[1]) / t);"
        " if (fabs(next - t) < 1e-3) break; t = next; }} while (++k < {by} + 4); acc += t; }}"
    ),
    "{{ double best; int at = smallest(a, {size}, &best); acc += best * a[(at + 1) % {size}] + 0.01 * at; }}",
    (
        "{{ double high = -1e30, second = -1e30; for (int k = 0; k < {size}; k++) {{ if (a[k] > high)"
        " {{ second = high; high = a[k]; }} else if (a[k] > second) second = a[k]; }} acc += high * {c} - second; }}"
    ),
    (
        "{{ double low, high; halves(acc + a[{by} % {size}], &low, &high); acc = low * {c} + high;"
        " halves(low, a + 1, nullptr); }}"
    ),
    (
        "{{ int left = 0, right = {size} - 1; while (left < right) {{ int half = (left + right) / 2;"
        " if (a[half] < acc) left = half + 1; else right = half; }} acc += a[left] * {c}; }}"
    ),
    "for (int k = 0; k < {size}; k++) {{ int at = int(floor(fabs(a[k]) * 3)) % {size}; a[at] += {c} * a[k]; }}",
    (
        "{{ int next = idx[i] % {size}; for (int k = 0; k < {by}; k++) {{ acc = fmax(acc, a[next] * {c});"
        " next = (idx[(i + next) % n] + k) % {size}; }} }}"
    ),
)

_STORES = (
    "y[i] = acc; if (acc > 0.2) y[i] = acc * a[0]; y[i] += a[{size} - 1];",
    "y[i] = a[0] * a[1] - acc; y[i] = y[i] * {c} + a[{size} / 2];",
    "if (a[0] < a[1]) y[i] = acc; else y[i] += a[1] * acc;",
    "y[i] *= acc; y[(i + 0) % n] += a[{by} % {size}];",
    "for (int k = 0; k < {size}; k++) y[i] = {c} * y[i] + a[k]; y[i] += acc;",
)

_TOGETHER = (
    (
        "tile[lane] = acc; __syncthreads(); for (int half = 16; half > 0; half /= 2)"
        " {{ if (lane < half) tile[lane] += tile[lane + half]; __syncthreads(); }}"
        " acc += {c} * tile[0]; __syncthreads();"
    ),
    (
        "tile[lane] = a[0]; __syncthreads(); if (lane == 0) {{ double m = tile[0]; int at = 0;"
        " for (int k = 1; k < 32; k++)"
        " if (tile[k] > m) {{ m = tile[k]; at = k; }} tile[at] = m * {c}; }} __syncthreads(); acc += tile[lane];"
        " __syncthreads(); tile[31 - lane] = acc; __syncthreads(); acc = acc * {c} + tile[lane]; __syncthreads();"
    ),
    "for (int k = 16; k > 0; k /= 2) acc = fmin(acc + 0.1, {c} * acc + __shfl_xor_sync(0xffffffffu, acc, k));",
    "if (__any_sync(0xffffffffu, acc > {limit})) acc *= {c}; acc += {c} * __shfl_down_sync(0xffffffffu, a[0], {by});",
    "if (lane < {by} + 8) tile[lane] = acc; __syncthreads(); acc += tile[lane % ({by} + 8)] * {c}; __syncthreads();",
)

_SAME = (
    "tile[lane] = a[0]; __syncthreads(); z[blockIdx.x] = tile[0] * tile[31]; __syncthreads();",
    "if (lane < {by} + 2) z[blockIdx.x] = x[blockIdx.x] * x[blockIdx.x];",
    "tile[0] = x[blockIdx.x]; __syncthreads(); acc += tile[0] * {c}; __syncthreads();",
)


def kernel(number: int) -> str:
    """The kernel of that number, always the same: p<number>(x, w, idx, y, z, n, s)."""
    rng = Random(number)
    words = {"size": rng.randint(2, 12), "first": 1, "more": rng.choice("<>"), "limit": round(rng.uniform(0.5, 3), 2)}

    def drawn(choices: tuple[str, ...]) -> str:
        given = {**words, "c": round(rng.uniform(0.2, 0.9), 2), "by": rng.randint(1, 6)}
        return "    " + rng.choice(choices).format(**given)

    types = "const double *x, const double *w, const int *idx, double *y, double *z, int n, double s"
    if rng.random() < 0.5:
        types = types.replace("*", "*__restrict__ ")
    together = rng.random() < 0.5
    size = words["size"]
    lines = [f"__global__ void p{number}({types})", "{", "    int i = blockIdx.x * blockDim.x + threadIdx.x;"]
    if together:
        lines += ["    int lane = threadIdx.x;", "    __shared__ double tile[32];", "    bool inside = i < n;"]
        lines += ["    if (!inside) i = n - 1;"]
    else:
        lines.append("    if (i >= n) return;")
    load = rng.choice(("x[({size} * i + k) % n]", "x[(i + k) % n] * w[k]", "k % 2 ? w[(i + k) % n] : x[idx[i]]"))
    unrolled = rng.choice(("", "    #pragma unroll\n", "    #pragma unroll 1\n"))
    lines.append(
        f"    double a[{size}], acc = s * x[i];\n"
        f"{unrolled}    for (int k = 0; k < {size}; k++) a[k] = {load.format(**words)};"
    )
    pieces: list[Callable[[], str]] = [lambda: drawn(_SORTS), lambda: drawn(_MOVES), lambda: drawn(_LOOPS)]
    if together:
        pieces += [lambda: drawn(_TOGETHER), lambda: drawn(_SAME)]
    lines += [rng.choice(pieces)() for _ in range(rng.randint(1, 4))]
    store = drawn(_STORES).strip()
    lines.append(f"    if (inside) {{ {store} }}" if together else f"    {store}")
    return "\n".join((*lines, "}", ""))
