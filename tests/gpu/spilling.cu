// Gradients that need more registers than a thread can have: what all rounds multiply waits for the reverse sweep. What
// has none goes to shared memory where a block's warps are whole.
constexpr int kNumbers = 24, kRounds = 8;

template <int kBlock>
__global__ void __launch_bounds__(kBlock) rounds_in(const double *x, double *y, int n)
{
    const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int i = blockIdx.x * blockDim.x * blockDim.y * blockDim.z + thread;
    if (i >= n)
        return;
    double a[kNumbers];
#pragma unroll
    for (int k = 0; k < kNumbers; ++k)
        a[k] = x[k * n + i];
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
        double b[kNumbers];
#pragma unroll
        for (int k = 0; k < kNumbers; ++k)
            b[k] = 0.5 * a[k] * a[(k + 1) % kNumbers] + a[(k + 7) % kNumbers];
#pragma unroll
        for (int k = 0; k < kNumbers; ++k)
            a[k] = b[k];
    }
#pragma unroll
    for (int k = 0; k < kNumbers; ++k)
        y[k * n + i] = a[k];
}

template __global__ void rounds_in<64>(const double *, double *, int);
template __global__ void rounds_in<80>(const double *, double *, int);
