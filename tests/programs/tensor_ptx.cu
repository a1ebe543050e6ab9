// Matrix products on Tensor Cores as people write them in PTX: ldmatrix, mma.sync and cp.async.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(p)));
}

__device__ __forceinline__ void ldmatrix_x2_trans(uint32_t (&r)[2], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(p)));
}

__device__ __forceinline__ void mma_16816(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ void copy_16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(shared_address(to)), "l"(from));
}

// Two warps, 32 rows by 16 columns a block; tiles of the next step are copied while this one is multiplied.
__global__ void gemm_double_buffered(const half *__restrict__ A, const half *__restrict__ B, float *__restrict__ C, int M, int N, int K)
{
    __shared__ __align__(16) half As[2][32][16 + 8];
    __shared__ __align__(16) half Bs[2][16][16 + 8];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 16;
    auto load = [&](int stage, int k0) {
        copy_16(&As[stage][threadIdx.x / 2][threadIdx.x % 2 * 8], A + (row0 + threadIdx.x / 2) * K + k0 + threadIdx.x % 2 * 8);
        if (threadIdx.x < 32)
            copy_16(&Bs[stage][threadIdx.x / 2][threadIdx.x % 2 * 8], B + (k0 + threadIdx.x / 2) * N + col0 + threadIdx.x % 2 * 8);
        asm volatile("cp.async.commit_group;\n");
    };
    float acc[2][4] = {};
    load(0, 0);
    for (int step = 0; step < K / 16; ++step) {
        const int stage = step & 1;
        if (step + 1 < K / 16) {
            load(stage ^ 1, (step + 1) * 16);
            asm volatile("cp.async.wait_group 1;\n");
        } else {
            asm volatile("cp.async.wait_group 0;\n");
        }
        __syncthreads();
        uint32_t a[4], b[2];
        ldmatrix_x4(a, &As[stage][warp * 16 + lane % 16][lane / 16 * 8]);
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            ldmatrix_x2_trans(b, &Bs[stage][lane % 16][j * 8]);
            mma_16816(acc[j], a, b);
        }
        __syncthreads();
    }
    const int g = lane / 4, t = lane % 4;
    for (int j = 0; j < 2; ++j)
        for (int r = 0; r < 2; ++r) {
            float *out = C + (row0 + warp * 16 + g + 8 * r) * N + col0 + j * 8 + t * 2;
            *reinterpret_cast<float2 *>(out) = make_float2(acc[j][2 * r], acc[j][2 * r + 1]);
        }
}

// Attention of 16 queries over 16 keys by one warp, in registers: what the first product gives is the left factor of the
// second, once it is rounded. Rows are reduced among the four lanes that share them.
__global__ void flash_block(const half *q, const half *k, const half *v, float *o, float scale)
{
    __shared__ __align__(16) half sq[16][24], sk[16][24], sv[16][24];
    const int lane = threadIdx.x, base = blockIdx.x * 256;
    for (int i = lane; i < 256; i += 32) {
        sq[i / 16][i % 16] = q[base + i];
        sk[i / 16][i % 16] = k[base + i];
        sv[i / 16][i % 16] = v[base + i];
    }
    __syncthreads();
    uint32_t a[4];
    ldmatrix_x4(a, &sq[lane % 16][lane / 16 * 8]);
    float s[2][4] = {};
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        uint32_t b[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];\n"
                     : "=r"(b[0]), "=r"(b[1]) : "r"(shared_address(&sk[j * 8 + lane % 8][lane / 8 % 2 * 8])));
        mma_16816(s[j], a, b);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float most = -INFINITY, sum = 0.0f;
        for (int i = 0; i < 4; ++i) most = fmaxf(most, s[i / 2][2 * r + i % 2]);
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
        for (int i = 0; i < 4; ++i) sum += s[i / 2][2 * r + i % 2] = exp2f((s[i / 2][2 * r + i % 2] - most) * scale);
        sum += __shfl_xor_sync(0xffffffff, sum, 1);
        sum += __shfl_xor_sync(0xffffffff, sum, 2);
        for (int i = 0; i < 4; ++i) s[i / 2][2 * r + i % 2] /= sum;
    }
    uint32_t p[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        half2 pair = __floats2half2_rn(s[i / 2][i % 2 * 2], s[i / 2][i % 2 * 2 + 1]);
        p[i] = *reinterpret_cast<uint32_t *>(&pair);
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        uint32_t b[2];
        float out[4] = {};
        ldmatrix_x2_trans(b, &sv[lane % 16][j * 8]);
        mma_16816(out, p, b);
        for (int r = 0; r < 2; ++r)
            for (int c = 0; c < 2; ++c)
                o[base + (lane / 4 + 8 * r) * 16 + j * 8 + lane % 4 * 2 + c] = out[2 * r + c];
    }
}

// The smaller shapes: bfloat16 with eight inner elements, and tf32 with registers rounded by hand.
__global__ void small_brains(const __nv_bfloat162 *a, const __nv_bfloat16 *b, float *d, int steps)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int s = 0; s < steps; ++s) {
        const __nv_bfloat162 low = a[s * 64 + g * 4 + t], high = a[s * 64 + (g + 8) * 4 + t];
        const __nv_bfloat162 right = __halves2bfloat162(b[s * 64 + 2 * t * 8 + g], b[s * 64 + (2 * t + 1) * 8 + g]);
        asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
            : "=f"(acc[0]), "=f"(acc[1]), "=f"(acc[2]), "=f"(acc[3])
            : "r"(*reinterpret_cast<const unsigned *>(&low)), "r"(*reinterpret_cast<const unsigned *>(&high)),
              "r"(*reinterpret_cast<const unsigned *>(&right)), "f"(acc[0]), "f"(acc[1]), "f"(acc[2]), "f"(acc[3]));
    }
    for (int i = 0; i < 4; ++i)
        d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = acc[i];
}

__device__ unsigned to_tf32(float x)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

__global__ void small_tf32(const float *a, const float *b, float *d)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    float acc[4] = {};
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
        : "r"(to_tf32(a[g * 8 + t])), "r"(to_tf32(a[(g + 8) * 8 + t])), "r"(to_tf32(a[g * 8 + t + 4])),
          "r"(to_tf32(a[(g + 8) * 8 + t + 4])), "r"(to_tf32(b[t * 8 + g])), "r"(to_tf32(b[(t + 4) * 8 + g])));
    for (int i = 0; i < 4; ++i)
        d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = acc[i];
}
