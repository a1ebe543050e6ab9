// Samples a vector field on a regular 3-D grid by trilinear interpolation and advects tracers through it.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

typedef struct {
    int3 dims;
    float3 origin;
    float3 spacing;
} grid_t;

static __device__ __inline__ float lerpf(float a, float b, float t) { return fmaf(t, b - a, a); }

static __device__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }

__device__ float sample(const float *__restrict__ field, const grid_t &g, float x, float y, float z)
{
    float fx = (x - g.origin.x) / g.spacing.x;
    float fy = (y - g.origin.y) / g.spacing.y;
    float fz = (z - g.origin.z) / g.spacing.z;
    int ix = clampi((int)floorf(fx), 0, g.dims.x - 2);
    int iy = clampi((int)floorf(fy), 0, g.dims.y - 2);
    int iz = clampi((int)floorf(fz), 0, g.dims.z - 2);
    float tx = fx - ix, ty = fy - iy, tz = fz - iz;
    const int sy = g.dims.x, sz = g.dims.x * g.dims.y;
    const float *c = field + iz * sz + iy * sy + ix;
    float c00 = lerpf(c[0], c[1], tx);
    float c10 = lerpf(c[sy], c[sy + 1], tx);
    float c01 = lerpf(c[sz], c[sz + 1], tx);
    float c11 = lerpf(c[sz + sy], c[sz + sy + 1], tx);
    return lerpf(lerpf(c00, c10, ty), lerpf(c01, c11, ty), tz);
}

/* midpoint rule, positions are updated in place */
__global__ void advect(float3 *pos, const float *u, const float *v, const float *w, grid_t g, float dt, int steps,
                       unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 p = pos[i];
    int s = 0;
    do {
        float3 m;
        m.x = p.x + 0.5f * dt * sample(u, g, p.x, p.y, p.z);
        m.y = p.y + 0.5f * dt * sample(v, g, p.x, p.y, p.z);
        m.z = p.z + 0.5f * dt * sample(w, g, p.x, p.y, p.z);
        p.x += dt * sample(u, g, m.x, m.y, m.z);
        p.y += dt * sample(v, g, m.x, m.y, m.z);
        p.z += dt * sample(w, g, m.x, m.y, m.z);
    } while (++s < steps);
    pos[i] = p;
}

int main()
{
    grid_t g;
    g.dims = make_int3(16, 16, 16);
    g.origin = make_float3(0.f, 0.f, 0.f);
    g.spacing = make_float3(1.f, 1.f, 1.f);
    const unsigned int n = 1u << 12;
    const size_t cells = 16 * 16 * 16;
    float3 *pos;
    float *field;
    cudaMallocManaged(&pos, n * sizeof(float3));
    cudaMallocManaged(&field, 3 * cells * sizeof(float));
    for (size_t c = 0; c < 3 * cells; ++c) field[c] = rand() / (float)RAND_MAX - 0.5f;
    for (unsigned int i = 0; i < n; ++i) pos[i] = make_float3(8.f, 8.f, (i % 16) * 0.9f + 0.5f);
    advect<<<n / 128, 128>>>(pos, field, field + cells, field + 2 * cells, g, 0.1f, 20, n);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    printf("%f %f %f\n", pos[0].x, pos[0].y, pos[0].z);
    return 0;
}
