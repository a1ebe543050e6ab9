// A gradient that takes more registers than a block of 1,024 threads has, and the same with bounded blocks.
template <int N> __device__ double mixed(const double *x, const double *w, int i, int n) {
  double state[N], next[N];
  for (int k = 0; k < N; ++k)
    state[k] = x[(i + k) % n];
  for (int step = 0; step < 3; ++step) {
    for (int k = 0; k < N; ++k)
      next[k] = sin(state[k]) * w[k] + state[(k + 1) % N] * state[(k + 5) % N];
    for (int k = 0; k < N; ++k)
      state[k] = next[k];
  }
  double sum = 0;
  for (int k = 0; k < N; ++k)
    sum += state[k];
  return sum;
}

__global__ void any_block(int n, const double *__restrict__ x, const double *__restrict__ w, double *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = mixed<24>(x, w, i, n);
}

__global__ void __launch_bounds__(64, 4)
    small_block(int n, const double *__restrict__ x, const double *__restrict__ w, double *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = mixed<24>(x, w, i, n);
}
