// A gated recurrent unit over a sequence: one block a sample, hidden state in shared memory, weights read through the
// read-only cache, layer normalisation of the gates, output projection with cross-entropy on labels.
#include <cuda_runtime.h>
#include <assert.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIDDEN_MAX 64
#define LDG(p) __ldg(p)

#ifdef __CUDA_ARCH__
#define DEVICE_TRACE(...) do { if (0) printf(__VA_ARGS__); } while (0)
#else
#define DEVICE_TRACE(...)
#endif

struct GruWeights {
  const float* __restrict__ w_input;    // [3, hidden, input]
  const float* __restrict__ w_hidden;   // [3, hidden, hidden]
  const float* __restrict__ bias;       // [3, hidden]
  int input;
  int hidden;
};

__device__ __forceinline__ float sigmoidf(float x) { return 1.0f / (1.0f + expf(-x)); }

template <int BLOCK>
__device__ float block_reduce_sum(float v) {
  __shared__ float lanes[BLOCK / 32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  __syncthreads();
  if (lane == 0) lanes[warp] = v;
  __syncthreads();
  float total = 0.f;
  for (int w = 0; w < BLOCK / 32; ++w) total += lanes[w];
  return total;
}

__device__ float gate(const GruWeights& p, int which, int unit, const float* x, const float* h) {
  float s = LDG(p.bias + which * p.hidden + unit);
  const float* wi = p.w_input + (which * p.hidden + unit) * p.input;
  const float* wh = p.w_hidden + (which * p.hidden + unit) * p.hidden;
  for (int k = 0; k < p.input; ++k) s += LDG(wi + k) * x[k];
  for (int k = 0; k < p.hidden; ++k) s += LDG(wh + k) * h[k];
  return s;
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK) gru_forward(GruWeights p, const float* __restrict__ inputs, const int* __restrict__ lengths,
                                                     const float* __restrict__ h0, float* __restrict__ states, int steps) {
  __shared__ float h[HIDDEN_MAX], rh[HIDDEN_MAX];
  const int sample = blockIdx.x, unit = threadIdx.x;
  assert(p.hidden <= HIDDEN_MAX);
  const bool mine = unit < p.hidden;
  if (mine) h[unit] = h0[sample * p.hidden + unit];
  __syncthreads();
  const int length = lengths[sample];
  for (int t = 0; t < steps; ++t) {
    const float* x = inputs + (sample * steps + t) * p.input;
    float z = 0.f, r = 0.f;
    if (mine) {
      z = sigmoidf(gate(p, 0, unit, x, h));
      r = sigmoidf(gate(p, 1, unit, x, h));
      rh[unit] = r * h[unit];
    }
    __syncthreads();
    float next = 0.f;
    if (mine) {
      const float candidate = tanhf(gate(p, 2, unit, x, rh));
      next = t < length ? (1.f - z) * h[unit] + z * candidate : h[unit];
    }
    __syncthreads();
    if (mine) {
      h[unit] = next;
      states[(sample * steps + t) * p.hidden + unit] = next;
    }
    __syncthreads();
  }
  DEVICE_TRACE("sample %d done\n", sample);
}

// logits = norm(h) W^T; loss = -log softmax[label]
template <int BLOCK>
__global__ void head_loss(const float* h, const float* gain, const float* w, const int* label, float* loss, int hidden, int classes,
                          float smoothing) {
  extern __shared__ float logits[];
  const int row = blockIdx.x, t = threadIdx.x;
  const float v = t < hidden ? h[row * hidden + t] : 0.f;
  const float mean = block_reduce_sum<BLOCK>(v) / hidden;
  const float centred = t < hidden ? v - mean : 0.f;
  const float var = block_reduce_sum<BLOCK>(centred * centred) / hidden;
  const float normed = centred * rsqrtf(var + 1e-5f) * (t < hidden ? gain[t] : 0.f);
  for (int c = 0; c < classes; ++c) {
    const float dot = block_reduce_sum<BLOCK>(t < hidden ? normed * w[c * hidden + t] : 0.f);
    if (t == 0) logits[c] = dot;
  }
  __syncthreads();
  if (t == 0) {
    float top = logits[0], sum = 0.f, mean_logit = 0.f;
    for (int c = 1; c < classes; ++c) top = fmaxf(top, logits[c]);
    for (int c = 0; c < classes; ++c) {
      sum += expf(logits[c] - top);
      mean_logit += logits[c] / classes;
    }
    const float lse = top + logf(sum);
    if (label[row] >= 0)
      loss[row] = lse - (1.f - smoothing) * logits[label[row]] - smoothing * mean_logit;
    else
      loss[row] = 0.f;
  }
}

int main() {
  const int batch = 8, steps = 16, input = 12, hidden = 32;
  std::vector<float> wi(3 * hidden * input), wh(3 * hidden * hidden), x(batch * steps * input);
  for (auto* v : {&wi, &wh, &x})
    for (auto& e : *v) e = 0.1f * (rand() / (float)RAND_MAX - 0.5f);
  auto upload = [](const std::vector<float>& host) {
    float* d = nullptr;
    cudaMalloc(&d, host.size() * sizeof(float));
    cudaMemcpyAsync(d, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    return d;
  };
  float* bias = upload(std::vector<float>(3 * hidden, 0.f));
  GruWeights p = {upload(wi), upload(wh), bias, input, hidden};
  float *h0 = upload(std::vector<float>(batch * hidden, 0.f)), *states = upload(std::vector<float>(batch * steps * hidden, 0.f));
  int* lengths;
  cudaMallocManaged(&lengths, batch * sizeof(int));
  for (int i = 0; i < batch; ++i) lengths[i] = steps - i;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  gru_forward<32><<<batch, 32, 0, stream>>>(p, upload(x), lengths, h0, states, steps);
  printf("%s\n", cudaGetErrorString(cudaStreamSynchronize(stream)));
  cudaStreamDestroy(stream);
  return 0;
}
