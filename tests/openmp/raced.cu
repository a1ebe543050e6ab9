// Kernels whose threads race, and kernels that look as if theirs did; test_races.py knows the lines.
#define I (blockIdx.x * blockDim.x + threadIdx.x)

__global__ void different(const float *x, float *y) {
  y[blockIdx.x] = x[I];  // 5
}

__global__ void same(const float *x, float *y) {
  __shared__ float all;
  all = x[blockIdx.x];
  y[blockIdx.x] = x[blockIdx.x] * x[blockIdx.x];
  float own = all;  // as this thread has stored it
  __syncthreads();
  y[gridDim.x + I] = own * all;
}

__global__ void transposed(const float *x, float *y) {
  __shared__ float t[32 * 33];
  for (int k = 0; k < 32; ++k) t[k * 33 + threadIdx.x] = x[k * 32 + threadIdx.x];  // 19
  for (int k = 0; k < 32; ++k) y[k * 32 + threadIdx.x] = t[threadIdx.x * 33 + k];  // 20
}

__global__ void transposed_by_a_warp(const float *x, float *y) {
  __shared__ float t[32 * 33];
  for (int k = 0; k < 32; ++k) t[k * 33 + threadIdx.x] = x[k * 32 + threadIdx.x];
  __syncwarp();
  for (int k = 0; k < 32; ++k) y[k * 32 + threadIdx.x] = t[threadIdx.x * 33 + k];
}

__global__ void in_turn(const float *x, float *y) {
  int t = threadIdx.x, i = t / 4, r = t % 4;
  if (r == 0) y[i] = x[t];  // 32
  for (int q = 1; q < 4; q++)
    if (r == q) y[i] += x[t];  // 34
}

__device__ float next(const float *x, int i) {
  return x[i + 1];  // 38
}

__global__ void shifted(float *x) {
  int i = threadIdx.x;
  float v = next(x, i);
  x[i] = v;  // 44
}

__global__ void shifted_in_two(float *x) {
  int i = threadIdx.x;
  float v = next(x, i);
  __syncthreads();
  x[i] = v;
}

__global__ void tiles(const float *x, float *y, int n) {
  __shared__ float t[64];
  float sum = 0;
  for (int k = 0; k < n; k += 64) {
    t[threadIdx.x] = x[k + threadIdx.x];  // 58
    __syncthreads();
    for (int j = 0; j < 64; ++j) sum += t[j] * t[(j + threadIdx.x) % 64];  // 60
  }
  y[I] = sum;
}

__global__ void tree(const float *x, float *y) {
  __shared__ float t[64];
  t[threadIdx.x] = x[I];
  for (int s = 32; s; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) t[threadIdx.x] += t[threadIdx.x + s];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = t[0];
}

__global__ void tree_with_a_volatile_warp(const float *x, float *y) {
  __shared__ float t[64];
  t[threadIdx.x] = x[I];
  __syncthreads();
  if (threadIdx.x < 32) {
    volatile float *v = t;
    v[threadIdx.x] += v[threadIdx.x + 32];
    v[threadIdx.x] += v[threadIdx.x + 16];
    v[threadIdx.x] += v[threadIdx.x + 8];
    v[threadIdx.x] += v[threadIdx.x + 4];
    v[threadIdx.x] += v[threadIdx.x + 2];
    v[threadIdx.x] += v[threadIdx.x + 1];
    if (threadIdx.x == 0) y[blockIdx.x] = v[0];
  }
}

__global__ void added(const float *x, float *y) {
  atomicAdd(y, x[I] * x[I]);
  y[1] = 2;  // all the same
}

__global__ void local_arrays(const float *x, float *y) {
  float own[8];
  for (int k = 0; k < 8; ++k) own[k] = x[I] * k;
  for (int k = 0; k < 8; ++k)
    if (own[k] > own[(int)(x[I] > 0)]) own[0] = own[k];
  y[I] = own[0];
}
