// Lattice Boltzmann D3Q19 with two relaxation times, pull scheme, bounce-back at solid cells.
#include <cstdio>
#include <cstdint>
#include <vector>
#include <cuda_runtime.h>

namespace lattice {
constexpr int Q = 19;
__constant__ int8_t cx[Q] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
__constant__ int8_t cy[Q] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
__constant__ int8_t cz[Q] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
__device__ const int opposite[Q] = {0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17};

__device__ __forceinline__ float weight(int q)
{
    return q == 0 ? 1.f / 3.f : q < 7 ? 1.f / 18.f : 1.f / 36.f;
}
} // namespace lattice

template <typename T>
struct Box {
    int nx, ny, nz;
    __host__ __device__ size_t cells() const { return size_t(nx) * ny * nz; }
    __host__ __device__ size_t index(int x, int y, int z) const { return (size_t(z) * ny + y) * nx + x; }
    __host__ __device__ static int wrap(int a, int n) { return a < 0 ? a + n : (a >= n ? a - n : a); }
};

__global__ void collide_and_stream(const float *__restrict__ f, float *__restrict__ g, const bool *__restrict__ solid,
                                   Box<float> box, float omega_plus, float omega_minus)
{
    using namespace lattice;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= box.nx || y >= box.ny || z >= box.nz)
        return;
    const size_t here = box.index(x, y, z), stride = box.cells();
    float p[Q];
    float rho = 0.f, ux = 0.f, uy = 0.f, uz = 0.f;
    for (int q = 0; q < Q; ++q) {
        const int sx = box.wrap(x - cx[q], box.nx), sy = box.wrap(y - cy[q], box.ny), sz = box.wrap(z - cz[q], box.nz);
        const size_t source = box.index(sx, sy, sz);
        p[q] = solid[source] ? f[opposite[q] * stride + here] : f[q * stride + source];
        rho += p[q];
        ux += cx[q] * p[q];
        uy += cy[q] * p[q];
        uz += cz[q] * p[q];
    }
    if (solid[here]) {
        for (int q = 0; q < Q; ++q)
            g[q * stride + here] = p[q];
        return;
    }
    const float inv = 1.f / rho;
    ux *= inv;
    uy *= inv;
    uz *= inv;
    const float usq = ux * ux + uy * uy + uz * uz;
    float eq[Q];
#pragma unroll 1
    for (int q = 0; q < Q; ++q) {
        const float cu = cx[q] * ux + cy[q] * uy + cz[q] * uz;
        eq[q] = weight(q) * rho * (1.f + 3.f * cu + 4.5f * cu * cu - 1.5f * usq);
    }
    for (int q = 0; q < Q; ++q) {
        const int o = opposite[q];
        const float even = 0.5f * (p[q] + p[o] - eq[q] - eq[o]);
        const float odd = 0.5f * (p[q] - p[o] - eq[q] + eq[o]);
        g[q * stride + here] = p[q] - omega_plus * even - omega_minus * odd;
    }
}

int main()
{
    Box<float> box{16, 16, 16};
    std::vector<float> f(box.cells() * lattice::Q, 1.f / 19.f);
    std::vector<unsigned char> solid(box.cells(), 0);
    for (int i = 0; i < 256; ++i) solid[i] = 1;
    float *a, *b;
    bool *s;
    cudaMalloc(&a, f.size() * sizeof(float));
    cudaMalloc(&b, f.size() * sizeof(float));
    cudaMalloc(&s, solid.size());
    cudaMemcpy(a, f.data(), f.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(s, solid.data(), solid.size(), cudaMemcpyHostToDevice);
    collide_and_stream<<<dim3(2, 2, 2), dim3(8, 8, 8)>>>(a, b, s, box, 1.2f, 0.9f);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(a); cudaFree(b); cudaFree(s);
    return 0;
}
