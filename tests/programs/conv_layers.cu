// Convolution layers as templates: kernel size, stride and activation known at compile time, input tile and
// weights in shared memory, max pooling that remembers where the maximum was, global average pooling by a block.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>
#include <cuda_runtime.h>

enum class Act { None, Relu, Leaky, Gelu, Tanh };

template <Act A>
__device__ __forceinline__ float activate(float x)
{
    if constexpr (A == Act::Relu) {
        return x > 0.f ? x : 0.f;
    } else if constexpr (A == Act::Leaky) {
        return x > 0.f ? x : 0.1f * x;
    } else if constexpr (A == Act::Gelu) {
        return 0.5f * x * (1.f + erff(x * 0.70710678f));
    } else if constexpr (A == Act::Tanh) {
        return tanhf(x);
    } else {
        return x;
    }
}

struct ConvShape {
    int batch, in_channels, out_channels;
    int height, width;
    int out_height, out_width;
    int pad;
};

template <int K, int S, int TILE, Act A>
__global__ __launch_bounds__(TILE *TILE) void conv2d(const float *__restrict__ in, const float *__restrict__ weight,
                                                     const float *__restrict__ bias, float *__restrict__ out,
                                                     const ConvShape s)
{
    constexpr int SPAN = (TILE - 1) * S + K;
    __shared__ float tile[SPAN][SPAN + 1];
    __shared__ float filter[K * K];

    const int tx = threadIdx.x, ty = threadIdx.y, tid = ty * TILE + tx;
    const int tiles_x = (s.out_width + TILE - 1) / TILE;
    const int ox = (blockIdx.x % tiles_x) * TILE + tx;
    const int oy = (blockIdx.x / tiles_x) * TILE + ty;
    const int oc = blockIdx.y, b = blockIdx.z;
    const int x0 = (blockIdx.x % tiles_x) * TILE * S - s.pad;
    const int y0 = (blockIdx.x / tiles_x) * TILE * S - s.pad;

    float sum = bias ? bias[oc] : 0.f;
    for (int ic = 0; ic < s.in_channels; ++ic) {
        for (int t = tid; t < SPAN * SPAN; t += TILE * TILE) {
            const int y = y0 + t / SPAN, x = x0 + t % SPAN;
            const bool inside = y >= 0 && y < s.height && x >= 0 && x < s.width;
            tile[t / SPAN][t % SPAN] = inside ? in[((b * s.in_channels + ic) * s.height + y) * s.width + x] : 0.f;
        }
        if (tid < K * K) filter[tid] = weight[(oc * s.in_channels + ic) * K * K + tid];
        __syncthreads();
#pragma unroll
        for (int ky = 0; ky < K; ++ky) {
#pragma unroll
            for (int kx = 0; kx < K; ++kx) sum += tile[ty * S + ky][tx * S + kx] * filter[ky * K + kx];
        }
        __syncthreads();
    }
    if (ox < s.out_width && oy < s.out_height)
        out[((b * s.out_channels + oc) * s.out_height + oy) * s.out_width + ox] = activate<A>(sum);
}

// depthwise, one thread a pixel and channel, no shared memory
template <int K>
__global__ void depthwise(const float *in, const float *weight, float *out, int planes, int channels, int h, int w)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * h * w) return;
    const int x = i % w, y = i / w % h, plane = i / (w * h), c = plane % channels;
    float acc = 0;
    for (int dy = -K / 2; dy <= K / 2; dy++) {
        if ((unsigned)(y + dy) >= (unsigned)h) continue;
        for (int dx = -K / 2; dx <= K / 2; dx++) {
            if ((unsigned)(x + dx) >= (unsigned)w) continue;
            acc += in[(plane * h + y + dy) * w + x + dx] * weight[(c * K + dy + K / 2) * K + dx + K / 2];
        }
    }
    out[i] = acc;
}

__global__ void max_pool(const float *__restrict__ in, float *__restrict__ out, uint8_t *__restrict__ where, int planes,
                         int h, int w)
{
    const int oh = h / 2, ow = w / 2;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < planes * oh * ow; i += blockDim.x * gridDim.x) {
        const int ox = i % ow, oy = i / ow % oh, p = i / (ow * oh);
        const float *src = in + (size_t)p * h * w + (2 * oy) * w + 2 * ox;
        float best = src[0];
        uint8_t at = 0;
        if (src[1] > best) { best = src[1]; at = 1; }
        if (src[w] > best) { best = src[w]; at = 2; }
        if (src[w + 1] > best) { best = src[w + 1]; at = 3; }
        out[i] = best;
        where[i] = at;
    }
}

__global__ void global_average(const float *in, float *out, int area)
{
    extern __shared__ float partial[];
    float s = 0.f;
    for (int i = threadIdx.x; i < area; i += blockDim.x) s += in[blockIdx.x * area + i];
    partial[threadIdx.x] = s;
    __syncthreads();
    for (int half = blockDim.x >> 1; half > 0; half >>= 1) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0] / area;
}

struct Deleter {
    void operator()(void *p) const { cudaFree(p); }
};
using Buffer = std::unique_ptr<float, Deleter>;

static Buffer allocate(size_t n, float value)
{
    float *p = nullptr;
    cudaMallocManaged(&p, n * sizeof(float));
    for (size_t i = 0; i < n; ++i) p[i] = value;
    return Buffer(p);
}

int main()
{
    const ConvShape s{1, 3, 8, 32, 32, 32, 32, 1};
    Buffer in = allocate(3 * 32 * 32, 0.5f), w = allocate(8 * 3 * 9, 0.1f), b = allocate(8, 0.f);
    Buffer out = allocate(8 * 32 * 32, 0.f), pooled = allocate(8 * 16 * 16, 0.f), mean = allocate(8, 0.f);
    uint8_t *where;
    cudaMallocManaged(&where, 8 * 16 * 16);
    conv2d<3, 1, 8, Act::Relu><<<dim3(16, 8, 1), dim3(8, 8)>>>(in.get(), w.get(), b.get(), out.get(), s);
    max_pool<<<8, 64>>>(out.get(), pooled.get(), where, 8, 32, 32);
    global_average<<<8, 64, 64 * sizeof(float)>>>(pooled.get(), mean.get(), 256);
    cudaDeviceSynchronize();
    printf("%f\n", mean.get()[0]);
    cudaFree(where);
    return 0;
}
