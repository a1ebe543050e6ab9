#pragma once

#define FOR_EACH(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)

__device__ double squared(const double *p, const double *q) {
  double sum = 0;
  for (int c = 0; c < 3; ++c)
    sum += (p[c] - q[c]) * (p[c] - q[c]);
  return sum;
}

// Sorted, by shifts; what nothing is put into keeps a large number.
template <int K> __device__ void inserted(int n, int m, const double *p, const double *q, double *y, int *which) {
  FOR_EACH(i, n) {
    double d[K];
    int at[K];
    for (int k = 0; k < K; ++k) {
      d[k] = 1e3 + k;
      at[k] = -1;
    }
    for (int j = 0; j < m; ++j) {
      double near = squared(p + 3 * i, q + 3 * j);
      if (near >= d[K - 1])
        continue;
      int k = K - 1;
      for (; k > 0 && d[k - 1] > near; --k) {
        d[k] = d[k - 1];
        at[k] = at[k - 1];
      }
      d[k] = near;
      at[k] = j;
    }
    for (int k = 0; k < K; ++k) {
      y[i * K + k] = d[k];
      which[i * K + k] = at[k];
    }
  }
}
