// What test_verification.py verifies.
__global__ void square(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] * x[i];
}

__device__ float odd(float x) { return x * x; }
__device__ void wrong_slope(float x, float cotangent, float *d_x) { *d_x = 3 * x * x * cotangent; }

// With wrong_slope as the derivative of odd, its gradient is wrong in one element.
__global__ void planted(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = i == 41 ? odd(x[i]) : x[i] * x[i];
}

__global__ void rectified(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = fmaxf(x[i], 0.0f) + (x[i] > 0 ? x[i] : -2 * x[i]);
}

__global__ void shuffled(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = sinf(x[i]);
  for (int n = 16; n; n /= 2) v += __shfl_xor_sync(0xffffffff, v, n) * v;
  y[i] = v;
}

// Double precision with a root in single precision, as sqrtf of an expression of doubles is.
__global__ void mixed_precision(const double *x, double *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] * sqrtf(x[i] * x[i] + 1.3);
}
