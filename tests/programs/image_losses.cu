// Kernels of image and set losses as extensions have them: a separable window over a tile of two images, samples of
// several levels at learnt places, the nearest segment of a batch.
#include <cfloat>
#include <cuda_runtime.h>

constexpr int TILE = 8, HALO = 3, WIDE = TILE + 2 * HALO;
__constant__ const float weights[2 * HALO + 1] = {0.03f, 0.11f, 0.22f, 0.28f, 0.22f, 0.11f, 0.03f};

__global__ void covariance(const float *__restrict__ one, const float *__restrict__ other, float *__restrict__ map,
                           int height, int width)
{
    __shared__ float tile[WIDE][WIDE][2];
    __shared__ float rows[WIDE][TILE][3];
    const int x0 = blockIdx.x * TILE - HALO, y0 = blockIdx.y * TILE - HALO;
    for (int i = threadIdx.y * TILE + threadIdx.x; i < WIDE * WIDE; i += TILE * TILE) {
        const int y = y0 + i / WIDE, x = x0 + i % WIDE;
        const bool inside = x >= 0 && y >= 0 && x < width && y < height;
        tile[i / WIDE][i % WIDE][0] = inside ? one[y * width + x] : 0.0f;
        tile[i / WIDE][i % WIDE][1] = inside ? other[y * width + x] : 0.0f;
    }
    __syncthreads();
    for (int y = threadIdx.y; y < WIDE; y += TILE) {
        float a = 0, b = 0, ab = 0;
#pragma unroll
        for (int d = 0; d <= 2 * HALO; ++d) {
            const float u = tile[y][threadIdx.x + d][0], v = tile[y][threadIdx.x + d][1], w = weights[d];
            a += w * u;
            b += w * v;
            ab += w * u * v;
        }
        rows[y][threadIdx.x][0] = a;
        rows[y][threadIdx.x][1] = b;
        rows[y][threadIdx.x][2] = ab;
    }
    __syncthreads();
    const float *own = rows[threadIdx.y + HALO][threadIdx.x];
    float a = weights[HALO] * own[0], b = weights[HALO] * own[1], ab = weights[HALO] * own[2];
#pragma unroll
    for (int d = 1; d <= HALO; ++d) {
        const float *above = rows[threadIdx.y + HALO - d][threadIdx.x];
        const float *below = rows[threadIdx.y + HALO + d][threadIdx.x];
        a += weights[HALO - d] * (above[0] + below[0]);
        b += weights[HALO - d] * (above[1] + below[1]);
        ab += weights[HALO - d] * (above[2] + below[2]);
    }
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) map[y * width + x] = ab - a * b;
}

// The same for each channel in turn, of tiles that only some threads fill: contrast around a pixel, by its brightness.
constexpr int BLOCK = 16, FULL = BLOCK + 2 * HALO;

__global__ void contrast(const float *__restrict__ image, float *__restrict__ map, int channels, int height, int width)
{
    __shared__ float tile[FULL][FULL];
    __shared__ float rows[FULL][BLOCK][4];
    const int own = threadIdx.y * BLOCK + threadIdx.x, x = blockIdx.x * BLOCK + threadIdx.x;
    const int y = blockIdx.y * BLOCK + threadIdx.y;
    for (int c = 0; c < channels; ++c) {
        for (int step = 0; step < (FULL * FULL + BLOCK * BLOCK - 1) / (BLOCK * BLOCK); ++step) {
            const int i = step * BLOCK * BLOCK + own;
            if (i < FULL * FULL) {
                const int u = blockIdx.x * BLOCK - HALO + i % FULL, v = blockIdx.y * BLOCK - HALO + i / FULL;
                float pixel = 0.0f;
                if (u >= 0 && v >= 0 && u < width && v < height) pixel = image[(c * height + v) * width + u];
                tile[i / FULL][i % FULL] = pixel;
            }
        }
        __syncthreads();
        for (int row = threadIdx.y; row < FULL; row += BLOCK) {
            float sum[4] = {0, 0, 0, 0};
#pragma unroll
            for (int d = 0; d <= 2 * HALO; ++d) {
                const float u = tile[row][threadIdx.x + d], w = weights[d];
                sum[0] += w * u;
                sum[1] += w * u * u;
                sum[2] += w * u * u * u;
                sum[3] += w / (1.0f + u * u);
            }
            for (int k = 0; k < 4; ++k)
                rows[row][threadIdx.x][k] = sum[k];
        }
        __syncthreads();
        float sum[4] = {0, 0, 0, 0};
#pragma unroll
        for (int d = 0; d <= 2 * HALO; ++d)
            for (int k = 0; k < 4; ++k)
                sum[k] += weights[d] * rows[threadIdx.y + d][threadIdx.x][k];
        if (x < width && y < height)
            map[(c * height + y) * width + x] = (sum[1] - sum[0] * sum[0]) / (1.0f + sum[0] * sum[0]) + sum[2] * sum[3];
    }
}

// Products of neighbours in lines of pixels, of a tile that is cleared before some threads fill it.
__global__ void triples(const float *lines, float *sums, int rounds)
{
    __shared__ float tile[66];
    const int own = threadIdx.x;
    float sum = 0;
    for (int r = 0; r < rounds; ++r) {
        tile[own] = 1.0f;
        if (own < 2) tile[64 + own] = 1.0f;
        __syncthreads();
        if (own < 62) tile[own + 1] = lines[r * 64 + own];
        __syncthreads();
        sum += tile[own] * tile[own + 1] * tile[own + 2];
        __syncthreads();
    }
    sums[own] = sum;
}

// Each query adds up samples of rows of values, at places and with weights that all channels of a query share.
__global__ void sampled(int n, const float *values, const int *lengths, const int *begins, const float *places,
                        const float *scores, int channels, int levels, int points, float *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const int channel = i % channels, query = i / channels;
        int score = query * levels * points, place = 2 * score;
        float sum = 0;
        for (int level = 0; level < levels; ++level) {
            const float *row = values + begins[level] * channels;
            for (int point = 0; point < points; ++point) {
                const float at = places[place] * lengths[level] + places[place + 1];
                const int low = floorf(at);
                const float part = at - low;
                if (low >= 0 && low + 1 < lengths[level])
                    sum += scores[score] * ((1 - part) * row[low * channels + channel] +
                                            part * row[(low + 1) * channels + channel]);
                score += 1;
                place += 2;
            }
        }
        out[i] = sum;
    }
}

// The nearest target of a batch for each object, by the targets' first indices.
__global__ void nearest(const float2 *objects, const float2 *targets, const long long *first, int each,
                        float *distance, long long *which)
{
    const int batch = blockIdx.x;
    const long long begin = first[batch], end = first[batch + 1];
    for (int i = threadIdx.x; i < each; i += blockDim.x) {
        const float2 p = objects[batch * each + i];
        float least = FLT_MAX;
        long long found = -1;
        for (long long j = 0; j < end - begin; ++j) {
            const float2 q = targets[begin + j];
            const float dx = p.x - q.x, dy = p.y - q.y, d = dx * dx + dy * dy * (1 + 0.5f * dx);
            found = d < least ? begin + j : found;
            least = d < least ? d : least;
        }
        distance[batch * each + i] = least;
        which[batch * each + i] = found;
    }
}
