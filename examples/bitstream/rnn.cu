// A recurrent network that reads streams of bits: next = tanh(W h + w_input bit + bias), and the loss of its last state.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kHidden = 20, kQuads = kHidden / 4, kClasses = 10, kWarp = 32;

__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// One step of all samples; states are [samples, kHidden]. A thread has a sample, and makes four elements at a time, which
// leaves it registers enough also for the gradient.
__global__ void rnn_step(const float *__restrict__ state, const float *__restrict__ bits,
                         const float *__restrict__ hidden_weight, const float *__restrict__ input_weight,
                         const float *__restrict__ bias, float *__restrict__ next_state, int samples) {
  const int sample = blockIdx.x * blockDim.x + threadIdx.x;
  if (sample >= samples) return;
  const float4 *from = reinterpret_cast<const float4 *>(state) + sample * kQuads;
  const float4 *weight = reinterpret_cast<const float4 *>(hidden_weight);
  float4 *to = reinterpret_cast<float4 *>(next_state) + sample * kQuads;
  float4 h[kQuads], next[kQuads];
#pragma unroll
  for (int q = 0; q < kQuads; ++q) h[q] = from[q], next[q] = make_float4(0, 0, 0, 0);
  const float bit = bits[sample];
#pragma unroll 1
  for (int r = 0; r < kQuads; ++r) {
    float sums[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int i = 4 * r + k;
      sums[k] = bias[i] + input_weight[i] * bit;
#pragma unroll
      for (int q = 0; q < kQuads; ++q) sums[k] += dot(weight[i * kQuads + q], h[q]);
    }
    const float4 four = make_float4(tanhf(sums[0]), tanhf(sums[1]), tanhf(sums[2]), tanhf(sums[3]));
#pragma unroll
    for (int q = 0; q < kQuads; ++q)
      if (q == r) next[q] = four;
  }
#pragma unroll
  for (int q = 0; q < kQuads; ++q) to[q] = next[q];
}

// All steps of all samples in one launch, a warp for a sample: states is [steps + 1, samples, kHidden], bits is
// [steps, samples]. A lane has an element of the state and its row of weights.
__global__ void __launch_bounds__(kWarp) rnn_sequence(float *__restrict__ states, const float *__restrict__ bits,
                                                      const float *__restrict__ hidden_weight,
                                                      const float *__restrict__ input_weight,
                                                      const float *__restrict__ bias, int steps, int samples) {
  __shared__ alignas(16) float shared[2][kWarp];
  const int sample = blockIdx.x, lane = threadIdx.x, row = lane < kHidden ? lane : 0;
  float weight[kHidden];
#pragma unroll
  for (int j = 0; j < kHidden; ++j) weight[j] = hidden_weight[row * kHidden + j];
  const float from_input = input_weight[row], from_bias = bias[row];
  shared[0][lane] = states[sample * kHidden + row];
  float ahead = steps ? bits[sample] : 0.0f;
  for (int t = 0; t < steps; ++t) {
    __syncwarp();
    float sums[4] = {from_bias + from_input * ahead, 0.0f, 0.0f, 0.0f};
    if (t + 1 < steps) ahead = bits[(t + 1) * samples + sample];
    const float4 *h = reinterpret_cast<const float4 *>(shared[t % 2]);
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      const float4 four = h[q];
      sums[0] += weight[4 * q] * four.x, sums[1] += weight[4 * q + 1] * four.y;
      sums[2] += weight[4 * q + 2] * four.z, sums[3] += weight[4 * q + 3] * four.w;
    }
    const float next = tanhf((sums[0] + sums[1]) + (sums[2] + sums[3]));
    shared[(t + 1) % 2][lane] = next;
    if (lane < kHidden) states[((t + 1) * samples + sample) * kHidden + lane] = next;
  }
}

// loss[sample] = -log softmax(weight state + bias)[label], one thread a sample.
__global__ void classify(const float *__restrict__ state, const float *__restrict__ weight, const float *__restrict__ bias,
                         const int *__restrict__ label, float *__restrict__ loss, int samples) {
  const int sample = blockIdx.x * blockDim.x + threadIdx.x;
  if (sample >= samples) return;
  float logits[kClasses], most = -1e30f, sum = 0.0f, own = 0.0f;
  for (int c = 0; c < kClasses; ++c) {
    logits[c] = bias[c];
    for (int j = 0; j < kHidden; ++j) logits[c] += weight[c * kHidden + j] * state[sample * kHidden + j];
    most = fmaxf(most, logits[c]);
    if (c == label[sample]) own = logits[c];
  }
  for (int c = 0; c < kClasses; ++c) sum += expf(logits[c] - most);
  loss[sample] = most + logf(sum) - own;
}

int main() {
  const int steps = 100, samples = 16;
  auto upload = [](size_t count, float scale) {
    std::vector<float> host(count);
    for (float &each : host) each = scale * (2.0f * rand() / RAND_MAX - 1.0f);
    float *device = nullptr;
    cudaMalloc(&device, count * sizeof(float));
    cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    return device;
  };
  float *states = upload(size_t(steps + 1) * samples * kHidden, 0.0f), *bits = upload(size_t(steps) * samples, 1.0f);
  float *weight = upload(kHidden * kHidden, 0.2f), *input = upload(kHidden, 0.2f), *bias = upload(kHidden, 0.2f);
  for (int t = 0; t < steps; ++t)
    rnn_step<<<1, 32>>>(states + size_t(t) * samples * kHidden, bits + t * samples, weight, input, bias,
                        states + size_t(t + 1) * samples * kHidden, samples);
  float last = 0.0f;
  cudaMemcpy(&last, states + size_t(steps) * samples * kHidden, sizeof(float), cudaMemcpyDeviceToHost);
  printf("the first element of the last state is %f\n", last);
  return 0;
}
