#pragma once
#include <adgen_torch.h>

__device__ __forceinline__ unsigned int ACTIVE_MASK() { return __activemask(); }
__device__ __forceinline__ void WARP_SYNC(unsigned int mask = 0xffffffffu) { __syncwarp(mask); }
__device__ __forceinline__ unsigned int WARP_BALLOT(int predicate, unsigned int mask = 0xffffffffu) {
  return __ballot_sync(mask, predicate);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL(T value, int lane, int width = warpSize, unsigned int mask = 0xffffffffu) {
  return __shfl_sync(mask, value, lane, width);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL_XOR(T value, int lanes, int width = warpSize, unsigned int mask = 0xffffffffu) {
  return __shfl_xor_sync(mask, value, lanes, width);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL_UP(T value, unsigned int by, int width = warpSize,
                                          unsigned int mask = 0xffffffffu) {
  return __shfl_up_sync(mask, value, by, width);
}
template <class T>
__device__ __forceinline__ T WARP_SHFL_DOWN(T value, unsigned int by, int width = warpSize,
                                            unsigned int mask = 0xffffffffu) {
  return __shfl_down_sync(mask, value, by, width);
}
template <class T> __device__ __forceinline__ T doLdg(const T *from) { return __ldg(from); }
