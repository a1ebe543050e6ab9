// Barriers in branches and nested loops that all threads of a block take alike.
__global__ void branches(const float *x, const int *rounds, float *y, int mode) {
    __shared__ float a[48], b[48];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, last = blockDim.x - 1;
    a[t] = x[i];
    b[t] = 0.5f;
    if (blockIdx.x % 2 == 0) {
        __syncthreads();
        b[t] = a[last - t];
    }
    for (int r = 0; r < rounds[blockIdx.x]; ++r) {
        __syncthreads();
        float v = a[(t + 1) % blockDim.x];
        for (int k = 0; k < r; ++k) {
            __syncthreads();
            a[t] = 0.5f * v + 0.1f * a[t] * b[t];
            __syncthreads();
            v = a[t > 0 ? t - 1 : last];
        }
        b[t] += v * v;
        if (mode == 1 && r == 1) {
            __syncthreads();
            break;
        }
    }
    switch (mode) {
    case 0:
        __syncthreads();
        y[i] = a[last - t] * b[t];
        break;
    case 1:
        __syncthreads();
        y[i] = b[(t + 3) % blockDim.x];
        break;
    default:
        y[i] = b[t];
    }
}
