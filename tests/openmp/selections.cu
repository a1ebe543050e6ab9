// Loops that select one of the numbers that their iterations compute.
using T = double;

__device__ T squared(T x) { return x * x; }

// The nearest of several points, with what else is remembered of it.
__global__ void nearest(int n, int m, const T *__restrict__ p, const T *__restrict__ q, const T *__restrict__ weight,
                        T *__restrict__ y, int *__restrict__ which) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  T best = 1000, at = 0;
  int found = -1;
  for (int j = 0; j < m; ++j) {
    T d = 0;
    for (int k = 0; k < 3; ++k)
      d += squared(p[3 * i + k] - q[3 * j + k]);
    if (d < best) {
      best = d;
      at = sin(weight[j]) * p[3 * i];
      found = j;
    }
  }
  y[i] = sqrt(best) + at;
  which[i] = found;
}

// The distance to segments: an iteration with ways of its own.
__global__ void segments(int n, int m, const T *__restrict__ p, const T *__restrict__ q, T *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  T best = 1000;
  for (int j = 0; j < m; ++j) {
    T ax = q[4 * j], ay = q[4 * j + 1], dx = q[4 * j + 2], dy = q[4 * j + 3];
    T t = ((p[2 * i] - ax) * dx + (p[2 * i + 1] - ay) * dy) / (dx * dx + dy * dy);
    if (t < 0)
      t = 0;
    else if (t > 1)
      t = 1;
    else
      t = exp(t - 1) * t;
    T d = squared(p[2 * i] - ax - t * dx) + squared(p[2 * i + 1] - ay - t * dy);
    best = d < best ? d : best;
  }
  y[i] = best;
}

// Spheres that a ray may miss, and the search may end before the last one.
__global__ void hit(int n, int m, const T *__restrict__ ray, const T *__restrict__ sphere, T *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  T first = 50;
  for (int j = 0; j < m; ++j) {
    T b = ray[2 * i] * sphere[3 * j] + ray[2 * i + 1] * sphere[3 * j + 1];
    T c = squared(sphere[3 * j]) + squared(sphere[3 * j + 1]) - squared(sphere[3 * j + 2]);
    T inside = b * b - c;
    if (inside <= 0)
      continue;
    T t = b - sqrt(inside);
    if (t > 0 && t < first)
      first = t;
    if (first < T(0.05))
      break;
  }
  y[i] = first;
}

__global__ void reduced(int n, int m, const T *__restrict__ x, T *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  T least = INFINITY, most = -INFINITY, sum = 0;
  for (int j = 0; j < m; ++j) {
    T v = x[i * m + j];
    least = fmin(least, v * v);
    most = fmax(most, v);
    sum += v;
  }
  y[i] = m > 0 ? 2 * least + 3 * most + sum * sum : x[0];
}

// Windows of two dimensions: a loop in a loop.
__global__ void pooled(int h, int w, int k, const T *__restrict__ x, T *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int wide = w / k;
  if (i >= wide * (h / k))
    return;
  T most = -1000;
  for (int a = 0; a < k; ++a)
    for (int b = 0; b < k; ++b) {
      T v = x[(i / wide * k + a) * w + i % wide * k + b];
      if (v > most)
        most = v;
    }
  y[i] = most * most;
}

// A search in a loop whose results depend on each other.
__global__ void repeated(int n, int m, const T *__restrict__ p, const T *__restrict__ q, T *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  T at = p[i];
  for (int step = 0; step < 3; ++step) {
    T best = 1000, toward = at;
    for (int j = 0; j < m; ++j) {
      T d = squared(at - q[j]);
      if (d < best) {
        best = d;
        toward = q[j] * T(0.5);
      }
    }
    at = at * T(0.5) + toward + sin(best);
  }
  y[i] = at;
}

// Tiles in shared memory, which the next one overwrites.
__global__ void tiled(int m, const T *__restrict__ p, const T *__restrict__ q, T *__restrict__ y) {
  __shared__ T tile[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  T best = 1000, mine = p[i];
  for (int first = 0; first < m; first += 32) {
    tile[threadIdx.x] = q[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      T d = squared(mine - tile[j]) * tile[j];
      if (d < best)
        best = d;
    }
    __syncthreads();
  }
  y[i] = best;
}

// What must stay as it is: the candidate depends on what is carried, that is used otherwise, the loop writes to what it
// reads.
__global__ void dependent(int n, int m, const T *__restrict__ x, T *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  T best = 2, second = 3, running = 0;
  for (int j = 0; j < m; ++j) {
    T v = x[i * m + j] * best;
    if (v < best) {
      second = best;
      best = v;
    }
    running += best * x[i * m + j];
  }
  y[i] = best * second + running;
}

__global__ void overwriting(int n, int m, T *x, T *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  T best = 1000;
  for (int j = 0; j < m; ++j) {
    T v = x[i * m + j];
    if (v < best)
      best = v;
    x[i * m + j] = v * v;
    if (j + 1 < m)
      x[i * m + j + 1] *= v;
  }
  y[i] = best;
}
