// Structs of an integer and a number in shared memory, copied as a whole.
struct Best {
  int at;
  float value;
};
struct Wide {
  double value;
  int at;
};

__global__ void largest(const float *x, float *y) {
  __shared__ Best best[32];
  int t = threadIdx.x;
  best[t] = {t, x[t]};
  __syncthreads();
  for (int half = 16; half > 0; half >>= 1) {
    if (t < half && best[t + half].value > best[t].value)
      best[t] = best[t + half];
    __syncthreads();
  }
  y[t] = best[0].value * x[t] + best[0].at;
}

__global__ void largest_of_rows(const double *x, double *y) {
  __shared__ Wide best[4][8];
  int row = threadIdx.x / 8, t = threadIdx.x % 8;
  best[row][t].value = x[threadIdx.x];
  best[row][t].at = t;
  __syncthreads();
  for (int half = 4; half > 0; half >>= 1) {
    if (t < half && best[row][t + half].value > best[row][t].value)
      best[row][t] = best[row][t + half];
    __syncthreads();
  }
  if (t == 0 && row > 0)
    best[row][1] = best[row - 1][0];
  __syncthreads();
  y[threadIdx.x] = best[row][0].value * x[threadIdx.x] + best[row][1].value * best[row][0].at;
}

__global__ void sorted(const float *x, float *y) {
  __shared__ Best all[32];
  int t = threadIdx.x;
  all[t].at = t;
  all[t].value = x[t];
  __syncthreads();
  for (int round = 0; round < 32; ++round) {
    int low = 2 * t + round % 2;
    if (low + 1 < 32 && all[low].value > all[low + 1].value) {
      Best kept = all[low];
      all[low] = all[low + 1];
      all[low + 1] = kept;
    }
    __syncthreads();
  }
  y[all[t].at] = all[t].value * (t + 1) + all[t].value * all[t].value;
}
