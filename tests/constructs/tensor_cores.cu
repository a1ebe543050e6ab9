// Products of matrices on Tensor Cores.
#include "element.h"
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

template <class In, class Out, class Precision, int M, int N, int K> __device__ void tile(const In *a, const In *b, Out *c)
{
    wmma::fragment<wmma::matrix_a, M, N, K, Precision, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, M, N, K, Precision, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, M, N, K, Out> sum;
    wmma::load_matrix_sync(left, a, K);
    wmma::load_matrix_sync(right, b, K);
    wmma::load_matrix_sync(sum, c, N, wmma::mem_row_major);
    if constexpr (sizeof(In) == 4) {
        for (int i = 0; i < left.num_elements; ++i) left.x[i] = wmma::__float_to_tf32(left.x[i]);
        for (int i = 0; i < right.num_elements; ++i) right.x[i] = wmma::__float_to_tf32(right.x[i]);
    }
    wmma::mma_sync(sum, left, right, sum);
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] * sum.x[i];
    wmma::store_matrix_sync(c, sum, N, wmma::mem_row_major);
}

__global__ void wmma_half(const __half *a, const __half *b, float *c) { tile<__half, float, __half, 16, 16, 16>(a, b, c); }
__global__ void wmma_half_sums(const __half *a, const __half *b, __half *c) { tile<__half, __half, __half, 32, 8, 16>(a, b, c); }
__global__ void wmma_bfloat16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c)
{
    tile<__nv_bfloat16, float, __nv_bfloat16, 8, 32, 16>(a, b, c);
}
__global__ void wmma_tf32(const float *a, const float *b, float *c) { tile<float, float, wmma::precision::tf32, 16, 16, 8>(a, b, c); }
__global__ void wmma_double(const double *a, const double *b, double *c) { tile<double, double, double, 8, 8, 4>(a, b, c); }

__global__ void mma_in_assembly(const __half *a, const __half *b, float *c)
{
    __shared__ __half left[16][16], right[16][8];
    const int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) left[i / 16][i % 16] = a[i];
    for (int i = lane; i < 128; i += 32) right[i / 8][i % 8] = b[i];
    __syncwarp();
    unsigned u[4], v[2], from = __cvta_generic_to_shared(&left[lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(u[0]), "=r"(u[1]), "=r"(u[2]), "=r"(u[3]) : "r"(from));
    from = __cvta_generic_to_shared(&right[lane % 16][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(from));
    float d[4] = {};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(u[0]), "r"(u[1]), "r"(u[2]), "r"(u[3]), "r"(v[0]), "r"(v[1]));
    for (int i = 0; i < 4; ++i) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}

__global__ void mma_of_integers(const float *x, float *y, unsigned left, unsigned right)
{
    int d[4] = {};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(left), "r"(right));
    y[threadIdx.x] = x[threadIdx.x] * d[0];
}
