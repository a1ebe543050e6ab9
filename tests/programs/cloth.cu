// Mass-spring cloth: spring forces are scattered to the end points with atomics, then positions are integrated (Verlet).
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define GPU(stmt)                                                                        \
    {                                                                                    \
        cudaError_t e = stmt;                                                            \
        if (cudaSuccess != e) {                                                          \
            printf("%s failed: %s\n", #stmt, cudaGetErrorString(e));                     \
            return 1;                                                                    \
        }                                                                                \
    }

struct Spring {
    int a, b;
    float rest;
    float stiffness;
};

__device__ void add_to(float3 *target, float x, float y, float z)
{
    atomicAdd(&target->x, x);
    atomicAdd(&target->y, y);
    atomicAdd(&target->z, z);
}

__global__ void spring_forces(const Spring *springs, const float3 *x, const float3 *v, float3 *f, int n_springs,
                              float damping)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= n_springs) return;
    const Spring spring = springs[s];
    float3 d, dv;
    d.x = x[spring.b].x - x[spring.a].x;
    d.y = x[spring.b].y - x[spring.a].y;
    d.z = x[spring.b].z - x[spring.a].z;
    dv.x = v[spring.b].x - v[spring.a].x;
    dv.y = v[spring.b].y - v[spring.a].y;
    dv.z = v[spring.b].z - v[spring.a].z;
    float length = norm3df(d.x, d.y, d.z);
    float stretch = length - spring.rest;
    float along = (d.x * dv.x + d.y * dv.y + d.z * dv.z) / length;
    float k = (spring.stiffness * stretch + damping * along) / length;
    add_to(&f[spring.a], k * d.x, k * d.y, k * d.z);
    add_to(&f[spring.b], -k * d.x, -k * d.y, -k * d.z);
}

__global__ void verlet(float3 *x, float3 *x_old, const float3 *f, const unsigned char *pinned, int n, float dt)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || pinned[i]) return;
    const float3 now = x[i];
    const float3 before = x_old[i];
    float3 next;
    next.x = 1.99f * now.x - 0.99f * before.x + f[i].x * dt * dt;
    next.y = 1.99f * now.y - 0.99f * before.y + (f[i].y - 9.81f) * dt * dt;
    next.z = 1.99f * now.z - 0.99f * before.z + f[i].z * dt * dt;
    x_old[i] = now;
    x[i] = next;
}

int main()
{
    const int w = 16, n = w * w;
    std::vector<Spring> springs;
    for (int j = 0; j < w; ++j)
        for (int i = 0; i + 1 < w; ++i) {
            springs.push_back({j * w + i, j * w + i + 1, 0.1f, 50.f});
            springs.push_back({i * w + j, (i + 1) * w + j, 0.1f, 50.f});
        }
    std::vector<float3> x(n);
    std::vector<unsigned char> pinned(n, 0);
    for (int i = 0; i < n; ++i) x[i] = make_float3(0.1f * (i % w), 0.f, 0.1f * (i / w));
    pinned[0] = pinned[w - 1] = 1;
    Spring *ds;
    float3 *dx, *dold, *dv, *df;
    unsigned char *dp;
    GPU(cudaMalloc(&ds, springs.size() * sizeof(Spring)));
    GPU(cudaMalloc(&dx, n * sizeof(float3)));
    GPU(cudaMalloc(&dold, n * sizeof(float3)));
    GPU(cudaMalloc(&dv, n * sizeof(float3)));
    GPU(cudaMalloc(&df, n * sizeof(float3)));
    GPU(cudaMalloc(&dp, n));
    GPU(cudaMemcpy(ds, springs.data(), springs.size() * sizeof(Spring), cudaMemcpyHostToDevice));
    GPU(cudaMemcpy(dx, x.data(), n * sizeof(float3), cudaMemcpyHostToDevice));
    GPU(cudaMemcpy(dold, x.data(), n * sizeof(float3), cudaMemcpyHostToDevice));
    GPU(cudaMemcpy(dp, pinned.data(), n, cudaMemcpyHostToDevice));
    GPU(cudaMemset(dv, 0, n * sizeof(float3)));
    for (int t = 0; t < 100; ++t) {
        GPU(cudaMemset(df, 0, n * sizeof(float3)));
        spring_forces<<<((int)springs.size() + 63) / 64, 64>>>(ds, dx, dv, df, (int)springs.size(), 0.1f);
        verlet<<<(n + 63) / 64, 64>>>(dx, dold, df, dp, n, 0.005f);
    }
    GPU(cudaMemcpy(x.data(), dx, n * sizeof(float3), cudaMemcpyDeviceToHost));
    printf("%f\n", x[n / 2].y);
    return 0;
}
