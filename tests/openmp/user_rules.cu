// Functions that are left alone, and functions with a gradient of their own, which is told apart by a factor of two.
__device__ int seen;

namespace debug {
__device__ float noted(float x)
{
    atomicCAS(&seen, 0, 1);
    return 3.0f * x;
}
}

__device__ float steep(float x, float y) { return x * x * y; }

__device__ void twice_the_gradient_of_steep(float x, float y, float cotangent, float *d_x, float *d_y)
{
    *d_x = 2.0f * (2.0f * x * y * cotangent);
    *d_y = 2.0f * (x * x * cotangent);
}

__device__ float hard(float x)
{
    atomicCAS(&seen, 0, 2);
    return sqrtf(x);
}

__device__ void gradient_of_hard(float x, float cotangent, float *d_x) { *d_x = 0.5f / sqrtf(x) * cotangent; }

__global__ void uses(const float *x, const float *y, float *z)
{
    int i = threadIdx.x;
    z[i] = steep(x[i], y[i]) + debug::noted(x[i]) * y[i];
}

__global__ void roots(const float *x, float *z) { z[threadIdx.x] = hard(x[threadIdx.x]); }
