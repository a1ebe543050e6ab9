// The blocks of a launch by number, and the parts of them that threads run.
#pragma once

#include "launch.h"

#include <algorithm>
#include <cstdint>

struct BlockRange {
  int64_t first, end;
};

struct BlockPlace {
  uint32_t x, y, z;
};

inline int64_t blocksOf(const adgen_launch *launch) {
  return int64_t(launch->grid[0]) * launch->grid[1] * launch->grid[2];
}

// The i-th of `count` parts of about the same size.
inline BlockRange partOf(int64_t blocks, int64_t i, int64_t count) {
  return {blocks * i / count, blocks * (i + 1) / count};
}

// Row after row.
inline BlockPlace placeOf(const adgen_launch *launch, int64_t block) {
  const int64_t nx = launch->grid[0], ny = launch->grid[1];
  return {uint32_t(block % nx), uint32_t(block / nx % ny), uint32_t(block / nx / ny)};
}

// Column after column of a few rows, then those of the next rows: where a block reads what its row and its column have
// in common, as in a product of matrices, blocks that follow one another find it in the cache.
inline BlockPlace groupedPlaceOf(const adgen_launch *launch, int64_t block) {
  constexpr int64_t Rows = 8;
  const int64_t nx = launch->grid[0], ny = launch->grid[1];
  const int64_t layer = block / (nx * ny), inside = block % (nx * ny), first = inside / (Rows * nx) * Rows;
  const int64_t rows = std::min(Rows, ny - first), number = inside - first * nx;
  return {uint32_t(number / rows), uint32_t(first + number % rows), uint32_t(layer)};
}
