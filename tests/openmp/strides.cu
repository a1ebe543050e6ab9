// Loops that step by what is known only at run time, and loops of unknown length, inside each other.

// A row of `length` numbers after the other; all threads of a block leave the loop together.
__global__ void filtered(const float *x, const float *taps, float *y, int rows, int length) {
  __shared__ float row[32], weight[32];
  const int i = threadIdx.x;
  weight[i] = taps[i] * taps[i];
  __syncthreads();
  float state = 0.1f;
  for (int at = blockIdx.x * rows * length + i; at < (blockIdx.x + 1) * rows * length + i; at += length) {
    __syncthreads();
    row[i] = x[at];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 32; ++k)
      sum += weight[k] * row[k] * state;
    state = 0.5f * state + sinf(row[(i + 1) % 32]);
    y[at] = sum;
  }
}

__global__ void grid_stride(const float *x, float *y, int n) {
  float state = 0.5f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    state = state * x[i] + sinf(state);
    y[i] = state;
  }
}

__global__ void unsigned_stride(const float *x, float *y, unsigned n, unsigned step) {
  float state = 0.5f;
  for (unsigned i = threadIdx.x; i < n; i += step) {
    state = state * x[i] + sinf(state);
    y[i] = state;
  }
}

__global__ void downwards(const float *x, float *y, int n, int step) {
  float state = 0.5f;
  for (int i = n - 1 - (int)threadIdx.x; i > -1; i -= step) {
    state = state * x[i] + sinf(state);
    y[i] = state;
  }
}

// How often the inner loop runs is found out in each iteration of the outer one, and by each thread for itself.
__global__ void settled(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float total = 0, level = x[i];
  while (level < 3) {
    float a = level, b = 0.3f * x[i];
    while (a * a > 0.01f) {
      a *= 0.6f + 0.1f * sinf(b);
      b = 0.5f * b + 0.2f * a;
      total += a * expf(-b);
    }
    level += 0.7f;
  }
  y[i] = total;
}

struct Rounds {
  const float *x, *scale;
  float *y;
  float gain, most;
  int n, rounds;
};

// So many rounds of the block's threads, or up to the end; which arrays there are decides what is kept.
__global__ void in_rounds(Rounds of) {
  int i = blockIdx.x * of.rounds * blockDim.x + threadIdx.x;
  for (int round = 0; round < of.rounds && i < of.n; ++round, i += blockDim.x) {
    float v = of.x[i], s = of.scale ? of.scale[i] : 1;
    float w = v < -8 ? 0 : s * v / (1 + expf(-v));
    w *= of.gain;
    of.y[i] = w < of.most ? w : of.most;
  }
}
