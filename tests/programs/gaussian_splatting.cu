// Front-to-back blending of 2-D Gaussians for each pixel, stopping where a pixel is opaque.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

struct Gaussian {
    float2 mean;
    float3 conic;   // inverse covariance: xx, xy, yy
    float opacity;
    float3 colour;
};

__global__ void __launch_bounds__(256, 2)
blend(const Gaussian *__restrict__ gaussians, const int2 *__restrict__ ranges, const int *__restrict__ order,
      float *__restrict__ image, float *__restrict__ transmittance, int width, int height, int tile)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const bool inside = x < width && y < height;
    if (!inside)
        return;
    const int tiles_x = (width + tile - 1) / tile;
    const int2 range = ranges[(y / tile) * tiles_x + x / tile];
    float t = 1.0f;
    float c[3] = {0, 0, 0};
    for (int k = range.x; k < range.y; ++k) {
        const Gaussian &g = gaussians[order[k]];
        const float2 d = {g.mean.x - x, g.mean.y - y};
        const float power = -0.5f * (g.conic.x * d.x * d.x + g.conic.z * d.y * d.y) - g.conic.y * d.x * d.y;
        if (power > 0.0f)
            continue;
        const float alpha = min(0.99f, g.opacity * __expf(power));
        if (alpha < 1.0f / 255.0f)
            continue;
        const float next = t * (1.0f - alpha);
        if (next < 0.0001f)
            break;
        c[0] += g.colour.x * alpha * t;
        c[1] += g.colour.y * alpha * t;
        c[2] += g.colour.z * alpha * t;
        t = next;
    }
    for (int ch = 0; ch < 3; ++ch)
        image[ch * height * width + y * width + x] = c[ch] + t * 0.1f;
    transmittance[y * width + x] = t;
}

// The same by tiles: a block loads the Gaussians of its tile in batches, until all its pixels are opaque.
template <int TILE>
__global__ void __launch_bounds__(TILE *TILE)
blend_tiles(const Gaussian *__restrict__ gaussians, const int2 *__restrict__ ranges, const int *__restrict__ order,
            float *__restrict__ image, float *__restrict__ transmittance, int width, int height)
{
    __shared__ float2 means[TILE * TILE];
    __shared__ float4 shapes[TILE * TILE];
    __shared__ int numbers[TILE * TILE];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    const int rank = threadIdx.y * TILE + threadIdx.x;
    const bool inside = x < width && y < height;
    const int2 range = ranges[blockIdx.y * gridDim.x + blockIdx.x];
    bool done = !inside;
    float t = 1.0f;
    float c[3] = {0};
    int left = range.y - range.x;
    for (int first = range.x; first < range.y; first += TILE * TILE, left -= TILE * TILE) {
        const int opaque = __syncthreads_count(done);
        if (opaque == TILE * TILE)
            break;
        if (first + rank < range.y) {
            const Gaussian g = gaussians[order[first + rank]];
            numbers[rank] = order[first + rank];
            means[rank] = g.mean;
            shapes[rank] = make_float4(g.conic.x, g.conic.y, g.conic.z, g.opacity);
        }
        __syncthreads();
        for (int k = 0; !done && k < min(TILE * TILE, left); ++k) {
            const float2 d = {means[k].x - x, means[k].y - y};
            const float4 s = shapes[k];
            const float power = -0.5f * (s.x * d.x * d.x + s.z * d.y * d.y) - s.y * d.x * d.y;
            if (power > 0.0f)
                continue;
            const float alpha = min(0.99f, s.w * __expf(power));
            if (alpha < 1.0f / 255.0f)
                continue;
            const float next = t * (1.0f - alpha);
            if (next < 0.0001f) {
                done = true;
                continue;
            }
            const float3 colour = gaussians[numbers[k]].colour;
            c[0] += colour.x * alpha * t;
            c[1] += colour.y * alpha * t;
            c[2] += colour.z * alpha * t;
            t = next;
        }
    }
    if (inside) {
        for (int ch = 0; ch < 3; ++ch)
            image[ch * height * width + y * width + x] = c[ch] + t * 0.1f;
        transmittance[y * width + x] = t;
    }
}

int main()
{
    const int w = 64, h = 64, n = 100;
    std::vector<Gaussian> g(n);
    std::vector<int> order(n);
    for (int i = 0; i < n; ++i) {
        g[i] = {{0.64f * i, 32.f}, {0.05f, 0.f, 0.05f}, 0.8f, {1.f, 0.5f, 0.2f}};
        order[i] = i;
    }
    std::vector<int2> ranges(16, make_int2(0, n));
    Gaussian *dg;
    int2 *dr;
    int *dorder;
    float *image, *t;
    cudaMalloc(&dg, n * sizeof(Gaussian));
    cudaMalloc(&dr, 16 * sizeof(int2));
    cudaMalloc(&dorder, n * sizeof(int));
    cudaMalloc(&image, 3 * w * h * sizeof(float));
    cudaMalloc(&t, w * h * sizeof(float));
    cudaMemcpy(dg, g.data(), n * sizeof(Gaussian), cudaMemcpyHostToDevice);
    cudaMemcpy(dr, ranges.data(), 16 * sizeof(int2), cudaMemcpyHostToDevice);
    cudaMemcpy(dorder, order.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    blend<<<dim3(4, 4), dim3(16, 16)>>>(dg, dr, dorder, image, t, w, h, 16);
    blend_tiles<16><<<dim3(4, 4), dim3(16, 16)>>>(dg, dr, dorder, image, t, w, h);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
