// Lanes that have returned, or have done their part, before others exchange values under a mask that names them or in
// volatile memory.
constexpr unsigned ALL = 0xffffffffu;

__global__ void returned_early(const float *x, float *out, int n) {
  __shared__ float tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] * x[i] : 0.0f;
  __syncthreads();
  if (i >= n) return;
  float v = tile[(threadIdx.x + 1) % 8] * x[i];
  for (int k = 0; k < 3; ++k)
    for (int o = 16; o > 0; o /= 2) v += 0.01f * v * __shfl_xor_sync(ALL, x[i] * v, o);
  out[i] = v;
}

__global__ void half_a_warp(const float *x, float *out) { // blocks of (16, 2)
  __shared__ float rows[2];
  const float v = x[threadIdx.x + 16 * threadIdx.y];
  if (threadIdx.x == 0) rows[threadIdx.y] = v * v;
  __syncthreads();
  if (threadIdx.y == 0) {
    float s = threadIdx.x < 2 ? rows[threadIdx.x] : 0.0f;
    for (int o = 8; o > 0; o /= 2) s += __shfl_down_sync(ALL, s, o);
    if (threadIdx.x == 0) *out = s;
  }
}

__global__ void fewer_each_round(const float *x, float *out) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  tile[i] = x[i];
  __syncthreads();
  float v = tile[(i + 5) % 64];
  for (int k = 0; k < 6; ++k) {
    if (i % 32 >= 30 - 5 * k) return;
    v = v * 0.5f + __shfl_sync(ALL, v, 0) * tile[i];
    __syncwarp();
    out[i] = v;
  }
}

__global__ void votes(const double *x, double *out, int n) {
  __shared__ double tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = x[i % n];
  __syncthreads();
  if (i >= n) return;
  const unsigned many = __popc(__ballot_sync(ALL, x[i] > 0.5));
  out[i] = x[i] * x[i] * many * (__any_sync(ALL, x[i] > 0.9) ? 2 : 1) + tile[63 - threadIdx.x];
}

__global__ void of_a_mask(const float *x, float *out) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  tile[i] = 2 * x[i];
  __syncthreads();
  if (i % 32 >= 20) return;
  float v = tile[i] * x[i];
  if (i % 32 < 16) v += __shfl_xor_sync(0x0000ffffu, v, 8);
  v *= __shfl_up_sync(0x000fffffu, v, 3);
  for (int k = 0; k < i % 4; ++k) v += 0.1f * v * tile[k];
  out[i] = v + __shfl_sync(ALL, v * v, 7);
}

// Groups of lanes add up rows of different lengths in step, without a barrier.
__global__ void rows_by_groups(const int *ends, const float *v, float *y, int rows, int group) {
  __shared__ volatile float s[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, r = i / group, lane = i % group, t = threadIdx.x;
  s[t] = 0;
  if (r < rows) {
    for (int j = (r ? ends[r - 1] : 0) + lane; j < ends[r]; j += group) s[t] += v[j] * v[j / 2];
    int half = group / 2;
    while (half > 0) {
      if (lane < half) s[t] += s[t + half];
      half /= 2;
    }
    if (lane == 0) y[r] = s[t];
  }
}

// A warp for each row, as softmax is written: the maximum so far and the sum beside it.
__global__ void softmax_rows(const float *x, float *y, int rows, int n) {
  const int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float *row = x + r * n;
  float most = -1e30f, sum = 0;
  for (int i = lane; i < n; i += 32) {
    const float before = most;
    most = fmaxf(most, row[i]);
    sum = sum * expf(before - most) + expf(row[i] - most);
  }
  float all = most;
  for (int o = 16; o > 0; o /= 2) all = fmaxf(all, __shfl_xor_sync(ALL, all, o));
  sum *= expf(most - all);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(ALL, sum, o);
  for (int i = lane; i < n; i += 32) y[r * n + i] = expf(row[i] - all) / sum;
}

// A norm with a gain and a bias, to which every row adds.
__global__ void norm_rows(const float *x, const float *gain, const float *bias, float *y, int rows, int n) {
  const int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float *row = x + r * n;
  float mean = 0, square = 0;
  for (int i = lane; i < n; i += 32) mean += row[i];
  for (int o = 16; o > 0; o /= 2) mean += __shfl_xor_sync(ALL, mean, o);
  mean /= n;
  for (int i = lane; i < n; i += 32) square += (row[i] - mean) * (row[i] - mean);
  for (int o = 16; o > 0; o /= 2) square += __shfl_xor_sync(ALL, square, o);
  const float scale = rsqrtf(square / n + 1e-5f);
  for (int i = lane; i < n; i += 32) y[r * n + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}

// Blocks that walk through rows: a thread adds to the same columns of the gain in each, and to no more than it has room
// for in some launches.
__global__ void scaled_rows(const float *x, const float *gain, float *y, int rows, int n) {
  for (int r = blockIdx.x; r < rows; r += gridDim.x)
    for (int c = threadIdx.x; c < n; c += blockDim.x) y[r * n + c] = x[r * n + c] * x[r * n + c] * gain[c];
}

// Products of two rows at several distances, each summed by a warp.
__global__ void correlated(const float *a, const float *b, float *out, int rows, int n, int reach) {
  const int r = blockIdx.x * blockDim.y + threadIdx.y;
  if (r >= rows) return;
  for (int d = 0; d < reach; ++d) {
    float sum = 0;
    for (int k = 0; k < 2; ++k) {
      const int at = r + d + k - reach / 2;
      if (at >= 0 && at < rows)
        for (int i = threadIdx.x; i < n; i += 32) sum += a[r * n + i] * b[at * n + i];
    }
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(ALL, sum, o);
    if (threadIdx.x == 0) out[r * reach + d] = sum;
  }
}

// Lanes return before barriers that others come to, and these barriers count: lanes of a warp wait at different ones.
__global__ void counted_apart(const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x;
    __shared__ volatile float quick[64];
    __shared__ float tile[64];
    quick[lane] = 0;
    if (lane % 32 >= 27) return;
    float value = x[i];
    tile[lane] = value * value;
    __syncthreads();
    if (__syncthreads_or(value > 1.1f)) value *= 0.76f;
    value += 0.47f * tile[lane / 32 * 32 + lane % 4];
    __syncthreads();
    value -= 0.01f * __syncthreads_count(value > 1);
    if (lane % 8 == 5) return;
    if (__syncthreads_and(lane % 8 != 5)) value *= 1.5f;
    y[i] = value * value;
}

__global__ void missed_barriers(const float *x, float *y, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x;
    __shared__ float tile[64];
    float value = x[i];
    for (int round = 0; round < rounds; ++round) {
        if (lane % 8 > 7 - round) return;
        tile[lane] = value;
        __syncthreads();
        value += 0.3f * tile[lane / 8 * 8] * value;
        __syncthreads();
    }
    y[i] = value;
}

__device__ float folded(const float *a, int l, int r) {
  if (r - l <= 1)
    return l < r ? a[l] : 0.0f;
  const int half = (l + r) / 2;
  const float one = folded(a, l, half), other = folded(a, half, r);
  return one > other ? one + 0.3f * other : other - 0.2f * one * other;
}

__global__ void asked_by_all(const float *x, float *out) { // lanes come from calls at different times
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float t[4];
  for (int k = 0; k < 4; ++k)
    t[k] = x[i] * x[i / 32 * 32 + (i * 7 + k) % 32];
  float v = tanhf(folded(t, 0, 4) + 0.2f * folded(t, (i + 3) % 4, 4));
  const unsigned here = __activemask();
  v = 0.4f * v + 0.8f * __shfl_sync(here, v * v, __ffs(here) - 1) + 0.01f * __popc(here) * v;
  out[i] = v * v;
}

// Lanes leave the inner loop at two places. Its reverse is entered at two, behind an exchange and a division that lanes
// do in different ways: those whose numerator is zero take longer.
__global__ void sifted(const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float t[8];
    for (int k = 0; k < 8; ++k) t[k] = x[i / 32 * 32 + (lane * 7 + k) % 32];
    for (int at = 3; at >= 0; --at) {
        int k = at;
        while (2 * k + 1 < 8) {
            int son = 2 * k + 1;
            if (son + 1 < 8 && t[son] < t[son + 1]) ++son;
            if (!(t[k] < t[son])) break;
            const float other = t[k];
            t[k] = t[son];
            t[son] = other;
            k = son;
        }
    }
    float value = x[i];
    for (int o = 16; o > 0; o /= 2) value = 0.6f * value + 0.4f * __shfl_xor_sync(ALL, value, o);
    y[i] = t[0] * t[5] + value / (1.5f + t[7]) * (lane % 3 ? 1.3f : 0.0f);
}

// As many iterations for all lanes, of which each leaves the inner loop elsewhere: what counts these for a warp must not
// be changed once for each group of lanes.
__global__ void sifted_apart(const double *x, double *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    double t[11];
#pragma unroll 1
    for (int k = 0; k < 11; ++k) t[k] = x[i / 32 * 32 + (lane * 7 + k) % 32];
#pragma unroll 1
    for (int at = 10; at >= 0; --at) {
        int k = at;
        while (2 * k + 1 < 11) {
            int son = 2 * k + 1;
            if (son + 1 < 11 && t[son] < t[son + 1]) ++son;
            if (!(t[k] < t[son])) break;
            const double other = t[k];
            t[k] = t[son];
            t[son] = 0.7 * other * t[k];
            k = son;
        }
    }
    double value = 0;
    for (int k = 0; k < 11; ++k) value = value * x[i] + t[k];
    y[i] = value;
}
