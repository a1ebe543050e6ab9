// Accumulations into shared shadows that belong together: those of a thread to all elements of a row, where the threads
// of a row of the block, or of a column, have the same elements.
#pragma once

#include "Analysis/Accumulation.h"
#include "Analysis/Uniformity.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"

#include <memory>
#include <optional>
#include <vector>

namespace adgen {

constexpr int64_t MostAtOnce = 8; // as many elements are added up without a loop

// The intrinsic that a call is of, as of one that reads a register.
llvm::Intrinsic::ID intrinsicOf(const llvm::Value *V);

// Along a row of the block x differs, along a column y.
enum class Along { Row, Column };

// An address as a sum: an object, multiples of indices, a constant. It is also `Offset` behind `Base`.
struct SharedPlace {
  llvm::Value *Object;
  llvm::SmallMapVector<llvm::Value *, int64_t, 4> Scales;
  int64_t Constant = 0;
  llvm::Value *Base;
  int64_t Offset = 0;

  // Whether the difference to another one is a constant.
  bool isNear(const SharedPlace &Other) const {
    return Object == Other.Object && Scales.size() == Other.Scales.size() &&
           llvm::all_of(Scales, [&](const auto &Part) { return Other.Scales.lookup(Part.first) == Part.second; });
  }
};

// What the members of a group have in common; element k is the k-th member's.
struct AddedPattern {
  enum { Same, Loaded, Computed } Kind;
  llvm::Value *First; // the value of element 0
  SharedPlace Begin;  // of Loaded: element k is k * Stride behind it
  int64_t Stride = 0;
  llvm::StoreInst *PutBack; // of Loaded, where the array has changed since: what each thread had stored there
  llvm::SmallVector<std::shared_ptr<AddedPattern>, 2> Operands; // of Computed
};

struct AccumulationGroup {
  Along Direction;
  SharedPlace Begin; // element k is k * Stride behind it
  int64_t Stride;
  llvm::SmallVector<llvm::AtomicRMWInst *, 16> Members;
  std::shared_ptr<AddedPattern> Added;
  int64_t count() const { return Members.size(); }
  llvm::Type *type() const { return Members.front()->getType(); }
};

// Instructions of a block that change no memory but by accumulations, between two that may.
struct MemorySegment {
  llvm::Instruction *Before = nullptr, *Behind = nullptr;
  llvm::SmallVector<llvm::Instruction *, 64> Instructions;
};

// Groups of one segment with as many elements.
struct GroupCluster {
  llvm::SmallVector<AccumulationGroup, 2> Groups;
  MemorySegment Where;
  llvm::Instruction *Outside = nullptr; // where the loop around it is entered, if all threads come there
  const llvm::Loop *Around = nullptr;
  int64_t count() const { return Groups.front().count(); }
  bool isShort() const { return count() <= MostAtOnce; }
};

class GroupFinder {
public:
  GroupFinder(llvm::Function &F, const Meetings &Meet, llvm::LoopInfo &Loops)
      : F(F), Layout(F.getDataLayout()), Meet(Meet), Loops(Loops),
        Threads(F, [&](const llvm::Value &V) { return kindOnDevice(V, F); }), Writers(writersIn(F)) {}

  bool isUniform(const llvm::Value *V) const { return Threads.isUniform(V); }

  std::vector<GroupCluster> find();

  // How often a loop is gone through, if it does nothing but add to another element of a row each time, and the rows of
  // several arrays may be groups; else 0.
  unsigned countOfRows(const llvm::Loop &L, llvm::ScalarEvolution &SE) const;

  // Whether what the value is in another thread follows from that thread's indices.
  bool followsFromIndices(const llvm::Value *V) const;
  bool followsFromIndices(const SharedPlace &At) const;

private:
  static std::vector<MemorySegment> segments(llvm::BasicBlock &Block);

  // The groups of the number of elements that most have.
  void collect(const MemorySegment &S, std::vector<GroupCluster> &Found);

  struct Item {
    SharedPlace At;
    llvm::AtomicRMWInst *Atomic;
  };

  std::vector<AccumulationGroup> groups(const MemorySegment &S) const;

  // As many of the first items as are a group together: rows may lie one behind the other.
  std::optional<AccumulationGroup> longest(Along Direction, llvm::ArrayRef<Item> Items, const MemorySegment &S) const;
  bool complete(AccumulationGroup &G, llvm::ArrayRef<Item> Items, const MemorySegment &S) const;
  bool isMet(const AccumulationGroup &G, const llvm::Instruction &I) const;

  // Threads of a row have the same elements where these follow from y and what is uniform.
  std::optional<Along> directionOf(const SharedPlace &Begin) const;
  bool readsRegister(const llvm::Value *V, llvm::Intrinsic::ID Register) const;

  // What the values of all elements have in common; null where that is not simple enough.
  std::shared_ptr<AddedPattern> common(llvm::ArrayRef<llvm::Value *> Values, const MemorySegment &S) const;
  static bool isSum(const llvm::Instruction &I);
  std::shared_ptr<AddedPattern> commonLoad(llvm::ArrayRef<llvm::Value *> Values, const MemorySegment &S) const;
  bool isSharedShadow(const llvm::Value *Object) const;

  // Arrays are the last arguments but for their shadows and what a tape takes.
  bool isSharedArray(const llvm::Value *Object) const;

  // Whether what is added in an iteration may be what the members of a group have in common.
  bool mayBeCommon(const llvm::Value *Added, const llvm::Loop &L) const;

  // Whether the array may have been written to between a load from it and the segment.
  bool isOutdated(const llvm::LoadInst &Load, const MemorySegment &S) const;

  llvm::StoreInst *filledBy(const llvm::LoadInst &Load, const MemorySegment &S) const;
  bool isFilled(const llvm::Value *Array) const;
  bool leadsTo(const llvm::Instruction &From, const llvm::Instruction &To) const;

  // No argument leads to what another one leads to.
  static bool mayWriteTo(const llvm::Instruction &I, const llvm::Value *Array);
  static llvm::SmallVector<const llvm::Instruction *> writersIn(llvm::Function &F);
  static bool isAssumption(const llvm::Instruction &I);
  llvm::Function &F;
  const llvm::DataLayout &Layout;
  const Meetings &Meet;
  llvm::LoopInfo &Loops;
  Uniformity Threads;
  llvm::SmallVector<const llvm::Instruction *> Writers;
  mutable llvm::DenseMap<const llvm::BasicBlock *, llvm::SmallPtrSet<const llvm::BasicBlock *, 16>> Reached;
};

} // namespace adgen
