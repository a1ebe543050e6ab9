#pragma once
#include <adgen_torch.h>

namespace torch {
class Library;
}
#define TORCH_LIBRARY(NAME, LIBRARY) [[maybe_unused]] static void adgen_operators_##NAME(torch::Library &LIBRARY)
#define TORCH_LIBRARY_FRAGMENT(NAME, LIBRARY)                                                                          \
  [[maybe_unused]] static void adgen_fragment_##NAME(torch::Library &LIBRARY)
#define TORCH_LIBRARY_IMPL(NAME, KEY, LIBRARY)                                                                         \
  [[maybe_unused]] static void adgen_operators_##NAME##_##KEY(torch::Library &LIBRARY)
