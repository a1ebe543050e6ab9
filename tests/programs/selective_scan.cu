// Selective scan (S6) forward: chunked BlockScan over (A-bar, B-bar x) pairs with a running prefix, a state after the other.
#include <cuda_runtime.h>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_load.cuh>

template <int kThreads_, int kItems_, bool kGated_, typename weight_t_>
struct Shape {
    static constexpr int kThreads = kThreads_;
    static constexpr int kItems = kItems_;
    static constexpr bool kGated = kGated_;
    static constexpr int kChunk = kThreads * kItems;
    using weight_t = weight_t_;
};

struct Sequences {
    int batch, dim, seqlen, dstate;
    const float *__restrict__ u, *__restrict__ delta, *__restrict__ A, *__restrict__ B, *__restrict__ C, *__restrict__ D,
        *__restrict__ z, *__restrict__ delta_bias;
    float *__restrict__ out, *__restrict__ last_state;
    bool delta_softplus;
};

struct Compose {
    __device__ __forceinline__ float2 operator()(const float2 &ab0, const float2 &ab1) const {
        return make_float2(ab1.x * ab0.x, ab1.x * ab0.y + ab1.y);
    }
};

struct Running {
    float2 total;
    __device__ Running(float2 p) : total(p) {}
    __device__ float2 operator()(float2 block_aggregate) {
        float2 old = total;
        total = Compose()(total, block_aggregate);
        return old;
    }
};

template <typename Traits>
__global__ __launch_bounds__(Traits::kThreads) void selective_scan(Sequences p)
{
    using BlockScanT = cub::BlockScan<float2, Traits::kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
    constexpr int N = Traits::kItems;
    __shared__ typename BlockScanT::TempStorage temp;
    extern __shared__ float2 carried[];
    const int batch_id = blockIdx.x, dim_id = blockIdx.y;
    const size_t base = (size_t(batch_id) * p.dim + dim_id) * p.seqlen;
    const float D_val = p.D ? p.D[dim_id] : 0.f;
    const float bias = p.delta_bias[dim_id];
    const int n_chunks = (p.seqlen + Traits::kChunk - 1) / Traits::kChunk;
    for (int chunk = 0; chunk < n_chunks; ++chunk) {
        float u_vals[N], delta_vals[N], input[N], out_vals[N];
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < N; ++i) {
            const int t = chunk * Traits::kChunk + threadIdx.x * N + i;
            u_vals[i] = t < p.seqlen ? p.u[base + t] : 0.f;
            float d = t < p.seqlen ? p.delta[base + t] + bias : 0.f;
            if (p.delta_softplus) d = d <= 20.f ? log1pf(expf(d)) : d;
            delta_vals[i] = d;
            input[i] = d * u_vals[i];
            out_vals[i] = D_val * u_vals[i];
        }
        for (int s = 0; s < p.dstate; ++s) {
            const float A_val = p.A[dim_id * p.dstate + s] * 1.4426950408889634f;
            float2 pairs[N];
            #pragma unroll
            for (int i = 0; i < N; ++i) {
                const int t = chunk * Traits::kChunk + threadIdx.x * N + i;
                if (t < p.seqlen) {
                    const float b = p.B[(batch_id * p.dstate + s) * p.seqlen + t];
                    pairs[i] = make_float2(exp2f(delta_vals[i] * A_val), b * input[i]);
                } else pairs[i] = make_float2(1.f, 0.f);
            }
            float2 running = chunk > 0 && threadIdx.x % 32 == 0 ? carried[s] : make_float2(1.f, 0.f);
            Running prefix_op(running);
            BlockScanT(temp).InclusiveScan(pairs, pairs, Compose(), prefix_op);
            if (threadIdx.x == 0) {
                carried[s] = prefix_op.total;
                if (chunk == n_chunks - 1) p.last_state[(batch_id * p.dim + dim_id) * p.dstate + s] = prefix_op.total.y;
            }
            #pragma unroll
            for (int i = 0; i < N; ++i) {
                const int t = chunk * Traits::kChunk + threadIdx.x * N + i;
                if (t < p.seqlen) out_vals[i] += pairs[i].y * p.C[(batch_id * p.dstate + s) * p.seqlen + t];
            }
            __syncthreads();
        }
        #pragma unroll
        for (int i = 0; i < N; ++i) {
            const int t = chunk * Traits::kChunk + threadIdx.x * N + i;
            if (t < p.seqlen) {
                if constexpr (Traits::kGated) {
                    const float zv = p.z[base + t];
                    out_vals[i] *= zv / (1.f + expf(-zv));
                }
                p.out[base + t] = out_vals[i];
            }
        }
    }
}

template __global__ void selective_scan<Shape<32, 4, true, float>>(Sequences);
template __global__ void selective_scan<Shape<64, 2, false, float>>(Sequences);
