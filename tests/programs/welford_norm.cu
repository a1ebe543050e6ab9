// Norms whose mean and variance are found in one pass by Welford's method: of channels by a thread for each, of rows by
// a warp for each, in packs of four, and of rows in half precision by a block, whose lanes and warps merge what they
// have by Chan's formula.
#include <cstdio>
#include <cuda_fp16.h>

template <typename T> struct Moments {
  T mean = 0, squares = 0, count = 0;

  __device__ void add(T value) {
    count += 1;
    const T delta = value - mean;
    mean += delta / count;
    squares += delta * (value - mean);
  }

  __device__ void merge(T other_mean, T other_squares, T other_count) {
    if (other_count == 0)
      return;
    const T total = count + other_count, share = other_count / total, delta = other_mean - mean;
    mean += delta * share;
    squares += other_squares + delta * delta * count * share;
    count = total;
  }
};

__global__ void channel_norm(const double *x, double *y, double *mean_out, double *scale_out, int samples, int channels,
                             double epsilon) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels)
    return;
  double mean = 0, squares = 0;
  for (int n = 1; n <= samples; ++n) {
    const double delta = x[(n - 1) * channels + c] - mean;
    mean += delta / n;
    squares += delta * delta * (n - 1) / n;
  }
  const double scale = rsqrt(squares / samples + epsilon);
  for (int s = 0; s < samples; ++s)
    y[s * channels + c] = (x[s * channels + c] - mean) * scale;
  mean_out[c] = mean;
  scale_out[c] = scale;
}

__global__ void row_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *scale,
                         int rows, int columns, float epsilon) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows)
    return;
  const float4 *from = reinterpret_cast<const float4 *>(x + row * columns);
  Moments<float> mine;
  for (int i = lane; i < columns / 4; i += 32) {
    const float4 pack = from[i];
    mine.add(pack.x);
    mine.add(pack.y);
    mine.add(pack.z);
    mine.add(pack.w);
  }
  for (int apart = 16; apart > 0; apart /= 2)
    mine.merge(__shfl_down_sync(~0u, mine.mean, apart), __shfl_down_sync(~0u, mine.squares, apart),
               __shfl_down_sync(~0u, mine.count, apart));
  const float mu = __shfl_sync(~0u, mine.mean, 0);
  const float inverse = rsqrtf(__shfl_sync(~0u, mine.squares, 0) / __shfl_sync(~0u, mine.count, 0) + epsilon);
  for (int i = lane; i < columns; i += 32)
    y[row * columns + i] = (x[row * columns + i] - mu) * inverse * gamma[i] + beta[i];
  if (lane == 0) {
    mean[row] = mu;
    scale[row] = inverse;
  }
}

__global__ void half_norm(const __half *x, const float *gamma, __half *y, float *scale, int columns, float epsilon) {
  __shared__ float means[32], squares[32], counts[32];
  const __half *from = x + blockIdx.x * columns;
  Moments<float> mine;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    mine.add(__half2float(from[i]));
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2)
    mine.merge(__shfl_xor_sync(~0u, mine.mean, apart), __shfl_xor_sync(~0u, mine.squares, apart),
               __shfl_xor_sync(~0u, mine.count, apart));
  if (threadIdx.x % 32 == 0) {
    means[threadIdx.x / 32] = mine.mean;
    squares[threadIdx.x / 32] = mine.squares;
    counts[threadIdx.x / 32] = mine.count;
  }
  __syncthreads();
  Moments<float> all;
  for (int w = 0; w < blockDim.x / 32; ++w)
    all.merge(means[w], squares[w], counts[w]);
  const float inverse = rsqrtf(all.squares / all.count + epsilon);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[blockIdx.x * columns + i] = __float2half((__half2float(from[i]) - all.mean) * inverse * gamma[i]);
  if (threadIdx.x == 0)
    scale[blockIdx.x] = inverse;
}

// With integers as counts, and rows by a loop over the grid.
__global__ void spread(const double *x, const double *weight, double *out, int rows, int columns) {
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    double mean = 0, squares = 0;
    int count = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
      const double value = x[row * columns + i] * weight[i], delta = value - mean;
      mean += delta / ++count;
      squares += delta * (value - mean);
    }
    for (int apart = 1; apart < 32; apart *= 2) {
      const double other_mean = __shfl_xor_sync(~0u, mean, apart), others = __shfl_xor_sync(~0u, squares, apart);
      const int other_count = __shfl_xor_sync(~0u, count, apart), total = count + other_count;
      const double factor = 1.0 / max(1, total), delta = mean - other_mean;
      squares += others + delta * delta * count * other_count * factor;
      mean = (count * mean + other_count * other_mean) * factor;
      count = total;
    }
    if (threadIdx.x == 0)
      out[row] = sqrt(squares / (count - 1)) / mean;
  }
}

int main() {
  const int rows = 4, columns = 256;
  float *x, *gamma, *beta, *y, *mean, *scale;
  cudaMallocManaged(&x, rows * columns * sizeof(float));
  cudaMallocManaged(&y, rows * columns * sizeof(float));
  cudaMallocManaged(&gamma, columns * sizeof(float));
  cudaMallocManaged(&beta, columns * sizeof(float));
  cudaMallocManaged(&mean, rows * sizeof(float));
  cudaMallocManaged(&scale, rows * sizeof(float));
  for (int i = 0; i < rows * columns; ++i)
    x[i] = (i * 7919 % 1000) * 1e-3f;
  for (int i = 0; i < columns; ++i)
    gamma[i] = 1, beta[i] = 0;
  row_norm<<<(rows + 1) / 2, dim3(32, 2)>>>(x, gamma, beta, y, mean, scale, rows, columns, 1e-5f);
  cudaDeviceSynchronize();
  printf("%f %f\n", y[1], mean[0]);
}
