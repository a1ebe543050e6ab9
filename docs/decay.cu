__global__ void decay(const float *x, float *y, float rate, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * expf(-rate * x[i]);
}

__global__ void differences(const float *x, float *y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    y[blockIdx.x * 64 + t] = tile[t] * tile[t ^ 1];
}
