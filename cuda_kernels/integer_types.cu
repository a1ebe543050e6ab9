// Integers of many widths among the parameters, and a bool.
#include <cstdint>

__global__ void dither(const double *level, const unsigned char *pattern, double *out, size_t n, long offset, short period,
                       uint32_t seed, bool inverted, long long shift) {
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t hash = (static_cast<uint32_t>(i) + seed) * 2654435761u;
    double noise = (hash >> 8) * (1.0 / 16777216.0);
    double mask = pattern[(i + offset) % period] / 255.0;
    double value = level[i] * level[i] * mask + noise * level[i] + static_cast<double>(shift);
    out[i] = inverted ? -value : value;
}
