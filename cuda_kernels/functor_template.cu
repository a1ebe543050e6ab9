// A kernel template over a functor, as libraries of array operations have it.
struct Softplus {
    __device__ float operator()(float x) const { return log1pf(expf(-fabsf(x))) + fmaxf(x, 0.0f); }
};

struct Swish {
    __device__ float operator()(float x) const { return x / (1.0f + expf(-x)); }
};

template <class Op>
__global__ void transform(const float *in, float *out, int n) {
    const Op op{};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = op(in[i]);
}

void launch_both(const float *in, float *out, int n) {
    transform<Softplus><<<4, 64>>>(in, out, n);
    transform<Swish><<<4, 64>>>(in, out, n);
}
