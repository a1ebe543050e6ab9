// Differentiable alignment of sequences: soft dynamic time warping and a Smith-Waterman like local score, both along
// anti-diagonals with a block a pair; a profile hidden Markov model's forward algorithm in log space; connectionist
// temporal classification, with two rows in shared memory that take turns and with the lattice in memory, where most
// logarithms are minus infinity.
#include <cfloat>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include <cuda_runtime.h>

#define NEG_INF (-1.0e30f)

__device__ __forceinline__ float softmin3(float a, float b, float c, float gamma)
{
    const float low = fminf(a, fminf(b, c));
    return low - gamma * __logf(__expf((low - a) / gamma) + __expf((low - b) / gamma) + __expf((low - c) / gamma));
}

__device__ float log_add(float a, float b)
{
    if (a == NEG_INF) return b;
    if (b == NEG_INF) return a;
    const float m = fmaxf(a, b);
    return m + log1pf(expf(-fabsf(a - b)));
}

// x: [pairs, n, dim], y: [pairs, m, dim]; three diagonals rotate in shared memory; thread i owns row i
__global__ void soft_dtw(const float *x, const float *y, float *cost, float gamma, int n, int m, int dim)
{
    extern __shared__ float diagonal[];
    const int pair = blockIdx.x, i = threadIdx.x;
    float *before = diagonal, *last = diagonal + n + 1, *now = diagonal + 2 * (n + 1);
    for (int k = threadIdx.x; k < 3 * (n + 1); k += blockDim.x) diagonal[k] = 1e10f;
    __syncthreads();
    if (i == 0) before[0] = 0.f;
    __syncthreads();
    float mine = 0.f;
    for (int d = 0; d < n + m - 1; ++d) {
        const int j = d - i;
        if (i < n && j >= 0 && j < m) {
            float dist = 0.f;
            for (int k = 0; k < dim; ++k) {
                const float e = x[(pair * n + i) * dim + k] - y[(pair * m + j) * dim + k];
                dist += e * e;
            }
            mine = dist + softmin3(before[i], last[i], last[i + 1], gamma);
        }
        __syncthreads();
        if (i < n) now[i + 1] = j >= 0 && j < m ? mine : 1e10f;
        if (i == 0) now[0] = 1e10f;
        __syncthreads();
        float *t = before;
        before = last;
        last = now;
        now = t;
    }
    if (i == n - 1) cost[pair] = mine;
}

// soft maximum over all local alignments with affine-free gaps; scores from a substitution matrix
__global__ void local_alignment(const uint8_t *a, const uint8_t *b, const float *matrix, const float *gap, float *score, int n, int m,
                                int alphabet, float temperature)
{
    __shared__ float row[3][65];
    const int p = blockIdx.x, i = threadIdx.x;
    for (int r = 0; r < 3; ++r) {
        row[r][i + 1] = 0.f;
        if (i == 0) row[r][0] = 0.f;
    }
    __syncthreads();
    float best = 0.f;
    for (int d = 0; d < n + m - 1; ++d) {
        const int j = d - i, now = d % 3, last = (d + 2) % 3, before = (d + 1) % 3;
        float h = 0.f;
        if (i < n && j >= 0 && j < m) {
            const float match = row[before][i] + matrix[a[p * n + i] * alphabet + b[p * m + j]];
            const float up = row[last][i] - *gap, left = row[last][i + 1] - *gap;
            const float top = fmaxf(fmaxf(match, 0.f), fmaxf(up, left));
            h = top + temperature * logf(expf((match - top) / temperature) + expf(-top / temperature) +
                                         expf((up - top) / temperature) + expf((left - top) / temperature));
            best += expf(h / temperature);
        }
        __syncthreads();
        row[now][i + 1] = h;
        __syncthreads();
    }
    for (int o = 16; o; o /= 2) best += __shfl_down_sync(0xffffffff, best, o);
    if (i == 0) score[p] = temperature * logf(best + 1.f);
}

enum { MATCH, INSERT, DELETE, STATES };

// transitions[k][from][to] in log space; emissions [k][symbol]; a thread a sequence
__global__ void profile_forward(const char *sequences, const int *starts, const float *transitions, const float *emissions,
                                const float *background, float *log_odds, float *work, int count, int length)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= count) return;
    float *f = work + (size_t)s * (length + 1) * STATES;
    for (int k = 0; k <= length; ++k)
        for (int t = 0; t < STATES; ++t) f[k * STATES + t] = NEG_INF;
    f[MATCH] = 0.f;
    for (int pos = starts[s]; pos < starts[s + 1]; ++pos) {
        const int symbol = sequences[pos] == 'A' ? 0 : sequences[pos] == 'C' ? 1 : sequences[pos] == 'G' ? 2 : 3;
        float diagonal[STATES] = {NEG_INF, NEG_INF, NEG_INF};
        for (int k = 0; k <= length; ++k) {
            const float old[STATES] = {f[k * STATES], f[k * STATES + 1], f[k * STATES + 2]};
            const float *t = transitions + k * STATES * STATES;
            float match = NEG_INF, insert = NEG_INF, del = NEG_INF;
            if (k > 0) {
                const float *tp = transitions + (k - 1) * STATES * STATES;
                for (int q = 0; q < STATES; ++q) match = log_add(match, diagonal[q] + tp[q * STATES + MATCH]);
                match += emissions[k * 4 + symbol] - background[symbol];
                del = log_add(f[(k - 1) * STATES + MATCH] + tp[MATCH * STATES + DELETE],
                              f[(k - 1) * STATES + DELETE] + tp[DELETE * STATES + DELETE]);
            }
            insert = log_add(old[MATCH] + t[MATCH * STATES + INSERT], old[INSERT] + t[INSERT * STATES + INSERT]);
            for (int q = 0; q < STATES; ++q) diagonal[q] = old[q];
            f[k * STATES + MATCH] = match;
            f[k * STATES + INSERT] = insert;
            f[k * STATES + DELETE] = del;
        }
    }
    log_odds[s] = log_add(f[length * STATES + MATCH], log_add(f[length * STATES + INSERT], f[length * STATES + DELETE]));
}

int main()
{
    const std::string text = "ACGTACGTTTGCA";
    const int n = 32, dim = 2;
    std::vector<float> x(n * dim), y(n * dim);
    for (int i = 0; i < n * dim; ++i) {
        x[i] = 0.1f * i;
        y[i] = 0.1f * i + 0.05f;
    }
    float *dx, *dy, *cost;
    cudaMalloc(&dx, x.size() * sizeof(float));
    cudaMalloc(&dy, y.size() * sizeof(float));
    cudaMallocManaged(&cost, sizeof(float));
    cudaMemcpy(dx, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), y.size() * sizeof(float), cudaMemcpyHostToDevice);
    soft_dtw<<<1, n, 3 * (n + 1) * sizeof(float)>>>(dx, dy, cost, 0.1f, n, n, dim);
    cudaDeviceSynchronize();
    printf("%f, %zu symbols\n", *cost, strlen(text.c_str()));
}

// labels with a blank between each, S = 2 n + 1 places, one a thread; two rows with two places more in front
__global__ void ctc_rows(const float *log_probs, const int *labels, const int *frames, const int *lengths, float *loss,
                         int most_frames, int classes, int most_labels, int blank)
{
    extern __shared__ float rows[];
    const int b = blockIdx.x, s = threadIdx.x, places = 2 * lengths[b] + 1;
    const float *p = log_probs + (size_t)b * most_frames * classes;
    const int *own = labels + b * most_labels;
    float *last = rows, *now = rows + blockDim.x + 2;
    const bool is_label = s < places && s % 2 == 1;
    const int mine = is_label ? own[s / 2] : blank;
    const bool skips = is_label && s > 1 && own[s / 2] != own[s / 2 - 1];
    if (s < 2) last[s] = now[s] = -INFINITY;
    last[s + 2] = s < 2 && s < places ? p[mine] : -INFINITY;
    __syncthreads();
    for (int t = 1; t < frames[b]; ++t) {
        float sum = -INFINITY;
        if (s < places) {
            const float stay = last[s + 2], step = last[s + 1], jump = skips ? last[s] : -INFINITY;
            float most = fmaxf(stay, fmaxf(step, jump));
            if (most == -INFINITY) most = 0.f;
            sum = most + logf(expf(stay - most) + expf(step - most) + expf(jump - most)) + p[t * classes + mine];
        }
        now[s + 2] = sum;
        __syncthreads();
        float *other = last;
        last = now;
        now = other;
    }
    if (s == 0) {
        const float one = last[places + 1], two = last[places], most = fmaxf(one, two);
        loss[b] = -most - logf(expf(one - most) + expf(two - most));
    }
}

__global__ void ctc_lattice(const double *log_probs, const int *labels, const int *frames, const int *lengths,
                            double *alpha, double *loss, int most_frames, int classes, int most_labels, int blank)
{
    const int b = blockIdx.x, width = 2 * most_labels + 1, places = 2 * lengths[b] + 1;
    const double *p = log_probs + (size_t)b * most_frames * classes;
    const int *own = labels + b * most_labels;
    double *a = alpha + (size_t)b * most_frames * width;
    for (int s = threadIdx.x; s < width; s += blockDim.x)
        a[s] = s == 0 ? p[blank] : s == 1 && places > 1 ? p[own[0]] : -INFINITY;
    for (int t = 1; t < frames[b]; ++t) {
        __syncthreads();
        for (int s = threadIdx.x; s < places; s += blockDim.x) {
            const double *from = a + (t - 1) * width;
            const int mine = s % 2 ? own[s / 2] : blank;
            double stay = from[s], step = -INFINITY, jump = -INFINITY, most = stay;
            if (s > 0) {
                step = from[s - 1];
                if (step > most) most = step;
            }
            if (s % 2 == 1 && s > 1 && own[s / 2] != own[s / 2 - 1]) {
                jump = from[s - 2];
                if (jump > most) most = jump;
            }
            if (most == -INFINITY) most = 0;
            a[t * width + s] = log(exp(stay - most) + exp(step - most) + exp(jump - most)) + most + p[t * classes + mine];
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const double *end = a + (frames[b] - 1) * width + places;
        const double most = fmax(end[-1], end[-2]);
        loss[b] = -most - log(exp(end[-1] - most) + exp(end[-2] - most));
    }
}
