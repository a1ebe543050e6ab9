// Fan-beam tomography: forward projection by Joseph's method, back-projection weighted by distance, ramp filtering of
// sinogram rows in the spatial domain, one step of SIRT, a Poisson likelihood. Geometry in a struct in constant memory.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define PI_F 3.14159265358979f

struct Geometry {
    int nx, ny;              // image
    int n_angles, n_bins;    // sinogram
    float pixel, bin;        // spacing
    float source, detector;  // distances from the centre
};

__constant__ Geometry geo;

__device__ __forceinline__ float fetch(const float *image, int x, int y, const Geometry &g)
{
    return x >= 0 && y >= 0 && x < g.nx && y < g.ny ? image[y * g.nx + x] : 0.f;
}

// Joseph: steps along the axis that the ray follows more, interpolates on the other
__device__ float line_integral(const float *image, float2 from, float2 to, const Geometry &g)
{
    const float dx = to.x - from.x, dy = to.y - from.y;
    const float length = sqrtf(dx * dx + dy * dy);
    float sum = 0.f;
    if (fabsf(dx) >= fabsf(dy)) {
        const float slope = dy / dx;
        for (int i = 0; i < g.nx; ++i) {
            const float x = (i - 0.5f * (g.nx - 1)) * g.pixel;
            const float v = (from.y + slope * (x - from.x)) / g.pixel + 0.5f * (g.ny - 1);
            const int j = (int)floorf(v);
            const float w = v - j;
            sum += (1.f - w) * fetch(image, i, j, g) + w * fetch(image, i, j + 1, g);
        }
        return sum * g.pixel * length / fabsf(dx);
    }
    const float slope = dx / dy;
    for (int j = 0; j < g.ny; ++j) {
        const float y = (j - 0.5f * (g.ny - 1)) * g.pixel;
        const float u = (from.x + slope * (y - from.y)) / g.pixel + 0.5f * (g.nx - 1);
        const int i = (int)floorf(u);
        const float w = u - i;
        sum += (1.f - w) * fetch(image, i, j, g) + w * fetch(image, i + 1, j, g);
    }
    return sum * g.pixel * length / fabsf(dy);
}

__device__ void ray(const Geometry &g, float angle, int bin, float2 *from, float2 *to)
{
    float s, c;
    sincosf(angle, &s, &c);
    const float offset = (bin - 0.5f * (g.n_bins - 1)) * g.bin;
    *from = make_float2(g.source * c, g.source * s);
    *to = make_float2(-g.detector * c - offset * s, -g.detector * s + offset * c);
}

__global__ void project(const float *__restrict__ image, const float *__restrict__ angles, float *__restrict__ sinogram, Geometry g)
{
    const int bin = blockIdx.x * blockDim.x + threadIdx.x, a = blockIdx.y * blockDim.y + threadIdx.y;
    if (bin >= g.n_bins || a >= g.n_angles) return;
    float2 from, to;
    ray(g, angles[a], bin, &from, &to);
    sinogram[a * g.n_bins + bin] = line_integral(image, from, to, g);
}

__global__ void ramp_filter(const float *sinogram, float *filtered, const float *apodisation, Geometry g)
{
    const int a = blockIdx.y;
    for (int b = threadIdx.x; b < g.n_bins; b += blockDim.x) {
        float sum = 0.f;
        for (int k = 0; k < g.n_bins; ++k) {
            const int d = abs(b - k);
            float h;
            if (d == 0) h = 0.25f;
            else if (d & 1) h = -1.f / (PI_F * PI_F * d * d);
            else continue;
            const float gamma = (k - 0.5f * (g.n_bins - 1)) * g.bin / (g.source + g.detector);
            sum += h * apodisation[d] * sinogram[a * g.n_bins + k] * rsqrtf(1.f + gamma * gamma);
        }
        filtered[a * g.n_bins + b] = sum / g.bin;
    }
}

__global__ void back_project(const float *__restrict__ sinogram, const float *__restrict__ angles, float *__restrict__ image, Geometry g)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= g.nx || j >= g.ny) return;
    const float x = (i - 0.5f * (g.nx - 1)) * g.pixel, y = (j - 0.5f * (g.ny - 1)) * g.pixel;
    float sum = 0.f;
    for (int a = 0; a < g.n_angles; ++a) {
        const float c = cosf(angles[a]), s = sinf(angles[a]);
        const float depth = g.source - (x * c + y * s);
        const float u = (g.source + g.detector) * (-x * s + y * c) / depth;
        const float at = u / g.bin + 0.5f * (g.n_bins - 1);
        const int b = (int)floorf(at);
        if (b < 0 || b >= g.n_bins - 1) continue;
        const float w = at - b, r = g.source / depth;
        sum += r * r * ((1.f - w) * sinogram[a * g.n_bins + b] + w * sinogram[a * g.n_bins + b + 1]);
    }
    image[j * g.nx + i] = sum * PI_F / g.n_angles;
}

// negative log-likelihood of photon counts, one block a view
__global__ void poisson(const float *sinogram, const int *counts, const float *blank, float *view_loss, Geometry g)
{
    __shared__ float part[128];
    const int a = blockIdx.x;
    float s = 0.f;
    for (int b = threadIdx.x; b < g.n_bins; b += blockDim.x) {
        const float expected = blank[b] * expf(-sinogram[a * g.n_bins + b]) + 1.f;
        s += expected - counts[a * g.n_bins + b] * logf(expected);
    }
    part[threadIdx.x] = s;
    __syncthreads();
    for (int n = blockDim.x / 2; n > 0; n >>= 1) {
        if (threadIdx.x < n) part[threadIdx.x] += part[threadIdx.x + n];
        __syncthreads();
    }
    if (!threadIdx.x) view_loss[a] = part[0];
}

__global__ void project_constant_geometry(const float *image, float *sinogram)
{
    const int bin = blockIdx.x * blockDim.x + threadIdx.x, a = blockIdx.y;
    if (bin >= geo.n_bins) return;
    float2 from, to;
    ray(geo, PI_F * a / geo.n_angles, bin, &from, &to);
    sinogram[a * geo.n_bins + bin] = line_integral(image, from, to, geo);
}

int main(int argc, char *argv[])
{
    Geometry g = {64, 64, 90, 96, 1.f, 1.5f, 120.f, 80.f};
    if (argc > 1) g.n_angles = std::atoi(argv[1]);
    std::vector<float> angles(g.n_angles), image(g.nx * g.ny);
    for (int a = 0; a < g.n_angles; ++a) angles[a] = 2 * PI_F * a / g.n_angles;
    for (int i = 0; i < g.nx * g.ny; ++i) image[i] = std::hypot(i % g.nx - 32.0, i / g.nx - 32.0) < 20 ? 1.f : 0.f;
    float *d_image, *d_angles, *d_sino;
    cudaMalloc(&d_image, image.size() * sizeof(float));
    cudaMalloc(&d_angles, angles.size() * sizeof(float));
    cudaMalloc(&d_sino, g.n_angles * g.n_bins * sizeof(float));
    cudaMemcpy(d_image, image.data(), image.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_angles, angles.data(), angles.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(geo, &g, sizeof(g));
    const dim3 block(16, 16);
    project<<<dim3((g.n_bins + 15) / 16, (g.n_angles + 15) / 16), block>>>(d_image, d_angles, d_sino, g);
    back_project<<<dim3(4, 4), block>>>(d_sino, d_angles, d_image, g);
    project_constant_geometry<<<dim3(1, g.n_angles), 96>>>(d_image, d_sino);
    if (cudaDeviceSynchronize() != cudaSuccess) std::cerr << "failed\n";
    return 0;
}
