// Accumulations into elements that only one thread accumulates into, as their indices prove.
#pragma once

#include "Analysis/Accumulation.h"
#include "Analysis/Indices.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"

#include <optional>

namespace adgen {

constexpr int64_t MostElements = INT32_MAX; // with more, an index of 32 bits would come back to elements of others

// Parameter attribute, as RowsAttribute: of an array of which each element is written by one thread.
inline constexpr StringLiteral StoredRowsAttribute = "adgen-stored-in-rows";

// What the launch has to keep to.
struct OwnershipLimits {
  int64_t Threads = MostElements, Blocks = MostElements, BlockSize = MostElements;
  llvm::SmallSetVector<llvm::StringRef, 4> Rows; // as RowsAttribute has them

  void keepTo(llvm::StringRef RowsWords) {
    Rows.insert(RowsWords);
    Threads = std::min(Threads, MostInRows);
  }
};

// Where an accumulation is among those of its thread: so many bytes, and so many rounds of all threads of the block,
// behind a common base.
struct Spot {
  llvm::AtomicRMWInst *Of = nullptr;
  int64_t Rounds = 0, Bytes = 0, Width = 0;
  Polynomial Whole;   // the index
  Polynomial Counted; // its part by loops

  bool meets(const Spot &Other) const {
    return Rounds == Other.Rounds && Bytes < Other.Bytes + Other.Width && Other.Bytes < Bytes + Width;
  }
};

// Accumulations into elements that only one thread accumulates into, and those among them that find what the shadow
// held before.
struct OwnElements {
  llvm::SmallVector<llvm::AtomicRMWInst *> All;
  llvm::SmallPtrSet<llvm::AtomicRMWInst *, 8> First;
};

// Whether every accumulation into a shadow is to elements of the thread's own: within one stride, in a few rounds.
class Ownership {
public:
  Ownership(llvm::Function &F, llvm::LoopInfo &LI, llvm::ScalarEvolution &SE) : Index(F, LI), LI(LI), SE(SE) {}

  // The accumulations into a shadow, the exchanges that take cotangents from it (ConsumeOnce), and whether there are
  // loads and stores as well; nothing where there is more.
  struct Uses {
    llvm::SmallVector<llvm::AtomicRMWInst *> Accumulations, Consumptions;
    bool Others = false;
  };
  static std::optional<Uses> usesOf(llvm::Argument &Shadow);

  // Nothing where it is not proved; lowers the limits to what it is proved for.
  std::optional<OwnElements> elementsOf(const llvm::Argument &Shadow, const Uses &All, OwnershipLimits &Launch);

private:
  // Whether every iteration of every loop around leads to another element, as far as places that are counted one by one
  // do not tell.
  bool isElsewhereEachTime(const llvm::AtomicRMWInst &Atomic, const Polynomial &Where) const;
  void keepFirst(llvm::ArrayRef<Spot> Elements, OwnElements &Found) const;

  // Whether one accumulation may have been to the element when the other comes to it; by the same index only in the
  // same iteration.
  bool mayComeBefore(const Spot &One, const Spot &Other) const;

  // From thread to thread in bytes; from block to block in threads, where that is a constant, else in rounds of the
  // block's threads.
  struct Steps {
    int64_t Thread = 0, BlockSize = 0, Rounds = 0;
    bool operator==(const Steps &Other) const {
      return Thread == Other.Thread && BlockSize == Other.BlockSize && Rounds == Other.Rounds;
    }
  };

  // Takes what depends on the thread out of an offset; no steps where that is not a stride times the thread's number,
  // or times that in the block and a multiple of that of the block.
  static Steps takeThread(Polynomial &P);

  // Whether a loop counter leads from one round of all threads of the grid to another.
  static bool isOverTheGrid(const Polynomial::Product &Sources, int64_t Factor, const Steps &By);

  // Takes out of an offset what tells a thread's own elements apart.
  static std::optional<Spot> takePlace(Polynomial &P, const Steps &By);

  // The elements that an accumulation in loops with few iterations is to.
  bool addElements(const Spot &Where, llvm::SmallVectorImpl<Spot> &Elements, const Steps &By);

  // A block's elements are in as many rounds as lie between it and the next.
  static bool areOwn(const Steps &By, llvm::ArrayRef<Spot> Elements, OwnershipLimits &Launch);

  // The threads of a block that is no wider than the limit fill the strides up to the next of their rounds, and the
  // last ones those up to the next block.
  static bool areOwnInBlocksOf(const Steps &By, llvm::ArrayRef<Spot> Elements, OwnershipLimits &Launch);
  Indices Index;
  llvm::LoopInfo &LI;
  llvm::ScalarEvolution &SE;
};

} // namespace adgen
