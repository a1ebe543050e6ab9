// Numbers that decide whether they are used, of which the gradient reverses only those that are.
using T = double;
constexpr int TILE = 32;

__device__ T squared(T x) { return x * x; }

// The nearest of several points, a tile of them at a time: what is nearest so far lies in memory.
__global__ void nearest_by_tiles(int n, int m, const T *__restrict__ p, const T *__restrict__ q, T *__restrict__ y,
                                 int *__restrict__ which) {
  __shared__ T tile[2 * TILE];
  for (int first = 0; first < m; first += TILE) {
    const int count = min(TILE, m - first);
    for (int k = threadIdx.x; k < 2 * count; k += blockDim.x)
      tile[k] = q[2 * first + k];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
      T best = 0;
      int at = 0;
      for (int k = 0; k < count; ++k) {
        const T d = squared(tile[2 * k] - p[2 * i]) + squared(tile[2 * k + 1] - p[2 * i + 1]);
        if (k == 0 || d < best) {
          best = d;
          at = first + k;
        }
      }
      if (first == 0 || y[i] > best) {
        y[i] = best;
        which[i] = at;
      }
    }
    __syncthreads();
  }
}

// Neighbours within a radius, out of a tile.
__global__ void within_reach(int n, int m, T reach, const T *__restrict__ p, const T *__restrict__ q,
                             T *__restrict__ y) {
  __shared__ T tile[TILE];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  T sum = 0;
  for (int first = 0; first < m; first += TILE) {
    if (threadIdx.x < TILE)
      tile[threadIdx.x] = first + threadIdx.x < m ? q[first + threadIdx.x] : 100;
    __syncthreads();
    for (int k = 0; i < n && k < TILE; ++k) {
      const T r = squared(tile[k] - p[i]);
      if (r < reach)
        sum += exp(-r) * tile[k];
    }
    __syncthreads();
  }
  if (i < n)
    y[i] = sum;
}

// A number with ways of its own, and a condition within the condition; what is read was written before.
__global__ void by_ways(int n, int m, T *__restrict__ x, T *__restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  T high = 0, low = 0;
  for (int j = 0; j < m; ++j) {
    const T v = x[i * m + j];
    T d;
    if (v > 0.3)
      d = v * v;
    else if (v > -0.4)
      d = sin(3 * v);
    else
      d = v * x[i * m + (j + 1) % m];
    if (d > 0.2) {
      high += log(d) * v;
      if (v < 0.8)
        low += exp(-d) * d;
    }
    x[i * m + j] = 0.5 * v;
  }
  y[i] = high + 2 * low;
}

// Layers until little is left: most are skipped, and one ends it.
__global__ void composited(int n, int m, const T *__restrict__ opacity, T *__restrict__ depth, T *__restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  T left = 1, sum = 0;
  for (int j = 0; j < m; ++j) {
    depth[i * m + j] *= 2;
    const T alpha = fmin(0.9, opacity[j] * exp(-depth[i * m + j]));
    if (alpha < 0.1)
      continue;
    const T then = left * (1 - alpha);
    if (then < 0.05)
      break;
    sum += alpha * left * depth[i * m + j];
    left = then;
  }
  y[i] = sum + left;
}

// Used in any case, too.
__global__ void also_elsewhere(int n, int m, T *__restrict__ x, T *__restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  T all = 0, some = 0;
  for (int j = 0; j < m; ++j) {
    const T d = squared(x[i * m + j]) + all * 0.1;
    x[i * m + j] = d;
    if (d > 0.3)
      some += d * sin(d);
    all += d;
  }
  y[i] = all + some;
}
