// Which elements of a matrix the lanes of a warp hold for the Tensor Cores, as the PTX manual lays them out for
// mma.sync. For wmma the manual leaves that open, so that a wmma is two mma.sync side by side here.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace adgen {

// An index of a matrix as lane 4 g + t knows it: G * g + T * t + C.
struct LaneIndex {
  unsigned G = 0, T = 0, C = 0;
};

struct Element {
  LaneIndex Row, Column;
};

enum class Matrix { A, B, C };

enum class Format { Half, Brain, Tf32, Double };

// An mma.sync of which each lane has Rows * Slots elements of A, Slots elements of B and 2 * Rows of the product: A's
// rows g + 8 r, and the inner indices that the lanes of the same t share, which are the slots.
struct Operation {
  Format Of;
  unsigned K;

  static std::optional<Operation> make(Format Of, unsigned K);
  llvm::StringRef name() const;                                               // of the rule in rules/tensor_cores.cu
  bool isPaired() const { return Of == Format::Half || Of == Format::Brain; } // two slots are neighbours
  unsigned rows() const { return Of == Format::Double ? 1 : 2; }
  unsigned slots() const { return K / 4; }
  unsigned inA() const { return rows() * slots(); }
  unsigned results() const { return 2 * rows(); }
  // Where A's element of a row block and a slot is among a lane's.
  unsigned indexInA(unsigned R, unsigned S) const { return isPaired() ? S % 2 + 2 * R + 4 * (S / 2) : R + rows() * S; }
  Element element(Matrix Which, unsigned Index) const;
};

// What wmma multiplies.
struct Shape {
  unsigned M, N, K;

  static std::optional<Shape> parse(llvm::StringRef Text);    // "m16n16k16"
  unsigned parts() const { return M == 8 && N == 8 ? 1 : 2; } // operations side by side
  bool isSideBySide() const { return M == 16 && N == 16; }    // else one above the other
  // Transposed: the operation multiplies B' by A', as A has too few rows.
  bool isTransposed() const { return M == 8 && N == 32; }
  // Of the elements of a lane, which wmma may have several times.
  Element element(const Operation &Op, Matrix Which, unsigned Index) const;
};

} // namespace adgen
