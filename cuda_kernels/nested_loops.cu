// Convolution of a row by hand, loops within loops and a running product between them.
__global__ void conv_power(const double *signal, const double *taps, double *out, int n, int ntaps, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double product = 1.0;
    for (int r = 0; r < rounds; r++) {
        double acc = 0.0;
        for (int k = 0; k < ntaps; k++) {
            int j = i + k - ntaps / 2;
            if (j >= 0 && j < n) acc += taps[k] * signal[j];
        }
        product *= 1.0 + acc / (r + 1);
    }
    out[i] = product;
}
