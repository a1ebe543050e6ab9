// One function that carries shadows while it is written; its parts are in CarryThrough.cpp (values, bits),
// CarryMemory.cpp and CarryCalls.cpp.
#pragma once

#include "Oracle/ShadowModule.h"

#include "llvm/IR/IntrinsicInst.h"

namespace adgen {

class Carrying : public RuleWriter {
public:
  Carrying(ShadowModule &Module, llvm::Function &From, llvm::Function &To) : Module(Module), From(From), To(To) {}
  void write();

  void note(llvm::IRBuilder<> &B, llvm::Value *Condition, Note Kind, const llvm::DebugLoc &Where) override;
  void storeShadow(llvm::IRBuilder<> &B, llvm::Value *Shadow, llvm::Value *Pointer, llvm::Value *ShadowPointer,
                   const llvm::DebugLoc &Where) override;

private:
  // The shadow of a value of the function, where it is defined already.
  llvm::Value *shadow(llvm::Value *V);
  void set(llvm::Value &V, llvm::Value *Shadow) { Shadows[&V] = Shadow; }
  void stop(llvm::Instruction &I, const llvm::Twine &Reason);
  void visit(llvm::Instruction &I);
  llvm::Value *ofValue(llvm::IRBuilder<> &B, llvm::Instruction &I);

  // Bits.
  llvm::Value *ofInteger(llvm::IRBuilder<> &B, llvm::BinaryOperator &I);
  llvm::Value *ofMask(llvm::IRBuilder<> &B, llvm::BinaryOperator &I, llvm::Value *Bits, llvm::Value *Mask,
                      llvm::Value *Shadow);
  llvm::Value *ofShift(llvm::IRBuilder<> &B, llvm::BinaryOperator &I, llvm::Value *Shadow);
  llvm::Value *lost(llvm::IRBuilder<> &B, llvm::Instruction &I, llvm::ArrayRef<llvm::Value *> Shadows);
  llvm::Value *fromInteger(llvm::IRBuilder<> &B, llvm::IntToPtrInst &Cast);
  llvm::Value *shadowOfChosen(llvm::IRBuilder<> &B, llvm::Value &Integer);

  // Memory.
  llvm::Value *isAny(llvm::IRBuilder<> &B, llvm::Value *Shadow);
  llvm::Value *ofLoad(llvm::IRBuilder<> &B, llvm::LoadInst &Load);
  llvm::Value *loaded(llvm::IRBuilder<> &B, llvm::Value *Primal, llvm::Value *Shadow, llvm::Value *HasNone);
  void carryStore(llvm::IRBuilder<> &B, llvm::StoreInst &Store);
  llvm::Value *ofAlloca(llvm::IRBuilder<> &B, llvm::AllocaInst &Alloca);
  llvm::Value *ofAtomic(llvm::IRBuilder<> &B, llvm::AtomicRMWInst &Atomic);
  llvm::Value *ofSwap(llvm::IRBuilder<> &B, llvm::AtomicCmpXchgInst &Swap);
  void carryCopy(llvm::IRBuilder<> &B, llvm::MemTransferInst &Copy);
  void carryFill(llvm::IRBuilder<> &B, llvm::MemSetInst &Fill);
  llvm::Value *generic(llvm::IRBuilder<> &B, llvm::Value *Pointer);
  // The pointer's shadow, or, where it is the pointer itself, memory that nobody reads.
  llvm::Value *writable(llvm::IRBuilder<> &B, llvm::Value *Pointer, llvm::Value *ShadowPointer, uint64_t Bytes);

  // Decisions.
  bool countsDecisions() const;
  // The set beside a bit: what it was decided by.
  llvm::Value *decision(llvm::IRBuilder<> &B, llvm::Value *Bit);
  llvm::Value *influences(llvm::IRBuilder<> &B, llvm::ArrayRef<llvm::Value *> Values);
  llvm::Value *ofDecision(llvm::IRBuilder<> &B, llvm::Instruction &I);
  llvm::Value *ofChoice(llvm::IRBuilder<> &B, llvm::SelectInst &Select, llvm::Value *Chosen);
  void noteSteering(llvm::IRBuilder<> &B, llvm::Value *Set, const llvm::DebugLoc &Where);
  void noteSteering(llvm::Instruction &I, llvm::ArrayRef<llvm::Value *> By);
  void carrySteering(llvm::Instruction &I);
  llvm::PHINode *ofDecidingPhi(llvm::PHINode &Phi);
  void finishDecisions();

  // Calls.
  void carryCall(llvm::CallBase &Call);
  llvm::Value *ofIntrinsic(llvm::IRBuilder<> &B, llvm::CallBase &Call, bool &Known);
  bool carryAllocation(llvm::CallBase &Call, llvm::StringRef Name);
  void callCarrying(llvm::CallBase &Call);
  void carryFork(llvm::CallBase &Fork);
  bool carryReduction(llvm::CallBase &Call, llvm::StringRef Name);
  llvm::SmallVector<llvm::Value *> shadowsOfArguments(llvm::CallBase &Call);

  ShadowModule &Module;
  llvm::Function &From, &To;
  llvm::DenseMap<llvm::Value *, llvm::Value *> Shadows;
  llvm::SmallVector<std::pair<llvm::PHINode *, llvm::PHINode *>> Phis; // and their shadows
  llvm::DenseMap<llvm::Value *, llvm::Value *> Decisions;              // the sets beside bits
  llvm::SmallVector<std::pair<llvm::PHINode *, llvm::PHINode *>> DecidingPhis;
  llvm::AllocaInst *Nowhere = nullptr; // what writable gives
};

// Where what follows an instruction may be put.
llvm::IRBuilder<> builderBehind(llvm::Instruction &I);

} // namespace adgen
