// In-place Haar transform of rows and soft thresholding of the details, for denoising. Grid-stride over rows.
#include <cstdio>
#include <memory>
#include <cuda_runtime.h>

constexpr int kMaxWidth = 32;
constexpr float kRootHalf = 0.70710678f;

__device__ __forceinline__ void haar_forward(float *v, int width)
{
    float scratch[kMaxWidth];
    for (int length = width; length > 1; length >>= 1) {
        const int half = length / 2;
        for (int i = 0; i < half; ++i) {
            scratch[i] = kRootHalf * (v[2 * i] + v[2 * i + 1]);
            scratch[half + i] = kRootHalf * (v[2 * i] - v[2 * i + 1]);
        }
        for (int i = 0; i < length; ++i)
            v[i] = scratch[i];
    }
}

__device__ __forceinline__ void haar_inverse(float *v, int width)
{
    float scratch[kMaxWidth];
    for (int length = 2; length <= width; length <<= 1) {
        const int half = length / 2;
        for (int i = 0; i < half; ++i) {
            scratch[2 * i] = kRootHalf * (v[i] + v[half + i]);
            scratch[2 * i + 1] = kRootHalf * (v[i] - v[half + i]);
        }
        for (int i = 0; i < length; ++i)
            v[i] = scratch[i];
    }
}

__device__ float shrink(float x, float threshold)
{
    // smooth soft threshold
    const float s = sqrtf(x * x + threshold * threshold);
    return x * (s - threshold) / s;
}

__global__ void denoise(float *image, const float *thresholds, int rows, int width)
{
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += blockDim.x * gridDim.x) {
        float line[kMaxWidth];
        for (int i = 0; i < width; ++i)
            line[i] = image[row * width + i];
        haar_forward(line, width);
        int level = 0;
        for (int start = 1; start < width; start *= 2, ++level)
            for (int i = start; i < 2 * start; ++i)
                line[i] = shrink(line[i], thresholds[level]);
        haar_inverse(line, width);
        for (int i = 0; i < width; ++i)
            image[row * width + i] = line[i];
    }
}

int main()
{
    const int rows = 200, width = 32;
    auto host = std::make_unique<float[]>(rows * width);
    for (int i = 0; i < rows * width; ++i)
        host[i] = (i * 2654435761u >> 16) / 65536.f;
    float *image, *thresholds, t[5] = {0.1f, 0.1f, 0.2f, 0.2f, 0.3f};
    cudaMalloc(&image, rows * width * sizeof(float));
    cudaMalloc(&thresholds, sizeof t);
    cudaMemcpy(image, host.get(), rows * width * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(thresholds, t, sizeof t, cudaMemcpyHostToDevice);
    denoise<<<2, 64>>>(image, thresholds, rows, width);
    cudaMemcpy(host.get(), image, rows * width * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", host[0]);
    return 0;
}
