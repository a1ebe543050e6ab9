// Blocks find the nearest of many points: threads search on their own, and halve what is left. The flags of who came
// closer are kept for the reverse sweep.
using T = double;

struct Found {
  T distance;
  int at;
};

__device__ Found searched(int m, T mine, const T *q) {
  Found best = {1000, -1};
  for (int j = threadIdx.x; j < m; j += blockDim.x) {
    const T d = (mine - q[j]) * (mine - q[j]) + sin(q[j]);
    if (d < best.distance)
      best = {d, j};
  }
  return best;
}

__device__ void take(T *distance, int *at, unsigned s) {
  if (threadIdx.x < s && distance[threadIdx.x] > distance[threadIdx.x + s]) {
    distance[threadIdx.x] = distance[threadIdx.x + s];
    at[threadIdx.x] = at[threadIdx.x + s];
  }
  __syncthreads();
}

// Until as many are left as BOUND says; the rest by hand.
template <unsigned BOUND> __device__ void reduced(int m, const T *p, const T *q, T *y, int *which) {
  __shared__ T distance[256];
  __shared__ int at[256];
  const Found mine = searched(m, p[blockIdx.x], q);
  distance[threadIdx.x] = mine.distance;
  at[threadIdx.x] = mine.at;
  __syncthreads();
  unsigned s = blockDim.x / 2;
  for (; s > BOUND; s >>= 1)
    take(distance, at, s);
  if (threadIdx.x == 0) {
    Found best = {distance[0], at[0]};
    for (unsigned k = 1; k < 2 * s; ++k)
      if (distance[k] < best.distance)
        best = {distance[k], at[k]};
    y[blockIdx.x] = best.distance;
    which[blockIdx.x] = best.at;
  }
}

__global__ void to_a_warp(int m, const T *__restrict__ p, const T *__restrict__ q, T *__restrict__ y, int *which) {
  reduced<32>(m, p, q, y, which);
}

__global__ void to_six(int m, const T *__restrict__ p, const T *__restrict__ q, T *__restrict__ y, int *which) {
  reduced<6>(m, p, q, y, which);
}

__global__ void to_one(int m, const T *__restrict__ p, const T *__restrict__ q, T *__restrict__ y, int *which) {
  reduced<0>(m, p, q, y, which);
}
