// What a value has of the thread that computes it, and of the order in which threads arrive at atomics; and the forms
// of code by which threads' values become one.
#pragma once

#include "Support/Adgen.h"

#include "llvm/IR/Instructions.h"

#include <optional>

namespace adgen {

inline constexpr uint64_t LanesOfWarp = 32;

// What a value depends on. Sets of atomics are told apart by one bit each, the last of which stands for all others.
struct Facts {
  enum : unsigned { Lane = 1, Warp = 2, Block = 4, Anyone = Lane | Warp | Block };
  using Atomics = uint64_t;

  unsigned Identity = 0;                         // of the thread: what it is where
  Atomics ByThread = 0, ByWarp = 0, ByBlock = 0; // whose answer it follows, which each thread, warp, block has
  Atomics FoundInBlock = 0, FoundInGrid = 0;     // read where others have stored in the order of arrival

  Atomics answers() const { return ByThread | ByWarp | ByBlock; }
  Atomics found() const { return FoundInBlock | FoundInGrid; }
  bool followsOrder() const { return answers() | found(); }
  // Whether the order decides which thread's it is, of values that depend on `Who`.
  bool mixes(unsigned Who) const;
  Facts inOrder() const; // without the identity
  Facts sameInWarp() const;
  Facts sameInBlock() const;
  Facts operator|(const Facts &Other) const;
  bool operator==(const Facts &Other) const = default;
};

// The name of the special register that is read, behind llvm.nvvm.read.ptx.sreg.
std::optional<llvm::StringRef> registerOf(const llvm::Value *V);
// Of operations that take a thread's number apart: its lane, or its warp.
std::optional<unsigned> partOfThreadNumber(const llvm::Instruction &I);
// Whether it is a sum, a product, a maximum or a minimum.
bool addsUp(const llvm::Instruction &I);
bool isShuffle(const llvm::Value *V);
// Whether it adds up the values of a warp's lanes, as the last of several steps.
bool addsUpLanes(const llvm::Instruction &I);
// The sum that a loop makes of something in each of its iterations; null for any other phi.
const llvm::Instruction *madeInLoop(const llvm::PHINode &Phi);

} // namespace adgen
