// Parameters that all threads have in common: a material, a camera, the weights of a filter, the rates of a reaction.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

struct Material {
    float ambient, diffuse, specular, shininess, fresnel;
};

struct Camera {
    double focal[2], centre[2], distortion[3];
    float unused;
};

struct Law {
    float *rates;
    double *scale;
};

// Lanes return early, and few are lit: they add to other constants than those in the dark.
__global__ void shade(const float3 *__restrict__ normals, const Material *__restrict__ material, float exposure,
                      float *__restrict__ colour, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float3 n = normals[y * width + x];
    const float facing = n.z / sqrtf(n.x * n.x + n.y * n.y + n.z * n.z);
    float sum = material->ambient;
    if (facing > 0.f) {
        sum += material->diffuse * facing;
        if (facing > 0.6f)
            sum += material->specular * powf(facing, material->shininess);
    } else {
        sum -= material->fresnel * facing * facing;
    }
    colour[y * width + x] = 1.f - expf(-exposure * sum);
}

// Threads walk through the points with the grid's stride.
__global__ void reprojection(const double3 *points, const Camera *camera, double2 *pixels, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const double u = points[i].x / points[i].z, v = points[i].y / points[i].z, r2 = u * u + v * v;
        const double *k = camera->distortion, scale = 1 + r2 * (k[0] + r2 * (k[1] + r2 * k[2]));
        pixels[i].x = camera->focal[0] * u * scale + camera->centre[0];
        pixels[i].y = camera->focal[1] * v * scale + camera->centre[1];
    }
}

// Steps of a filter in shared memory, where threads wait for each other; those beyond the signal have returned.
__global__ void smooth(const double *signal, const double *taps, const float *gain, double *smoothed, int count,
                       int steps)
{
    __shared__ double tile[2][130];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[0][t + 1] = i < count ? signal[i] : 0.0;
    if (t < 2)
        tile[0][t ? blockDim.x + 1 : 0] = tile[1][t ? blockDim.x + 1 : 0] = 0.0;
    tile[1][t + 1] = 0.0;
    __syncthreads();
    if (i >= count)
        return;
    for (int step = 0; step < steps; ++step) {
        const double *from = tile[step & 1];
        tile[1 - (step & 1)][t + 1] = taps[0] * from[t] + taps[1] * from[t + 1] * from[t + 1] + taps[3] * from[t + 2];
        __syncthreads();
    }
    smoothed[i] = *gain * tile[steps & 1][t + 1];
}

// As many steps as each thread needs.
__global__ void decay(const float *amounts, const int *steps, Law law, float *left, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float amount = amounts[i];
    for (int step = steps[i]; step > 0; --step)
        amount -= 0.1f * (law.rates[0] * amount + law.rates[1] * amount * amount / (law.rates[2] + amount));
    left[i] = float(*law.scale) * amount;
}

// A loop leads all threads through the coefficients; some threads leave it before, others skip some.
__global__ void series(const float *x, const double *coefficients, const float *phases, int terms, double *sums,
                       int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    double sum = 0;
    for (int k = 0; k < terms - (i & 1); ++k) {
        const float wave = cosf(0.01f * k * x[i] + phases[k % 7]);
        if ((i + k) % 5)
            sum += coefficients[k] * wave;
        else
            sum += wave * wave;
    }
    sums[i] = 0.01 * sum * sum;
}

// Layers whose sizes are known when the kernel runs: a thread has a sample.
struct Layers {
    float *weights, *biases;
    int width;
};

__global__ void network(Layers layers, const float *samples, float *scores, int depth, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float state[4] = {samples[4 * i], samples[4 * i + 1], samples[4 * i + 2], samples[4 * i + 3]};
    for (int layer = 0; layer < depth; ++layer) {
        float next[4];
        for (int row = 0; row < 4; ++row) {
            float sum = layers.biases[layer * 4 + row];
            for (int k = 0; k < 4; ++k)
                sum += layers.weights[(layer * 4 + row) * layers.width + k] * state[k];
            next[row] = tanhf(sum);
        }
        for (int k = 0; k < 4; ++k)
            state[k] = next[k];
    }
    scores[i] = state[0] * state[1] + state[2] - state[3];
}

int main()
{
    constexpr int side = 40, count = side * side;
    float *rates, *amounts, *left;
    double *scale;
    int *steps;
    cudaMalloc(&rates, 3 * sizeof(float));
    cudaMalloc(&scale, sizeof(double));
    cudaMalloc(&steps, count * sizeof(int));
    cudaMalloc(&amounts, count * sizeof(float));
    cudaMalloc(&left, count * sizeof(float));
    std::vector<float> ones(count, 1.f);
    cudaMemcpy(rates, ones.data(), 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(scale, 0, sizeof(double));
    cudaMemset(steps, 0, count * sizeof(int));
    cudaMemcpy(amounts, ones.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    decay<<<(count + 69) / 70, 70>>>(amounts, steps, Law{rates, scale}, left, count);
    printf("%d\n", (int)cudaDeviceSynchronize());
    return 0;
}
