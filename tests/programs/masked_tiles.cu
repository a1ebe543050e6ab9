// Pictures of several cameras made of sorted Gaussians, tile by tile; masks leave tiles out, a background may be given.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

struct Shape {
    float a, b, c, weight;
};

template <int CHANNELS, int SIDE>
__global__ void __launch_bounds__(SIDE *SIDE)
compose(const int total, const float2 *__restrict__ centres, const Shape *__restrict__ shapes,
        const float *__restrict__ colours, const float *__restrict__ background, const bool *__restrict__ masks,
        const int width, const int height, const int2 tiles, const int *__restrict__ first_of_tile,
        const int *__restrict__ sorted, float *__restrict__ image, float *__restrict__ opaque, int *__restrict__ last)
{
    constexpr int THREADS = SIDE * SIDE;
    const int camera = blockIdx.z, tile = (camera * tiles.y + blockIdx.y) * tiles.x + blockIdx.x;
    const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    const int pixel = (camera * height + y) * width + x;
    const bool inside = x < width && y < height;
    if (background != nullptr)
        background += camera * CHANNELS;
    if (masks != nullptr && inside && !masks[tile]) {
        for (int c = 0; c < CHANNELS; ++c)
            image[pixel * CHANNELS + c] = background != nullptr ? background[c] : 0.0f;
        return;
    }
    const int rank = threadIdx.y * SIDE + threadIdx.x;
    const int begin = first_of_tile[tile];
    const int end = tile == (int)gridDim.z * tiles.x * tiles.y - 1 ? total : first_of_tile[tile + 1];
    __shared__ int numbers[THREADS];
    __shared__ float2 at[THREADS];
    __shared__ Shape kept[THREADS];
    bool done = !inside;
    float t = 1.0f, sum[CHANNELS] = {0.0f};
    int latest = -1;
    for (int batch = 0; batch < (end - begin + THREADS - 1) / THREADS; ++batch) {
        if (__syncthreads_count(done) >= THREADS)
            break;
        const int start = begin + batch * THREADS;
        if (start + rank < end) {
            const int g = sorted[start + rank];
            numbers[rank] = g;
            at[rank] = centres[g];
            kept[rank] = shapes[g];
        }
        __syncthreads();
        const int size = min(THREADS, end - start);
        for (int k = 0; k < size && !done; ++k) {
            const Shape s = kept[k];
            const float dx = at[k].x - x - 0.5f, dy = at[k].y - y - 0.5f;
            const float exponent = 0.5f * (s.a * dx * dx + s.c * dy * dy) + s.b * dx * dy;
            const float alpha = fminf(0.999f, s.weight * __expf(-exponent));
            if (exponent < 0.0f || alpha < 1.0f / 255.0f)
                continue;
            const float next = t * (1.0f - alpha);
            if (next <= 1e-4f) {
                done = true;
                break;
            }
            const float *colour = colours + numbers[k] * CHANNELS;
#pragma unroll
            for (int c = 0; c < CHANNELS; ++c)
                sum[c] += colour[c] * alpha * t;
            latest = start + k;
            t = next;
        }
    }
    if (inside) {
        opaque[pixel] = 1.0f - t;
#pragma unroll
        for (int c = 0; c < CHANNELS; ++c)
            image[pixel * CHANNELS + c] = background != nullptr ? sum[c] + t * background[c] : sum[c];
        last[pixel] = latest;
    }
}

int main()
{
    const int n = 10, w = 16, h = 16;
    std::vector<float2> centres(n);
    std::vector<Shape> shapes(n, {0.05f, 0.0f, 0.05f, 0.7f});
    std::vector<float> colours(3 * n, 0.5f);
    std::vector<int> sorted(n), first = {0};
    for (int i = 0; i < n; ++i) {
        centres[i] = {1.5f * i, 8.0f};
        sorted[i] = i;
    }
    float2 *dcentres;
    Shape *dshapes;
    float *dcolours, *image, *opaque;
    int *dfirst, *dsorted, *last;
    cudaMalloc(&dcentres, n * sizeof(float2));
    cudaMalloc(&dshapes, n * sizeof(Shape));
    cudaMalloc(&dcolours, 3 * n * sizeof(float));
    cudaMalloc(&image, 3 * w * h * sizeof(float));
    cudaMalloc(&opaque, w * h * sizeof(float));
    cudaMalloc(&dfirst, sizeof(int));
    cudaMalloc(&dsorted, n * sizeof(int));
    cudaMalloc(&last, w * h * sizeof(int));
    cudaMemcpy(dcentres, centres.data(), n * sizeof(float2), cudaMemcpyHostToDevice);
    cudaMemcpy(dshapes, shapes.data(), n * sizeof(Shape), cudaMemcpyHostToDevice);
    cudaMemcpy(dcolours, colours.data(), 3 * n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dfirst, first.data(), sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dsorted, sorted.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    compose<3, 16><<<1, dim3(16, 16)>>>(n, dcentres, dshapes, dcolours, nullptr, nullptr, w, h, {1, 1}, dfirst, dsorted,
                                        image, opaque, last);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
