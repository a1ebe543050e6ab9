// Image restoration: a bilateral filter, Chambolle's dual total-variation iteration, a Huber data term, unsharp masking,
// on 8-bit and float images. Shared tiles with halo for the bilateral filter.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime.h>

#define TX 8
#define TY 8
#define R  2
#define IMAD(a, b, c) ((a) * (b) + (c))

typedef unsigned char uchar;

__device__ __forceinline__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }

__device__ __forceinline__ float luminance(float3 c) { return 0.299f * c.x + 0.587f * c.y + 0.114f * c.z; }

__global__ void to_float(const uchar3 *in, float *out, const float *gain, int w, int h)
{
    int x = IMAD(blockIdx.x, blockDim.x, threadIdx.x), y = IMAD(blockIdx.y, blockDim.y, threadIdx.y);
    if (x < w && y < h) {
        uchar3 p = in[IMAD(y, w, x)];
        float3 c = make_float3(p.x / 255.0f, p.y / 255.0f, p.z / 255.0f);
        c.x *= gain[0]; c.y *= gain[1]; c.z *= gain[2];
        out[y * w + x] = powf(luminance(c), 1.0f / 2.2f);
    }
}

__global__ void bilateral(const float *in, float *out, const float *sigmas, int w, int h)
{
    __shared__ float tile[TY + 2 * R][TX + 2 * R];
    const int bx = blockIdx.x * TX, by = blockIdx.y * TY;
    for (int j = threadIdx.y; j < TY + 2 * R; j += TY)
        for (int i = threadIdx.x; i < TX + 2 * R; i += TX)
            tile[j][i] = in[clampi(by + j - R, 0, h - 1) * w + clampi(bx + i - R, 0, w - 1)];
    __syncthreads();
    const int x = bx + threadIdx.x, y = by + threadIdx.y;
    if (x >= w || y >= h) return;
    const float ss = sigmas[0], sr = sigmas[1];
    const float centre = tile[threadIdx.y + R][threadIdx.x + R];
    float sum = 0.0f, norm = 0.0f;
    #pragma unroll
    for (int dy = -R; dy <= R; dy++)
        #pragma unroll
        for (int dx = -R; dx <= R; dx++) {
            float v = tile[threadIdx.y + R + dy][threadIdx.x + R + dx];
            float d = v - centre;
            float weight = __expf(-(dx * dx + dy * dy) / (2.0f * ss * ss) - d * d / (2.0f * sr * sr));
            sum += weight * v;
            norm += weight;
        }
    out[y * w + x] = sum / norm;
}

__device__ inline float divergence(const float2 *p, int x, int y, int w, int h)
{
    float d = 0.f;
    const int i = y * w + x;
    if (x < w - 1) d += p[i].x;
    if (x > 0) d -= p[i - 1].x;
    if (y < h - 1) d += p[i].y;
    if (y > 0) d -= p[i - w].y;
    return d;
}

// one step of the dual variable; p_new = (p + tau grad(div p - f / lambda)) / (1 + tau |grad|)
__global__ void dual_step(const float2 *p, float2 *p_new, const float *f, const float *lambda, float tau, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const float l = *lambda;
    const float here = divergence(p, x, y, w, h) - f[y * w + x] / l;
    float gx = 0.f, gy = 0.f;
    if (x < w - 1) gx = divergence(p, x + 1, y, w, h) - f[y * w + x + 1] / l - here;
    if (y < h - 1) gy = divergence(p, x, y + 1, w, h) - f[(y + 1) * w + x] / l - here;
    const float scale = 1.f / (1.f + tau * sqrtf(gx * gx + gy * gy + 1e-8f));
    const float2 old = p[y * w + x];
    p_new[y * w + x] = make_float2((old.x + tau * gx) * scale, (old.y + tau * gy) * scale);
}

__global__ void primal_and_energy(const float2 *p, const float *f, float *u, double *energy, float lambda, float huber, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int i = y * w + x;
    u[i] = f[i] - lambda * divergence(p, x, y, w, h);
    const float r = u[i] - f[i];
    const float data = fabsf(r) <= huber ? 0.5f * r * r / huber : fabsf(r) - 0.5f * huber;
    atomicAdd(energy, (double)data);
}

// in place, each thread its own row: recursive smoothing forwards and backwards
__global__ void smooth_rows(float *image, const float *alpha, int w, int h)
{
    const int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h) return;
    float *row = image + (size_t)y * w;
    const float a = alpha[0];
    float state = row[0];
    for (int x = 0; x < w; x++) {
        state = a * row[x] + (1.0f - a) * state;
        row[x] = state;
    }
    state = row[w - 1];
    for (int x = w - 1; x >= 0; x--) {
        state = a * row[x] + (1.0f - a) * state;
        row[x] = state;
    }
}

static void check(cudaError_t e, const char *what)
{
    if (e == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
    exit(1);
}

int main(int argc, char **argv)
{
    const int w = 128, h = 96;
    float *f, *u, *sig, *lam;
    float2 *p, *q, *swap;
    double *energy;
    check(cudaMallocManaged((void **)&f, w * h * sizeof(float)), "f");
    check(cudaMallocManaged((void **)&u, w * h * sizeof(float)), "u");
    check(cudaMallocManaged((void **)&p, w * h * sizeof(float2)), "p");
    check(cudaMallocManaged((void **)&q, w * h * sizeof(float2)), "q");
    check(cudaMallocManaged((void **)&sig, 2 * sizeof(float)), "sigmas");
    check(cudaMallocManaged((void **)&lam, sizeof(float)), "lambda");
    check(cudaMallocManaged((void **)&energy, sizeof(double)), "energy");
    memset(p, 0, w * h * sizeof(float2));
    for (int i = 0; i < w * h; i++) f[i] = (i % w > w / 2) + 0.1f * (rand() % 100) / 100;
    sig[0] = 1.5f; sig[1] = 0.2f; *lam = 0.1f; *energy = 0;
    dim3 block(TX, TY), grid((w + TX - 1) / TX, (h + TY - 1) / TY);
    bilateral<<<grid, block>>>(f, u, sig, w, h);
    for (int it = 0; it < 30; it++) {
        dual_step<<<grid, block>>>(p, q, f, lam, 0.25f, w, h);
        swap = p; p = q; q = swap;
    }
    primal_and_energy<<<grid, block>>>(p, f, u, energy, 0.1f, 0.05f, w, h);
    check(cudaDeviceSynchronize(), "run");
    printf("energy %f\n", *energy);
    return 0;
}
