// Numbers of 16 bits in classes of one's own, which shift their bits to and from floats.
struct Brain { // to the nearest
  unsigned short bits;
  Brain() = default;
  __device__ Brain(float v) {
    unsigned u = __float_as_uint(v);
    bits = v != v ? 0x7fc0 : (u + 0x7fff + ((u >> 16) & 1)) >> 16;
  }
  __device__ operator float() const { return __uint_as_float((unsigned)bits << 16); }
};

struct Cut { // towards zero, by unions
  unsigned short bits;
  static __device__ Cut of(float v) {
    union {
      float number;
      unsigned bits;
    } u{v};
    return {(unsigned short)(u.bits >> 16)};
  }
  __device__ float get() const {
    union {
      unsigned bits;
      float number;
    } u{unsigned(bits) << 16};
    return u.number;
  }
};

struct Half { // by arithmetic with words
  unsigned short bits;
  __device__ operator float() const {
    const unsigned w = (unsigned)bits << 16, sign = w & 0x80000000u, two = w + w;
    const float normal = __uint_as_float((two >> 4) + (0xE0u << 23)) * 0x1.0p-112f;
    const float small = __uint_as_float((two >> 17) | (126u << 23)) - 0.5f;
    return __uint_as_float(sign | __float_as_uint(two < (1u << 27) ? small : normal));
  }
  __device__ Half(float v) {
    float base = fabsf(v) * 0x1.0p+112f * 0x1.0p-110f;
    const unsigned w = __float_as_uint(v), two = w + w;
    const unsigned bias = max(two & 0xFF000000u, 0x71000000u);
    base = __uint_as_float((bias >> 1) + 0x07800000u) + base;
    const unsigned made = __float_as_uint(base), size = ((made >> 13) & 0x7C00u) + (made & 0xFFFu);
    bits = ((w & 0x80000000u) >> 16) | (two > 0xFF000000u ? 0x7E00u : size);
  }
};

template <class T> __global__ void squares(const T *x, T *y) {
  int i = threadIdx.x;
  y[i] = T(float(x[i]) * float(x[i]));
}
template __global__ void squares<Brain>(const Brain *, Brain *);
template __global__ void squares<Half>(const Half *, Half *);

__global__ void cut_squares(const Cut *x, Cut *y) {
  int i = threadIdx.x;
  y[i] = Cut::of(x[i].get() * x[i].get());
}

// Sums and maxima that a loop carries as 16 bits.
__global__ void carried(const Brain *x, Brain *y, int n) {
  Brain sum = 0.f, most = x[0];
  for (int k = 0; k < n; ++k) {
    sum = float(sum) * 0.5f + float(x[k]) * float(x[threadIdx.x]);
    if (float(x[k]) > float(most))
      most = x[k];
  }
  y[threadIdx.x] = float(sum) + float(most);
}

// In shared memory, in a local array, and handed to another lane.
__global__ void moved(const float *x, float *y, int n) {
  __shared__ Brain tile[32];
  Brain local[4] = {0.f, 0.f, 0.f, 0.f};
  int i = threadIdx.x;
  tile[i] = x[i] * x[i];
  __syncthreads();
  for (int k = 0; k < 4; ++k)
    local[k] = float(tile[(i + k) % n]) * 0.5f;
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += float(local[k & 3]) * x[k];
  y[i] = sum + __shfl_xor_sync(0xffffffffu, float(local[1]), 1);
}

// Floats that are rounded on the way, or stored so.
__global__ void quantized(const float *x, float *y) { y[threadIdx.x] = float(Brain(x[threadIdx.x])); }

__global__ void of_words(const unsigned short *x, float *y) {
  y[threadIdx.x] = __uint_as_float((unsigned)x[threadIdx.x] << 16);
}
__global__ void of_pairs(const unsigned *x, float *y) {
  y[threadIdx.x] = __uint_as_float(x[threadIdx.x] << 16) * __uint_as_float(x[threadIdx.x] & 0xffff0000u);
}
__global__ void next(const Brain *x, float *y) {
  Brain after = x[threadIdx.x];
  ++after.bits;
  y[threadIdx.x] = after;
}
__global__ void masked_counts(const unsigned *x, float *y) {
  y[threadIdx.x] *= float(x[threadIdx.x] & 0xffff0000u) + float(x[threadIdx.x] << 16);
}
