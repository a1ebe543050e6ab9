// Numbers of 16 bits that people keep as integers: bfloat16 is the upper half of a float.
struct alignas(2) Bf16 {
  unsigned short bits;
  __device__ Bf16() = default;
  __device__ Bf16(float v) {
    unsigned u = __float_as_uint(v);
    u += 0x7fff + ((u >> 16) & 1);
    bits = u >> 16;
  }
  __device__ operator float() const { return __uint_as_float((unsigned)bits << 16); }
};

__global__ void of_a_class(const Bf16 *x, float *y) {
  int i = threadIdx.x;
  y[i] = float(x[i]) * float(x[i]);
}
__global__ void of_a_pair(const unsigned *x, float *y) {
  int i = threadIdx.x;
  y[i] = __uint_as_float(x[i] << 16) * __uint_as_float(x[i] & 0xffff0000u);
}
__global__ void to_a_class(const float *y, Bf16 *x) {
  int i = threadIdx.x;
  x[i] = y[i] * y[i];
}
__global__ void of_counts(const unsigned *x, float *y) {
  int i = threadIdx.x;
  y[i] *= float(x[i] & 0xffff0000u) + float(x[i] << 16);
}
