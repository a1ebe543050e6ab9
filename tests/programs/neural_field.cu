// A neural radiance field in registers: frequency encoding, an MLP with weights in shared memory, volume rendering
// along rays with early termination, hubers loss. No framework.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

constexpr int kFrequencies = 2;
constexpr int kIn = 3 + 3 * 2 * kFrequencies;   // 15
constexpr int kHidden = 16;
constexpr int kOut = 4;
constexpr int kWeights = kIn * kHidden + kHidden + kHidden * kHidden + kHidden + kHidden * kOut + kOut;

struct RayBatch {
    const float3 *origins;
    const float3 *directions;
    const float *near_far;     // pairs
    int count;
};

__device__ __forceinline__ void encode(const float3 p, float (&f)[kIn])
{
    f[0] = p.x; f[1] = p.y; f[2] = p.z;
    float scale = 1.f;
    #pragma unroll
    for (int k = 0; k < kFrequencies; ++k) {
        f[3 + 6 * k + 0] = __sinf(scale * p.x);
        f[3 + 6 * k + 1] = __cosf(scale * p.x);
        f[3 + 6 * k + 2] = __sinf(scale * p.y);
        f[3 + 6 * k + 3] = __cosf(scale * p.y);
        f[3 + 6 * k + 4] = __sinf(scale * p.z);
        f[3 + 6 * k + 5] = __cosf(scale * p.z);
        scale *= 2.f;
    }
}

template <int N, int M, bool RELU>
__device__ __forceinline__ const float *dense(const float *w, const float (&in)[N], float (&out)[M])
{
    #pragma unroll
    for (int m = 0; m < M; ++m) {
        float s = w[N * M + m];
        #pragma unroll
        for (int n = 0; n < N; ++n) s = fmaf(w[m * N + n], in[n], s);
        out[m] = RELU ? fmaxf(s, 0.01f * s) : s;
    }
    return w + N * M + M;
}

__device__ float4 field(const float *w, float3 p)
{
    float f[kIn], h1[kHidden], h2[kHidden], o[kOut];
    encode(p, f);
    w = dense<kIn, kHidden, true>(w, f, h1);
    w = dense<kHidden, kHidden, true>(w, h1, h2);
    dense<kHidden, kOut, false>(w, h2, o);
    float4 r;
    r.x = 1.f / (1.f + __expf(-o[0]));
    r.y = 1.f / (1.f + __expf(-o[1]));
    r.z = 1.f / (1.f + __expf(-o[2]));
    r.w = o[3] > 15.f ? o[3] : log1pf(__expf(o[3]));
    return r;
}

__global__ void __launch_bounds__(64, 4)
render_rays(const RayBatch rays, const float *__restrict__ weights, float3 *__restrict__ colors, float *__restrict__ depths,
            int samples, float3 background)
{
    __shared__ float w[kWeights];
    for (int i = threadIdx.x; i < kWeights; i += blockDim.x) w[i] = weights[i];
    __syncthreads();
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rays.count) return;
    const float3 o = rays.origins[r], d = rays.directions[r];
    const float near = rays.near_far[2 * r], far = rays.near_far[2 * r + 1];
    const float dt = (far - near) / samples;
    float transmittance = 1.f, depth = 0.f;
    float3 color = {0.f, 0.f, 0.f};
    for (int s = 0; s < samples; ++s) {
        const float t = near + (s + 0.5f) * dt;
        const float3 p = {o.x + t * d.x, o.y + t * d.y, o.z + t * d.z};
        const float4 v = field(w, p);
        const float alpha = 1.f - __expf(-v.w * dt);
        const float weight = alpha * transmittance;
        color.x += weight * v.x;
        color.y += weight * v.y;
        color.z += weight * v.z;
        depth += weight * t;
        transmittance *= 1.f - alpha;
        if (transmittance < 1e-4f) break;
    }
    colors[r].x = color.x + transmittance * background.x;
    colors[r].y = color.y + transmittance * background.y;
    colors[r].z = color.z + transmittance * background.z;
    depths[r] = depth;
}

// Huber loss against pixels stored as half
__global__ void photometric(const float3 *colors, const __half *target, float *loss, float delta, int n)
{
    float sum = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float e[3] = {colors[i].x - __half2float(target[3 * i]), colors[i].y - __half2float(target[3 * i + 1]),
                            colors[i].z - __half2float(target[3 * i + 2])};
        for (int c = 0; c < 3; ++c) {
            const float a = fabsf(e[c]);
            sum += a < delta ? 0.5f * e[c] * e[c] : delta * (a - 0.5f * delta);
        }
    }
    for (int offset = 16; offset; offset >>= 1) sum += __shfl_down_sync(~0u, sum, offset);
    if ((threadIdx.x & 31) == 0) atomicAdd(loss, sum / (3 * n));
}

int main()
{
    const int n = 1024;
    std::vector<float3> dirs(n, make_float3(0.f, 0.f, 1.f));
    std::vector<float> weights(kWeights);
    srand(1);
    for (auto &w : weights) w = 0.2f * (rand() / (float)RAND_MAX - 0.5f);
    float3 *o, *d, *c;
    float *nf, *w, *depth;
    cudaMalloc(&o, n * sizeof(float3));
    cudaMalloc(&d, n * sizeof(float3));
    cudaMalloc(&c, n * sizeof(float3));
    cudaMalloc(&nf, 2 * n * sizeof(float));
    cudaMalloc(&w, kWeights * sizeof(float));
    cudaMalloc(&depth, n * sizeof(float));
    cudaMemset(o, 0, n * sizeof(float3));
    cudaMemcpy(d, dirs.data(), n * sizeof(float3), cudaMemcpyHostToDevice);
    cudaMemcpy(w, weights.data(), kWeights * sizeof(float), cudaMemcpyHostToDevice);
    RayBatch rays = {o, d, nf, n};
    render_rays<<<n / 64, 64>>>(rays, w, c, depth, 32, make_float3(1, 1, 1));
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(e));
    return e;
}
