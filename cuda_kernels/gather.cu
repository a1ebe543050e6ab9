// Embedding lookup: rows picked by an index array, some of them several times.
#include <cstdint>

__global__ void embed(const float *table, const int64_t *token, const float *scale, float *out, int tokens, int width) {
    int t = blockIdx.x;
    int c = threadIdx.x;
    if (t < tokens && c < width) out[t * width + c] = scale[t] * table[token[t] * width + c];
}
