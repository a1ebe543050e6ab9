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

// Numbers whose bytes are copied one by one, and doubles put together from their halves.
__global__ void by_bytes(const float *x, float *y, int n)
{
    int i = threadIdx.x;
    unsigned char from[4];
    memcpy(from, &x[i], 4);
    unsigned char to[4] = {from[0], from[1], from[2], from[3]};
    float v;
    memcpy(&v, to, 4);
    y[i] = v * v;
}

__global__ void by_halves(const double *x, double *y, int n)
{
    const unsigned *words = (const unsigned *)x;
    int i = threadIdx.x;
    y[i] = __hiloint2double(words[2 * i + 1], words[2 * i]) * x[i];
}

// Parts that stay integers.
__global__ void by_exponent(const double *x, double *y, int n)
{
    const unsigned *words = (const unsigned *)x;
    int i = threadIdx.x;
    y[i] = (words[2 * i + 1] >> 20 & 1) ? x[i] * x[i] : 2 * x[i];
}

// Functions that call each other, and all of which are to be inlined.
__device__ __forceinline__ void by_sines(const double *x, double *sum, int from, int to);

__device__ __forceinline__ void by_squares(const double *x, double *sum, int from, int to)
{
    if (to - from == 1) {
        *sum = x[from] * x[from];
        return;
    }
    double one, other;
    by_sines(x, &one, from, (from + to) / 2);
    by_squares(x, &other, (from + to) / 2, to);
    *sum = 0.5 * one + other;
}

__device__ __forceinline__ void by_sines(const double *x, double *sum, int from, int to)
{
    if (to - from == 1) {
        *sum = sin(x[from]);
        return;
    }
    double one, other;
    by_squares(x, &one, from, (from + to) / 2);
    by_sines(x, &other, (from + to) / 2, to);
    *sum = one + 0.25 * other * other;
}

__global__ void in_circles(const double *x, double *y, int n)
{
    int i = threadIdx.x;
    by_squares(x, &y[i], i / 2, n);
}
