// PyTorch's numbers of 16 bits: classes of their own, beside CUDA's, which compute in float and round each result.
#pragma once
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <limits>
#include <type_traits>

namespace c10 {

#define ADGEN_NUMBER(NAME, STORED, FROM_FLOAT, TO_FLOAT, ALSO)                                                         \
  struct NAME {                                                                                                        \
    unsigned short x;                                                                                                  \
    struct from_bits_t {};                                                                                             \
    static constexpr __host__ __device__ from_bits_t from_bits() { return {}; }                                        \
    NAME() = default;                                                                                                  \
    constexpr __host__ __device__ NAME(unsigned short bits, from_bits_t) : x(bits) {}                                  \
    __host__ __device__ NAME(float value) : NAME(FROM_FLOAT(value)) {}                                                 \
    __host__ __device__ NAME(const STORED &value) : x(reinterpret_cast<const unsigned short &>(value)) {}              \
    __host__ __device__ operator float() const { return TO_FLOAT(STORED(*this)); }                                     \
    ALSO __host__ __device__ operator STORED() const { return reinterpret_cast<const STORED &>(x); }                   \
  };                                                                                                                   \
  __host__ __device__ inline NAME operator-(const NAME &a) { return -float(a); }                                       \
  template <int = 0> __device__ inline NAME atomicAdd(NAME *to, NAME value) {                                          \
    return ::atomicAdd(reinterpret_cast<STORED *>(to), STORED(value));                                                 \
  }                                                                                                                    \
  template <int = 0> __device__ inline NAME __ldg(const NAME *from) {                                                  \
    return ::__ldg(reinterpret_cast<const STORED *>(from));                                                            \
  }
ADGEN_NUMBER(Half, __half, __float2half, __half2float, )
ADGEN_NUMBER(BFloat16, __nv_bfloat16, __float2bfloat16, __bfloat162float, explicit)
#undef ADGEN_NUMBER

// With one another and with whole numbers they make numbers of their own kind, with float and double those.
template <class A, class B, class Number>
constexpr bool isOne = (std::is_same_v<A, Number> && (std::is_same_v<B, Number> || std::is_integral_v<B>)) ||
                       (std::is_integral_v<A> && std::is_same_v<B, Number>);
template <class A, class B, class Number>
constexpr bool isWide = (std::is_same_v<A, Number> && std::is_floating_point_v<B>) ||
                        (std::is_floating_point_v<A> && std::is_same_v<B, Number>);
template <class A, class B, class = void> struct Result {};
template <class A, class B> struct Result<A, B, std::enable_if_t<isOne<A, B, Half> || isOne<A, B, BFloat16>>> {
  using type = std::conditional_t<std::is_integral_v<A>, B, A>;
};
template <class A, class B> struct Result<A, B, std::enable_if_t<isWide<A, B, Half> || isWide<A, B, BFloat16>>> {
  using type = std::conditional_t<std::is_floating_point_v<A>, A, B>;
};
template <class A, class B>
using Wide = std::conditional_t<std::is_same_v<A, double> || std::is_same_v<B, double>, double, float>;

#define ADGEN_OPERATOR(OPERATOR)                                                                                       \
  template <class A, class B>                                                                                          \
  __host__ __device__ inline typename Result<A, B>::type operator OPERATOR(const A &a, const B &b) {                   \
    return Wide<A, B>(a) OPERATOR Wide<A, B>(b);                                                                       \
  }                                                                                                                    \
  template <class A, class B, class = typename Result<A, B>::type>                                                     \
  __host__ __device__ inline A &operator OPERATOR## = (A & a, const B &b) {                                            \
    return a = static_cast<A>(Wide<A, B>(a) OPERATOR Wide<A, B>(b));                                                   \
  }                                                                                                                    \
  __host__ __device__ inline Half &operator OPERATOR## = (Half & a, const Half &b) {                                   \
    return a = float(a) OPERATOR float(b);                                                                             \
  }                                                                                                                    \
  __host__ __device__ inline BFloat16 &operator OPERATOR## = (BFloat16 & a, const BFloat16 &b) {                       \
    return a = float(a) OPERATOR float(b);                                                                             \
  }
ADGEN_OPERATOR(+)
ADGEN_OPERATOR(-)
ADGEN_OPERATOR(*)
ADGEN_OPERATOR(/)
#undef ADGEN_OPERATOR

#define ADGEN_COMPARISON(OPERATOR)                                                                                     \
  template <class A, class B, class = typename Result<A, B>::type>                                                     \
  __host__ __device__ inline bool operator OPERATOR(const A &a, const B &b) {                                          \
    return Wide<A, B>(a) OPERATOR Wide<A, B>(b);                                                                       \
  }
ADGEN_COMPARISON(<)
ADGEN_COMPARISON(<=)
ADGEN_COMPARISON(>)
ADGEN_COMPARISON(>=)
ADGEN_COMPARISON(==)
ADGEN_COMPARISON(!=)
#undef ADGEN_COMPARISON

} // namespace c10

template <> class std::numeric_limits<c10::Half> {
public:
  static constexpr bool is_specialized = true, has_infinity = true;
  static __host__ __device__ c10::Half lowest() { return -65504.0f; }
  static __host__ __device__ c10::Half max() { return 65504.0f; }
  static __host__ __device__ c10::Half min() { return 6.103515625e-5f; }
  static __host__ __device__ c10::Half epsilon() { return 9.765625e-4f; }
  static __host__ __device__ c10::Half infinity() { return __builtin_inff(); }
};
template <> class std::numeric_limits<c10::BFloat16> {
public:
  static constexpr bool is_specialized = true, has_infinity = true;
  static __host__ __device__ c10::BFloat16 lowest() { return -3.38953139e38f; }
  static __host__ __device__ c10::BFloat16 max() { return 3.38953139e38f; }
  static __host__ __device__ c10::BFloat16 min() { return 1.17549435e-38f; }
  static __host__ __device__ c10::BFloat16 epsilon() { return 7.8125e-3f; }
  static __host__ __device__ c10::BFloat16 infinity() { return __builtin_inff(); }
};
