#pragma once
#if !__has_include(<c10/core/Device.h>) // which newer versions have, without this header
#include <ATen/cuda/DeviceUtils.cuh>
template <class T> __host__ __device__ constexpr T THCCeilDiv(T a, T b) { return (a + b - 1) / b; }
template <class T> __host__ __device__ constexpr T THCRoundUp(T a, T b) { return THCCeilDiv(a, b) * b; }
#endif
