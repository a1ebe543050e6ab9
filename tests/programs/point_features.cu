// Features of a point cloud: who is near, what they carry, and what of it a point takes over.
#include <cuda_runtime.h>

constexpr int NEIGHBOURS = 8;

// The squared distances to the nearest points of the other cloud, by insertion, and which they are.
__global__ void nearest(const float *points, const float *others, float *distances, int *which, int n, int m)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
        float best[NEIGHBOURS];
        int found[NEIGHBOURS];
        for (int k = 0; k < NEIGHBOURS; ++k) { best[k] = 1e30f; found[k] = 0; }
        for (int j = 0; j < m; ++j) {
            const float dx = others[3 * j] - x, dy = others[3 * j + 1] - y, dz = others[3 * j + 2] - z;
            const float d = dx * dx + dy * dy + dz * dz;
            if (d < best[NEIGHBOURS - 1]) {
                int k = NEIGHBOURS - 1;
                while (k > 0 && best[k - 1] > d) { best[k] = best[k - 1]; found[k] = found[k - 1]; --k; }
                best[k] = d;
                found[k] = j;
            }
        }
        for (int k = 0; k < NEIGHBOURS; ++k) {
            distances[i * NEIGHBOURS + k] = best[k];
            which[i * NEIGHBOURS + k] = found[k];
        }
    }
}

// Channels of three known points, weighted: channel after channel, a point a thread.
__global__ void interpolate(const float *features, const int *which, const float *weights, const float *confidence,
                            float *out, int channels, int m, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int a = which[3 * i], b = which[3 * i + 1], c = which[3 * i + 2];
    const float u = weights[3 * i], v = weights[3 * i + 1], w = weights[3 * i + 2];
    for (int k = 0; k < channels; ++k) {
        const float *row = features + k * m;
        out[k * n + i] = u * row[a] + v * row[b] + w * row[c];
        if (confidence) out[k * n + i] *= confidence[i];
    }
}

// What the corners of a point's voxel carry, as many of them as there are, is added to the point's own channels.
__global__ void corners(const int *__restrict__ which, const float *__restrict__ weights,
                        const float *__restrict__ features, float *__restrict__ out, int n, int channels)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x, i = t / channels, channel = t % channels;
    if (i >= n) return;
    for (int k = 0; k < 8; ++k) {
        float carried = 0.0f;
        if (which[8 * i + k] >= 0) carried = features[which[8 * i + k] * channels + channel];
        out[t] += weights[8 * i + k] * carried;
    }
}

// A cost model's kernel: the element's work is repeated, to weigh as much as that of a real one.
__global__ void weighed(const float *in, float *out, int n, int repeats)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int r = 0; r < repeats; ++r) {
        const float s = sinf(in[i]);
        out[i] = s * s + expf(-in[i]);
    }
}
