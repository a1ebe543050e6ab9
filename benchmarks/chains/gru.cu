// One step of a gated recurrent unit for all samples; states are [samples, kHidden]. A thread has a sample.
#include <cuda_runtime.h>

constexpr int kHidden = 20;

__device__ float logistic(float x) { return 1.0f / (1.0f + expf(-x)); }

// Rows of `hidden_weight` [3, kHidden, kHidden], `input_weight`, `input_bias` and `hidden_bias` [3, kHidden]: reset, update, new.
__global__ void gru_step(const float *__restrict__ state, const float *__restrict__ bits,
                         const float *__restrict__ hidden_weight, const float *__restrict__ input_weight,
                         const float *__restrict__ input_bias, const float *__restrict__ hidden_bias,
                         float *__restrict__ next_state, int samples) {
  const int sample = blockIdx.x * blockDim.x + threadIdx.x;
  if (sample >= samples) return;
  float h[kHidden];
#pragma unroll
  for (int j = 0; j < kHidden; ++j) h[j] = state[sample * kHidden + j];
  const float bit = bits[sample];
#pragma unroll 1
  for (int i = 0; i < kHidden; ++i) {
    float gates[3];
#pragma unroll
    for (int g = 0; g < 3; ++g) {
      float sum = hidden_bias[g * kHidden + i];
#pragma unroll
      for (int j = 0; j < kHidden; ++j) sum += hidden_weight[(g * kHidden + i) * kHidden + j] * h[j];
      gates[g] = sum;
    }
    const float reset = logistic(gates[0] + input_weight[i] * bit + input_bias[i]);
    const float update = logistic(gates[1] + input_weight[kHidden + i] * bit + input_bias[kHidden + i]);
    const float fresh = tanhf(input_weight[2 * kHidden + i] * bit + input_bias[2 * kHidden + i] + reset * gates[2]);
    next_state[sample * kHidden + i] = fresh + update * (state[sample * kHidden + i] - fresh);
  }
}
