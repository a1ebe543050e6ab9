// Causal attention for one query a thread, with the online softmax (running maximum and sum).
#include <cfloat>
#include <cstdio>
#include <cuda_runtime.h>

#define HEAD_DIM 8

__global__ void attention_forward(const float *__restrict__ Q, const float *__restrict__ K,
                                  const float *__restrict__ V, float *__restrict__ O, float *__restrict__ logsumexp,
                                  int heads, int tokens, float scale, bool causal)
{
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    const int head = blockIdx.y;
    if (q >= tokens || head >= heads) return;

    const float *k = K + (long)head * tokens * HEAD_DIM;
    const float *v = V + (long)head * tokens * HEAD_DIM;
    float query[HEAD_DIM], acc[HEAD_DIM];
#pragma unroll
    for (int d = 0; d < HEAD_DIM; d++) {
        query[d] = Q[(head * tokens + q) * HEAD_DIM + d] * scale;
        acc[d] = 0.0f;
    }

    float m = -FLT_MAX, l = 0.0f;
    const int last = causal ? q + 1 : tokens;
    for (int j = 0; j < last; j++) {
        float s = 0.0f;
#pragma unroll
        for (int d = 0; d < HEAD_DIM; d++)
            s += query[d] * k[j * HEAD_DIM + d];
        const float m_new = fmaxf(m, s);
        const float correction = __expf(m - m_new);
        const float p = __expf(s - m_new);
        l = l * correction + p;
#pragma unroll
        for (int d = 0; d < HEAD_DIM; d++)
            acc[d] = acc[d] * correction + p * v[j * HEAD_DIM + d];
        m = m_new;
    }
    for (int d = 0; d < HEAD_DIM; d++)
        O[(head * tokens + q) * HEAD_DIM + d] = __fdividef(acc[d], l);
    logsumexp[head * tokens + q] = m + __logf(l);
}

int main()
{
    const int heads = 4, tokens = 128;
    const size_t bytes = heads * tokens * HEAD_DIM * sizeof(float);
    float *Q, *K, *V, *O, *L;
    cudaMalloc(&Q, bytes); cudaMalloc(&K, bytes); cudaMalloc(&V, bytes); cudaMalloc(&O, bytes);
    cudaMalloc(&L, heads * tokens * sizeof(float));
    cudaMemset(Q, 0, bytes); cudaMemset(K, 0, bytes); cudaMemset(V, 0, bytes);
    dim3 grid((tokens + 63) / 64, heads);
    attention_forward<<<grid, 64>>>(Q, K, V, O, L, heads, tokens, 0.35f, true);
    cudaError_t err = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(err));
    return err != cudaSuccess;
}
