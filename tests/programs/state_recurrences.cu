// Sequences whose state a thread holds in registers: a matrix that reads and corrects itself (delta rule) with a step's
// vectors in shared memory, a scan of several decays a channel in a plain loop, a unit whose gates see its own cell.
#include <cuda_runtime.h>

template <int N>
__global__ void delta_rule(const float *decay, const float *query, const float *key, const float *value,
                           const float *read, const float *write, float *out, int steps)
{
    const int row = threadIdx.x;
    const float *const from = value + (size_t)blockIdx.x * steps * N;
    __shared__ float d[N], q[N], k[N], r[N], w[N];
    float state[N] = {};
    for (int t = 0; t < steps; ++t) {
        const size_t at = ((size_t)blockIdx.x * steps + t) * N + row;
        __syncthreads();
        d[row] = __expf(-__expf(decay[at]));
        q[row] = query[at];
        k[row] = key[at];
        r[row] = read[at];
        w[row] = write[at];
        __syncthreads();
        float found = 0.f, answer = 0.f;
#pragma unroll
        for (int j = 0; j < N; ++j) found += r[j] * state[j];
        const float mine = from[t * N + row];
#pragma unroll
        for (int j = 0; j < N; ++j) {
            state[j] = state[j] * d[j] + found * w[j] + mine * k[j];
            answer += state[j] * q[j];
        }
        out[at] = answer;
    }
}
template __global__ void delta_rule<32>(const float *, const float *, const float *, const float *, const float *,
                                        const float *, float *, int);
template __global__ void delta_rule<64>(const float *, const float *, const float *, const float *, const float *,
                                        const float *, float *, int);

constexpr int States = 16;

// One thread a channel; all channels of a sample read the same input and output weights of a step.
__global__ void decaying_scan(const float *x, const float *step, const float *rate, const float *in, const float *away,
                              const float *skip, float *y, int length, int channels)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x, sample = blockIdx.y;
    if (c >= channels) return;
    float h[States], a[States];
    for (int s = 0; s < States; s++) {
        h[s] = 0.f;
        a[s] = rate[c * States + s];
    }
    for (int t = 0; t < length; t++) {
        const int row = sample * length + t;
        float dt = step[row * channels + c];
        dt = dt > 20.f ? dt : log1pf(expf(dt));
        const float u = x[row * channels + c];
        float sum = skip[c] * u;
        for (int s = 0; s < States; s++) {
            h[s] = h[s] * expf(dt * a[s]) + dt * in[row * States + s] * u;
            sum += h[s] * away[row * States + s];
        }
        y[row * channels + c] = sum;
    }
}

__device__ __forceinline__ float gate(float x) { return 1.f / (1.f + expf(-x)); }

__global__ void light_unit(const float *pre, const float *skip, const float *peephole, const float *first, float *cells,
                           float *out, int steps, int width)
{
    const int unit = blockIdx.x * blockDim.x + threadIdx.x;
    if (unit >= width) return;
    const float *from = pre + 3 * unit;
    float cell = first[unit];
    for (int t = 0; t < steps; ++t, from += 3 * width) {
        const float forget = gate(from[1] + peephole[unit] * cell);
        const float high = gate(from[2] + peephole[width + unit] * cell);
        cell = from[0] + (cell - from[0]) * forget;
        cells[t * width + unit] = cell;
        const float x = skip[t * width + unit];
        out[t * width + unit] = x + (tanhf(cell) - x) * high;
    }
}
