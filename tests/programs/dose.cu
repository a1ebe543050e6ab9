// Photon transport with a history a thread and cuRAND's device generator; scattering parameters are smooth weights.
#include <cstdio>
#include <cuda_runtime.h>
#include <curand_kernel.h>

#define BINS 8

__global__ void transport(const float *absorption, const float *scattering, float *dose, float *escaped,
                          unsigned long long seed, int histories, int max_steps, float thickness)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= histories)
        return;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, id, 0, &state);
    float depth = 0.0f, direction = 1.0f, weight = 1.0f;
    for (int step = 0; step < max_steps; ++step) {
        const float u = curand_uniform(&state);
        // an expected-value estimator: fixed flight lengths, attenuated weights
        const float flight = 0.05f + 0.1f * u;
        const int bin = min(max((int)(depth / thickness * BINS), 0), BINS - 1);
        const float total = absorption[bin] + scattering[bin];
        const float survive = expf(-total * flight);
        const float lost = weight * (1.0f - survive);
        atomicAdd(&dose[bin], lost * absorption[bin] / total);
        weight = weight * survive + lost * scattering[bin] / total;
        if (curand_uniform(&state) < 0.3f)
            direction = -direction;
        depth += direction * flight;
        if (depth < 0.0f || depth >= thickness)
            break;
    }
    escaped[id] = weight;
}

int main()
{
    float host[BINS], *absorption, *scattering, *dose, *escaped;
    const int histories = 4096;
    for (int i = 0; i < BINS; ++i)
        host[i] = 0.5f + 0.1f * i;
    cudaMalloc(&absorption, sizeof host);
    cudaMalloc(&scattering, sizeof host);
    cudaMalloc(&dose, sizeof host);
    cudaMalloc(&escaped, histories * sizeof(float));
    cudaMemcpy(absorption, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(scattering, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(dose, 0, sizeof host);
    transport<<<histories / 128, 128>>>(absorption, scattering, dose, escaped, 1234ull, histories, 100, 2.0f);
    cudaMemcpy(host, dose, sizeof host, cudaMemcpyDeviceToHost);
    for (float d : host)
        printf("%g ", d / histories);
    puts("");
}
