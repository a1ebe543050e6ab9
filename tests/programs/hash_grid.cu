// Multi-resolution hash encoding of 2-D points (features of four corners, hashed), followed by a tiny MLP.
#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

struct HashGrid {
    uint32_t levels;
    uint32_t log2_size;
    float base;
    float growth;
};

__device__ __host__ inline uint32_t hash2(uint32_t x, uint32_t y, uint32_t mask)
{
    return (x * 1u ^ y * 2654435761u) & mask;
}

__global__ void encode(const float2 *__restrict__ points, const float2 *__restrict__ table, float2 *__restrict__ features,
                       HashGrid grid, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t level = blockIdx.y;
    if (i >= n || level >= grid.levels)
        return;
    const uint32_t mask = (1u << grid.log2_size) - 1u;
    const float scale = grid.base * __powf(grid.growth, (float)level);
    const float2 p = points[i];
    const float fx = p.x * scale, fy = p.y * scale;
    const uint32_t x0 = (uint32_t)fx, y0 = (uint32_t)fy;
    const float wx = fx - x0, wy = fy - y0;
    float2 sum = {0.f, 0.f};
#pragma unroll
    for (uint32_t corner = 0; corner < 4; ++corner) {
        const uint32_t cx = corner & 1u, cy = corner >> 1;
        const float w = (cx ? wx : 1.f - wx) * (cy ? wy : 1.f - wy);
        const float2 entry = table[(level << grid.log2_size) + hash2(x0 + cx, y0 + cy, mask)];
        sum.x = __fmaf_rn(w, entry.x, sum.x);
        sum.y = __fmaf_rn(w, entry.y, sum.y);
    }
    features[i * grid.levels + level] = sum;
}

template <int In, int Hidden>
__global__ void mlp(const float *__restrict__ features, const float *__restrict__ w1, const float *__restrict__ w2,
                    float *__restrict__ out, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x[In];
    // vectorised loads
    for (int k = 0; k < In / 4; ++k) {
        const float4 v = reinterpret_cast<const float4 *>(features + i * In)[k];
        x[4 * k] = v.x;
        x[4 * k + 1] = v.y;
        x[4 * k + 2] = v.z;
        x[4 * k + 3] = v.w;
    }
    float y = 0.f;
    for (int h = 0; h < Hidden; ++h) {
        float a = 0.f;
#pragma unroll
        for (int k = 0; k < In; ++k)
            a += w1[h * In + k] * x[k];
        y += w2[h] * (a > 0.f ? a : 0.01f * a);
    }
    out[i] = 1.f / (1.f + expf(-y));
}

int main()
{
    const uint32_t n = 1024;
    HashGrid grid{4, 10, 4.f, 1.5f};
    std::vector<float2> p(n, make_float2(0.3f, 0.7f)), t(4 << 10, make_float2(0.01f, -0.01f));
    std::vector<float> w1(8 * 16, 0.1f), w2(16, 0.2f);
    float2 *points, *table, *features;
    float *d1, *d2, *out;
    cudaMalloc(&points, n * sizeof(float2));
    cudaMalloc(&table, t.size() * sizeof(float2));
    cudaMalloc(&features, n * 4 * sizeof(float2));
    cudaMalloc(&d1, w1.size() * sizeof(float));
    cudaMalloc(&d2, w2.size() * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(points, p.data(), n * sizeof(float2), cudaMemcpyHostToDevice);
    cudaMemcpy(table, t.data(), t.size() * sizeof(float2), cudaMemcpyHostToDevice);
    cudaMemcpy(d1, w1.data(), w1.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d2, w2.data(), w2.size() * sizeof(float), cudaMemcpyHostToDevice);
    encode<<<dim3(n / 128, 4), 128>>>(points, table, features, grid, n);
    mlp<8, 16><<<n / 128, 128>>>((const float *)features, d1, d2, out, n);
    float first;
    cudaMemcpy(&first, out, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", first);
}
