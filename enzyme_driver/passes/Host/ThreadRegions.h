// The function of one thread of a block, cut at its barriers.
#pragma once

#include "Analysis/Uniformity.h"
#include "Support/Adgen.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

#include <memory>
#include <optional>
#include <vector>

namespace adgen {

// The arguments of the function of one thread.
enum { Launch, Args, Shared, Handle, BlockX, BlockY, BlockZ, ThreadX, ThreadY, ThreadZ };

constexpr llvm::StringLiteral DynamicBytes = "adgen_dynamic_bytes";

llvm::StringRef calleeName(const llvm::Instruction &I);

// Has no effect but for the optimiser.
bool isHint(const llvm::Instruction &I);

// Uniform blocks that follow each other, with the divergent ones between them: all that a thread does from one place to
// the next at which the block decides or waits.
struct Region {
  llvm::BasicBlock *Head = nullptr, *Tail = nullptr; // uniform
  llvm::SetVector<llvm::BasicBlock *> Blocks;
  bool Decides = false; // the tail's terminator, for all threads; else threads come to the exit on different ways
  llvm::BasicBlock *Exit = nullptr;                  // where there is only one
  llvm::BasicBlock *Begin = nullptr, *End = nullptr; // of the made code
};

class ThreadRegions {
public:
  explicit ThreadRegions(llvm::Function &Work) : Work(Work), Context(Work.getContext()) {}

  // The function gets a form in which regions can be seen; false where not all threads come to every barrier alike.
  bool prepare();
  llvm::Function &function() const { return Work; }
  llvm::ArrayRef<std::unique_ptr<Region>> all() const { return Regions; }
  Region &headedBy(llvm::BasicBlock &Block) const { return *ByHead.lookup(&Block); }
  Region &endedBy(llvm::BasicBlock &Block) const { return *ByTail.lookup(&Block); }
  bool isUniform(const llvm::Value *V) const { return Threads->isUniform(V); }
  bool isDivergent(const llvm::BasicBlock *Block) const { return Threads->isDivergent(Block); }

  // Phis that differ, at the places to which the region leads.
  llvm::SmallVector<llvm::PHINode *> phisBehind(const Region &R) const;

private:
  void analyse();
  void unifyReturns();
  void isolateBarriers();
  bool barriersAreUniform() const;

  // A block that decides for all threads leads to uniform blocks only, and what it hands to one of them may be handed
  // over before it decides.
  void splitEdges();

  // Whether threads take different ways at the end of the block.
  bool decidesApart(const llvm::BasicBlock &Block) const;

  // Whether the phi's present value is used on another way than the one to its block.
  bool isNeededElsewhere(llvm::PHINode &Phi, const llvm::SmallSetVector<llvm::BasicBlock *, 4> &Ways) const;
  bool formRegions();

  // Adds a uniform block and the divergent ones that follow it. False where threads go on from there in different
  // places.
  bool append(Region &R, llvm::BasicBlock &Block);

  // Whether the block behind the region belongs to it: nothing else leads there, and it reads nothing that the region
  // may have written.
  bool continues(const Region &R) const;

  // Divergent blocks may be part of several regions.
  static bool comesFrom(llvm::BasicBlock &Block, const Region &R);

  // What the making of code relies on.
  bool isOrderly(const Region &R) const;
  llvm::Function &Work;
  llvm::LLVMContext &Context;
  std::optional<Uniformity> Threads;
  llvm::DominatorTree Tree;
  llvm::DenseMap<llvm::BasicBlock *, unsigned> Rank;
  std::vector<std::unique_ptr<Region>> Regions;
  llvm::DenseMap<llvm::BasicBlock *, Region *> ByHead, ByTail;
};

} // namespace adgen
