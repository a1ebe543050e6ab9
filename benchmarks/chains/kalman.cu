// A Kalman filter of positions: mean (2), covariance (3) and the negative logarithm of the likelihood so far are the state.
#include <cuda_runtime.h>

constexpr int kStates = 6;

// `noise` is the variance of the acceleration and of a measurement; `measured` has one position a track.
__global__ void kalman_step(const double *__restrict__ state, const double *__restrict__ measured,
                            const double *__restrict__ noise, double *__restrict__ next, int tracks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tracks) return;
  const double *from = state + kStates * i;
  const double x = from[0] + from[1], v = from[1], q = noise[0];
  const double a = from[2] + 2.0 * from[3] + from[4] + 0.25 * q, b = from[3] + from[4] + 0.5 * q, d = from[4] + q;
  const double residual = measured[i] - x, spread = a + noise[1], gain_x = a / spread, gain_v = b / spread;
  double *to = next + kStates * i;
  to[0] = x + gain_x * residual;
  to[1] = v + gain_v * residual;
  to[2] = a - gain_x * a;
  to[3] = b - gain_x * b;
  to[4] = d - gain_v * b;
  to[5] = from[5] + 0.5 * (residual * residual / spread + log(spread));
}
