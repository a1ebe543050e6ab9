// Bases of function objects that Thrust's third version has no more, for files that were written before.
#pragma once
#include_next <thrust/detail/config.h>
#if CCCL_MAJOR_VERSION >= 3
namespace thrust {
template <class Argument, class Result> struct unary_function {
  using argument_type = Argument;
  using result_type = Result;
};
template <class First, class Second, class Result> struct binary_function {
  using first_argument_type = First;
  using second_argument_type = Second;
  using result_type = Result;
};
template <class T = void> struct identity {
  using argument_type = T;
  using result_type = T;
  constexpr __host__ __device__ const T &operator()(const T &x) const { return x; }
};
template <> struct identity<void> {
  template <class T> constexpr __host__ __device__ const T &operator()(const T &x) const { return x; }
};
} // namespace thrust
#endif
