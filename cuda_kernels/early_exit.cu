// Threads that return before a barrier count as arrived. Those of `ragged` have nothing to do; those of `halves` leave a value behind.
__global__ void ragged(const float *x, float *y, int n) {
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    tile[threadIdx.x] = x[i] * x[i];
    __syncthreads();
    int last = min(blockDim.x, n - blockIdx.x * blockDim.x) - 1;
    y[i] = tile[last - threadIdx.x] * x[i];
}

__global__ void halves(const float *x, float *y) {
    extern __shared__ float tile[];
    int half = blockDim.x / 2;
    tile[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x >= half) return;
    __syncthreads();
    y[blockIdx.x * half + threadIdx.x] = tile[threadIdx.x] * tile[threadIdx.x + half];
}
