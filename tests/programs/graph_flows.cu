// Signals on graphs: a page-rank like diffusion (pull), label scores pushed along edges, attention over neighbours
// as graph networks do it, and soft shortest paths by relaxation.
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <vector>
#include <cuda_runtime.h>

using index_t = int32_t;
using offset_t = int64_t;

struct CsrGraph {
    const offset_t *row_offsets;
    const index_t *column_indices;
    index_t n_vertices;
    offset_t n_edges;

    __device__ index_t degree(index_t v) const { return static_cast<index_t>(row_offsets[v + 1] - row_offsets[v]); }

    template <typename F>
    __device__ void for_each_edge(index_t v, F &&visit) const
    {
        for (offset_t e = row_offsets[v]; e < row_offsets[v + 1]; ++e) visit(e, column_indices[e]);
    }
};

__device__ inline index_t global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void diffuse(const CsrGraph g, const float *__restrict__ rank, const float *__restrict__ weight,
                        const float *__restrict__ out_strength, const float *__restrict__ teleport, float *__restrict__ next,
                        float damping)
{
    const index_t v = global_id();
    if (v >= g.n_vertices) return;
    float sum = 0.f;
    g.for_each_edge(v, [&](offset_t e, index_t u) {
        if (out_strength[u] > 0.f) sum += weight[e] * rank[u] / out_strength[u];
    });
    next[v] = (1.f - damping) * teleport[v] + damping * sum;
}

// edge parallel: each edge finds its source by bisection
__device__ index_t source_of(const CsrGraph &g, offset_t edge)
{
    index_t low = 0, high = g.n_vertices;
    while (high - low > 1) {
        const index_t middle = low + (high - low) / 2;
        if (g.row_offsets[middle] <= edge) low = middle;
        else high = middle;
    }
    return low;
}

template <int LABELS>
__global__ void push_labels(CsrGraph g, const float *score, const float *weight, const float *mixing, float *out)
{
    const offset_t e = global_id();
    if (e >= g.n_edges) return;
    const index_t v = source_of(g, e), u = g.column_indices[e];
    for (int a = 0; a < LABELS; ++a) {
        float s = 0;
        for (int b = 0; b < LABELS; ++b) s += mixing[a * LABELS + b] * tanhf(score[v * LABELS + b]);
        atomicAdd(&out[u * LABELS + a], weight[e] * s);
    }
}

// graph attention: leaky logits, softmax over the neighbours in two passes, weighted sum of features
__global__ void graph_attention(const CsrGraph g, const float *features, const float *query, const float *key, float *out,
                                int width, float slope)
{
    const index_t v = blockIdx.x * blockDim.y + threadIdx.y;
    if (v >= g.n_vertices) return;
    const offset_t begin = g.row_offsets[v], end = g.row_offsets[v + 1];
    float best = -std::numeric_limits<float>::infinity();
    for (offset_t e = begin; e < end; ++e) {
        float logit = query[v] + key[g.column_indices[e]];
        logit = logit > 0 ? logit : slope * logit;
        best = fmaxf(best, logit);
    }
    float total = 0;
    for (offset_t e = begin; e < end; ++e) {
        float logit = query[v] + key[g.column_indices[e]];
        logit = logit > 0 ? logit : slope * logit;
        total += expf(logit - best);
    }
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        float acc = 0;
        for (offset_t e = begin; e < end; ++e) {
            const index_t u = g.column_indices[e];
            float logit = query[v] + key[u];
            logit = logit > 0 ? logit : slope * logit;
            acc += expf(logit - best) / total * features[u * width + c];
        }
        out[v * width + c] = end > begin ? acc : features[v * width + c];
    }
}

// one relaxation: d(v) = softmin over incoming edges of d(u) + length, and d(v) itself
__global__ void relax(CsrGraph g, const float *distance, const float *length, float *next, float temperature)
{
    const index_t v = global_id();
    if (v >= g.n_vertices) return;
    float low = distance[v];
    g.for_each_edge(v, [&](offset_t e, index_t u) { low = fminf(low, distance[u] + length[e]); });
    float sum = expf(-(distance[v] - low) / temperature);
    g.for_each_edge(v, [=, &sum](offset_t e, index_t u) { sum += expf(-(distance[u] + length[e] - low) / temperature); });
    next[v] = low - temperature * logf(sum);
}

int main()
{
    const index_t n = 1000;
    std::vector<offset_t> offsets(n + 1);
    std::iota(offsets.begin(), offsets.end(), 0);
    for (auto &o : offsets) o *= 3;
    std::vector<index_t> columns(3 * n);
    for (index_t i = 0; i < 3 * n; ++i) columns[i] = (i * 7919) % n;
    offset_t *d_offsets;
    index_t *d_columns;
    float *rank, *next, *weight, *strength, *teleport;
    cudaMalloc(&d_offsets, offsets.size() * sizeof(offset_t));
    cudaMalloc(&d_columns, columns.size() * sizeof(index_t));
    cudaMemcpy(d_offsets, offsets.data(), offsets.size() * sizeof(offset_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_columns, columns.data(), columns.size() * sizeof(index_t), cudaMemcpyHostToDevice);
    for (float **p : {&rank, &next, &strength, &teleport}) {
        cudaMallocManaged(p, n * sizeof(float));
        for (index_t i = 0; i < n; ++i) (*p)[i] = 1.0f / n;
    }
    cudaMallocManaged(&weight, 3 * n * sizeof(float));
    for (index_t i = 0; i < 3 * n; ++i) weight[i] = 1.f;
    const CsrGraph graph{d_offsets, d_columns, n, 3 * n};
    for (int it = 0; it < 10; ++it) {
        diffuse<<<(n + 255) / 256, 256>>>(graph, rank, weight, strength, teleport, next, 0.85f);
        std::swap(rank, next);
    }
    push_labels<2><<<(3 * n + 255) / 256, 256>>>(graph, rank, weight, strength, next);
    cudaDeviceSynchronize();
    printf("%g\n", rank[0]);
}
