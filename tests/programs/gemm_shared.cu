// C = alpha A B + beta C, register tiles over double-buffered shared tiles, as in every blog about fast GEMM.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

template <typename T, int TileM, int TileN, int TileK, int PerThread>
__global__ void gemm(int m, int n, int k, T alpha, const T *__restrict__ A, const T *__restrict__ B, T beta,
                     T *__restrict__ C)
{
    __shared__ T As[2][TileK][TileM + 1];
    __shared__ T Bs[2][TileK][TileN];
    constexpr int kThreads = (TileM / PerThread) * (TileN / PerThread);
    const int tid = threadIdx.x;
    const int row0 = blockIdx.y * TileM, col0 = blockIdx.x * TileN;
    const int ty = tid / (TileN / PerThread), tx = tid % (TileN / PerThread);
    T acc[PerThread][PerThread] = {};

    const auto load = [&](int buffer, int k0) {
        for (int i = tid; i < TileM * TileK; i += kThreads) {
            const int r = i / TileK, c = i % TileK;
            As[buffer][c][r] = row0 + r < m && k0 + c < k ? A[(row0 + r) * k + k0 + c] : T(0);
        }
        for (int i = tid; i < TileK * TileN; i += kThreads) {
            const int r = i / TileN, c = i % TileN;
            Bs[buffer][r][c] = k0 + r < k && col0 + c < n ? B[(k0 + r) * n + col0 + c] : T(0);
        }
    };

    load(0, 0);
    __syncthreads();
    int buffer = 0;
    for (int k0 = 0; k0 < k; k0 += TileK) {
        if (k0 + TileK < k)
            load(buffer ^ 1, k0 + TileK);
#pragma unroll
        for (int kk = 0; kk < TileK; ++kk)
#pragma unroll
            for (int i = 0; i < PerThread; ++i)
#pragma unroll
                for (int j = 0; j < PerThread; ++j)
                    acc[i][j] += As[buffer][kk][ty * PerThread + i] * Bs[buffer][kk][tx * PerThread + j];
        __syncthreads();
        buffer ^= 1;
    }
    for (int i = 0; i < PerThread; ++i)
        for (int j = 0; j < PerThread; ++j) {
            const int r = row0 + ty * PerThread + i, c = col0 + tx * PerThread + j;
            if (r < m && c < n)
                C[r * n + c] = alpha * acc[i][j] + beta * C[r * n + c];
        }
}

int main()
{
    const int m = 64, n = 64, k = 64;
    std::vector<float> h(m * k, 0.5f);
    float *a, *b, *c;
    cudaMalloc(&a, m * k * sizeof(float));
    cudaMalloc(&b, k * n * sizeof(float));
    cudaMalloc(&c, m * n * sizeof(float));
    cudaMemcpy(a, h.data(), m * k * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(b, h.data(), k * n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(c, 0, m * n * sizeof(float));
    gemm<float, 16, 16, 8, 2><<<dim3(n / 16, m / 16), 64>>>(m, n, k, 1.0f, a, b, 0.0f, c);
    float first;
    cudaMemcpy(&first, c, sizeof first, cudaMemcpyDeviceToHost);
    printf("%f\n", first);
}
