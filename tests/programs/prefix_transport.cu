// Optical depth by a block-wide scan (Hillis-Steele, ping-pong buffers), then transmitted light at every depth.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void transmit(const float *density, const float *cross_section, float *light, int n)
{
    extern __shared__ float buffers[];
    float *from = buffers, *to = buffers + blockDim.x;
    const int t = threadIdx.x;
    const int base = blockIdx.x * n;
    from[t] = t < n ? density[base + t] * cross_section[blockIdx.x] : 0.0f;
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        to[t] = t >= offset ? from[t] + from[t - offset] : from[t];
        __syncthreads();
        float *swap = from;
        from = to;
        to = swap;
    }
    if (t < n)
        light[base + t] = __expf(-from[t]);
}

int main()
{
    const int rays = 8, n = 60, threads = 64;
    float *density, *cross, *light;
    cudaMallocManaged(&density, rays * n * sizeof(float));
    cudaMallocManaged(&cross, rays * sizeof(float));
    cudaMallocManaged(&light, rays * n * sizeof(float));
    for (int i = 0; i < rays * n; ++i)
        density[i] = 0.01f * (i % n);
    for (int i = 0; i < rays; ++i)
        cross[i] = 0.5f;
    transmit<<<rays, threads, 2 * threads * sizeof(float)>>>(density, cross, light, n);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    printf("%f\n", light[n - 1]);
    return 0;
}
