// Softmax of the rows of a matrix, one block a row, in dynamic shared memory.
extern __shared__ float scratch[];

__global__ void softmax(const float *in, float *out, int columns) {
    const float *row = in + blockIdx.x * columns;
    int t = threadIdx.x;
    float top = -1e30f;
    for (int c = t; c < columns; c += blockDim.x) top = fmaxf(top, row[c]);
    scratch[t] = top;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) scratch[t] = fmaxf(scratch[t], scratch[t + s]);
        __syncthreads();
    }
    top = scratch[0];
    __syncthreads();
    float sum = 0.0f;
    for (int c = t; c < columns; c += blockDim.x) sum += expf(row[c] - top);
    scratch[t] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) scratch[t] += scratch[t + s];
        __syncthreads();
    }
    sum = scratch[0];
    for (int c = t; c < columns; c += blockDim.x) out[blockIdx.x * columns + c] = expf(row[c] - top) / sum;
}
