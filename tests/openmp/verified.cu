// What test_verification.py verifies, and what it takes for a witness of another kernel.
__global__ void square(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] * x[i];
}

__global__ void square_but_one(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = i == 41 ? x[i] * x[i] * x[i] : x[i] * x[i];
}

__global__ void cube(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] * x[i] * x[i];
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
