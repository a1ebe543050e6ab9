// What stands between layers, number by number, in any precision; computed in float, or in double. One thread for a number.
// Grid: numbers / threads, rounded up.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum Activation { LINEAR, RELU, TANH };

template <typename T>
struct Computed {
    using Type = float;
};
template <>
struct Computed<double> {
    using Type = double;
};

template <int ACTIVATION, typename Number>
__device__ Number activated(Number x)
{
    return ACTIVATION == RELU ? (x > 0 ? x : Number(0)) : ACTIVATION == TANH ? tanh(x) : x;
}

template <typename T, int ACTIVATION>
__global__ void activate(const T *__restrict__ z, T *__restrict__ out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    out[i] = T(activated<ACTIVATION>(typename Computed<T>::Type(z[i])));
}

// The Hadamard product.
template <typename T>
__global__ void hadamard(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = T(typename Computed<T>::Type(a[i]) * typename Computed<T>::Type(b[i]));
}
