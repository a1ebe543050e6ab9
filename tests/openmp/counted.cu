// Integers that threads count in shared memory, beside numbers that have a derivative.
__global__ void histogram(const float *x, float *y, unsigned *counts, int n) {
  __shared__ unsigned bins[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bins[threadIdx.x] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&bins[(unsigned)(x[i] * 64) & 63], 1u);
  __syncthreads();
  if (i < n) y[i] = x[i] * x[i] * bins[threadIdx.x];
  atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

__global__ void ranked(const float *x, float *y, int n) {
  __shared__ int count, least;
  __shared__ float tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) count = 0, least = n;
  tile[threadIdx.x] = 0;
  __syncthreads();
  if (i < n && x[i] > 0.5f) {
    tile[atomicAdd(&count, 1)] = x[i];
    atomicMin(&least, i);
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += tile[k] * tile[k];
  if (i < n) y[i] = x[i] * sum * (least % 7 + 1);
}

// Dynamic shared memory of which only the stores say what it holds.
__global__ void binned(const float *x, float *y, int *counts, int n) {
  extern __shared__ unsigned char room[];
  int *bins = reinterpret_cast<int *>(room);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bins[threadIdx.x] = 0;
  __syncthreads();
  if (i < n) {
    atomicAdd(&bins[(int)(x[i] * 64)], 1);
    y[i] = x[i] * x[i];
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
