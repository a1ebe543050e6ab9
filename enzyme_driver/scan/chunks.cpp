// Chains of dense Jacobians of small states on the host, as chunks.cu has them for a GPU: threads share the pairs of a
// chunk and a sample. Entry (i, j) of step t and sample b lies at t * step_stride + b * sample_stride + i * row_stride
// + j.
#include <algorithm>
#include <cstddef>
#include <vector>

// products[k, b] = J[last step of chunk k] ... J[first step]; where DIRECT, offsets[k, b] is the cotangent before the
// chunk that its direct cotangents make by themselves, carried as one more row.
template <typename T, bool DIRECT>
void chunk_products(const T *jacobians, const T *direct, T *products, T *offsets, int steps, int batch, int chunk,
                    int n, long long step_stride, long long sample_stride, long long row_stride) {
  const int chunks = (steps + chunk - 1) / chunk, rows = n + DIRECT;
#pragma omp parallel
  {
    std::vector<T> carried(rows * n), sums(rows * n);
#pragma omp for schedule(static)
    for (long long item = 0; item < (long long)chunks * batch; ++item) {
      const int k = item / batch, sample = item % batch;
      const int first = k * chunk, end = std::min(first + chunk, steps);
      std::fill(carried.begin(), carried.end(), T(0));
      for (int i = 0; i < n; ++i)
        carried[i * n + i] = T(1);
      for (int t = end - 1; t >= first; --t) {
        const T *matrix = jacobians + t * step_stride + sample * sample_stride;
        std::fill(sums.begin(), sums.end(), T(0));
        if (DIRECT)
          std::copy_n(direct + ((size_t)t * batch + sample) * n, n, &sums[n * n]);
        for (int c = 0; c < rows; ++c)
          for (int i = 0; i < n; ++i) {
            const T factor = carried[c * n + i];
            const T *row = matrix + i * row_stride;
            T *sum = &sums[c * n];
#pragma omp simd
            for (int j = 0; j < n; ++j)
              sum[j] += factor * row[j];
          }
        std::swap(carried, sums);
      }
      std::copy_n(carried.data(), n * n, products + item * n * n);
      if (DIRECT)
        std::copy_n(&carried[n * n], n, offsets + item * n);
    }
  }
}

// cotangents[t] of all steps of each chunk from that behind the chunk, ends[k, b]; cotangents[steps] is the last of
// these.
template <typename T, bool DIRECT>
void chunk_cotangents(const T *jacobians, const T *direct, const T *ends, T *cotangents, int steps, int batch,
                      int chunk, int n, long long step_stride, long long sample_stride, long long row_stride) {
  const int chunks = (steps + chunk - 1) / chunk;
#pragma omp parallel for schedule(static)
  for (long long item = 0; item < (long long)chunks * batch; ++item) {
    const int k = item / batch, sample = item % batch;
    const int first = k * chunk, end = std::min(first + chunk, steps);
    const T *carried = ends + item * n;
    if (end == steps)
      std::copy_n(carried, n, cotangents + ((size_t)steps * batch + sample) * n);
    for (int t = end - 1; t >= first; --t) {
      const T *matrix = jacobians + t * step_stride + sample * sample_stride;
      const size_t at = ((size_t)t * batch + sample) * n;
      T *sum = cotangents + at;
      for (int j = 0; j < n; ++j)
        sum[j] = DIRECT ? direct[at + j] : T(0);
      for (int i = 0; i < n; ++i) {
        const T factor = carried[i];
        const T *row = matrix + i * row_stride;
#pragma omp simd
        for (int j = 0; j < n; ++j)
          sum[j] += factor * row[j];
      }
      carried = sum;
    }
  }
}
