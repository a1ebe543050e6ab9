// Kernels whose second derivatives are compared with differences of gradients.
struct Arrays {
    const double *from;
    double *to;
};

struct Weights {
    double a, b;
};

__global__ void mixed(const double *x, const double *w, double *y, double *sum, double scale, Weights weights, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double v = x[i];
    for (int k = 0; k < 5; ++k)
        v = v * w[i] + sin(v) * pow(x[i], scale + k);
    y[i] = weights.a * v * exp(w[i]) + y[i] * y[i] * atan2(x[i], w[i]);
    atomicAdd(sum, v * weights.b * x[(i + 1) % n]);
}

// A loop of a length that only the data says, with values kept on the way.
__global__ void converges(const double *x, double *y, int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double v = 1;
    int count = 0;
    while (fabs(v * v * v - x[i]) > 1e-3 && count < 30) {
        v = v - (v * v * v - x[i]) / (3 * v * v);
        ++count;
    }
    steps[i] = count;
    y[i] = v * x[i];
}

// Rounded by a large constant, with an exponent made of the bits.
__global__ void rounded(const double *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double shifted = x[i] * 1.4426950408889634 + 6755399441055744.0;
    double rest = x[i] - (shifted - 6755399441055744.0) * 0.6931471805599453;
    y[i] = __hiloint2double((1023 + __double2loint(shifted)) << 20, 0) * (1 + rest * (1 + rest * (0.5 + rest / 6)));
}

__global__ void through_struct(Arrays arrays, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double table[3];
    for (int k = 0; k < 3; ++k)
        table[k] = hypot(arrays.from[i % n], 1.0 + k);
    if (i < n)
        arrays.to[i] = table[i % 3] * arrays.from[(i * 7) % n] * cbrt(arrays.from[i]);
}

__global__ void together(const double *x, double *y, int n)
{
    __shared__ double tile[32];
    int i = threadIdx.x;
    tile[i] = i < n ? x[i] * x[i] : 0.0;
    __syncthreads();
    if (i < n)
        y[i] = tile[31 - i] * x[i];
}

// A sum over a block by shuffles and shared memory, in some steps.
__global__ void block_sums(const double *x, double *y, int n)
{
    __shared__ double part[2];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = i < n ? exp(x[i]) * x[i] : 0.0;
    for (int step = 0; step < 2; step++) {
        double sum = v * v;
        for (int apart = 16; apart; apart /= 2)
            sum += __shfl_xor_sync(~0u, sum, apart);
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32] = sum;
        __syncthreads();
        v /= 1.0 + part[0] * part[1];
        __syncthreads();
    }
    v *= __shfl_down_sync(~0u, v, 3);
    if (i < n)
        y[i] = v;
}

// Threads return before a barrier, and shared elements are added to.
__global__ void left_early(const double *x, double *y, int n)
{
    __shared__ double bins[3];
    int i = threadIdx.x;
    if (i >= n)
        return;
    if (i < 3)
        bins[i] = 0.0;
    __syncthreads();
    atomicAdd(&bins[i % 3], x[i] * x[i]);
    __syncthreads();
    y[i] = bins[(i + 1) % 3] * x[i];
}

__global__ void in_dynamic_memory(const double *x, double *y)
{
    extern __shared__ double given[];
    given[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = given[0] * given[1];
}

__device__ double own(double a, double b) { return a * a * b; }

__device__ void gradient_of_own(double a, double b, double d, double *da, double *db)
{
    *da = 2 * a * b * d;
    *db = a * a * d;
}

__global__ void uses_own(const double *x, double *y, int n)
{
    int i = threadIdx.x;
    if (i < n)
        y[i] = own(x[i], x[(i + 1) % n]) * x[i];
}

// Functions whose derivatives are other functions of the library.
__global__ void of_library(const double *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = tanh(x[i]) + sinh(0.7 * x[i]) * cosh(x[i]) + tan(0.3 * x[i]) + atan(x[i]) * erf(x[i]);
}
