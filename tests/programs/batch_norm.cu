// Batch normalisation, training forward: a block for each channel, tree reduction in static shared memory.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define checkCuda(x)                                                                          \
    if (cudaError_t status = (x); status != cudaSuccess) {                                    \
        std::fprintf(stderr, "%s at %d\n", cudaGetErrorString(status), __LINE__);             \
        std::exit(1);                                                                         \
    }

template <int Threads>
__device__ float block_sum(float value)
{
    __shared__ float cache[Threads];
    const int t = threadIdx.x;
    cache[t] = value;
    __syncthreads();
    for (int half = Threads / 2; half > 0; half >>= 1) {
        if (t < half)
            cache[t] += cache[t + half];
        __syncthreads();
    }
    const float sum = cache[0];
    __syncthreads();
    return sum;
}

template <int Threads>
__global__ void batch_norm(const float *__restrict__ x, const float *__restrict__ gamma, const float *__restrict__ beta,
                           float *__restrict__ y, float *__restrict__ mean_out, int samples, int channels, float eps)
{
    const int c = blockIdx.x;
    float partial = 0.f;
    for (int s = threadIdx.x; s < samples; s += Threads)
        partial += x[s * channels + c];
    const float mean = block_sum<Threads>(partial) / samples;
    partial = 0.f;
    for (int s = threadIdx.x; s < samples; s += Threads) {
        const float d = x[s * channels + c] - mean;
        partial += d * d;
    }
    const float inv = rsqrtf(block_sum<Threads>(partial) / samples + eps);
    for (int s = threadIdx.x; s < samples; s += Threads)
        y[s * channels + c] = gamma[c] * (x[s * channels + c] - mean) * inv + beta[c];
    if (threadIdx.x == 0)
        mean_out[c] = mean;
}

int main()
{
    const int samples = 256, channels = 32;
    std::vector<float> h(samples * channels);
    for (size_t i = 0; i < h.size(); ++i)
        h[i] = (i * 7919 % 1000) * 1e-3f;
    float *x, *gamma, *beta, *y, *mean;
    checkCuda(cudaMalloc(&x, h.size() * sizeof(float)));
    checkCuda(cudaMalloc(&y, h.size() * sizeof(float)));
    checkCuda(cudaMalloc(&gamma, channels * sizeof(float)));
    checkCuda(cudaMalloc(&beta, channels * sizeof(float)));
    checkCuda(cudaMalloc(&mean, channels * sizeof(float)));
    checkCuda(cudaMemcpy(x, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice));
    checkCuda(cudaMemset(gamma, 0, channels * sizeof(float)));
    checkCuda(cudaMemset(beta, 0, channels * sizeof(float)));
    batch_norm<64><<<channels, 64>>>(x, gamma, beta, y, mean, samples, channels, 1e-5f);
    checkCuda(cudaDeviceSynchronize());
    std::printf("done\n");
    return 0;
}
