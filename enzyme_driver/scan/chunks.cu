// Chains of dense Jacobians of small states, cut into chunks of steps. The Jacobian of step t has the shape [N, N], rows
// by the state after the step, columns by the state before it; cotangents obey g[t] = J[t]^T g[t + 1] + direct[t]. Entry
// (i, j) of step t and sample b lies at t * step_stride + b * sample_stride + i * row_stride + j.
#include <cuda_runtime.h>

constexpr int kWarp = 32;

template <typename T>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(T);
  T at[size];
};

// One matrix of an item on its way from global memory, spread over the item's lanes, 16 bytes at a time where they fit.
template <typename T, int N, int LANES>
struct Matrix {
  static constexpr int width = N % Pack<T>::size == 0 ? Pack<T>::size : 1;
  static constexpr int packs = N * N / width;
  static constexpr int row = N / width;
  static constexpr int each = (packs + LANES - 1) / LANES;
  T held[each * width];

  __device__ void load(const T *from, long long row_stride, int lane) {
#pragma unroll
    for (int e = 0; e < each; ++e) {
      const int pack = e * LANES + lane;
      if (pack >= packs) continue;
      const T *here = from + pack / row * row_stride + pack % row * width;
      if constexpr (width == 1) {
        held[e] = *here;
      } else {
        const Pack<T> read = *reinterpret_cast<const Pack<T> *>(here);
#pragma unroll
        for (int k = 0; k < width; ++k) held[e * width + k] = read.at[k];
      }
    }
  }

  __device__ void store(T *to, int lane) const {
#pragma unroll
    for (int e = 0; e < each; ++e) {
      const int pack = e * LANES + lane;
      if (pack >= packs) continue;
#pragma unroll
      for (int k = 0; k < width; ++k) to[pack * width + k] = held[e * width + k];
    }
  }
};

// products[k, b] = J[last step of chunk k] ... J[first step], and, where DIRECT, offsets[k, b], the cotangent before the
// chunk that its direct cotangents make by themselves. A block is one warp. An item is one chunk of one sample; each of
// its LANES lanes carries COLUMNS cotangents back through the chunk: the unit vectors, and then the direct cotangents.
template <typename T, int N, int COLUMNS, bool DIRECT>
__global__ void __launch_bounds__(kWarp) chunk_products(const T *__restrict__ jacobians, const T *__restrict__ direct,
                                                        T *__restrict__ products, T *__restrict__ offsets, int steps,
                                                        int batch, int chunk, long long step_stride,
                                                        long long sample_stride, long long row_stride) {
  constexpr int lanes = (N + DIRECT + COLUMNS - 1) / COLUMNS, items = kWarp / lanes;
  __shared__ alignas(16) T tiles[items][N * N];
  const int slot = threadIdx.x / lanes, lane = threadIdx.x % lanes;
  const int chunks = (steps + chunk - 1) / chunk;
  const int item = blockIdx.x * items + slot;
  const bool mine = slot < items && item < chunks * batch;
  const int k = mine ? item / batch : 0, sample = mine ? item % batch : 0;
  const int first = k * chunk, end = min(first + chunk, steps);
  T *tile = tiles[mine ? slot : 0];
  T carried[COLUMNS][N];
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
    for (int i = 0; i < N; ++i) carried[c][i] = lane * COLUMNS + c == i ? T(1) : T(0);
  Matrix<T, N, lanes> next;
  const T *mine_from = jacobians + sample * sample_stride;
  if (mine) next.load(mine_from + (end - 1) * step_stride, row_stride, lane);
  for (int s = 0; s < chunk; ++s) {
    const int t = end - 1 - s;
    const bool active = mine && t >= first;
    if (active) next.store(tile, lane);
    __syncwarp();
    if (active && t > first) next.load(mine_from + (t - 1) * step_stride, row_stride, lane);
    if (active) {
      T sums[COLUMNS][N] = {};
      if constexpr (DIRECT)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
          if (lane * COLUMNS + c == N)
#pragma unroll
            for (int j = 0; j < N; ++j) sums[c][j] = direct[(size_t(t) * batch + sample) * N + j];
#pragma unroll
      for (int i = 0; i < N; ++i)
#pragma unroll
        for (int j = 0; j < N; ++j) {
          const T entry = tile[i * N + j];
#pragma unroll
          for (int c = 0; c < COLUMNS; ++c) sums[c][j] += entry * carried[c][i];
        }
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
        for (int j = 0; j < N; ++j) carried[c][j] = sums[c][j];
    }
    __syncwarp();
  }
  if (!mine) return;
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) {
    const int row = lane * COLUMNS + c;
    T *to = row < N ? products + (size_t(item) * N + row) * N : offsets + size_t(item) * N;
    if (row < N || (DIRECT && row == N))
#pragma unroll
      for (int j = 0; j < N; ++j) to[j] = carried[c][j];
  }
}

// cotangents[t] of all steps of each chunk from that behind the chunk, ends[k, b]; cotangents[steps] is the last of these.
// Each lane has an element of an item's cotangent, and the column of the Jacobian for it, read DEPTH steps ahead. DEPTH
// is even, so that a cotangent never overwrites the one that other lanes may still read.
template <typename T, int N, int DEPTH, bool DIRECT>
__global__ void __launch_bounds__(kWarp) chunk_cotangents(const T *__restrict__ jacobians, const T *__restrict__ direct,
                                                          const T *__restrict__ ends, T *__restrict__ cotangents,
                                                          int steps, int batch, int chunk, long long step_stride,
                                                          long long sample_stride, long long row_stride) {
  constexpr int items = kWarp / N;
  const int slot = threadIdx.x / N, j = threadIdx.x % N;
  const int chunks = (steps + chunk - 1) / chunk;
  const int item = blockIdx.x * items + slot;
  const bool mine = slot < items && item < chunks * batch;
  const int k = mine ? item / batch : 0, sample = mine ? item % batch : 0;
  const int first = k * chunk, end = min(first + chunk, steps);
  constexpr int padded = (N + Pack<T>::size - 1) / Pack<T>::size * Pack<T>::size;
  __shared__ alignas(16) T shared[2][items + 1][padded];
  T carried = mine ? ends[size_t(item) * N + j] : T(0);
  if (mine && end == steps) cotangents[(size_t(steps) * batch + sample) * N + j] = carried;
  T ahead[DEPTH][N], added[DEPTH];
  auto load = [&](int d, int t) {
    if (!mine || t < first) return;
    const T *from = jacobians + t * step_stride + sample * sample_stride + j;
#pragma unroll
    for (int i = 0; i < N; ++i) ahead[d][i] = from[i * row_stride];
    if constexpr (DIRECT) added[d] = direct[(size_t(t) * batch + sample) * N + j];
  };
#pragma unroll
  for (int d = 0; d < DEPTH; ++d) load(d, end - 1 - d);
  for (int s = 0; s < chunk; s += DEPTH) {
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
      const int t = end - 1 - s - d;
      const T *whole = shared[d % 2][slot];
      shared[d % 2][slot][j] = carried;
      __syncwarp();
      T sums[4] = {};
      if constexpr (DIRECT) sums[0] = added[d];
#pragma unroll
      for (int i = 0; i < N; ++i) sums[i % 4] += ahead[d][i] * whole[i];
      load(d, t - DEPTH);
      if (mine && t >= first) {
        carried = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        cotangents[(size_t(t) * batch + sample) * N + j] = carried;
      }
    }
  }
}
