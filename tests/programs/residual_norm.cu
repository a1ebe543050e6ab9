// A Jacobi step of a screened Poisson equation whose residual is summed up in the same launch, as solvers of older
// programs do: each block writes what it has, and the last one to finish adds all up and leaves the counter as it was.

__device__ unsigned int blocks_done = 0;

__device__ double sum_of_block(double value, double *shared) {
  const int t = threadIdx.x;
  shared[t] = value;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {
    if (t < k)
      shared[t] += shared[t + k];
    __syncthreads();
  }
  const double sum = shared[0];
  __syncthreads();
  return sum;
}

__global__ void jacobi_with_norms(const double *u, const double *f, double *next, double *squares, double *values,
                                  double *norms, double screening, int nx, int ny) {
  __shared__ double shared[64];
  __shared__ bool is_last;
  const int t = threadIdx.x;
  double square = 0, value = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < nx * ny; i += gridDim.x * blockDim.x) {
    const int x = i % nx, y = i / nx;
    const double left = x > 0 ? u[i - 1] : 0, right = x < nx - 1 ? u[i + 1] : 0;
    const double below = y > 0 ? u[i - nx] : 0, above = y < ny - 1 ? u[i + nx] : 0;
    next[i] = (left + right + below + above + f[i]) / (4 + screening * u[i] * u[i]);
    const double residual = next[i] - u[i];
    square += residual * residual;
    value += next[i];
  }
  square = sum_of_block(square, shared);
  value = sum_of_block(value, shared);
  if (t == 0) {
    squares[blockIdx.x] = square;
    values[blockIdx.x] = value;
    __threadfence();
    is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last) {
    double all_squares = 0, all_values = 0;
    for (int b = t; b < gridDim.x; b += blockDim.x) {
      all_squares += squares[b];
      all_values += values[b];
    }
    all_squares = sum_of_block(all_squares, shared);
    all_values = sum_of_block(all_values, shared);
    if (t == 0) {
      norms[0] = sqrt(all_squares);
      norms[1] = all_values / (nx * ny);
    }
  }
}
