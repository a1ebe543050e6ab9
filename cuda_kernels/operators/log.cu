// The natural logarithm of every element.
template <typename T>
__global__ void logarithm(const T *a, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = log(a[i]);
}
