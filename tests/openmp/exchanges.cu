// Threads of a block hand values on through restricted arrays, in the kernel and in what it calls.
__global__ void shifted(const double *__restrict__ x, double *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = x[i] * x[i];
    y[i] = v;
    __syncthreads();
    if (threadIdx.x > 0) v = 0.25 * v + y[i - 1];
    __syncthreads();
    y[i] = v;
}

__device__ double handed_on(double *__restrict__ room, double v)
{
    int lane = threadIdx.x;
    room[lane] = v;
    __syncthreads();
    double got = room[lane > 0 ? lane - 1 : lane];
    __syncthreads();
    room[lane] = 0;
    return lane > 0 ? 0.25 * v + got : v;
}

__global__ void called(const double *__restrict__ x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = handed_on(y + blockIdx.x * blockDim.x, x[i] * x[i]);
    y[i] += v;
}

// Two arrays that are written do not overlap, though barriers see both.
__global__ void two_arrays(const double *__restrict__ x, double *__restrict__ y, double *__restrict__ kept, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[i] = x[i] * x[i];
    y[i] = kept[i];
    __syncthreads();
    double got = threadIdx.x > 0 ? 0.25 * kept[i] + y[i - 1] : kept[i];
    __syncthreads();
    y[i] = got;
    kept[i] = 0;
}
