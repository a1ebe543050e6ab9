// Every element where it is positive, zero elsewhere.
template <typename T>
__global__ void relu(const T *a, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] > 0 ? a[i] : T(0);
}
