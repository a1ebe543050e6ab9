// What the passes share that make accumulations into shadows cheap: which instructions are accumulations, and what may
// meet them.
#pragma once

#include "Analysis/UnderlyingObjects.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/IR/IRBuilder.h"

namespace adgen {

// Argument attribute of a shadow: of rows of which each element is read by one thread, in launches of one dimension
// whose blocks are whole warps. "rows*scalars:length:length": the lengths, by the parameter or as "struct+offset";
// where the number of all elements must fit into 32 bits, rows are "blocks", "warps" or "threads", else nothing is
// said.
inline constexpr llvm::StringLiteral RowsAttribute = "adgen-owned-in-rows";
// Such numbers, and threads, there may be so many.
inline constexpr int64_t MostInRows = 1 << 30;

// An addition of floating point whose sum nobody asks for: such additions may change places with each other.
llvm::AtomicRMWInst *asAccumulation(llvm::Instruction &I);

// Of a load, a store or an atomic; null for anything else.
const llvm::Value *accessedPointer(const llvm::Instruction &I);
// A load or a store, neither atomic nor volatile.
bool isSimpleAccess(const llvm::Instruction &I);

// Of sums that may be added up in any order, as atomics do it: loops can then be vectorised.
llvm::FastMathFlags inAnyOrder();
// What a store adds to what was there before, without an atomic; null where it is no such sum.
llvm::Value *addedBy(const llvm::StoreInst &Store);
// Adds without an atomic; returns what was there before.
llvm::LoadInst *addPlainly(llvm::AtomicRMWInst &Accumulation, llvm::FastMathFlags Flags = inAnyOrder());

// Whether the whole function does nothing by way of this pointer but accumulate.
bool isOnlyAccumulatedInto(const llvm::Value &Shadow);

// Metadata of an exchange by which a thread takes a cotangent.
inline constexpr llvm::StringLiteral ConsumedMark = "adgen.consumed";

// Of an accumulation to the first of two numbers of 16 bits to which the source adds at once: they fill a word.
inline constexpr llvm::StringLiteral BeginsWordMark = "adgen.begins.word";
bool isConsumption(const llvm::Instruction &I);
// The same where no other block stores to the element.
inline constexpr llvm::StringLiteral BlocksOwnMark = "adgen.blocks.own";
// Function attribute of a gradient: "mask,x,y,z", the axes along which the grid has to have one block, and how wide
// blocks may be, for these elements to be the block's own.
inline constexpr llvm::StringLiteral BlocksDifferAttribute = "adgen-blocks-differ";
// Of an exchange with zero: the load and the store of one thread after another.
llvm::LoadInst *takePlainly(llvm::IRBuilder<> &B, llvm::AtomicRMWInst &Exchange, llvm::Value *From);

// Metadata of what a thread adds when it is done with a region: once, so that it may be atomic.
inline constexpr llvm::StringLiteral OnceMark = "adgen.once";

// How a function comes to memory: by an argument, by a member of one, or by the pointer that lies so many bytes behind
// one.
struct Way {
  const llvm::Argument *From;
  std::optional<int64_t> Held;
  llvm::ArrayRef<unsigned> Member;

  static std::optional<Way> of(const llvm::Value *Pointer);
  bool operator==(const Way &Other) const { return From == Other.From && Held == Other.Held && Member == Other.Member; }
};

// The ways by which the whole function may do something else to the memory of this pointer, one of its arguments or a
// member of one, than accumulate into it, if they lead there; nothing where it may come there otherwise.
std::optional<llvm::SmallVector<Way>> metOtherwise(const llvm::Value &Shadow, const UnderlyingObjects &Memory);
// Whether all accesses of the whole function to the memory of this argument, by whatever pointer, are accumulations.
bool isMetByAccumulationsOnly(const llvm::Argument &Shadow, const UnderlyingObjects &Memory);

// Calls a function of the device rules, which adgen-link-libraries brings.
llvm::CallInst *callRule(llvm::IRBuilder<> &B, llvm::StringRef Name, llvm::Type *Result,
                         llvm::ArrayRef<llvm::Value *> Arguments);

// Moves an instruction, with what it needs, up to a place that is reached whenever it is; not where that itself is
// needed, or something that must stay.
bool moveUpTo(llvm::Instruction &Place, llvm::Instruction &Last, const llvm::DominatorTree &Dominators);

class Meetings {
public:
  Meetings(llvm::Function &F, llvm::AAResults &AA);
  // Whether an instruction may see or change the element behind a pointer.
  bool mayTouch(const llvm::Instruction &I, const llvm::Value *Element, llvm::Type *T) const;
  // Whether it may see or change any element of the same array, and is no accumulation.
  bool mayTouchArray(const llvm::Instruction &I, const llvm::Value *Element) const;
  // The same, but for accumulations: what follows is what an accumulation into the element may not be exchanged with.
  bool mayMeet(const llvm::Instruction &I, const llvm::Value *Element, llvm::Type *T) const;
  // Nor one into any element of the same array.
  bool mayMeetArray(const llvm::Instruction &I, const llvm::Value *Element) const;

private:
  bool areApart(const llvm::Value *Object, const llvm::Value *Other) const;

  llvm::AAResults &AA;
  llvm::SmallPtrSet<const llvm::Value *, 8> OnlyAccumulated;
};

} // namespace adgen
