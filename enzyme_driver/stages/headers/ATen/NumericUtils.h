// What at::_isnan and its kin ask of a number of any type, integers among them.
#pragma once
#include <adgen_torch.h>

namespace at {
template <class T> __host__ __device__ inline bool _isnan(T value) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return ::isnan(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
}
template <class T> __host__ __device__ inline bool _isinf(T value) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return ::isinf(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
}
} // namespace at
