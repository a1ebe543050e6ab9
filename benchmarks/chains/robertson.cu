// Robertson's stiff reactions, y' = f(y; rates), by linearly implicit Euler steps: (I / h - f'(y)) d = f(y), y += d.
#include <cuda_runtime.h>

constexpr int kStates = 3;

__device__ void step(const double *y, const double *rates, double h, double *next) {
  const double a = rates[0], b = rates[1], c = rates[2];
  const double slow = a * y[0], back = c * y[1] * y[2], fast = b * y[1] * y[1];
  // Rows of I / h - f', and f. What is lost by one species is gained by another, so that the rows are few numbers.
  const double p = a, q = c * y[2], r = c * y[1], s = 2.0 * b * y[1], w = 1.0 / h;
  const double m00 = w + p, m01 = -q, m02 = -r, m10 = -p, m11 = w + q + s, m12 = r, m21 = -s, m22 = w;
  const double f0 = back - slow, f1 = slow - back - fast, f2 = fast;
  const double c00 = m11 * m22 - m12 * m21, c01 = m12 * 0.0 - m10 * m22, c02 = m10 * m21 - m11 * 0.0;
  const double over = 1.0 / (m00 * c00 + m01 * c01 + m02 * c02);
  next[0] = y[0] + over * (f0 * c00 + f1 * (m02 * m21 - m01 * m22) + f2 * (m01 * m12 - m02 * m11));
  next[1] = y[1] + over * (f0 * c01 + f1 * (m00 * m22) + f2 * (m02 * m10 - m00 * m12));
  next[2] = y[2] + over * (f0 * c02 + f1 * (-m00 * m21) + f2 * (m00 * m11 - m01 * m10));
}

// One step of all trajectories, a thread each.
__global__ void robertson_step(const double *__restrict__ state, const double *__restrict__ rates, double h,
                               double *__restrict__ next, int trajectories) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= trajectories) return;
  const double y[kStates] = {state[kStates * i], state[kStates * i + 1], state[kStates * i + 2]};
  double after[kStates];
  step(y, rates, h, after);
#pragma unroll
  for (int k = 0; k < kStates; ++k) next[kStates * i + k] = after[k];
}

// A whole trajectory by one thread: its last state.
__global__ void robertson_run(const double *__restrict__ start, const double *__restrict__ rates, double h,
                              double *__restrict__ last, int steps) {
  if (blockIdx.x * blockDim.x + threadIdx.x) return;
  double y[kStates] = {start[0], start[1], start[2]};
  for (int t = 0; t < steps; ++t) {
    double after[kStates];
    step(y, rates, h, after);
#pragma unroll
    for (int k = 0; k < kStates; ++k) y[k] = after[k];
  }
#pragma unroll
  for (int k = 0; k < kStates; ++k) last[k] = y[k];
}
