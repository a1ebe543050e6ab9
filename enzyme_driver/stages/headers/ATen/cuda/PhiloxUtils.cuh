// Seed and offset of random numbers as an argument of a kernel.
#pragma once
#include <adgen_torch.h>

namespace at {
struct PhiloxCudaState {
  union Payload {
    uint64_t val;
    int64_t *ptr; // in a captured graph
  };
  Payload seed_{}, offset_{};
  uint64_t offset_intragraph_ = 0;
  bool captured_ = false;
};
namespace cuda::philox {
__host__ __device__ __forceinline__ std::tuple<uint64_t, uint64_t> unpack(const PhiloxCudaState &state) {
  if (state.captured_)
    return std::make_tuple(static_cast<uint64_t>(*state.seed_.ptr),
                           static_cast<uint64_t>(*state.offset_.ptr + state.offset_intragraph_));
  return std::make_tuple(state.seed_.val, state.offset_.val);
}
} // namespace cuda::philox
} // namespace at
namespace c10 {
using at::PhiloxCudaState;
}
