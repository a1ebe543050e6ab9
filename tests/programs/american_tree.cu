/* Binomial trees for American and Bermudan options, one block per option, level by level in shared memory.
   Discrete dividends (escrowed), Leisen-Reimer or CRR parameters. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <time.h>
#include <cuda_runtime.h>

#define MAX_STEPS 256
#define THREADS   32

enum Model { CRR = 0, LEISEN_REIMER = 1 };

typedef struct {
    float S, K, T, r, sigma, q;
    int   put;
    int   exercise_every;   /* 1: American; m: every m-th step; 0: European */
} OptionData;

__device__ float peizer_pratt(float z, int n)
{
    float a = z / (n + 1.0f / 3.0f + 0.1f / (n + 1));
    float e = expf(-a * a * (n + 1.0f / 6.0f));
    return 0.5f + copysignf(0.5f, z) * sqrtf(1.0f - e);
}

__device__ void tree_parameters(const OptionData &o, int steps, int model, float *u, float *d, float *p, float *disc)
{
    float dt = o.T / steps;
    float growth = expf((o.r - o.q) * dt);
    *disc = expf(-o.r * dt);
    if (model == LEISEN_REIMER) {
        float vs = o.sigma * sqrtf(o.T);
        float d1 = (logf(o.S / o.K) + (o.r - o.q + 0.5f * o.sigma * o.sigma) * o.T) / vs;
        float d2 = d1 - vs;
        float ps = peizer_pratt(d1, steps);
        *p = peizer_pratt(d2, steps);
        *u = growth * ps / *p;
        *d = growth * (1.0f - ps) / (1.0f - *p);
    } else {
        *u = expf(o.sigma * sqrtf(dt));
        *d = 1.0f / *u;
        *p = (growth - *d) / (*u - *d);
    }
}

__device__ __forceinline__ float payoff(float s, float k, int put)
{
    float x = put ? k - s : s - k;
    return x > 0.0f ? x : 0.0f;
}

__global__ void price_trees(const OptionData *options, float *prices, float *deltas, int n_options, int steps, int model)
{
    __shared__ float level[MAX_STEPS + 1];
    __shared__ float keep[2];

    const int id = blockIdx.x;
    if (id >= n_options) return;
    const OptionData o = options[id];
    const int tid = threadIdx.x;

    float u, d, p, disc;
    tree_parameters(o, steps, model, &u, &d, &p, &disc);
    const float logu = logf(u), logd = logf(d);

    for (int i = tid; i <= steps; i += blockDim.x) {
        float s = o.S * expf(i * logu + (steps - i) * logd);
        level[i] = payoff(s, o.K, o.put);
    }
    __syncthreads();

    for (int t = steps - 1; t >= 0; --t) {
        /* each thread walks through its part of the level; two barriers, because a node reads its right neighbour */
        for (int base = 0; base <= t; base += blockDim.x) {
            int i = base + tid;
            float v = 0.0f;
            if (i <= t) {
                v = disc * (p * level[i + 1] + (1.0f - p) * level[i]);
                if (o.exercise_every > 0 && t % o.exercise_every == 0) {
                    float s = o.S * expf(i * logu + (t - i) * logd);
                    v = fmaxf(v, payoff(s, o.K, o.put));
                }
            }
            __syncthreads();
            if (i <= t) level[i] = v;
            __syncthreads();
        }
        if (t == 1 && tid == 0) {
            keep[0] = level[0];
            keep[1] = level[1];
        }
    }
    if (tid == 0) {
        prices[id] = level[0];
        deltas[id] = (keep[1] - keep[0]) / (o.S * (u - d));
    }
}

static float uniform(float lo, float hi)
{
    return lo + (hi - lo) * rand() / (float)RAND_MAX;
}

int main(int argc, char *argv[])
{
    int n = 128, steps = 200, i;
    if (argc > 1) steps = atoi(argv[1]);
    if (steps > MAX_STEPS) {
        fprintf(stderr, "at most %d steps\n", MAX_STEPS);
        return 1;
    }
    srand(12345);
    OptionData *h = (OptionData *)malloc(n * sizeof(OptionData)), *d_o;
    float *d_p, *d_d, *prices = (float *)malloc(n * sizeof(float));
    for (i = 0; i < n; i++) {
        h[i].S = uniform(80.f, 120.f);
        h[i].K = 100.f;
        h[i].T = uniform(0.2f, 2.f);
        h[i].r = 0.03f;
        h[i].q = 0.01f;
        h[i].sigma = uniform(0.1f, 0.5f);
        h[i].put = i & 1;
        h[i].exercise_every = i % 3;
    }
    cudaMalloc((void **)&d_o, n * sizeof(OptionData));
    cudaMalloc((void **)&d_p, n * sizeof(float));
    cudaMalloc((void **)&d_d, n * sizeof(float));
    cudaMemcpy(d_o, h, n * sizeof(OptionData), cudaMemcpyHostToDevice);
    clock_t t0 = clock();
    price_trees<<<n, THREADS>>>(d_o, d_p, d_d, n, steps, CRR);
    cudaMemcpy(prices, d_p, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%d trees in %f s\n", n, (double)(clock() - t0) / CLOCKS_PER_SEC);
    for (i = 0; i < 5; i++) printf("%8.4f\n", prices[i]);
    free(h); free(prices);
    cudaFree(d_o); cudaFree(d_p); cudaFree(d_d);
    return 0;
}
