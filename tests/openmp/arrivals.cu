// Numbers that threads store in the order of their arrival: kernels whose result is the same for every order (ok_),
// and kernels in which it is not (no_).
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define ELEMENT                                                                                                        \
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;                                                          \
  if (i >= n)                                                                                                          \
  return

__global__ void ok_histogram(const float *x, int *bins, float *y, int n) {
  ELEMENT;
  atomicAdd(&bins[(int)(x[i] * 4)], 1);
  y[i] = x[i] * x[i];
}
__global__ void ok_work_items(const float *x, int *next, float *y, int n) {
  for (int k; (k = atomicAdd(next, 1)) < n;)
    y[k] = x[k] * x[k];
}
__global__ void ok_work_chunks(const float *x, int *next, float *y, int n) {
  __shared__ int chunk;
  __shared__ float tile[32];
  while (true) {
    if (threadIdx.x == 0)
      chunk = atomicAdd(next, 1);
    __syncthreads();
    const int first = chunk * blockDim.x;
    if (first >= n)
      break;
    const int i = first + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] * x[i] : 0.f;
    __syncthreads();
    if (i < n)
      y[i] = tile[threadIdx.x] + tile[0];
    __syncthreads();
  }
}
__global__ void ok_work_of_warps(const float *x, int *next, float *y, int n) {
  const int lane = threadIdx.x & 31;
  while (true) {
    int row = 0;
    if (lane == 0)
      row = atomicAdd(next, 1);
    row = __shfl_sync(~0u, row, 0);
    if (row * 32 >= n)
      break;
    y[row * 32 + lane] = x[row * 32 + lane] * lane;
  }
}
__global__ void ok_last_block(const float *x, int *done, float *y, float *flag, int n) {
  ELEMENT;
  y[i] = x[i] * x[i];
  if (t == 0 && atomicAdd(done, 1) == gridDim.x - 1)
    *flag = 1.f;
}
__global__ void ok_scratch_summed(const float *x, float *y, int n) {
  __shared__ float q[32];
  __shared__ int count;
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0)
    count = 0;
  __syncthreads();
  if (i < n && x[i] > .5f)
    q[atomicAdd(&count, 1)] = x[i];
  __syncthreads();
  if (t == 0) {
    float s = 0;
    for (int j = 0; j < count; ++j)
      s += q[j] * q[j];
    y[blockIdx.x] = s;
  }
}
__global__ void ok_scratch_tree(const float *x, float *y, int n) {
  __shared__ float q[32], r[32];
  __shared__ int count;
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0)
    count = 0;
  __syncthreads();
  if (i < n && x[i] > .5f)
    q[atomicAdd(&count, 1)] = x[i];
  __syncthreads();
  float s = 0;
  for (int j = t; j < count; j += blockDim.x)
    s += q[j] * q[j];
  r[t] = s;
  __syncthreads();
  for (int k = 16; k > 0; k /= 2) {
    if (t < k)
      r[t] += r[t + k];
    __syncthreads();
  }
  if (t == 0)
    y[blockIdx.x] = r[0];
}
__global__ void ok_scratch_shuffled(const float *x, float *y, int n) {
  __shared__ float q[32];
  __shared__ int count;
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0)
    count = 0;
  __syncthreads();
  if (i < n && x[i] > .5f)
    q[atomicAdd(&count, 1)] = x[i];
  __syncthreads();
  float s = t < count ? q[t] * q[t] : 0.f;
  for (int k = 16; k > 0; k /= 2)
    s += __shfl_down_sync(~0u, s, k);
  if (t == 0)
    y[blockIdx.x] = s;
}
__global__ void ok_scratch_added(const float *x, float *sum, int n) {
  __shared__ float q[32];
  __shared__ int count;
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0)
    count = 0;
  __syncthreads();
  if (i < n && x[i] > .5f)
    q[atomicAdd(&count, 1)] = x[i];
  __syncthreads();
  for (int j = t; j < count; j += blockDim.x)
    atomicAdd(sum, q[j] * q[j]);
}
__global__ void ok_queue_of_indices(const float *x, float *y, int n) {
  __shared__ int q[32];
  __shared__ int count;
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0)
    count = 0;
  __syncthreads();
  if (i < n && x[i] > .5f)
    q[atomicAdd(&count, 1)] = i;
  __syncthreads();
  for (int j = t; j < count; j += blockDim.x)
    y[q[j]] = x[q[j]] * x[q[j]];
}
__global__ void ok_queue_of_records(const float *x, float *y, int n) {
  __shared__ int q[32];
  __shared__ float v[32];
  __shared__ int count;
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0)
    count = 0;
  __syncthreads();
  if (i < n && x[i] > .5f) {
    int at = atomicAdd(&count, 1);
    q[at] = i;
    v[at] = x[i];
  }
  __syncthreads();
  for (int j = t; j < count; j += blockDim.x)
    y[q[j]] = v[j] * v[j];
}
__global__ void ok_own_atomic(const float *x, int *found, float *y, int n) {
  ELEMENT;
  y[i] = x[i] * atomicAdd(&found[i], 2);
}
__global__ void ok_counter_read(const float *x, int *count, float *y, int n) {
  ELEMENT;
  y[i] = x[i] * atomicAdd(count, 0);
}
__global__ void ok_count_used(const float *x, float *y, int n) {
  __shared__ int count;
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0)
    count = 0;
  __syncthreads();
  if (i < n && x[i] > .5f)
    atomicAdd(&count, 1);
  __syncthreads();
  if (i < n)
    y[i] = x[i] / (1 + count);
}
__global__ void ok_items_to_a_sum(const float *x, int *next, float *sum, int n) {
  float mine = 0;
  for (int k; (k = atomicAdd(next, 1)) < n;)
    mine += x[k] * x[k];
  atomicAdd(sum, mine);
}
__global__ void ok_indices_out(const float *x, int *count, int *where, float *y, int n) {
  ELEMENT;
  y[i] = x[i] * x[i];
  if (x[i] > .5f)
    where[atomicAdd(count, 1)] = i;
}
__global__ void ok_printed(const float *x, int *count, float *y, int n) {
  ELEMENT;
  y[i] = x[i] * x[i];
  const int at = atomicAdd(count, 1);
  if (at == 3)
    count[1] = i;
}

__global__ void no_compact(const float *x, int *count, float *y, int n) {
  ELEMENT;
  if (x[i] > 0.5f)
    y[atomicAdd(count, 1)] = x[i] * x[i];
}
__global__ void no_inc(const float *x, unsigned *count, float *y, int n) {
  ELEMENT;
  if (x[i] > 0.5f)
    y[atomicInc(count, 1000)] = x[i] * x[i];
}
__global__ void no_cas(const float *x, int *count, float *y, int n) {
  ELEMENT;
  int old = *count, seen;
  do {
    seen = old;
    old = atomicCAS(count, seen, seen + 1);
  } while (old != seen);
  y[old] = x[i] * x[i];
}
__device__ int aggregated(int *count) {
  auto g = cg::coalesced_threads();
  int base;
  if (g.thread_rank() == 0)
    base = atomicAdd(count, g.size());
  return g.shfl(base, 0) + g.thread_rank();
}
__global__ void no_aggregated(const float *x, int *count, float *y, int n) {
  ELEMENT;
  if (x[i] > 0.5f)
    y[aggregated(count)] = x[i] * x[i];
}
__global__ void no_ballot(const float *x, int *count, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  const bool keep = i < n && x[i] > .5f;
  const unsigned mask = __ballot_sync(~0u, keep);
  int base = 0;
  if (lane == 0)
    base = atomicAdd(count, __popc(mask));
  base = __shfl_sync(~0u, base, 0);
  if (keep)
    y[base + __popc(mask & ((1u << lane) - 1))] = x[i] * x[i];
}
__global__ void no_block_base(const float *x, int *count, float *y, int n) {
  __shared__ int mine, base;
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0)
    mine = 0;
  __syncthreads();
  int at = -1;
  if (i < n && x[i] > .5f)
    at = atomicAdd(&mine, 1);
  __syncthreads();
  if (t == 0)
    base = atomicAdd(count, mine);
  __syncthreads();
  if (at >= 0)
    y[base + at] = x[i] * x[i];
}
__global__ void no_queue_copied(const float *x, float *y, int n) {
  __shared__ float q[32];
  __shared__ int count;
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0)
    count = 0;
  __syncthreads();
  if (i < n && x[i] > .5f)
    q[atomicAdd(&count, 1)] = x[i];
  __syncthreads();
  if (t < count)
    y[blockIdx.x * blockDim.x + t] = q[t] * q[t];
}
__global__ void no_queue_shares(const float *x, float *y, int n) {
  __shared__ float q[64];
  __shared__ int count;
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0)
    count = 0;
  __syncthreads();
  if (i < n && x[i] > .5f)
    q[atomicAdd(&count, 1)] = x[i];
  __syncthreads();
  float s = 0;
  for (int j = t; j < count; j += 8)
    s += q[j] * q[j];
  if (t < 8)
    y[blockIdx.x * 8 + t] = s;
}
__global__ void no_first_in_queue(const float *x, float *y, int n) {
  __shared__ float q[32];
  __shared__ int count;
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t == 0)
    count = 0;
  __syncthreads();
  if (i < n && x[i] > .5f)
    q[atomicAdd(&count, 1)] = x[i];
  __syncthreads();
  if (t == 0)
    y[blockIdx.x] = q[0];
}
__global__ void no_value(const float *x, int *count, float *y, int n) {
  ELEMENT;
  y[i] = x[i] * atomicAdd(count, 1);
}
__global__ void no_first_only(const float *x, int *count, float *y, int n) {
  ELEMENT;
  if (atomicAdd(count, 1) < 5)
    y[i] = x[i] * x[i];
}
__global__ void no_first_returns(const float *x, int *count, float *sum, int n) {
  ELEMENT;
  if (atomicAdd(count, 1) >= 5)
    return;
  atomicAdd(sum, x[i] * x[i]);
}
__global__ void no_winner(const float *x, const int *key, int *seen, float *y, int n) {
  ELEMENT;
  if (atomicExch(&seen[key[i]], 1) == 0)
    y[key[i]] = x[i] * x[i];
}
__global__ void no_bins(const float *x, const int *key, int *count, float *y, int n) {
  ELEMENT;
  const int b = key[i];
  y[b * 16 + atomicAdd(&count[b], 1)] = x[i] * x[i];
}
struct Out {
  float *y;
  int *count;
};
__global__ void no_struct(const float *x, Out out, int n) {
  ELEMENT;
  out.y[atomicAdd(out.count, 1)] = x[i] * x[i];
}
struct Particle {
  float x, v;
};
__global__ void no_particles(const Particle *p, int *count, Particle *q, int n) {
  ELEMENT;
  if (p[i].x > .5f)
    q[atomicAdd(count, 1)] = p[i];
}
__global__ void no_vectors(const float4 *p, int *count, float4 *q, int n) {
  ELEMENT;
  if (p[i].x > .5f)
    q[atomicAdd(count, 1)] = p[i];
}
__global__ void no_share_of_items(const float *x, int *next, float *y, int n) {
  float mine = 0;
  for (int k; (k = atomicAdd(next, 1)) < n;)
    mine += x[k] * x[k];
  y[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}
__global__ void no_weighted(const float *x, int *count, float *sum, int n) {
  ELEMENT;
  atomicAdd(sum, x[i] * atomicAdd(count, 1));
}
__global__ void no_weights(const float *x, const float *w, int *count, float *y, int n) {
  ELEMENT;
  y[i] = x[i] * w[atomicAdd(count, 1)];
}
__global__ void no_hash(const float *x, const int *keys, int *table, float *sums, int slots, int n) {
  ELEMENT;
  int slot = (keys[i] * 7 + 3) % slots;
  while (true) {
    const int found = atomicCAS(&table[slot], -1, keys[i]);
    if (found == -1 || found == keys[i])
      break;
    slot = (slot + 1) % slots;
  }
  atomicAdd(&sums[slot], x[i] * x[i]);
}
__global__ void no_slots_kept(const float *x, int *count, float *y, int n) {
  __shared__ int at[32];
  ELEMENT;
  at[t] = atomicAdd(count, 1);
  y[at[t]] = x[i] * x[i];
}
__global__ void no_selected(const float *x, int *count, float *y, int n) {
  ELEMENT;
  const int k = atomicAdd(count, 1);
  y[i] = k & 1 ? x[i] : 2 * x[i];
}
__global__ void no_block_chosen(const float *x, int *next, float *y, int n) {
  __shared__ int place;
  if (threadIdx.x == 0)
    place = atomicAdd(next, 1);
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[place * blockDim.x + threadIdx.x] = x[i] * x[i];
}
__global__ void no_bits(const float *x, int *count, int *y, int n) {
  ELEMENT;
  y[atomicAdd(count, 1)] = __float_as_int(x[i] * x[i]);
}
