// Tiles that change from round to round, of sizes that are no multiple of a word.
__global__ void of_launch(const float *x, float *y, int n)
{
    extern __shared__ float tile[];
    float sum = 0;
    for (int first = 0; first < n; first += blockDim.x) {
        tile[threadIdx.x] = first + threadIdx.x < n ? x[first + threadIdx.x] : 0;
        __syncthreads();
        for (int k = 0; k < blockDim.x; ++k) sum += tile[k] * tile[k] * tile[k];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

__global__ void of_five(const float *x, float *y, int n)
{
    __shared__ float tile[5];
    float sum = 0;
    for (int first = 0; first < n; first += 5) {
        if (threadIdx.x < 5) tile[threadIdx.x] = first + threadIdx.x < n ? x[first + threadIdx.x] : 0;
        __syncthreads();
        for (int k = 0; k < 5; ++k) sum += tile[k] * tile[k] * tile[k];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}
