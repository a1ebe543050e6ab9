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

// What fills the tile is carried from round to round: the threads keep it, more words than they are, or fewer.
__global__ void of_state(const float *x, float *y, int n)
{
    __shared__ float tile[40];
    float state = x[threadIdx.x], sum = 0;
    for (int round = 0; round < n; ++round) {
        for (int k = threadIdx.x; k < 40; k += blockDim.x) tile[k] = state * (k + 1);
        __syncthreads();
        for (int k = 0; k < 40; ++k) sum += tile[k] * tile[k] * tile[39 - k];
        __syncthreads();
        state = state / 2 + x[round];
    }
    y[threadIdx.x] = sum;
}
