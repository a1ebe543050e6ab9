// An operator of PyTorch that needs no Python, through PyTorch's stable ABI: programs for certain shapes and values.
#pragma once

#include "tensors.h"

#include <torch/csrc/stable/library.h>

namespace adgen {

// The program for one kind of arguments, which `key` describes: of a tensor its dtype, number of dimensions and sizes,
// of a number its value.
struct Variant {
  std::vector<int64_t> key, words;
  std::string text; // names of files begin with "@/" where they lie beside the library
  std::vector<TensorShape> results;
};

struct Exported {
  const char *name;
  const char *kinds; // of the arguments: 't'ensor, 'i'nteger, 'b'ool or 'f'loat
  std::vector<Variant> variants;
};

void run_exported(const Exported &op, StableIValue *stack, uint64_t count);

} // namespace adgen
