// The exponential of every element.
template <typename T>
__global__ void exponential(const T *a, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = exp(a[i]);
}
