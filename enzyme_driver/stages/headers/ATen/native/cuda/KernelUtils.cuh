// Additions that PyTorch does with fewer instructions for numbers of 16 bits.
#pragma once
#include <adgen_torch.h>

namespace at::native {
template <class T, class Index>
__device__ __forceinline__ void fastSpecializedAtomicAdd(T *tensor, Index index, const Index, T value) {
  gpuAtomicAddNoReturn(tensor + index, value);
}
template <class T, class Index>
__device__ __forceinline__ void fastAtomicAdd(T *tensor, Index index, const Index, T value, bool) {
  gpuAtomicAddNoReturn(tensor + index, value);
}
} // namespace at::native
