// Small kernels, each in a way in which others write such code.

// An index is mirrored at an image's borders until it is inside.
__device__ int mirrored(int k, int n)
{
    while (k < 0 || k >= n)
        k = k < 0 ? -k - 1 : 2 * n - k - 1;
    return k;
}

__global__ void blurred(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = -2; k <= 2; k++)
        sum += x[mirrored(i - 3 * k, n)];
    float apart = 0;
    for (int k = 0; k < n; k += 4) {
        if (x[k] > 3 * sum)
            continue;
        apart += (x[k] - sum) * (x[k] - sum);
    }
    y[i] = apart;
}
