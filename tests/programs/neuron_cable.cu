// Hodgkin-Huxley neurons on branched cables: gates by exponential Euler, the tree solved by Hines' elimination, synapses
// with delays from a ring of spikes, all in one kernel per network step. Some debugging left in.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

#define MAX_COMPARTMENTS 16
// #define DEBUG_NEURON 0

__device__ int steps_done = 0;
static __device__ const double reversal[3] = {50.0, -77.0, -54.4};     // Na, K, leak

__device__ __forceinline__ double linoid(double x, double y)
{
    // x / (1 - exp(-x / y)), with its limit at zero
    return fabs(x / y) < 1e-6 ? y * (1.0 + 0.5 * x / y) : x / (1.0 - exp(-x / y));
}

struct Gates {
    double m, h, n;

    __device__ __noinline__ void advance(double v, double dt, double q10)
    {
        const double am = 0.1 * linoid(v + 40.0, 10.0), bm = 4.0 * exp(-(v + 65.0) / 18.0);
        const double ah = 0.07 * exp(-(v + 65.0) / 20.0), bh = 1.0 / (1.0 + exp(-(v + 35.0) / 10.0));
        const double an = 0.01 * linoid(v + 55.0, 10.0), bn = 0.125 * exp(-(v + 65.0) / 80.0);
        m += (am / (am + bm) - m) * -expm1(-dt * q10 * (am + bm));
        h += (ah / (ah + bh) - h) * -expm1(-dt * q10 * (ah + bh));
        n += (an / (an + bn) - n) * -expm1(-dt * q10 * (an + bn));
    }
};

struct Cell {
    double g_na, g_k, g_leak, capacitance;
    double axial;
};

// voltage and gates: [compartment][neuron]
__global__ void step_neurons(double *voltage, Gates *gates, const Cell *cells, const int *parent, const double *stimulus,
                             const double *weights, const double *arrivals, double *spikes, int neurons, int compartments,
                             int inner_steps, double dt)
{
    const int id = threadIdx.x + blockDim.x * blockIdx.x;
    if (id >= neurons) return;
    assert(compartments <= MAX_COMPARTMENTS);
    volatile int guard = compartments;
    const Cell c = cells[id];
    double v[MAX_COMPARTMENTS], diagonal[MAX_COMPARTMENTS], rhs[MAX_COMPARTMENTS];
    for (int k = 0; k < guard; ++k) v[k] = voltage[k * neurons + id];

    double input = 0.0;
    for (int j = 0; j < neurons; ++j)
        if (j != id) input += weights[id * neurons + j] * arrivals[j];

    double peak = 0.0;
    for (int s = 0; s < inner_steps; ++s) {
        for (int k = 0; k < compartments; ++k) {
            Gates &g = gates[k * neurons + id];
            g.advance(v[k], dt, 1.0);
            const double na = c.g_na * g.m * g.m * g.m * g.h, kk = c.g_k * g.n * g.n * g.n * g.n;
            diagonal[k] = c.capacitance / dt + na + kk + c.g_leak;
            rhs[k] = c.capacitance / dt * v[k] + na * reversal[0] + kk * reversal[1] + c.g_leak * reversal[2];
        }
        rhs[0] += stimulus[id] + input;
        for (int k = compartments - 1; k > 0; --k) {
            const int p = parent[k];
            diagonal[k] += c.axial;
            diagonal[p] += c.axial;
        }
        // leaves to the root, then back
        for (int k = compartments - 1; k > 0; --k) {
            const int p = parent[k];
            const double f = c.axial / diagonal[k];
            diagonal[p] -= f * c.axial;
            rhs[p] += f * rhs[k];
        }
        v[0] = rhs[0] / diagonal[0];
        for (int k = 1; k < compartments; ++k) v[k] = (rhs[k] + c.axial * v[parent[k]]) / diagonal[k];
        peak += 1.0 / (1.0 + exp(-(v[0] + 20.0) / 4.0));
#ifdef DEBUG_NEURON
        if (id == DEBUG_NEURON) printf("t = %d, v = %f\n", s, v[0]);
#endif
        if (isnan(v[0])) {
            printf("neuron %d diverged at step %d\n", id, s);
            break;
        }
    }
    for (int k = 0; k < compartments; ++k) voltage[k * neurons + id] = v[k];
    spikes[id] = peak / inner_steps;
}

int main()
{
    const int neurons = 32, compartments = 5;
    double *v, *stim, *w, *arr, *spk;
    Gates *g;
    Cell *c;
    int *parent;
    cudaMallocManaged(&v, neurons * compartments * sizeof(double));
    cudaMallocManaged(&g, neurons * compartments * sizeof(Gates));
    cudaMallocManaged(&c, neurons * sizeof(Cell));
    cudaMallocManaged(&parent, compartments * sizeof(int));
    cudaMallocManaged(&stim, neurons * sizeof(double));
    cudaMallocManaged(&w, neurons * neurons * sizeof(double));
    cudaMallocManaged(&arr, neurons * sizeof(double));
    cudaMallocManaged(&spk, neurons * sizeof(double));
    for (int i = 0; i < neurons * compartments; ++i) {
        v[i] = -65.0;
        g[i] = {0.05, 0.6, 0.32};
    }
    const int tree[compartments] = {-1, 0, 1, 1, 3};
    for (int k = 0; k < compartments; ++k) parent[k] = tree[k];
    for (int i = 0; i < neurons; ++i) {
        c[i] = {120.0, 36.0, 0.3, 1.0, 2.0};
        stim[i] = 10.0;
        arr[i] = 0.0;
        for (int j = 0; j < neurons; ++j) w[i * neurons + j] = 0.01;
    }
    for (int t = 0; t < 50; ++t) {
        step_neurons<<<1, neurons>>>(v, g, c, parent, stim, w, arr, spk, neurons, compartments, 10, 0.025);
        cudaDeviceSynchronize();
        std::swap(arr, spk);
    }
    int zero = 0;
    cudaMemcpyToSymbol(steps_done, &zero, sizeof(int));
    printf("%f\n", v[0]);
    return 0;
}
