// Lennard-Jones forces with a cutoff and a neighbour list, float4 positions (w holds the species' charge).
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                             \
    do {                                                                                        \
        cudaError_t err_ = (call);                                                              \
        if (err_ != cudaSuccess) {                                                              \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_));       \
            exit(EXIT_FAILURE);                                                                 \
        }                                                                                       \
    } while (0)

struct LJParams {
    float epsilon;
    float sigma;
    float rcut2;
    float box;
};

__device__ __forceinline__ float minimum_image(float d, float box)
{
    return d - box * rintf(d / box);
}

__global__ void __launch_bounds__(128)
lj_forces(const float4 *__restrict__ pos, const int *__restrict__ neigh, const int *__restrict__ n_neigh,
          float4 *__restrict__ force, float *energy, LJParams p, int n, int max_neigh)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float4 ri = __ldg(&pos[i]);
    float4 f = make_float4(0.f, 0.f, 0.f, 0.f);
    float e = 0.f;
    const int count = n_neigh[i];
    for (int k = 0; k < count; ++k) {
        const int j = neigh[i * max_neigh + k];
        if (j == i)
            continue;
        const float4 rj = pos[j];
        const float dx = minimum_image(ri.x - rj.x, p.box);
        const float dy = minimum_image(ri.y - rj.y, p.box);
        const float dz = minimum_image(ri.z - rj.z, p.box);
        const float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 > p.rcut2)
            continue;
        const float s2 = p.sigma * p.sigma / r2;
        const float s6 = s2 * s2 * s2;
        const float fr = 24.f * p.epsilon * s6 * (2.f * s6 - 1.f) / r2;
        const float coulomb = ri.w * rj.w * rsqrtf(r2);
        f.x += fr * dx;
        f.y += fr * dy;
        f.z += fr * dz;
        e += 2.f * p.epsilon * s6 * (s6 - 1.f) + 0.5f * coulomb;
    }
    f.w = e;
    force[i] = f;
    atomicAdd(energy, e);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 512, max_neigh = 32;
    std::vector<float4> pos(n);
    std::vector<int> neigh(n * max_neigh), count(n, max_neigh);
    for (int i = 0; i < n; ++i) {
        pos[i] = make_float4(1.2f * (i % 8), 1.2f * ((i / 8) % 8), 1.2f * (i / 64), (i % 2) ? 1.f : -1.f);
        for (int k = 0; k < max_neigh; ++k)
            neigh[i * max_neigh + k] = (i + k + 1) % n;
    }
    float4 *d_pos, *d_force;
    float *d_energy;
    int *d_neigh, *d_count;
    CHECK(cudaMalloc(&d_pos, n * sizeof(float4)));
    CHECK(cudaMalloc(&d_force, n * sizeof(float4)));
    CHECK(cudaMalloc(&d_energy, sizeof(float)));
    CHECK(cudaMalloc(&d_neigh, neigh.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_count, n * sizeof(int)));
    CHECK(cudaMemcpy(d_pos, pos.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_neigh, neigh.data(), neigh.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_count, count.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_energy, 0, sizeof(float)));
    LJParams p{1.0f, 1.0f, 2.5f * 2.5f, 9.6f};
    lj_forces<<<(n + 127) / 128, 128>>>(d_pos, d_neigh, d_count, d_force, d_energy, p, n, max_neigh);
    CHECK(cudaGetLastError());
    float e = 0;
    CHECK(cudaMemcpy(&e, d_energy, sizeof(float), cudaMemcpyDeviceToHost));
    printf("energy per particle %f\n", e / n);
    cudaFree(d_pos); cudaFree(d_force); cudaFree(d_energy); cudaFree(d_neigh); cudaFree(d_count);
    return 0;
}
