/* y = A x in CSR (a warp a row), ELLPACK and COO; one Jacobi sweep and a Chebyshev step on top.
   Old-style interface with plain pointers. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda.h>
#include <cuda_runtime.h>

#ifndef DTYPE
#define DTYPE double
#endif

#define WARP 32
#define FULL 0xffffffff
#define SAFE_CALL(f)                                                    \
  {                                                                     \
    cudaError_t s = f;                                                  \
    if (s != cudaSuccess) {                                             \
      printf(#f " returned %s\n", cudaGetErrorString(s));               \
      exit(-1);                                                         \
    }                                                                   \
  }

typedef unsigned int uint;

__inline__ __device__ DTYPE warpReduce(DTYPE val)
{
  for (int mask = WARP / 2; mask > 0; mask /= 2) val += __shfl_down_sync(FULL, val, mask);
  return val;
}

__global__ void spmv_csr_vector(const uint n_rows, const uint *__restrict__ col_ids, const uint *__restrict__ row_ptr,
                                const DTYPE *__restrict__ data, const DTYPE *__restrict__ x, DTYPE *__restrict__ y,
                                const DTYPE alpha, const DTYPE beta)
{
  const uint thread_id = blockIdx.x * blockDim.x + threadIdx.x;
  const uint warp_id = thread_id / WARP;
  const uint lane = thread_id & (WARP - 1);
  const uint row = warp_id;
  DTYPE dot = 0;
  if (row < n_rows) {
    const uint row_start = row_ptr[row], row_end = row_ptr[row + 1];
    for (uint element = row_start + lane; element < row_end; element += WARP)
      dot += data[element] * x[col_ids[element]];
  }
  dot = warpReduce(dot);
  if (lane == 0 && row < n_rows) y[row] = alpha * dot + (beta == 0 ? 0 : beta * y[row]);
}

__global__ void spmv_ell(int n_rows, int width, const int *col_ids, const DTYPE *data, const DTYPE *x, DTYPE *y)
{
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n_rows) return;
  DTYPE sum = 0;
  for (int e = 0; e < width; e++) {
    const int offset = row + e * n_rows;      /* column major: neighbours are read together */
    const int c = col_ids[offset];
    if (c < 0) break;                         /* padding */
    sum += data[offset] * x[c];
  }
  y[row] = sum;
}

__global__ void spmv_coo(int nnz, const int *rows, const int *cols, const DTYPE *data, const DTYPE *x, DTYPE *y)
{
  for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < nnz; i += (long)gridDim.x * blockDim.x)
    atomicAdd(y + rows[i], data[i] * __ldg(x + cols[i]));
}

/* x_new = x + omega (b - A x) / diag */
__global__ void jacobi_csr(int n, const uint *col_ids, const uint *row_ptr, const DTYPE *data, const DTYPE *b,
                           const DTYPE *x, DTYPE *x_new, DTYPE omega, DTYPE *residual_norm)
{
  __shared__ DTYPE partial[256];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  DTYPE r = 0;
  if (row < n) {
    DTYPE diag = 1;
    r = b[row];
    for (uint e = row_ptr[row]; e < row_ptr[row + 1]; ++e) {
      if (col_ids[e] == (uint)row) diag = data[e];
      r -= data[e] * x[col_ids[e]];
    }
    x_new[row] = x[row] + omega * r / diag;
  }
  assert(blockDim.x <= 256);
  partial[threadIdx.x] = r * r;
  for (uint s = blockDim.x >> 1; s > 0; s >>= 1) {
    __syncthreads();
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
  }
  if (threadIdx.x == 0) atomicAdd(residual_norm, partial[0]);
}

/* p and x of one Chebyshev iteration, in place */
__global__ void chebyshev_step(int n, DTYPE *p, DTYPE *x, const DTYPE *r, const DTYPE *inverse_diagonal, DTYPE lo, DTYPE hi, int it)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const DTYPE d = 0.5 * (hi + lo), c = 0.5 * (hi - lo);
  DTYPE a = 1.0 / d, b = 0.0;
  int k;
  for (k = 1; k <= it; k++) {
    b = k == 1 ? 0.5 * (c * a) * (c * a) : 0.25 * (c * a) * (c * a);
    a = 1.0 / (d - b / a);
  }
  const DTYPE z = inverse_diagonal[i] * r[i];
  p[i] = it == 0 ? z : z + b * p[i];
  x[i] += a * p[i];
}

static void laplacian(int m, uint **ptr, uint **col, DTYPE **val, int *nnz)
{
  int n = m * m, k = 0, i;
  SAFE_CALL(cudaMallocManaged((void **)ptr, (n + 1) * sizeof(uint)));
  SAFE_CALL(cudaMallocManaged((void **)col, 5 * n * sizeof(uint)));
  SAFE_CALL(cudaMallocManaged((void **)val, 5 * n * sizeof(DTYPE)));
  for (i = 0; i < n; i++) {
    int x = i % m, y = i / m;
    (*ptr)[i] = k;
    if (y > 0) { (*col)[k] = i - m; (*val)[k++] = -1; }
    if (x > 0) { (*col)[k] = i - 1; (*val)[k++] = -1; }
    (*col)[k] = i; (*val)[k++] = 4;
    if (x < m - 1) { (*col)[k] = i + 1; (*val)[k++] = -1; }
    if (y < m - 1) { (*col)[k] = i + m; (*val)[k++] = -1; }
  }
  (*ptr)[n] = k;
  *nnz = k;
}

int main(int argc, char **argv)
{
  int m = 32, n = m * m, nnz, it, nthreads = 128;
  uint *ptr, *col;
  DTYPE *val, *x, *xn, *b, *norm;
  laplacian(m, &ptr, &col, &val, &nnz);
  SAFE_CALL(cudaMallocManaged((void **)&x, n * sizeof(DTYPE)));
  SAFE_CALL(cudaMallocManaged((void **)&xn, n * sizeof(DTYPE)));
  SAFE_CALL(cudaMallocManaged((void **)&b, n * sizeof(DTYPE)));
  SAFE_CALL(cudaMallocManaged((void **)&norm, sizeof(DTYPE)));
  memset(x, 0, n * sizeof(DTYPE));
  for (int i = 0; i < n; i++) b[i] = 1;
  for (it = 0; it < 50; it++) {
    *norm = 0;
    jacobi_csr<<<(n + nthreads - 1) / nthreads, nthreads>>>(n, col, ptr, val, b, x, xn, 0.8, norm);
    SAFE_CALL(cudaDeviceSynchronize());
    DTYPE *t = x; x = xn; xn = t;
  }
  printf("residual %g\n", *norm);
  spmv_csr_vector<<<(n * WARP + nthreads - 1) / nthreads, nthreads>>>(n, col, ptr, val, x, xn, 1.0, 0.0);
  SAFE_CALL(cudaDeviceSynchronize());
  return 0;
}
