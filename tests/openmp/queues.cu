// Queues of indices that threads fill in the order of their arrival, and what reads them in another launch.
__global__ void queue(const int *key, int *count, int *queue, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && key[i] > 0)
    queue[atomicAdd(count, 1)] = i;
}

__global__ void pick(const float *x, const int *queue, const int *count, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < *count)
    y[i] = x[queue[i]] * x[queue[i]];
}

__global__ void scatter(const float *x, const int *queue, const int *count, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < *count)
    y[queue[i]] = x[queue[i]] * x[queue[i]];
}

__global__ void cells(const float *x, int *count, int *cells, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int cell = min(7, int(x[i] * 8));
    cells[cell * n + atomicAdd(&count[cell], 1)] = i;
  }
}

__global__ void near(const float *x, const int *count, const int *cells, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int cell = min(7, int(x[i] * 8));
  float sum = 0;
  for (int k = 0; k < count[cell]; ++k) {
    float apart = x[i] - x[cells[cell * n + k]];
    sum += apart * apart;
  }
  y[i] = sum;
}
