// One array raised to the power of another, element by element.
template <typename T>
__global__ void power(const T *a, const T *b, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = pow(a[i], b[i]);
}
