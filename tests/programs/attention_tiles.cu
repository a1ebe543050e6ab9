// Attention by tiles of keys in shared memory: a piece of 4 x 4 scores a thread, and a warp for each query.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

// A block takes 32 queries; groups of 8 threads share rows, with an online softmax over rows in shared memory.
__global__ __launch_bounds__(64) void attention_pieces(const float *__restrict__ Q, const float *__restrict__ K,
                                                       const float *__restrict__ V, float *__restrict__ O, int tokens,
                                                       float scale)
{
    constexpr int kRows = 32, kDim = 32, kPiece = 4, kWidth = 8;
    __shared__ float queries[kRows][kDim + 1], keys[kRows][kDim + 1], weights[kRows][kRows + 1];
    const int tx = threadIdx.x % kWidth, ty = threadIdx.x / kWidth, first = blockIdx.x * kRows;
    for (int i = threadIdx.x; i < kRows * kDim; i += blockDim.x)
        queries[i / kDim][i % kDim] = Q[(first + i / kDim) * kDim + i % kDim] * scale;
    float acc[kPiece][kPiece] = {}, highest[kPiece], sum[kPiece];
    for (int i = 0; i < kPiece; ++i) {
        highest[i] = -INFINITY;
        sum[i] = 0.0f;
    }
    for (int start = 0; start < tokens; start += kRows) {
        __syncthreads();
        for (int i = threadIdx.x; i < kRows * kDim; i += blockDim.x)
            keys[i / kDim][i % kDim] = K[(start + i / kDim) * kDim + i % kDim];
        __syncthreads();
        float s[kPiece][kPiece] = {};
        for (int d = 0; d < kDim; ++d)
#pragma unroll
            for (int i = 0; i < kPiece; ++i)
#pragma unroll
                for (int j = 0; j < kPiece; ++j)
                    s[i][j] += queries[ty * kPiece + i][d] * keys[tx + kWidth * j][d];
#pragma unroll
        for (int i = 0; i < kPiece; ++i) {
            float top = highest[i];
            for (int j = 0; j < kPiece; ++j)
                top = fmaxf(top, s[i][j]);
            for (int apart = kWidth / 2; apart > 0; apart /= 2)
                top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, apart, kWidth));
            const float correction = __expf(highest[i] - top);
            float added = 0.0f;
            for (int j = 0; j < kPiece; ++j) {
                const float p = __expf(s[i][j] - top);
                weights[ty * kPiece + i][tx + kWidth * j] = p;
                added += p;
            }
            for (int apart = kWidth / 2; apart > 0; apart /= 2)
                added += __shfl_xor_sync(0xffffffff, added, apart, kWidth);
            sum[i] = sum[i] * correction + added;
            highest[i] = top;
            for (int j = 0; j < kPiece; ++j)
                acc[i][j] *= correction;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < kRows * kDim; i += blockDim.x)
            keys[i / kDim][i % kDim] = V[(start + i / kDim) * kDim + i % kDim];
        __syncthreads();
        for (int k = 0; k < kRows; ++k)
#pragma unroll
            for (int i = 0; i < kPiece; ++i)
#pragma unroll
                for (int j = 0; j < kPiece; ++j)
                    acc[i][j] += weights[ty * kPiece + i][k] * keys[k][tx + kWidth * j];
    }
    for (int i = 0; i < kPiece; ++i)
        for (int j = 0; j < kPiece; ++j)
            O[(first + ty * kPiece + i) * kDim + tx + kWidth * j] = acc[i][j] / sum[i];
}

// A warp takes one query, a lane one key of a tile; what lanes weigh their keys with goes round by shuffles.
template <int Dim>
__global__ void attention_rows(const float *__restrict__ Q, const float *__restrict__ K, const float *__restrict__ V,
                               float *__restrict__ O, int tokens, float scale)
{
    constexpr int kWarps = 2, kKeys = 32, kPieces = Dim / 32;
    __shared__ float query[kWarps][Dim], keys[kKeys][Dim + 1], values[kKeys][Dim];
    const int lane = threadIdx.x, warp = threadIdx.y, row = blockIdx.x * kWarps + warp;
    float acc[kPieces];
#pragma unroll
    for (int r = 0; r < kPieces; ++r) {
        query[warp][lane + 32 * r] = row < tokens ? Q[row * Dim + lane + 32 * r] * scale : 0.0f;
        acc[r] = 0.0f;
    }
    float highest = -INFINITY, sum = 0.0f;
    for (int start = 0; start < tokens; start += kKeys) {
        __syncthreads();
        for (int i = warp * 32 + lane; i < kKeys * Dim; i += 32 * kWarps) {
            const bool inside = start + i / Dim < tokens;
            keys[i / Dim][i % Dim] = inside ? K[(start + i / Dim) * Dim + i % Dim] : 0.0f;
            values[i / Dim][i % Dim] = inside ? V[(start + i / Dim) * Dim + i % Dim] : 0.0f;
        }
        __syncthreads();
        float s = 0.0f;
        for (int d = 0; d < Dim; ++d)
            s += query[warp][d] * keys[lane][d];
        if (start + lane >= tokens)
            s = -INFINITY;
        float top = s;
        for (int apart = 16; apart > 0; apart /= 2)
            top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, apart));
        top = fmaxf(highest, top);
        const float weight = __expf(s - top), correction = __expf(highest - top);
        float added = weight;
        for (int apart = 16; apart > 0; apart /= 2)
            added += __shfl_xor_sync(0xffffffff, added, apart);
        sum = sum * correction + added;
#pragma unroll
        for (int r = 0; r < kPieces; ++r)
            acc[r] *= correction;
        for (int j = 0; j < kKeys; ++j) {
            const float of_key = __shfl_sync(0xffffffff, weight, j);
#pragma unroll
            for (int r = 0; r < kPieces; ++r)
                acc[r] += of_key * values[j][lane + 32 * r];
        }
        highest = top;
    }
    if (row < tokens)
#pragma unroll
        for (int r = 0; r < kPieces; ++r)
            O[row * Dim + lane + 32 * r] = acc[r] / sum;
}

int main()
{
    const int tokens = 64, dim = 32;
    float *arrays[4];
    for (float *&array : arrays) {
        cudaMalloc(&array, tokens * dim * sizeof(float));
        cudaMemset(array, 0, tokens * dim * sizeof(float));
    }
    attention_pieces<<<tokens / 32, 64>>>(arrays[0], arrays[1], arrays[2], arrays[3], tokens, 0.2f);
    attention_rows<32><<<tokens / 2, dim3(32, 2)>>>(arrays[0], arrays[1], arrays[2], arrays[3], tokens, 0.2f);
    const cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(error));
    return error != cudaSuccess;
}
