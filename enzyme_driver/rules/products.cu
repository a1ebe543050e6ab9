// Sums over a warp's lanes of products of what the lanes bring (passes/Accumulate/SumProducts.cpp). Each lane has left its numbers in a row of
// shared memory; `first` and `second` lead to some of them in lane 0's row, and rows are `stride` numbers apart. Of the `lanes` that are here, the
// sums of all products of one of `Side` numbers with one of as many others.
#define RULE extern "C" __attribute__((device, noinline))
#define DEVICE __attribute__((device, always_inline))
#define SHARED __attribute__((address_space(3)))

constexpr unsigned Everyone = 0xffffffff;
constexpr int WarpSize = 32;
constexpr int Aligned = 16;

template <class T, int Side> struct Numbers {
  static constexpr int Alignment = sizeof(T) * Side < Aligned ? sizeof(T) * Side : Aligned;
  typedef T Vector __attribute__((ext_vector_type(Side), aligned(Alignment)));
};

template <class T, int Side>
static DEVICE void addRow(SHARED const T *first, SHARED const T *second, T (&sums)[Side][Side]) {
  using Vector = typename Numbers<T, Side>::Vector;
  Vector a = *(SHARED const Vector *)first, b = *(SHARED const Vector *)second;
#pragma unroll
  for (int i = 0; i < Side; ++i)
#pragma unroll
    for (int j = 0; j < Side; ++j)
      sums[i][j] += a[i] * b[j];
}

template <class T, int Side>
static DEVICE void tile(SHARED const T *first, SHARED const T *second, unsigned stride, unsigned lanes, T *result) {
  T sums[Side][Side] = {};
  if (lanes == Everyone) {
#pragma unroll 8
    for (int lane = 0; lane < WarpSize; ++lane)
      addRow(first + lane * stride, second + lane * stride, sums);
  } else {
#pragma unroll 1
    for (; lanes; lanes &= lanes - 1) {
      unsigned begin = __builtin_ctz(lanes) * stride;
      addRow(first + begin, second + begin, sums);
    }
  }
#pragma unroll
  for (int i = 0; i < Side; ++i)
#pragma unroll
    for (int j = 0; j < Side; ++j)
      result[i * Side + j] = sums[i][j];
}

#define TILE(SUFFIX, T, SIDE)                                                                                         \
  RULE void adgen_sum_products_##SUFFIX##_##SIDE(SHARED const T *first, SHARED const T *second, unsigned stride,      \
                                                 unsigned lanes, T *result) {                                         \
    tile<T, SIDE>(first, second, stride, lanes, result);                                                              \
  }
TILE(f32, float, 2)
TILE(f32, float, 4)
TILE(f64, double, 2)
TILE(f64, double, 4)
