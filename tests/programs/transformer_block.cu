// A transformer block for inference and fine-tuning: RMS norm, rotary embedding, causal attention with online
// softmax, gated MLP. One warp for a row or a query; float4 loads where the width allows.
#include <cuda_runtime.h>
#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#define CUDA_CHECK(call)                                                                       \
    do {                                                                                       \
        const cudaError_t status = (call);                                                     \
        if (status != cudaSuccess) {                                                           \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(status));             \
            abort();                                                                           \
        }                                                                                      \
    } while (false)

constexpr int WARP_SIZE = 32;
constexpr unsigned FULL_MASK = 0xffffffffu;

template <typename T>
__device__ __forceinline__ T warp_sum(T v) {
#pragma unroll
  for (int offset = WARP_SIZE / 2; offset > 0; offset >>= 1) v += __shfl_xor_sync(FULL_MASK, v, offset);
  return v;
}

__device__ __forceinline__ float silu(float x) { return x / (1.f + __expf(-x)); }

// y = x / rms(x) * g, rows of `dim` floats, dim a multiple of 4
__global__ void __launch_bounds__(128) rms_norm(const float* __restrict__ x, const float* __restrict__ g,
                                                float* __restrict__ y, int rows, int dim, float eps) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
  const int lane = threadIdx.x % WARP_SIZE;
  if (row >= rows) return;
  const float4* x4 = reinterpret_cast<const float4*>(x + row * dim);
  const float4* g4 = reinterpret_cast<const float4*>(g);
  float4* y4 = reinterpret_cast<float4*>(y + row * dim);
  float sq = 0.f;
  for (int c = lane; c < dim / 4; c += WARP_SIZE) {
    const float4 v = x4[c];
    sq += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  const float scale = rsqrtf(warp_sum(sq) / dim + eps);
  for (int c = lane; c < dim / 4; c += WARP_SIZE) {
    const float4 v = x4[c], w = g4[c];
    y4[c] = make_float4(v.x * scale * w.x, v.y * scale * w.y, v.z * scale * w.z, v.w * scale * w.w);
  }
}

// rotates pairs (2i, 2i+1) of every head in place
__global__ void rope(float* __restrict__ qk, int tokens, int heads, int head_dim, float base) {
  const int idx = blockIdx.x * blockDim.x + threadIdx.x;
  const int half = head_dim / 2;
  if (idx >= tokens * heads * half) return;
  const int i = idx % half, t = idx / (half * heads);
  const float freq = powf(base, -2.f * i / head_dim);
  float s, c;
  sincosf(t * freq, &s, &c);
  float2* p = reinterpret_cast<float2*>(qk) + idx;
  const float2 v = *p;
  *p = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}

// q, k, v: [heads, tokens, HEAD_DIM]; keys are shared by groups of query heads
template <int HEAD_DIM, bool CAUSAL>
__global__ void attention(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                          float* __restrict__ out, int tokens, int heads, int kv_heads, float scale) {
  static_assert(HEAD_DIM % WARP_SIZE == 0 || WARP_SIZE % HEAD_DIM == 0);
  constexpr int PER_LANE = HEAD_DIM > WARP_SIZE ? HEAD_DIM / WARP_SIZE : 1;
  const int lane = threadIdx.x & (WARP_SIZE - 1);
  const int query = blockIdx.x * blockDim.y + threadIdx.y;
  const int head = blockIdx.y;
  if (query >= tokens) return;
  const int kv = head / (heads / kv_heads);
  const float* qp = q + (head * tokens + query) * HEAD_DIM;
  float qr[PER_LANE], acc[PER_LANE];
#pragma unroll
  for (int i = 0; i < PER_LANE; ++i) {
    qr[i] = lane + i * WARP_SIZE < HEAD_DIM ? qp[lane + i * WARP_SIZE] * scale : 0.f;
    acc[i] = 0.f;
  }
  float m = -FLT_MAX, denom = 0.f;
  const int last = CAUSAL ? query + 1 : tokens;
  for (int key = 0; key < last; ++key) {
    const float* kp = k + (kv * tokens + key) * HEAD_DIM;
    float dot = 0.f;
#pragma unroll
    for (int i = 0; i < PER_LANE; ++i)
      if (lane + i * WARP_SIZE < HEAD_DIM) dot += qr[i] * kp[lane + i * WARP_SIZE];
    dot = warp_sum(dot);
    const float m_new = fmaxf(m, dot);
    const float fix = __expf(m - m_new), w = __expf(dot - m_new);
    denom = denom * fix + w;
    const float* vp = v + (kv * tokens + key) * HEAD_DIM;
#pragma unroll
    for (int i = 0; i < PER_LANE; ++i)
      acc[i] = acc[i] * fix + (lane + i * WARP_SIZE < HEAD_DIM ? w * vp[lane + i * WARP_SIZE] : 0.f);
    m = m_new;
  }
#pragma unroll
  for (int i = 0; i < PER_LANE; ++i)
    if (lane + i * WARP_SIZE < HEAD_DIM) out[(head * tokens + query) * HEAD_DIM + lane + i * WARP_SIZE] = acc[i] / denom;
}

// out = (silu(x Wg) * (x Wu)), one thread an output, input row staged through shared memory
template <int TILE>
__global__ void gated_mlp(const float* __restrict__ x, const float* __restrict__ wg, const float* __restrict__ wu,
                          float* __restrict__ out, int rows, int dim, int hidden) {
  __shared__ float xs[TILE];
  const int row = blockIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  float g = 0.f, u = 0.f;
  for (int base = 0; base < dim; base += TILE) {
    xs[threadIdx.x] = base + threadIdx.x < dim ? x[row * dim + base + threadIdx.x] : 0.f;
    __syncthreads();
    if (col < hidden) {
      const int count = min(TILE, dim - base);
      for (int i = 0; i < count; ++i) {
        g = fmaf(xs[i], __ldg(&wg[(base + i) * hidden + col]), g);
        u = fmaf(xs[i], __ldg(&wu[(base + i) * hidden + col]), u);
      }
    }
    __syncthreads();
  }
  if (col < hidden) out[row * hidden + col] = silu(g) * u;
}

int main() {
  const int tokens = 128, dim = 256, heads = 4, hidden = 512;
  std::mt19937 gen(7);
  std::normal_distribution<float> normal(0.f, 0.3f);
  std::vector<float> host(tokens * dim);
  for (auto& h : host) h = normal(gen);
  float *x, *y, *g, *wg, *wu, *h;
  CUDA_CHECK(cudaMalloc(&x, tokens * dim * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&y, tokens * dim * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&g, dim * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&wg, dim * hidden * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&wu, dim * hidden * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&h, tokens * hidden * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
  rms_norm<<<tokens / 4, 128>>>(x, g, y, tokens, dim, 1e-6f);
  rope<<<(tokens * dim / 2 + 255) / 256, 256>>>(y, tokens, heads, dim / heads, 10000.f);
  attention<64, true><<<dim3(tokens / 4, heads), dim3(32, 4)>>>(y, y, y, x, tokens, heads, heads, 0.125f);
  gated_mlp<64><<<dim3(hidden / 64, tokens), 64>>>(x, wg, wu, h, tokens, dim, hidden);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
