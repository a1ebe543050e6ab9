// Accumulations into elements that only one thread of a grid of several dimensions accumulates into.
//
// All of a shadow are to where a step for each axis leads, as many times as the thread and its block are along it, and
// one of a few places that all threads share. No two threads have an element in common if each step is as long as all
// shorter ones lead together, and the places lie further apart than all of them lead. The launch's extents decide.
// Steps and places that a kernel is told, as the width of an image, are left alone: to ask for them took longer than
// additions without atomics gained.
#pragma once

#include "Accumulate/LaunchNumbers.h"
#include "Accumulate/Ownership.h"

namespace adgen {

class GridOwnership {
public:
  struct Step {
    Source Along; // a thread or a block, on an axis
    Polynomial Bytes;
  };
  // A thread's elements behind one offset.
  struct Place {
    Polynomial Offset;
    llvm::SmallVector<llvm::AtomicRMWInst *> All;
  };

  // What it takes for the elements to be the threads' own.
  struct Proof {
    llvm::SmallVector<Step> Steps;   // the shortest first
    llvm::SmallVector<Place> Places; // ascending
    int64_t Width = 0;               // of a place, in bytes

    // Whether the launch is such that they are.
    llvm::Value *holds(llvm::IRBuilder<> &B, LaunchNumbers &Launch) const;
  };

  GridOwnership(llvm::Function &F, llvm::LoopInfo &LI);

  // Nothing where no launch keeps to it.
  std::optional<Proof> proofOf(const llvm::Argument &Shadow, llvm::ArrayRef<llvm::AtomicRMWInst *> All);

private:
  using Steps = std::map<Source, Polynomial>;
  // Takes what depends on the thread out of an offset; false where that is not as above.
  static bool takeSteps(Polynomial &Offset, Steps &Found);
  // Whether all that tells threads apart leads somewhere: else only a launch of one thread or block would keep to it.
  bool leadsAlongAll(const Steps &Each) const;
  static std::optional<Proof> arranged(const Steps &Each, llvm::ArrayRef<Place> Places, int64_t Width);
  static void joinPlaces(Proof &Of);

  Indices Index;
  llvm::SmallVector<Source> Read; // the kernel's axes
};

} // namespace adgen
