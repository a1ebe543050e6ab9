// An array with every sign changed.
template <typename T>
__global__ void negate(const T *a, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = -a[i];
}
