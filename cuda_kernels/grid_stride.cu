// Adam's update in a grid-stride loop: three arrays change in place.
__global__ void adam(float *__restrict__ weight, const float *__restrict__ grad, float *__restrict__ m,
                     float *__restrict__ v, size_t n, float lr, float beta1, float beta2) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)blockDim.x * gridDim.x) {
        m[i] = beta1 * m[i] + (1.0f - beta1) * grad[i];
        v[i] = beta2 * v[i] + (1.0f - beta2) * grad[i] * grad[i];
        weight[i] -= lr * m[i] / (sqrtf(v[i]) + 1e-3f);
    }
}
