// Small networks, matrices and products in each thread, whose weights all threads have in common.
template <class T, int FROM, int TO> __device__ void layer(const T *weights, const T (&in)[FROM], T (&out)[TO]) {
#pragma unroll
  for (int row = 0; row < TO; ++row) {
    T sum = weights[FROM * TO + row];
#pragma unroll
    for (int column = 0; column < FROM; ++column) sum += weights[row * FROM + column] * in[column];
    out[row] = sum;
  }
}

template <class T, int COUNT> __device__ void bend(T (&values)[COUNT]) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) values[i] = values[i] / (T(1) + values[i] * values[i]);
}

template <class T, int FROM, int WIDTH, int TO> __device__ T network(const T *weights, const T (&in)[FROM]) {
  T first[WIDTH], out[TO], sum = 0;
  layer(weights, in, first);
  bend(first);
  layer(weights + (FROM + 1) * WIDTH, first, out);
  for (int i = 0; i < TO; ++i) sum += out[i] * out[i];
  return sum;
}

template <class T, int FROM> __device__ void powers(T x, T (&in)[FROM]) {
#pragma unroll
  for (int i = 0; i < FROM; ++i) in[i] = i ? in[i - 1] * x : x;
}

// Threads take different numbers of steps, and some return before.
__global__ void __launch_bounds__(96) leaves_early(const float *weights, const float *x, float *out, int n) {
  constexpr int FROM = 9, WIDTH = 10, TO = 3, COUNT = (FROM + 1) * WIDTH + (WIDTH + 1) * TO;
  __shared__ float shared[COUNT];
  for (int i = threadIdx.x; i < COUNT; i += blockDim.x) shared[i] = weights[i];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float left = 1, sum = 0;
  for (int step = 0; step < 6; ++step) {
    float in[FROM];
    powers(x[i] * (1 + 0.1f * step), in);
    const float found = network<float, FROM, WIDTH, TO>(shared, in);
    sum += left * found;
    left *= 1 / (1 + found);
    if (left < 0.3f) break;
  }
  out[i] = sum;
}

// Of double precision, in rows of any width, from memory of the caller.
__global__ void in_double(const double *weights, const double *x, double *out) {
  const int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  double in[7];
  powers(x[i], in);
  if (x[i] > 0.3) out[i] = network<double, 7, 8, 4>(weights, in);
}

// One network after another, and for odd blocks the other way round.
__global__ void several(const float *weights, const float *x, float *out, int networks, int apart) {
  constexpr int FROM = 8, WIDTH = 8, TO = 2, COUNT = (FROM + 1) * WIDTH + (WIDTH + 1) * TO;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int round = 0; round < networks; ++round) {
    const int which = (round + threadIdx.x / apart) % networks;
    float in[FROM];
    powers(x[i] + 0.1f * round, in);
    sum += network<float, FROM, WIDTH, TO>(weights + which * COUNT, in);
  }
  out[i] = sum;
}

// Each weight takes part twice in an iteration, and the inputs are also the second layer's.
__global__ void __launch_bounds__(64) twice(const float *weights, const float *x, float *out, int steps) {
  constexpr int FROM = 6, WIDTH = 9, TO = 5, COUNT = (FROM + 1) * WIDTH + (FROM + WIDTH + 1) * TO;
  __shared__ float shared[COUNT];
  for (int i = threadIdx.x; i < COUNT; i += blockDim.x) shared[i] = weights[i];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int side = -1; side <= 1; side += 2) {
      float in[FROM], first[WIDTH], both[FROM + WIDTH], out[TO];
      powers(x[i] + 0.2f * side + 0.1f * step, in);
      layer(shared, in, first);
      bend(first);
#pragma unroll
      for (int k = 0; k < FROM + WIDTH; ++k) both[k] = k < FROM ? in[k] : first[k - FROM];
      layer(shared + (FROM + 1) * WIDTH, both, out);
      bend(out);
#pragma unroll
      for (int k = 0; k < TO; ++k) sum += out[k];
    }
  }
  out[i] = sum;
}

// Wider than a tile of what a warp leaves at once.
__global__ void __launch_bounds__(64) wide(const float *weights, const float *x, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float in[37], found[35], sum = 0;
  powers(x[i], in);
  layer(weights, in, found);
  bend(found);
  for (int k = 0; k < 35; ++k) sum += found[k] * found[k];
  out[i] = sum;
}
