// A filter along a row: samples with their halo and the taps, both carved out of one dynamic shared array.
__global__ void filter(const float *signal, const float *taps, float *out, int n, int ntaps) {
    extern __shared__ float pool[];
    float *samples = pool;
    float *kernel = pool + blockDim.x + ntaps - 1;
    int first = blockIdx.x * blockDim.x - ntaps / 2;
    for (int s = threadIdx.x; s < blockDim.x + ntaps - 1; s += blockDim.x) {
        int j = first + s;
        samples[s] = j >= 0 && j < n ? signal[j] : 0.0f;
    }
    for (int k = threadIdx.x; k < ntaps; k += blockDim.x) kernel[k] = taps[k] * taps[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < ntaps; ++k) sum += kernel[k] * samples[threadIdx.x + k];
    out[i] = sum;
}
