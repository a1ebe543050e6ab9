// The blocks of a launch, dealt to threads so that no two of them accumulate into the same element at the same time:
// each thread has blocks one behind the other, and those at the end of its share that meet the beginning of the next
// one wait until all others are done.
#pragma once

#include "launch.h"

#include <cstdint>
#include <optional>
#include <vector>

struct Share {
  int64_t first, late, end; // blocks; from `late` on they wait
};

// Nothing where neighbours' late blocks would meet as well, or where a block has few threads: finding out takes as long
// as they do.
std::optional<std::vector<Share>> sharesOf(const adgen_launch *launch, footprint_function footprint, uint64_t shadows,
                                           void *const *args);
