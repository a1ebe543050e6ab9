// A channel strip: biquad cascade (IIR), FIR reverb taps, soft clipping. One channel a thread for the IIR part.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define N_STAGES 3
#define PI_F 3.14159265358979f

typedef struct biquad { float b0, b1, b2, a1, a2; } biquad_t;

__host__ __device__ biquad_t lowpass(float freq, float q)
{
    biquad_t s;
    float w = 2.0f * PI_F * freq, cw = cosf(w), alpha = sinf(w) / (2.0f * q);
    float a0 = 1.0f + alpha;
    s.b0 = 0.5f * (1.0f - cw) / a0;
    s.b1 = (1.0f - cw) / a0;
    s.b2 = s.b0;
    s.a1 = -2.0f * cw / a0;
    s.a2 = (1.0f - alpha) / a0;
    return s;
}

__global__ void iir(const float *in, float *out, const float *cutoff, const float *resonance, int channels, int samples)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, n, s;
    biquad_t stage[N_STAGES];
    float state[N_STAGES][2] = {{0.0f}};
    if (c >= channels) return;
    for (s = 0; s < N_STAGES; s++)
        stage[s] = lowpass(cutoff[c] * (1 + 0.1f * s), resonance[c]);
    for (n = 0; n < samples; n++) {
        float x = in[n * channels + c], y;
        for (s = 0; s < N_STAGES; s++) {
            y = stage[s].b0 * x + state[s][0];
            state[s][0] = stage[s].b1 * x - stage[s].a1 * y + state[s][1];
            state[s][1] = stage[s].b2 * x - stage[s].a2 * y;
            x = y;
        }
        out[n * channels + c] = tanhf(x);
    }
}

__global__ void fir(const float *in, const float *taps, float *out, int channels, int samples, int n_taps)
{
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long total = (unsigned long long)channels * samples;
    for (; i < total; i += (unsigned long long)gridDim.x * blockDim.x) {
        long n = i / channels, c = i % channels;
        float sum = 0.0f;
        for (long t = 0; t < n_taps && t <= n; ++t)
            sum += taps[t] * in[(n - t) * channels + c];
        out[i] = sum;
    }
}

int main(int argc, char *argv[])
{
    int channels = 2, samples = argc > 1 ? atoi(argv[1]) : 4800, i;
    size_t bytes = (size_t)channels * samples * sizeof(float);
    float *h = (float *)malloc(bytes), *in, *mid, *out, *cut, *res, *taps, values[2] = {0.1f, 0.05f}, q[2] = {0.7f, 0.9f};
    cudaEvent_t t0, t1;
    float ms;
    for (i = 0; i < channels * samples; i++) h[i] = sinf(0.01f * i);
    cudaMalloc((void **)&in, bytes); cudaMalloc((void **)&mid, bytes); cudaMalloc((void **)&out, bytes);
    cudaMalloc((void **)&cut, sizeof values); cudaMalloc((void **)&res, sizeof q); cudaMalloc((void **)&taps, 64 * 4);
    cudaMemcpy(in, h, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(cut, values, sizeof values, cudaMemcpyHostToDevice);
    cudaMemcpy(res, q, sizeof q, cudaMemcpyHostToDevice);
    cudaMemset(taps, 0, 64 * 4);
    cudaEventCreate(&t0); cudaEventCreate(&t1);
    cudaEventRecord(t0, 0);
    iir<<<1, 32>>>(in, mid, cut, res, channels, samples);
    fir<<<16, 128>>>(mid, taps, out, channels, samples, 64);
    cudaEventRecord(t1, 0);
    cudaEventSynchronize(t1);
    cudaEventElapsedTime(&ms, t0, t1);
    printf("%g ms\n", ms);
    free(h);
    return 0;
}
