// Kernels that the tests of operators launch: rows, an active number, a change in place, indices.

__global__ void layer_norm(const float *x, const float *gamma, const float *beta, float *y, int rows, int cols, float eps) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float mean = 0, variance = 0;
  for (int c = 0; c < cols; ++c)
    mean += x[row * cols + c] / cols;
  for (int c = 0; c < cols; ++c) {
    float off = x[row * cols + c] - mean;
    variance += off * off / cols;
  }
  float scale = rsqrtf(variance + eps);
  for (int c = 0; c < cols; ++c)
    y[row * cols + c] = (x[row * cols + c] - mean) * scale * gamma[c] + beta[c];
}

__global__ void wave(const double *x, double a, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = sin(a * x[i]) * x[i];
}

__global__ void shifted(const double *x, double *y, double bias, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = copysign(x[i], bias);
}

__global__ void products(const double *x, const double *w, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = sin(x[i]) * w[i];
}

__global__ void decay(double *u, const double *k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    u[i] = u[i] - 0.1 * k[i] * u[i] * u[i];
}

__global__ void row_max(const double *x, double *largest, int *where, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  int best = 0;
  for (int c = 1; c < cols; ++c)
    if (x[row * cols + c] > x[row * cols + best])
      best = c;
  largest[row] = x[row * cols + best];
  where[row] = best;
}

// The sum of those that came before, in whatever order; the last element is the sum.
__global__ void running(const double *x, double *before, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    before[i] = atomicAdd(before + n, x[i]);
}
