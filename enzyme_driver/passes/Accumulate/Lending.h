// What lanes of a warp lend each other: numbers from which an address is computed again.
#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace adgen {

// Addresses are computed again from what a lane can lend another: numbers.
inline bool isComputed(const llvm::Value &V) {
  auto *I = llvm::dyn_cast<llvm::Instruction>(&V);
  return llvm::isa<llvm::GetElementPtrInst, llvm::CastInst, llvm::BinaryOperator>(V) && I && !I->isIntDivRem() &&
         !I->getType()->isFPOrFPVectorTy();
}

inline bool isTheSameEverywhere(const llvm::Value &V) { return llvm::isa<llvm::Constant, llvm::Argument>(V); }

inline bool isLendable(const llvm::Value &V) {
  if (isTheSameEverywhere(V))
    return true;
  if (isComputed(V))
    return llvm::all_of(llvm::cast<llvm::Instruction>(V).operands(),
                        [](const llvm::Use &Operand) { return isLendable(*Operand); });
  llvm::Type *T = V.getType();
  return llvm::isa<llvm::Instruction>(V) && (T->isIntegerTy(32) || T->isIntegerTy(64));
}

// Addresses which the alignment itself has merged are lent, too.
inline llvm::Value *wide(llvm::IRBuilder<> &B, llvm::Value *V) {
  return V->getType()->isPointerTy() ? B.CreatePtrToInt(V, B.getInt64Ty()) : B.CreateZExt(V, B.getInt64Ty());
}

inline llvm::Value *narrow(llvm::IRBuilder<> &B, llvm::Value *Wide, llvm::Type *T) {
  return T->isPointerTy() ? B.CreateIntToPtr(Wide, T) : B.CreateTrunc(Wide, T);
}

// The active lanes of which that holds.
inline llvm::Value *lanesThat(llvm::IRBuilder<> &B, llvm::Value *Active, llvm::Value *Is) {
  return B.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, llvm::ArrayRef<llvm::Type *>(), {Active, Is});
}

} // namespace adgen
