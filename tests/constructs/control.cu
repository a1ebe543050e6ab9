// Grids, loops, branches, jumps, and what talks to the host from inside a kernel.
#include "element.h"
#include <cassert>
#include <cstdio>

__global__ void grid_of_two_dimensions(const float *x, float *y, int width, int height)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= width || r >= height) return;
    y[r * width + c] = x[r * width + c] * x[r * width + (c + 1) % width];
}

__global__ void grid_of_three_dimensions(const float *x, float *y, dim3 size)
{
    const uint3 p = make_uint3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                               blockIdx.z * blockDim.z + threadIdx.z);
    if (p.x < size.x && p.y < size.y && p.z < size.z) {
        const unsigned at = (p.z * size.y + p.y) * size.x + p.x;
        y[at] = x[at] * x[at] * x[at];
    }
}

__global__ void grid_stride(const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = sinf(x[i]);
}

__global__ void early_return(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i % 4 == 1) {
        y[i] = x[i] * x[i];
        return;
    }
    if (i % 4 == 2) return;
    y[i] = 2.0f * x[i];
}

__global__ void switch_statement(const float *x, const int *kind, float *y, int n)
{
    MY_ELEMENT(n);
    switch (kind[i]) {
    case 0: y[i] = x[i] * x[i]; break;
    case 1: y[i] = sqrtf(x[i]);
    case 2: y[i] += x[i]; break;
    default: y[i] = 1.0f;
    }
}

__global__ void while_with_data_dependent_end(const float *x, const int *next, float *y, int n)
{
    MY_ELEMENT(n);
    float v = 1;
    int at = i;
    while (at < n - 4) {
        v *= x[at] + 0.3f;
        at += 1 + next[at] % 5;
    }
    y[i] = v;
}

__global__ void do_while(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float v = x[i], before;
    do {
        before = v;
        v = 0.5f * (v + x[i] / v);
    } while (fabsf(v - before) > 1e-3f);
    y[i] = v;
}

__global__ void break_and_continue(const float *x, const int *last, float *y, int n)
{
    MY_ELEMENT(n);
    float sum = 0;
    for (int k = 0; k < n; ++k) {
        if (k % 3 == 1) continue;
        if (k > last[i]) break;
        sum += x[i] * x[k];
    }
    y[i] = sum;
}

__global__ void left_from_inside(const float *x, const int *last, float *y, int n)
{
    MY_ELEMENT(n);
    float v = x[i];
    for (int a = 0; a < 5; ++a)
        for (int b = 0; b < 5; ++b) {
            v += 0.1f * x[(i + a * b) % n];
            if (last[(i + a) % n] == b) {
                y[i] = v * v;
                return;
            }
        }
    y[i] = v;
}

__global__ void goto_out(const float *x, const int *last, float *y, int n)
{
    MY_ELEMENT(n);
    float v = x[i];
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) {
            v *= 0.5f + x[(i + a) % n];
            if (4 * a + b == last[i]) goto done;
        }
    v += 1.0f;
done:
    y[i] = v * v;
}

__global__ void goto_back(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float v = x[i];
    int k = 0;
again:
    v = v * v * 0.5f + 0.3f;
    if (++k < 4) goto again;
    y[i] = v;
}

__global__ void triangular_nest(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float sum = 0;
    for (int a = 0; a <= i % 7; ++a)
        for (int b = a; b < 6; b += 2)
            for (int c = b; c > 0; --c) sum += x[(a + b) % n] * x[(i + c) % n];
    y[i] = sum;
}

__global__ void float_counter(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float sum = 0;
    for (float t = 0; t < 1.0f; t += 0.125f) sum += expf(-t * x[i]);
    y[i] = sum;
}

__global__ void unrolled(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < 10; ++k) sum += x[(i + k) % n] * x[i];
#pragma unroll 1
    for (int k = 0; k < 3; ++k) sum *= x[i];
    y[i] = sum;
}

__global__ void conditional_operators(const float *x, const float *w, const bool *on, float *y, int n)
{
    MY_ELEMENT(n);
    const bool take = i % 2 == 0 && (on[i] || on[n - 1 - i]);
    y[i] = take ? x[i] * w[i] : on[(i + 1) % n] ? w[i] * w[i] : w[i];
}

__global__ void hints(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    if (__builtin_expect(x[i] < 1.0f, 1)) [[likely]]
        y[i] = x[i] * x[i];
    else
        y[i] = 2.0f * x[i] - 1.0f;
    __builtin_assume(n > 0);
}

__global__ void structured_bindings(const float2 *in, float *y, int n)
{
    MY_ELEMENT(n);
    const auto [a, b] = in[i];
    float values[] = {a, b, a * b};
    float sum = 0;
    for (const float &v : values) sum += v * v;
    y[i] = sum;
}

__global__ void asserted(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    assert(x[i] > 0.0f);
    y[i] = sqrtf(x[i]);
}

__global__ void printed(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * x[i];
    if (y[i] < 0.0f) printf("element %d is %f\n", i, y[i]);
}

__global__ void trapped(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    if (x[i] < -100.0f) __trap();
    y[i] = x[i] * x[i];
}

__global__ void clocks(const float *x, float *y, long long *ticks, int n)
{
    MY_ELEMENT(n);
    const long long start = clock64();
    y[i] = x[i] * x[i];
    ticks[i] = clock64() - start;
}

__global__ void read_register(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    y[i] = x[i] * x[i] * (lane + 1);
}

__global__ void arithmetic_in_assembly(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float v;
    asm("fma.rn.f32 %0, %1, %1, %2;" : "=f"(v) : "f"(x[i]), "f"(1.0f));
    y[i] = v;
}

__global__ void guarded_in_assembly(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v;
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; mov.b32 %0, 0; @p ld.global.nc.f32 %0, [%1]; }"
                 : "=f"(v)
                 : "l"(x + i), "r"(int(i < n)));
    float squared = v * v;
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p st.global.f32 [%0], %1; }" ::"l"(y + i), "f"(squared),
                 "r"(int(i < n)));
}

__global__ void shared_in_assembly(const float *x, float *y, int n)
{
    __shared__ float tile[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    unsigned base = unsigned(__cvta_generic_to_shared(tile));
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(base + 4 * t), "f"(i < n ? x[i] : 0));
    __syncthreads();
    float v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(base + 4 * (blockDim.x - 1 - t)));
    if (i < n)
        y[i] = x[i] * v;
}

struct Corner {
    double x, y;
};

__device__ double side(Corner from, Corner to, Corner p)
{
    return (to.x - from.x) * (p.y - from.y) - (to.y - from.y) * (p.x - from.x);
}

__device__ int sign_of(double value) { return (value > 1e-8) - (value < -1e-8); }

__device__ void cut_by_a_line(Corner *polygon, int &corners, Corner from, Corner to)
{
    Corner kept[50];
    int count = 0;
    polygon[corners] = polygon[0];
    for (int i = 0; i < corners; i++) {
        const Corner here = polygon[i], next = polygon[i + 1];
        const double s = side(from, to, here), t = side(from, to, next);
        if (sign_of(s) > 0) kept[count++] = here;
        if (sign_of(s) != sign_of(t)) {
            kept[count].x = (here.x * t - next.x * s) / (t - s);
            kept[count++].y = (here.y * t - next.y * s) / (t - s);
        }
    }
    corners = 0;
    for (int i = 0; i < count; i++) polygon[corners++] = kept[i];
}

__device__ double common_area(Corner a, Corner b, Corner c, Corner d)
{
    const Corner o = {0, 0};
    const int first = sign_of(side(o, a, b)), second = sign_of(side(o, c, d));
    if (first == 0 || second == 0) return 0;
    Corner polygon[10] = {o, a, b};
    int corners = 3;
    cut_by_a_line(polygon, corners, o, c);
    cut_by_a_line(polygon, corners, c, d);
    cut_by_a_line(polygon, corners, d, o);
    double area = 0;
    polygon[corners] = polygon[0];
    for (int i = 0; i < corners; i++)
        area += polygon[i].x * polygon[i + 1].y - polygon[i].y * polygon[i + 1].x;
    return first * second < 0 ? -area / 2 : area / 2;
}

__global__ void cut_polygons(const float *x, float *y, int n)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) return;
    Corner p[4], q[4];
    for (int k = 0; k < 3; k++) {
        p[k] = {x[12 * at + 2 * k], x[12 * at + 2 * k + 1]};
        q[k] = {x[12 * at + 6 + 2 * k], x[12 * at + 7 + 2 * k]};
    }
    p[3] = p[0], q[3] = q[0];
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += common_area(p[k], p[k + 1], q[k], q[k + 1]);
    y[at] = sum;
}

__global__ void inserted_into_a_sorted_list(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float nearest[8];
    int count = 0;
    for (int k = i; k >= 0 && count < 8; k = (7 * k + 3) % 11 - 2) {
        const float value = x[k % n] * (1 + count);
        int place = count++;
        while (place > 0 && nearest[place - 1] > value) {
            nearest[place] = nearest[place - 1];
            --place;
        }
        nearest[place] = value;
    }
    y[i] = 0;
    for (int k = 0; k < count; ++k)
        y[i] += nearest[k] * nearest[k] * (k + 1);
}

__device__ bool begins_at_a_vector(const float *p) { return reinterpret_cast<unsigned long long>(p) % 16 == 0; }

__global__ void wide_where_aligned(const float *x, const float *weights, float *y, int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (begins_at_a_vector(x) && begins_at_a_vector(weights) && begins_at_a_vector(y) && n % 4 == 0) {
        if (t < n / 4) {
            const float4 a = reinterpret_cast<const float4 *>(x)[t], w = reinterpret_cast<const float4 *>(weights)[t];
            reinterpret_cast<float4 *>(y)[t] = make_float4(a.x * w.x, a.y * w.y, a.z * w.z, a.w * w.w);
        }
    } else if (t < n) {
        y[t] = x[t] * weights[t];
    }
}
