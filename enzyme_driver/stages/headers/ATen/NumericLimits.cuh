#pragma once
#include <adgen_torch.h>

namespace at {
// Of types that reach to infinity the bounds are that.
template <class T> struct numeric_limits {
  static __host__ __device__ T lowest() { return std::numeric_limits<T>::lowest(); }
  static __host__ __device__ T max() { return std::numeric_limits<T>::max(); }
  static __host__ __device__ T lower_bound() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : lowest();
  }
  static __host__ __device__ T upper_bound() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : max();
  }
};
} // namespace at
