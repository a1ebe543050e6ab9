// What dual numbers are carried through in test_witness.py.
#include <cooperative_groups.h>
#include <cstring>

__device__ double chosen(const double *a) { return a[0] * a[1] - a[2] * a[4]; }

__global__ void insertion(const double *x, double *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double a[7];
  for (int k = 0; k < 7; k++) a[k] = x[7 * i + k];
  for (int p = 1; p < 7; p++) {
    double v = a[p];
    int q = p - 1;
    while (q >= 0 && a[q] > v) { a[q + 1] = a[q]; q--; }
    a[q + 1] = v;
  }
  y[i] = chosen(a);
}

__global__ void left_early(const double *x, double *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double a[7];
  for (int k = 0; k < 7; k++) a[k] = x[7 * i + k];
  for (int p = 1; p < 7; p++) {
    double v = a[p];
    int q = p;
    for (; q > 0; q--) {
      if (a[q - 1] <= v) break;
      a[q] = a[q - 1];
    }
    a[q] = v;
  }
  y[i] = chosen(a);
}

__device__ void sift(double *a, int at, int n) {
  while (2 * at + 1 < n) {
    int child = 2 * at + 1;
    if (child + 1 < n && a[child + 1] > a[child]) child++;
    if (a[at] >= a[child]) return;
    double swapped = a[at];
    a[at] = a[child];
    a[child] = swapped;
    at = child;
  }
}

__global__ void heap(const double *x, double *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double a[7];
  memcpy(a, x + 7 * i, sizeof a);
  for (int k = 3; k >= 0; k--) sift(a, k, 7);
  for (int n = 6; n > 0; n--) {
    double largest = a[0];
    a[0] = a[n];
    a[n] = largest;
    sift(a, 0, n);
  }
  y[i] = chosen(a);
}

union Word {
  float number;
  unsigned bits;
};

// -x |x| + x^2
__global__ void bits(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Word word;
  word.number = x[i];
  word.bits ^= 0x80000000u;
  float size = __int_as_float(__float_as_int(x[i]) & 0x7fffffff);
  unsigned long long packed = (unsigned long long)__float_as_uint(x[i]) << 32 | __float_as_uint(size);
  float high = __uint_as_float(unsigned(packed >> 32)), low = __uint_as_float(unsigned(packed));
  unsigned copied;
  memcpy(&copied, &high, sizeof copied);
  y[i] = word.number * low + __uint_as_float(copied) * high;
}

// sign(s) |v| - v |v|, with v = x^3 and s = 0.3 - x
__global__ void signs_of_others(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i] * x[i] * x[i];
  unsigned sign = __float_as_uint(0.3f - x[i]) & 0x80000000u;
  float put = __uint_as_float((__float_as_uint(v) & 0x7fffffffu) | sign);
  float turned = __uint_as_float(__float_as_uint(v) ^ sign);
  y[i] = put - turned * put;
}

__global__ void root_by_bits(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int guess = 0x5f3759df - (__float_as_int(fabsf(x[i])) >> 1);
  y[i] = __int_as_float(guess);
}

__device__ void addBySwaps(double *sum, double value) {
  auto *bits = (unsigned long long *)sum;
  unsigned long long old = *bits, seen;
  do {
    seen = old;
    old = atomicCAS(bits, seen, __double_as_longlong(value + __longlong_as_double(seen)));
  } while (seen != old);
}

// One block of 64 threads.
__global__ void together(const double *x, double *y) {
  __shared__ double s[64];
  __shared__ unsigned long long largest;
  int t = threadIdx.x;
  s[t] = x[t];
  if (t == 0) largest = 0;
  __syncthreads();
  y[0] = s[0] * s[63]; // the same of all threads
  __syncthreads();
  s[t] = x[t] * x[t];
  for (int n = 32; n; n /= 2) {
    __syncthreads();
    if (t < n) s[t] += s[t + n];
  }
  if (t == 0) y[1] = s[0];
  double sum = x[t];
  for (int n = 16; n; n /= 2) sum += __shfl_down_sync(0xffffffff, sum, n);
  if (t % 32 == 0) atomicAdd(y + 2, sum);
  addBySwaps(y + 3, x[t] * x[t] * x[t]);
  atomicMax(&largest, (unsigned long long)__double_as_longlong(x[t] + 100)); // positive: in the order of the bits
  __syncthreads();
  if (t == 0) y[4] = __longlong_as_double(largest) - 100;
}

struct Choice {
  double by;
  __device__ double product(double v) { return by * v * v; }
  __device__ double apart(double v) { return by - v; }
};

// Pointers to functions and members, and a group that is a union with a pointer in it.
__global__ void pointed(const double *x, double *y) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  double (Choice::*method)(double) = t % 3 ? &Choice::product : &Choice::apart;
  double Choice::*member = &Choice::by;
  Choice choice = {x[t]};
  choice.*member *= 2;
  y[t] = (choice.*method)(x[t]);
  if (t % 2) {
    auto group = cooperative_groups::coalesced_threads();
    y[t] += group.shfl(x[t], 0) * group.size();
  }
}
