"""Floating point that people move as something else: as words, halves and bits; and structs that a kernel changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from threads_support import set_threads

import enzyme_driver as adgen

SOURCE = """\
#include <cuda_fp16.h>
struct Pair { float a, b; };
struct Gains { float a, b; int steps; };
struct Frame { double v[64]; };

__global__ void reversed(const Pair *x, Pair *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { Pair p = x[n - 1 - i]; y[i] = p; }
}

__global__ void words(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) reinterpret_cast<uint4 *>(y)[i] = reinterpret_cast<const uint4 *>(x)[i];
}

__global__ void chosen(const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const long long *bits = (const long long *)x;
    if (i < n) ((long long *)y)[i] = i % 3 ? bits[i] : bits[(i + 1) % n];
}

__global__ void pairs_of_halves(const __half2 *x, const float *w, __half *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 v = __half22float2(__hmul2(x[i], x[i]));
    y[i] = __float2half(v.x * v.y * w[i]);
}

__device__ float gelu(float x) {
    float t;
    asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(0.79788456f * (x + 0.044715f * x * x * x)));
    return 0.5f * x * (1.f + t);
}

__global__ void activate(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = gelu(x[i]);
}

__global__ void own_frame(const double *x, const Frame *frame, double *y, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double row[64];
    memcpy(row, x, m * sizeof(double));
    Frame mine = *frame;
    y[i] = 0;
    for (int k = 0; k < m; ++k) {
        row[k] *= row[k] * mine.v[(k + i) % 64];
        y[i] += row[k] * row[(k + i) % m];
    }
}

__global__ void changed(const float *x, float *y, Gains g, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int j = 0; j < g.steps; ++j) g.b += g.a * x[i];
    g.a *= g.b;
    y[i] = g.a * x[i];
}
"""
IN_CPP = """\
#include <algorithm>
#include <cstring>
#include <vector>

double erased(const double *x, int n) {
    std::vector<double> v(x, x + n);
    double sum = 0;
    for (int k = 0; k < n / 2; ++k) {
        v.erase(v.begin() + k % 2);
        for (double &a : v) a *= 1 + 0.1 * a;
        sum += v[k] * v.back();
    }
    return sum;
}

double inserted(const double *x, int n) {
    std::vector<double> v;
    for (int i = 0; i < n; ++i) v.insert(v.begin(), x[i] * (v.empty() ? 1 : v.front()));
    double sum = 0;
    for (size_t i = 0; i < v.size(); ++i) sum += v[i] * v[i] * (i + 1);
    return sum;
}

void shifted(double *u, int n) {
    for (int step = 0; step < 3; ++step) {
        double last = u[n - 1];
        std::memmove(u + 1, u, (n - 1) * sizeof(double));
        u[0] = last * u[n / 2];
        std::copy(u + 2, u + n, u + 1);
        for (int i = 0; i < n; ++i) u[i] += 0.1 * u[i] * u[i];
    }
}

double copied_by_all(const double *x, int n) {
    double sum = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : sum)
    for (int i = 0; i < n; ++i) {
        std::vector<double> mine(x, x + n);
        for (double &a : mine) a *= a;
        sum += mine[i] * mine[(i + 1) % n];
    }
    return sum;
}
"""

_N = 40
_PAIR = np.dtype([("a", np.float32), ("b", np.float32)])


def _arguments(kernel: str, rng: np.random.Generator) -> list[object]:
    def drawn(dtype: type, *shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
        return rng.uniform(0.5, 1.5, shape or (_N,)).astype(dtype)

    f32, f64, f16 = np.float32, np.float64, np.float16
    gains = {"a": 0.5, "b": 0.7, "steps": 3}
    return {
        "reversed": [drawn(f32, _N, 2).view(_PAIR).ravel(), np.zeros(_N, _PAIR), _N],
        "words": [drawn(f32), np.zeros(_N, f32), _N],
        "chosen": [drawn(f64), np.zeros(_N), _N],
        "pairs_of_halves": [drawn(f16, _N, 2), drawn(f32), np.zeros(_N, f16), _N],
        "own_frame": [drawn(f64, 64), drawn(f64, 64).view([("v", f64, 64)]), np.zeros(_N), 7, _N],
        "activate": [drawn(f32), np.zeros(_N, f32), _N],
        "changed": [drawn(f32), np.zeros(_N, f32), np.array([tuple(gains.values())], _GAINS)[0], _N],
    }[kernel]


_GAINS = np.dtype([("a", np.float32), ("b", np.float32), ("steps", np.int32)])
_KERNELS = ("reversed", "words", "chosen", "pairs_of_halves", "activate", "own_frame", "changed")


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("target", ["openmp", "cuda"])
def test_every_kernel(tmp_path: Path, target: str) -> None:
    file = tmp_path / "copies.cu"
    file.write_text(SOURCE, encoding="utf-8")
    module = adgen.compile(file, target=target, activity={"g": "active"})  # type: ignore[call-overload]
    assert tuple(kernel.name for kernel in module) == _KERNELS
    if target == "cuda":
        return
    rng = np.random.default_rng()
    for name in _KERNELS:
        result = module[name].check[2, 32](*_arguments(name, rng))
        assert any(part.difference != 0 for part in result.parameters), name


@pytest.mark.usefixtures("toolchain")
def test_overlapping_copies_are_undone_in_the_right_order(tmp_path: Path) -> None:
    file = tmp_path / "moves.cpp"
    file.write_text(IN_CPP, encoding="utf-8")
    module = adgen.compile(file)
    rng = np.random.default_rng()
    for function in module:
        module[function.name].check(rng.uniform(0.5, 1, 9), 9)


@pytest.mark.usefixtures("toolchain")
def test_copies_of_one_original_by_many_threads_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "moves.cpp"
    file.write_text(IN_CPP, encoding="utf-8")
    function = adgen.compile(file, function="copied_by_all")
    n = 300
    x = np.random.default_rng().uniform(0.5, 1, n)
    expected = 2 * x * (np.roll(x, 1) ** 2 + np.roll(x, -1) ** 2)
    set_threads(7)
    for _ in range(20):
        np.testing.assert_allclose(function.vjp(x, n)["x"], expected, rtol=1e-12)
    set_threads(2)


PUSHED = """\
#include <utility>
#include <vector>
struct Body { int kind; double mass, radius; };
double total(const Body *bodies, int n) {
    std::vector<Body> kept;
    for (int i = 0; i < n; ++i) kept.push_back(bodies[i]);
    double sum = 0;
    for (const Body &b : kept) sum += b.kind ? b.mass * b.mass : b.radius * b.mass;
    return sum;
}
double weighted(const double *x, int n) {
    std::vector<std::vector<std::pair<int, double>>> rows(3);
    for (int i = 0; i < n; ++i) rows[i % 3].emplace_back(i, x[i]);
    double sum = 0;
    for (const auto &row : rows)
        for (const auto &[i, v] : row) sum += (i + 1) * v * v;
    return sum;
}
double blurred(const double *x, int n) {
    std::vector<std::vector<double>> rows(n, std::vector<double>(n)), next;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) rows[i][j] = x[i * n + j];
    for (int step = 0; step < 3; ++step) {
        next = rows;
        for (int i = 1; i < n; ++i)
            for (int j = 1; j < n; ++j) next[i][j] += 0.2 * rows[i][j] * (rows[i - 1][j] - rows[i][j - 1]);
        std::swap(rows, next);
    }
    double sum = 0;
    for (const auto &row : rows)
        for (double v : row) sum += v * v;
    return sum;
}
"""
MOVED = """\
#include <algorithm>
#include <vector>
struct Body { int kind, number; double mass, radius; };
double erased(const double *x, int n) {
    std::vector<Body> kept;
    for (int i = 0; i < n; ++i) kept.push_back({i % 2, i, x[i], x[i] * x[i]});
    kept.erase(kept.begin());
    kept.insert(kept.begin() + 2, kept.back());
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (i + 1) * kept[i].mass * kept[i].radius * (2 + kept[i].kind + kept[i].number);
    return sum;
}
static void sort(Body *first, Body *last) {
    for (Body *at = first + 1; at < last; ++at) {
        const Body one = *at;
        Body *place = std::upper_bound(first, at, one, [](const Body &a, const Body &b) { return a.mass < b.mass; });
        std::copy_backward(place, at, at + 1);
        *place = one;
    }
}
static double halved(Body *first, Body *last) {
    if (last - first < 3) return last > first ? first->mass * first->radius : 0;
    sort(first, last);
    Body *middle = first + (last - first) / 2;
    return 1.5 * halved(first, middle) + halved(middle, last) * (1 + middle->kind) * middle->mass;
}
struct Sample { float value; int kind; };
double swapped(const double *x, int n) {
    std::vector<Sample> kept(n);
    for (int i = 0; i < n; ++i) kept[i] = {static_cast<float>(x[i] * x[i]), i};
    for (int i = 0; i + 1 < n; i += 2) std::swap(kept[i], kept[i + 1]);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (i + 1) * kept[i].value * (1 + kept[i].kind);
    return sum;
}
double sorted(const double *x, int n) {
    std::vector<Body> kept;
    for (int i = 0; i < n; ++i) kept.push_back({i % 2, i, x[i], x[i] * x[(i + 1) % n]});
    return halved(kept.data(), kept.data() + n);
}
"""
SHORTENED = """\
#include <cstring>
#include <vector>
struct Body { int kind; double mass, radius; };
double total(const Body *bodies, int n, int bytes) {
    std::vector<Body> kept;
    for (int i = 0; i < n; ++i) kept.push_back(bodies[i]);
    std::memmove(kept.data(), kept.data() + 1, bytes);
    double sum = 0;
    for (const Body &b : kept) sum += b.kind ? b.mass : b.radius * b.mass;
    return sum;
}
double lightest(const Body *bodies) { return bodies->mass * bodies->mass; }
"""
BODY = np.dtype([("kind", np.int32), ("mass", np.float64), ("radius", np.float64)], align=True)


@pytest.mark.usefixtures("toolchain")
def test_a_vector_grows_by_structs_that_begin_with_an_integer(tmp_path: Path) -> None:
    file = tmp_path / "pushed.cpp"
    file.write_text(PUSHED, encoding="utf-8")
    module = adgen.compile(file)
    rng = np.random.default_rng()
    bodies = np.zeros(9, BODY)
    bodies["kind"] = np.arange(9) % 2
    bodies["mass"], bodies["radius"] = rng.uniform(0.5, 1, (2, 9))
    for result in (module.total.check(bodies, 9), module.weighted.check(rng.uniform(0.5, 1, 9), 9)):
        assert result.parameters[0].difference


@pytest.mark.usefixtures("toolchain")
def test_a_matrix_of_rows_is_assigned_to_another(tmp_path: Path) -> None:
    file = tmp_path / "pushed.cpp"
    file.write_text(PUSHED, encoding="utf-8")
    function = adgen.compile(file, function="blurred")
    assert function.check(np.random.default_rng().uniform(0.5, 1, (6, 6)), 6).parameters[0].difference


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("name", ["erased", "swapped", "sorted"])
def test_structs_that_begin_with_an_integer_are_moved_in_place(name: str, tmp_path: Path) -> None:
    file = tmp_path / "moved.cpp"
    file.write_text(MOVED, encoding="utf-8")
    tolerance = 1e-2 if name == "swapped" else None
    result = adgen.compile(file, function=name).check(
        np.random.default_rng().uniform(0.5, 1.5, 9), 9, tolerance=tolerance
    )
    assert result.parameters[0].difference


@pytest.mark.usefixtures("toolchain")
def test_structs_that_begin_with_an_integer_and_are_moved_by_any_number_of_bytes_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "shortened.cpp"
    file.write_text(SHORTENED, encoding="utf-8")
    with pytest.raises(adgen.RefusedError, match="structs that hold floating point behind an integer") as caught:
        adgen.compile(file, function="total").vjp(np.zeros(3, BODY), 3, 48)
    assert "one struct after another" in caught.value.hint
    bodies = np.zeros(1, BODY)
    bodies["mass"] = 0.7
    assert adgen.compile(file).lightest.vjp(bodies)["bodies"]["mass"] == 1.4  # the rest of the file is there
