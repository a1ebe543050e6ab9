// A copy of an array.
template <typename T>
__global__ void copy(const T *a, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i];
}
