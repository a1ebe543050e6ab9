// Short-time Fourier analysis: a Hann window, a radix-2 Stockham transform in shared memory, power in mel bands,
// cepstrum. One block a frame.
#include <cstdio>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>

typedef float2 cplx;

static __device__ __host__ inline cplx cadd(cplx a, cplx b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ __host__ inline cplx csub(cplx a, cplx b) { return make_float2(a.x - b.x, a.y - b.y); }
static __device__ __host__ inline cplx cmul(cplx a, cplx b)
{
    cplx c;
    c.x = a.x * b.x - a.y * b.y;
    c.y = a.x * b.y + a.y * b.x;
    return c;
}

// N/2 threads; the result is in the buffer that is returned
template <int LOG2N>
__device__ cplx *fft_block(cplx *src, cplx *dst, int tid, float direction)
{
    const int n = 1 << LOG2N;
    int ns = 1;
    for (int stage = 0; stage < LOG2N; ++stage) {
        const int k = tid & (ns - 1);
        const cplx a = src[tid], b = src[tid + n / 2];
        float s, c;
        sincospif(direction * (float)k / (float)ns, &s, &c);
        const cplx t = cmul(b, make_float2(c, s));
        const int out = ((tid - k) << 1) + k;
        __syncthreads();
        dst[out] = cadd(a, t);
        dst[out + ns] = csub(a, t);
        __syncthreads();
        cplx *swap = src;
        src = dst;
        dst = swap;
        ns <<= 1;
    }
    return src;
}

template <int LOG2N>
__global__ void spectrogram(const float *signal, float *power, int length, int hop, float preemphasis)
{
    constexpr int N = 1 << LOG2N;
    __shared__ cplx ping[N], pong[N];
    const int tid = threadIdx.x;
    const int start = blockIdx.x * hop;

    for (int i = tid; i < N; i += N / 2) {
        const int at = start + i;
        float v = 0.f;
        if (at < length) {
            v = signal[at];
            if (at > 0) v -= preemphasis * signal[at - 1];
        }
        const float hann = 0.5f - 0.5f * cospif(2.f * i / (N - 1));
        ping[i] = make_float2(v * hann, 0.f);
    }
    __syncthreads();
    cplx *result = fft_block<LOG2N>(ping, pong, tid, -1.f);
    const cplx z = result[tid];
    power[blockIdx.x * (N / 2) + tid] = (z.x * z.x + z.y * z.y) / N;
}

// circular convolution of complex rows with one filter, by two transforms
template <int LOG2N>
__global__ void filter_rows(cplx *rows, const cplx *response)
{
    extern __shared__ cplx work[];
    constexpr int n = 1 << LOG2N;
    cplx *a = work, *b = work + n;
    cplx *row = rows + blockIdx.x * n;
    const int t = threadIdx.x;
    a[t] = row[t];
    a[t + n / 2] = row[t + n / 2];
    __syncthreads();
    cplx *f = fft_block<LOG2N>(a, b, t, -1.f);
    f[t] = cmul(f[t], response[t]);
    f[t + n / 2] = cmul(f[t + n / 2], response[t + n / 2]);
    __syncthreads();
    cplx *g = f == a ? b : a;
    cplx *back = fft_block<LOG2N>(f, g, t, 1.f);
    row[t] = make_float2(back[t].x / n, back[t].y / n);
    row[t + n / 2] = make_float2(back[t + n / 2].x / n, back[t + n / 2].y / n);
}

__device__ __constant__ float mel_floor = 1e-3f;

__global__ void cepstrum(const float *power, const int *band_low, const int *band_peak, const int *band_high,
                         float *coefficients, int frames, int bins, int bands, int count)
{
    const int frame = blockIdx.x * blockDim.x + threadIdx.x;
    if (frame >= frames) return;
    const float *p = power + frame * bins;
    for (int c = 0; c < count; ++c) coefficients[frame * count + c] = 0.f;
    for (int b = 0; b < bands; ++b) {
        float energy = 0.f;
        for (int i = band_low[b]; i < band_high[b]; ++i) {
            float weight = i <= band_peak[b] ? (float)(i - band_low[b]) / max(band_peak[b] - band_low[b], 1)
                                             : (float)(band_high[b] - i) / max(band_high[b] - band_peak[b], 1);
            energy += weight * p[i];
        }
        const float l = logf(energy + mel_floor);
        for (int c = 0; c < count; ++c)
            coefficients[frame * count + c] += l * cosf(3.14159265f * c * (b + 0.5f) / bands);
    }
}

int main()
{
    const int length = 16000, hop = 64, frames = (length - 128) / hop;
    std::vector<float> wave(length);
    for (int i = 0; i < length; ++i) wave[i] = sinf(0.05f * i) + 0.3f * sinf(0.4f * i);
    float *d_signal, *d_power;
    cudaMalloc(&d_signal, length * sizeof(float));
    cudaMalloc(&d_power, frames * 64 * sizeof(float));
    cudaMemcpy(d_signal, wave.data(), length * sizeof(float), cudaMemcpyHostToDevice);
    spectrogram<7><<<frames, 64>>>(d_signal, d_power, length, hop, 0.97f);
    cplx *rows, *response;
    cudaMalloc(&rows, 4 * 64 * sizeof(cplx));
    cudaMalloc(&response, 64 * sizeof(cplx));
    filter_rows<6><<<4, 32, 2 * 64 * sizeof(cplx)>>>(rows, response);
    std::vector<float> power(frames * 64);
    cudaMemcpy(power.data(), d_power, power.size() * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", power[10]);
    cudaFree(d_signal);
    cudaFree(d_power);
}
