// Irradiance from nine spherical-harmonics coefficients a channel, as used for light probes.
#include <array>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

namespace sh {

constexpr int kBands = 3;
constexpr int kCount = kBands * kBands;

struct Basis {
    float value[kCount];
};

__device__ constexpr float kFactor[kCount] = {0.282095f, 0.488603f, 0.488603f, 0.488603f, 1.092548f,
                                              1.092548f, 0.315392f, 1.092548f, 0.546274f};
__device__ static const float kCosineLobe[kBands] = {3.141593f, 2.094395f, 0.785398f};

__device__ inline Basis evaluate(float3 n)
{
    return Basis{{1.f, n.y, n.z, n.x, n.x * n.y, n.y * n.z, 3.f * n.z * n.z - 1.f, n.x * n.z, n.x * n.x - n.y * n.y}};
}

__device__ inline int band_of(int index)
{
    int band = 0;
    while ((band + 1) * (band + 1) <= index)
        ++band;
    return band;
}

template <int Channels>
__global__ void irradiance(const float3 *__restrict__ normals, const float *__restrict__ coefficients,
                           float *__restrict__ out, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float3 n = normals[i];
    const float inv = rnorm3df(n.x, n.y, n.z);
    n.x *= inv;
    n.y *= inv;
    n.z *= inv;
    const Basis basis = evaluate(n);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
        float sum = 0.f;
        for (int k = 0; k < kCount; ++k)
            sum += kCosineLobe[band_of(k)] * kFactor[k] * basis.value[k] * coefficients[c * kCount + k];
        out[i * Channels + c] = fmaxf(sum, 0.f) + 0.01f * sum;
    }
}

} // namespace sh

int main()
{
    constexpr int n = 256;
    std::array<float, 27> c{};
    c.fill(0.1f);
    float3 *normals;
    float *coefficients, *out;
    cudaMalloc(&normals, n * sizeof(float3));
    cudaMalloc(&coefficients, sizeof c);
    cudaMalloc(&out, 3 * n * sizeof(float));
    std::vector<float3> h(n, make_float3(0.f, 1.f, 0.5f));
    cudaMemcpy(normals, h.data(), n * sizeof(float3), cudaMemcpyHostToDevice);
    cudaMemcpy(coefficients, c.data(), sizeof c, cudaMemcpyHostToDevice);
    sh::irradiance<3><<<n / 64, 64>>>(normals, coefficients, out, n);
    printf("%d\n", (int)cudaDeviceSynchronize());
    return 0;
}
