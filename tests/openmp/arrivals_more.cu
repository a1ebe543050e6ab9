// More kernels like those of arrivals.cu.
#include <cuda/atomic>
#define ELEMENT                                                                                                        \
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;                                                          \
  if (i >= n)                                                                                                          \
  return

__global__ void no_global_slots(const float *x, int *count, int *at, float *y, int n) {
  ELEMENT;
  at[i] = atomicAdd(count, 1);
  y[at[i]] = x[i];
}
__global__ void no_match(const float *x, const int *key, int *count, float *y, int n) {
  ELEMENT;
  unsigned m = __match_any_sync(__activemask(), key[i]);
  int leader = __ffs(m) - 1, lane = t & 31, base = 0;
  if (lane == leader)
    base = atomicAdd(&count[key[i]], __popc(m));
  base = __shfl_sync(m, base, leader);
  y[key[i] * 64 + base + __popc(m & ((1u << lane) - 1))] = x[i] * x[i];
}
__global__ void no_local(const float *x, int *count, float *y, int k, int n) {
  ELEMENT;
  int s[2];
  s[0] = atomicAdd(count, 2);
  s[1] = s[0] + 1;
  y[s[k]] = x[i];
  y[s[1 - k]] = 1;
}
__global__ void no_ref(const float *x, int *count, float *y, int n) {
  ELEMENT;
  cuda::atomic_ref<int, cuda::thread_scope_device> c(*count);
  y[c.fetch_add(1)] = x[i];
}
__global__ void no_plus(const float *x, int *count, float *y, int n) {
  ELEMENT;
  cuda::atomic_ref<int, cuda::thread_scope_device> c(*count);
  y[c++] = x[i];
}
__global__ void no_ptx(const float *x, int *count, float *y, int n) {
  ELEMENT;
  int k;
  asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(k) : "l"(count) : "memory");
  y[k] = x[i];
}
__global__ void no_pointer(const float *x, int *count, float *y, int n) {
  ELEMENT;
  float *o = y + 2 * atomicAdd(count, 1);
  *o++ = x[i];
  *o = 2 * x[i];
}
__global__ void no_warp_base(const float *x, int *count, float *y, int n) {
  __shared__ int base[8];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, w = t / 32, lane = t % 32;
  if (lane == 0)
    base[w] = atomicAdd(count, 32);
  __syncwarp();
  if (i < n)
    y[base[w] + lane] = x[i];
}
__global__ void ok_warp_base(const float *x, int *count, float *y, int n) {
  __shared__ int base[8];
  const int t = threadIdx.x, w = t / 32, lane = t % 32;
  if (lane == 0)
    base[w] = atomicAdd(count, 32);
  __syncwarp();
  const int i = base[w] + lane;
  if (i < n)
    y[i] = x[i] * lane;
}
__global__ void no_dynamic(const float *x, int *count, float *y, int n) {
  extern __shared__ int at[];
  ELEMENT;
  at[t] = atomicAdd(count, 1);
  y[at[t]] = x[i];
}
__global__ void no_ticket(const float *x, int *count, float *y, int n) {
  ELEMENT;
  int k = atomicAdd(count, 1);
  if (k % 2)
    y[i] = x[i];
}
__global__ void no_minmax(const float *x, int *m, float *y, int n) {
  ELEMENT;
  int old = atomicMax(m, i);
  if (old < i)
    y[i] = x[i];
}
__global__ void no_bit(const float *x, unsigned *m, const int *key, float *y, int n) {
  ELEMENT;
  unsigned b = 1u << (key[i] & 31);
  if (!(atomicOr(m, b) & b))
    y[key[i]] = x[i];
}
__global__ void no_sorted_by_block(const float *x, int *next, float *y, int n) {
  __shared__ int b;
  if (threadIdx.x == 0)
    b = atomicAdd(next, 1);
  __syncthreads();
  int i = b * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[blockIdx.x * blockDim.x + threadIdx.x];
}
__global__ void ok_virtual_blocks(const float *x, int *next, float *y, int n) {
  __shared__ int b;
  __shared__ float tile[64];
  if (threadIdx.x == 0)
    b = atomicAdd(next, 1);
  __syncthreads();
  int i = b * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s)
      tile[threadIdx.x] += tile[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    y[b] = tile[0];
}
__global__ void ok_virtual_blocks_sum(const float *x, int *next, float *sum, int n) {
  __shared__ int b;
  if (threadIdx.x == 0)
    b = atomicAdd(next, 1);
  __syncthreads();
  int i = b * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&sum[b % 4], x[i] * threadIdx.x);
}
__global__ void no_rotated(const float *x, float *y, int n) {
  __shared__ int c;
  __shared__ float q[64];
  if (threadIdx.x == 0)
    c = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    q[atomicAdd(&c, 1)] = x[i];
  __syncthreads();
  float v = threadIdx.x < c ? q[threadIdx.x] : 0;
  v = __shfl_down_sync(~0u, v, 1);
  if (i < n)
    y[i] = v;
}
__global__ void no_scanned(const float *x, float *y, int n) {
  __shared__ int c;
  __shared__ float q[64];
  if (threadIdx.x == 0)
    c = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    q[atomicAdd(&c, 1)] = x[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    float s = 0;
    for (int j = 0; j < c; ++j) {
      s += q[j];
      y[blockIdx.x * blockDim.x + j] = s;
    }
  }
}
__global__ void no_last_in(const float *x, float *y, int n) {
  __shared__ int c;
  __shared__ float q[64];
  if (threadIdx.x == 0)
    c = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    q[atomicAdd(&c, 1)] = x[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    float s = 0;
    for (int j = 0; j < c; ++j) {
      s = s * 0.5f + q[j];
    }
    y[blockIdx.x] = s;
  }
}
__global__ void no_partial(const float *x, float *y, int n) {
  __shared__ int c;
  __shared__ float q[64];
  if (threadIdx.x == 0)
    c = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    q[atomicAdd(&c, 1)] = x[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    float s = 0;
    for (int j = 0; j < 3; ++j)
      s += q[j];
    y[blockIdx.x] = s;
  }
}
__global__ void no_weighted_sum(const float *x, const float *w, float *y, int n) {
  __shared__ int c;
  __shared__ float q[64];
  if (threadIdx.x == 0)
    c = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    q[atomicAdd(&c, 1)] = x[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    float s = 0;
    for (int j = 0; j < c; ++j)
      s += q[j] * w[j];
    y[blockIdx.x] = s;
  }
}
