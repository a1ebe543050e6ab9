// The function of a block: what its threads do in each region is a loop over them, and what all do alike is done once.
#pragma once

#include "Host/ThreadRegions.h"
#include "Host/ThreadSlots.h"

#include "llvm/IR/IRBuilder.h"

#include <string>

namespace adgen {

class BlockFunction {
public:
  // Without atomic additions where one thread of the operating system is alone.
  BlockFunction(const ThreadRegions &Cut, bool IsGradient, bool Alone, std::string Name)
      : M(*Cut.function().getParent()), Context(M.getContext()), Cut(Cut), Work(Cut.function()), Slots(Cut),
        IsGradient(IsGradient), Alone(Alone), Name(std::move(Name)) {}

  llvm::Function *make();
  // What it needs for each thread.
  uint64_t scratchBytes() const { return Slots.bytes(); }

private:
  void create();
  void loadExtents(llvm::IRBuilder<> &B);

  // What is the same for all threads, in the made function.
  llvm::Value *common(llvm::Value *V) const;
  void emit(Region &R);
  bool isCommon(const llvm::Instruction &I) const;
  void emitCommon(llvm::IRBuilder<> &B, const Region &R, llvm::Instruction &I);

  // As Block::dynamicBytes of the host's runtime gives them.
  llvm::Value *dynamicBytes(llvm::IRBuilder<> &B) const;

  // Whether each thread has something to do in the region.
  bool hasOwnWork(const Region &R) const;

  // A barrier that counts predicates.
  void emitCount(llvm::IRBuilder<> &B, Region &R, llvm::CallInst &Barrier);

  // for (z) for (y) for (x) what one thread does; then B is behind the loops.
  void emitLoops(llvm::IRBuilder<> &B, Region &R, llvm::Value *Sum);
  llvm::MDNode *parallelLoop();

  // What one thread does in the region; gives the block that ends it. Threads do not race, but for atomic operations:
  // without these its accesses to memory are marked as those of a parallel loop.
  llvm::BasicBlock *emitThread(llvm::IRBuilder<> &B, Region &R, llvm::Value *Sum);
  void copy(llvm::Instruction &I, const Region &R, llvm::BasicBlock &Into);

  // One thread of the operating system runs the block: additions to shared memory need not be atomic, and where it is
  // alone, none need.
  bool needsNotBeAtomic(const llvm::AtomicRMWInst &Atomic) const;

  // Threads of the block come one after the other to a cotangent that one of them takes.
  bool isTakenInTurn(const llvm::AtomicRMWInst &Atomic) const;

  // Not accesses of a parallel loop: threads may meet there.
  llvm::Instruction *takeInTurn(llvm::IRBuilder<> &B, llvm::AtomicRMWInst &Exchange);
  llvm::Instruction *addPlainly(llvm::IRBuilder<> &B, llvm::AtomicRMWInst &Atomic);

  // Terminators, and what phis get.
  void finish(llvm::BasicBlock &Block, const Region &R, llvm::DenseMap<llvm::BasicBlock *, llvm::BasicBlock *> &Copies,
              llvm::BasicBlock &Last);

  // What the phis at the region's exits will be.
  void storePhis(llvm::IRBuilder<> &B, const Region &R,
                 const llvm::DenseMap<llvm::BasicBlock *, llvm::BasicBlock *> &Copies);

  // A value as the present thread has it, in the loop that is being made.
  llvm::Value *own(llvm::Value *V);
  llvm::Value *slotAddress(llvm::Instruction *I);
  llvm::Value *loadSlot(llvm::Instruction *I);
  void storeSlot(llvm::IRBuilder<> &B, llvm::Instruction *I, llvm::Value *V);

  // What is kept of one value, in an array with one element a thread, overlaps nothing else, although all arrays lie in
  // one piece of memory. Local variables of threads are reached by their addresses too.
  void nameSlots();
  void tellApart(llvm::Instruction &Access, const llvm::Instruction *Slot);
  void tellFromSlots(llvm::Instruction &Access);
  void mark(llvm::Instruction *I);
  llvm::Module &M;
  llvm::LLVMContext &Context;
  const ThreadRegions &Cut;
  llvm::Function &Work, *Made = nullptr;
  ThreadSlots Slots;
  bool IsGradient, Alone;
  std::string Name;
  llvm::MapVector<const llvm::Instruction *, llvm::MDNode *> Scopes; // of what is kept, for alias analysis

  llvm::DenseMap<llvm::Value *, llvm::Value *> Common; // for all threads
  llvm::DenseMap<llvm::Value *, llvm::Value *> Own;    // for the thread of the loop that is being made
  llvm::Value *Extents[3] = {}, *Count = nullptr, *Padded = nullptr, *RowBegin = nullptr, *Linear = nullptr;
  llvm::Instruction *TopEnd = nullptr;
  llvm::MDNode *Group = nullptr;
};

} // namespace adgen
