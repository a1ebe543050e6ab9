"""Threads of a block that wait for each other on the host: barriers anywhere, failures, stacks, numbers of threads."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import enzyme_driver as adgen
from enzyme_driver.runtime.kernel import Kernel

pytestmark = pytest.mark.usefixtures("toolchain")

ROOT = Path(__file__).resolve().parents[2]

Compile = Callable[[str], Kernel]


@pytest.fixture
def kernel(tmp_path: Path) -> Compile:
    """The only kernel of a text."""

    def compiled(text: str) -> Kernel:
        path = tmp_path / "cooperation.cu"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        (only,) = adgen.compile(path, target="openmp", cache=False)
        assert isinstance(only, Kernel)
        return only

    return compiled


def random(*shape: int) -> NDArray[np.float32]:
    return np.random.default_rng().standard_normal(shape).astype(np.float32)


def test_barriers_that_only_some_threads_reach_pair_with_others(kernel: Compile) -> None:
    k = kernel(
        """
        __global__ void two_ways(const float *x, float *y) {
            __shared__ float s[64];
            int t = threadIdx.x;
            s[t] = x[t] * x[t];
            if (t < 32) {
                __syncthreads();
                y[t] = s[63 - t];
            } else {
                s[t] += 1.0f;
                __syncthreads();
                y[t] = 2.0f * s[63 - t];
            }
        }
        """
    )
    x, y = random(64), random(64)
    k[1, 64](x, y)
    s = x**2 + (np.arange(64) >= 32)
    np.testing.assert_allclose(y, s[::-1] * np.where(np.arange(64) < 32, 1, 2), rtol=1e-6)
    k.check[1, 64](x, y)


def test_warps_smaller_than_a_warp_and_every_operation(kernel: Compile) -> None:
    k = kernel(
        """
        __global__ void warps(const int *x, unsigned *y, float *z) {
            int t = threadIdx.x + blockDim.x * threadIdx.y, all;
            unsigned mask = __activemask();
            y[10 * t + 0] = mask;
            y[10 * t + 1] = __ballot_sync(mask, x[t] > 0);
            y[10 * t + 2] = __any_sync(mask, x[t] > 2) + 2 * __all_sync(mask, x[t] > -9);
            y[10 * t + 3] = __match_any_sync(mask, x[t]);
            y[10 * t + 4] = __match_all_sync(mask, x[t] / 100, &all) + all;
            y[10 * t + 5] = __reduce_add_sync(mask, x[t]);
            y[10 * t + 6] = __reduce_max_sync(mask, x[t]);
            y[10 * t + 7] = __syncthreads_count(x[t] > 0);
            y[10 * t + 8] = __syncthreads_and(x[t] > -2) + 2 * __syncthreads_or(x[t] == 3);
            if (threadIdx.x % 2) y[10 * t + 9] = __shfl_xor_sync(__activemask(), t, 2);
            else y[10 * t + 9] = __reduce_add_sync(__activemask(), 1);
            z[t] *= y[10 * t + 7];
        }
        """
    )
    block = (10, 5)  # 50 threads: a whole warp and 18 lanes
    x = np.random.default_rng().integers(-3, 4, 50).astype(np.int32)
    y = np.zeros((50, 10), np.uint32)
    k[1, block](x, y, random(50))
    warp = np.arange(50) // 32
    mask = np.where(warp == 0, 2**32 - 1, 2**18 - 1)
    bits = 1 << (np.arange(50) % 32)
    together = warp[:, None] == warp[None, :]
    odd = np.arange(50) % 10 % 2 == 1
    expected: list[Any] = [
        mask,
        [(bits * (x > 0))[row].sum() for row in together],
        [(x[row] > 2).any() + 2 for row in together],
        [(bits * (x == x[i]))[row].sum() for i, row in enumerate(together)],
        (mask + 1) % 2**32,
        [int(x[row].sum()) % 2**32 for row in together],
        [int(x[row].max()) % 2**32 for row in together],
        np.full(50, (x > 0).sum()),
        np.full(50, (x > -2).all() + 2 * (x == 3).any()),
        np.where(odd, np.arange(50) ^ 2, [(~odd)[row].sum() for row in together]),
    ]
    shared_with_nobody = odd & (np.arange(50) ^ 2 >= 50)
    y[shared_with_nobody, 9] = expected[9][shared_with_nobody]
    np.testing.assert_array_equal(y, np.stack([np.asarray(each) for each in expected], axis=1))
    k.check[1, block](x, y, random(50))


def test_barriers_that_count_one_after_the_other_where_some_have_returned(kernel: Compile) -> None:
    k = kernel(
        """
        __global__ void counted(const float *x, int *y, float *z) {
            __shared__ float tile[64];
            int t = threadIdx.x;
            if (t % 3 == 0) return;
            tile[t] = x[t];
            y[4 * t] = __syncthreads_count(x[t] > 0);
            float v = tile[(t / 3 * 3 + 1) % 64] * y[4 * t];
            y[4 * t + 1] = __syncthreads_count(t < 40);
            y[4 * t + 2] = __syncthreads_and(t % 3) + 2 * __syncthreads_and(t < 60);
            if (t > 50) return;
            y[4 * t + 3] = __syncthreads_or(t > 50) + 2 * __syncthreads_or(t == 1);
            z[t] *= v * y[4 * t + 3];
        }
        """
    )
    x, y, z = random(64), np.zeros((64, 4), np.int32), np.ones(64, np.float32)
    k[1, 64](x, y, z)
    t = np.arange(64)
    in_time = t % 3 > 0
    expected = np.array([(x[in_time] > 0).sum(), (t[in_time] < 40).sum(), 1, 2])
    expected = np.where(in_time[:, None], expected, 0)
    expected[t > 50, 3] = 0
    np.testing.assert_array_equal(y, expected)
    k.check[1, 64](x, y, z)


def test_lanes_of_a_group_are_known_by_their_rank(kernel: Compile) -> None:
    k = kernel(
        """
        #include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        __global__ void ranked(const float *x, float *y) {
            auto warp = cg::tiled_partition<32>(cg::this_thread_block());
            const int i = threadIdx.x;
            auto third = cg::labeled_partition(warp, i % 3);
            y[i] = x[i] * third.shfl(x[i], 2) + third.shfl_down(x[i], 1);
        }
        """
    )
    x, y = np.random.default_rng().uniform(0.5, 1.5, 32).astype(np.float32), np.zeros(32, np.float32)
    k[1, 32](x, y)
    i = np.arange(32)
    below = np.where(i + 3 < 32, i + 3, i)  # the last one keeps its own
    np.testing.assert_allclose(y, x * x[i % 3 + 6] + x[below], rtol=1e-6)
    k.check[1, 32](x, y)


def test_a_deadlock_is_an_error_that_says_who_waits_where(kernel: Compile) -> None:
    k = kernel(
        """
        __global__ void stuck(float *x) {
            if (threadIdx.x == 5) __syncthreads();
            else x[threadIdx.x] = __shfl_sync(0xffffffff, x[threadIdx.x], 0);
        }
        """
    )
    who = r"thread \(0, 0, 0\) at a warp shuffle.*\(5, 0, 0\) at __syncthreads"
    with pytest.raises(adgen.PrimalError, match=who):
        k[3, 32](random(32))
    with pytest.raises(adgen.PrimalError, match=who):
        k.gradient[3, 32](random(32), shadows={"x": random(32)})


def test_a_failed_assertion_ends_its_thread_and_the_others_go_on(
    kernel: Compile, capfd: pytest.CaptureFixture[str]
) -> None:
    k = kernel(
        """
        #include <cassert>
        #include <cstdio>
        __global__ void careful(const float *x, float *y) {
            __shared__ float s[40];
            int t = threadIdx.x;
            s[t] = x[t];
            assert(x[t] < 100.0f);
            __syncthreads();
            if (t == 0) printf("first of %d: %.1f\\n", blockDim.x, s[39]);
            y[t] = s[39 - t] * s[t];
        }
        """
    )
    x, y = random(40), random(40)
    k[1, 40](x, y)
    k.gradient[1, 40](x, y, shadows={"x": random(40), "y": random(40)})
    assert capfd.readouterr().out == f"first of 40: {x[39]:.1f}\n"
    np.testing.assert_allclose(y, x[::-1] * x, rtol=1e-6)
    x[7] = 200.0
    with pytest.raises(adgen.PrimalError, match=r"cooperation.cu:8: assertion failed: x\[t\] < 100.0f"):
        k[1, 40](x, y)
    k[1, 40](random(40), y)


def test_a_failed_assertion_of_a_recursive_function_is_an_error(kernel: Compile) -> None:
    k = kernel(
        """
        #include <cassert>
        __device__ float power(float x, int n) {
            assert(n >= 0);
            return n == 0 ? 1.0f : x * power(x, n - 1);
        }
        __global__ void powers(const float *x, const int *n, float *y) {
            y[threadIdx.x] = power(x[threadIdx.x], n[threadIdx.x]);
        }
        """
    )
    x, n, y = random(8), np.arange(8, dtype=np.int32), random(8)
    k[1, 8](x, n, y)
    np.testing.assert_allclose(y, x**n, rtol=1e-5)
    found = k.vjp[1, 8](x, n, y, cotangents={"y": np.ones(8, np.float32)})["x"]
    np.testing.assert_allclose(found, n * x ** (n - 1.0), rtol=1e-5)
    n[3] = -1
    with pytest.raises(adgen.PrimalError, match=r"cooperation.cu:4: assertion failed: n >= 0"):
        k[1, 8](x, n, y)


RECURSIVE = """
__device__ __noinline__ float down(const float *x, int depth) {
    float kept[64];
    for (int i = 0; i < 64; ++i) kept[i] = x[i] * depth;
    return depth == 0 ? x[0] : down(kept, depth - 1) + kept[depth % 64];
}

__global__ void deep(const float *x, float *y, int depth) {
    __shared__ float s[32];
    s[threadIdx.x] = down(x, depth);
    __syncthreads();
    y[threadIdx.x] = s[31 - threadIdx.x];
}
"""


def test_a_stack_that_is_too_small_is_an_error(kernel: Compile) -> None:
    k = kernel(RECURSIVE)
    x, y = random(64), random(32)
    k[1, 32](x, y, 20)
    shallow = y.copy()
    with pytest.raises(adgen.PrimalError, match="bytes of stack"):
        k[1, 32](x, y, 100_000)
    k[1, 32](x, y, 20)
    np.testing.assert_array_equal(y, shallow)


@pytest.mark.parametrize("between", ["__syncthreads();", "if (n > 0) __syncthreads();"])
def test_shared_memory_that_the_launch_does_not_give_is_an_error(kernel: Compile, between: str) -> None:
    """Where threads are loops, and where each has a stack."""
    k = kernel(
        f"""
        extern __shared__ float tile[];
        __global__ void turned(const float *x, float *y, int n) {{
            tile[threadIdx.x] = x[threadIdx.x];
            {between}
            y[threadIdx.x] = x[threadIdx.x] * tile[n - 1 - threadIdx.x];
        }}
        """
    )
    x, y = random(64), random(64)
    for launch in (k, k.gradient, k.vjp):
        with pytest.raises(adgen.ArgumentError, match="does not say how much"):
            launch[1, 64]
    for few in (0, 64):
        with pytest.raises(adgen.PrimalError, match=f"behind its shared memory, which has {few} dynamic bytes"):
            k[1, 64, None, few](x, y, 64)
        with pytest.raises(adgen.PrimalError, match="behind its shared memory"):
            k.gradient[1, 64, None, few](x, y, 64, shadows={"x": random(64), "y": random(64)})
    k.check[1, 64, None, 256](x, y, 64)


THREADS = """
import sys
import numpy as np
import enzyme_driver as adgen
k = adgen.compile(sys.argv[1], kernel="mean")
x = np.random.default_rng(int(sys.argv[2])).standard_normal(4096).astype(np.float32)
y, d_x = np.zeros(1, np.float32), np.zeros(4096, np.float32)
k.gradient[64, 64](x, y, shadows={"x": d_x, "y": np.ones(1, np.float32)})
np.testing.assert_allclose(d_x, 2 * x, rtol=1e-5)
np.testing.assert_allclose(y, (x.astype(np.float64) ** 2).sum(), rtol=1e-4)
"""


def test_any_number_of_threads(tmp_path: Path) -> None:
    source = tmp_path / "mean.cu"
    source.write_text(
        """
        __global__ void mean(const float *x, float *y) {
            extern __shared__ float unused[];
            __shared__ float s[2];
            float v = x[blockIdx.x * 64 + threadIdx.x];
            v *= v;
            for (int offset = 16; offset; offset /= 2) v += __shfl_down_sync(~0u, v, offset);
            if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
            __syncthreads();
            if (threadIdx.x == 0) atomicAdd(y, s[0] + s[1]);
        }
        """
    )
    for threads in ("1", "2", "7"):
        environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": threads, "OMP_WAIT_POLICY": "passive"}
        command = [sys.executable, "-c", THREADS, str(source), str(os.getpid())]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_what_a_tile_held_before_is_not_read_again_where_the_tile_has_changed(kernel: Compile) -> None:
    smooth = kernel("""
        __global__ void smooth(const double *x, const double *w, const int *idx, double *y, int n, double s) {
            int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x;
            __shared__ double tile[32];
            double t[4];
            double a = x[(i + 1) % n];
            double b = x[idx[(i + 3) % n]];
            for (int round = 0; round < 2; ++round) {
                tile[lane] = sin(a);
                __syncthreads();
                a = 0.5 * a + tile[(lane + 1) % 32] * tile[lane / 2];
                __syncthreads();
                for (int k = 0; k < 4; ++k) {
                    t[(round + 3) % n % 4] = tanh(fabs(a));
                    t[idx[(round + 3) % n] % 4] += 0.2 * cos(b);
                }
                tile[lane] = sin((-0.6 - w[(round * 2) % n]) / (1.5 + s * s));
                __syncthreads();
                a = 0.5 * a + tile[(lane + 2) % 32] * tile[lane / 2];
                __syncthreads();
            }
            if (i < n) y[i] = y[i] * b + tanh(x[(i * 2) % n] * (a > 0.2 ? a * x[(i * 4) % n] + a : a - x[(i * 4) % n]));
        }
    """)
    rng = np.random.default_rng()
    x, w, y = (rng.uniform(-1, 1, 20) for _ in range(3))
    smooth.check[2, 32](x, w, rng.integers(0, 20, 20).astype(np.int32), y, 20, 0.7)


def test_lanes_that_have_returned_are_not_waited_for_in_the_gradient(kernel: Compile) -> None:
    k = kernel(
        """
        __global__ void tail(const float *x, float *out) {
            __shared__ float part[16];
            float v = x[threadIdx.x + 16 * threadIdx.y];
            v = v * v;
            if (threadIdx.x == 0)
                part[threadIdx.y] = v;
            __syncthreads();
            if (threadIdx.y == 0) {
                float s = threadIdx.x < 2 ? part[threadIdx.x] : 0.0f;
                for (int o = 8; o > 0; o /= 2)
                    s += __shfl_down_sync(0xffffffff, s, o);
                if (__any_sync(0xffffffff, threadIdx.x == 0) && threadIdx.x == 0)
                    *out = s;
            }
        }
        """
    )
    x = random(32)
    out = np.zeros(1, np.float32)
    k[1, (16, 2)](x, out)
    np.testing.assert_allclose(out, x[0] ** 2 + x[16] ** 2, rtol=1e-6)
    result = k.vjp[1, (16, 2)](x, out, cotangents={"out": np.ones(1, np.float32)})
    expected = np.zeros(32, np.float32)
    expected[[0, 16]] = 2 * x[[0, 16]]
    np.testing.assert_allclose(result["x"], expected, rtol=1e-6)


def test_a_primal_whose_lanes_wait_at_a_barrier_is_still_a_deadlock(kernel: Compile) -> None:
    k = kernel(
        """
        __global__ void stuck(const float *x, float *out) {
            float v = x[threadIdx.x];
            if (threadIdx.x < 16)
                v += __shfl_down_sync(0xffffffff, v, 1);
            __syncthreads();
            out[threadIdx.x] = v;
        }
        """
    )
    with pytest.raises(adgen.PrimalError, match="wait for each other forever"):
        k[1, 32](random(32), random(32))


@pytest.mark.parametrize("asks", ["ticket == gridDim.x - 1", "ticket >= gridDim.x - 1", "ticket % gridDim.x == 2"])
def test_the_last_block_adds_up_where_the_number_itself_is_shared_and_nothing_is_fenced(
    kernel: Compile, asks: str
) -> None:
    total = kernel(
        """
    __global__ void total(const float *x, float *y, float *partial, unsigned *count)
    {
        __shared__ unsigned ticket;
        if (threadIdx.x == 0) {
            float sum = 0;
            for (int i = 0; i < 4; ++i) sum += x[4 * blockIdx.x + i] * x[4 * blockIdx.x + i];
            partial[blockIdx.x] = sum;
            ticket = atomicInc(count, gridDim.x);
        }
        __syncthreads();
        if (ASKS && threadIdx.x == 0)
            for (int k = 0; k < gridDim.x; ++k) *y += partial[k];
    }
    """.replace("ASKS", asks)
    )
    x = np.random.default_rng(3).uniform(0.5, 1.5, 12).astype(np.float32)
    given = (x, np.zeros(1, np.float32), np.zeros(3, np.float32), np.zeros(1, np.uint32))
    found = total.vjp[3, 32](*given, cotangents={"y": np.ones(1, np.float32)})
    np.testing.assert_allclose(found["x"], 2 * x, rtol=1e-6)
