// What sets of inputs are carried through in test_sparsity.py. Blocks of 64 threads, one element each.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define I (blockIdx.x * blockDim.x + threadIdx.x)

__constant__ int shift;

struct Fields {
  const float *data;
  const int *at;
  int stride;
  float *out;
};

__global__ void gathered(const float *x, const float *w, const int *at, float *y) { y[I] = x[at[I]] * w[I]; }

__global__ void looked_up(const float *x, const float *place, float *y) { y[I] = x[(int)place[I]] + floorf(place[I]); }

__global__ void shifted(const double *x, double *y) { y[I] = x[(I + shift) % 64] * x[I]; }

__global__ void turned(const float *x, float *y) {
  __shared__ float s[64];
  s[threadIdx.x] = 2 * x[I];
  __syncthreads();
  y[I] = s[63 - threadIdx.x];
}

__global__ void shuffled(const double *x, double *y) {
  double pair = x[I] * __shfl_xor_sync(0xffffffff, x[I], 1);
  y[I] = __shfl_sync(0xffffffff, pair, 5);
}

__global__ void added(const float *x, const int *bin, float *y) { atomicAdd(y + bin[I], x[I] * x[I]); }

__device__ void addBySwaps(double *sum, double value) {
  auto *bits = (unsigned long long *)sum;
  unsigned long long old = *bits, seen;
  do {
    seen = old;
    old = atomicCAS(bits, seen, __double_as_longlong(value + __longlong_as_double(seen)));
  } while (seen != old);
}

__global__ void swapped(const double *x, const int *bin, double *y) { addBySwaps(y + bin[I], sin(x[I])); }

__global__ void largest(const float *x, const int *bin, float *y) { atomicMax((int *)(y + bin[I]), __float_as_int(x[I])); }

__global__ void branched(const double *x, double *y) {
  if (x[I] > 0)
    y[I] = x[I] * x[(I + 1) % 64];
  else
    y[I] = x[I] < -1 ? x[(I + 2) % 64] : 0 * x[(I + 3) % 64];
}

__global__ void extremes(const float *x, float *y) { y[I] = fmaxf(x[I], fminf(x[(I + 1) % 64], x[(I + 2) % 64])); }

__global__ void packed(const float *x, float *y) {
  unsigned long long both = (unsigned long long)__float_as_uint(x[I]) << 32 | __float_as_uint(x[(I + 1) % 64]);
  float first = __uint_as_float(unsigned(both >> 32)), second = __uint_as_float(unsigned(both) ^ 0x80000000u);
  float size = __int_as_float(__float_as_int(x[(I + 2) % 64]) & 0x7fffffff);
  y[2 * I] = first;
  y[2 * I + 1] = second * size;
}

__global__ void root_by_bits(const float *x, float *y) {
  y[I] = __int_as_float(0x5f3759df - (__float_as_int(fabsf(x[I])) >> 1)) + (float)__float_as_int(x[(I + 1) % 64]);
}

__global__ void bytewise(const float *x, float *y) {
  for (int k = 0; k < 4; k++) ((volatile unsigned char *)(y + I))[k] = ((const volatile unsigned char *)(x + 63 - I))[k];
}

__global__ void narrow(const double *x, double *y) {
  float single = x[I];
  y[I] = (double)__half2float(__float2half(single)) + (float)x[(I + 33) % 64];
}

__global__ void halves(const __half *x, __half *y) { y[I] = __hmul(x[I], x[63 - I]); }

__global__ void brain(const __nv_bfloat16 *x, __nv_bfloat16 *y) {
  y[I] = __float2bfloat16(__bfloat162float(x[I]) * __bfloat162float(x[63 - I]));
}

__global__ void vectors(const float4 *x, float2 *y) { y[I] = make_float2(x[I].y * x[I].w, x[63 - I].x); }

__global__ void fields(Fields f) { f.out[I] = f.data[f.at[I]] * f.data[(f.stride * I) % 64] + (float)f.stride; }

__global__ void sorted(const double *x, double *y) {
  double a[7];
  for (int k = 0; k < 7; k++) a[k] = x[7 * I + k];
  for (int p = 1; p < 7; p++) {
    double v = a[p];
    int q = p - 1;
    while (q >= 0 && a[q] > v) { a[q + 1] = a[q]; q--; }
    a[q + 1] = v;
  }
  for (int k = 0; k < 7; k++) y[7 * I + k] = a[k];
}

__global__ void in_place(double *u, const int *at) {
  if (I % 2) u[I] = u[I] * u[I] + u[at[I] & ~1];
}

__global__ void permuted(const float *x, const int *at, float *y, int n) {
  for (int i = I; i < n; i += gridDim.x * blockDim.x) y[i] = x[at[i]] - x[i];
}

__global__ void assembled(const float *x, float *y) {
  unsigned found;
  asm("bfind.u32 %0, %1;" : "=r"(found) : "r"(__float_as_uint(x[I])));
  y[I] = __uint_as_float(found);
}

__global__ void hidden(const float *x, int *room, float *y) {
  room[I] = __float_as_int(x[I]);
  y[I] = __int_as_float(room[I]) * x[I];
}

__global__ void chosen(const float *x, const float *w, float *y) {
  float rectified = x[I] > 0 ? x[I] : 0;
  float weight = w[I], hard = 1;
  if (x[(I + 1) % 64] > x[(I + 2) % 64]) hard = weight;
  y[I] = rectified + hard;
}

__global__ void in_steps(const float *x, float *y) {
  float step = x[I] > 0.5f ? 1.0f : 2.0f;           // no dependence by itself
  bool both = step > 1.5f & x[(I + 1) % 64] < 0.1f; // but what is decided by it
  int whole = (int)floorf(x[(I + 2) % 64]);
  y[I] = both ? 3.0f : (float)whole;
}

__global__ void flagged(const float *x, float *y) {
  __shared__ bool flag[64];
  flag[threadIdx.x] = x[I] > 0;
  __syncthreads();
  y[I] = flag[63 - threadIdx.x] ? 1.0f : 2.0f;
}

__global__ void counted(const float *x, float *y) {
  int n = x[I] > 0 ? 3 : 5;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += x[(I + k) % 64];
  y[I] = sum;
}

__global__ void pointed(const float *x, float *y) {
  const float *from = x[I] > 0 ? x : x + 1;
  y[I] = from[threadIdx.x % 63];
}

__global__ void voted(const float *x, float *y) { y[I] = __any_sync(0xffffffff, x[I] > 1) ? 1.0f : 2.0f; }

// Sets whose bits are those of a signalling NaN, through what moves numbers. N is the first bit of the exponent.
template <typename T, int N, int BITS> __global__ void signalling(const T *x, const int *flag, T *y) {
  __shared__ T s[64];
  T sum = x[0];
  for (int k = N; k < N + BITS; k++) sum = sum + x[k];
  s[threadIdx.x] = flag[I] ? sum : x[1];
  __syncthreads();
  y[I] = __shfl_xor_sync(0xffffffff, s[63 - threadIdx.x], 1);
}
template __global__ void signalling<float, 23, 8>(const float *, const int *, float *);
template __global__ void signalling<double, 20, 11>(const double *, const int *, double *);
template __global__ void signalling<__half, 10, 5>(const __half *, const int *, __half *);
