// Dual numbers: the shadow of a number is its tangent. Forward mode that owes nothing to Enzyme.
#pragma once

#include "Oracle/NumberType.h"

namespace adgen {

class DualNumbers : public NumberType {
public:
  llvm::StringRef name() const override { return "dual"; }
  llvm::Value *ofArithmetic(llvm::IRBuilder<> &B, llvm::Instruction &I, llvm::ArrayRef<llvm::Value *> Shadows,
                            RuleWriter &Writer) override;
  bool knows(const llvm::Function &F) const override;
  llvm::Value *ofFunction(llvm::IRBuilder<> &B, llvm::CallBase &Call, llvm::ArrayRef<llvm::Value *> Shadows,
                          RuleWriter &Writer) override;
  llvm::Value *ofAtomic(llvm::IRBuilder<> &B, llvm::AtomicRMWInst &Atomic, llvm::Value *Shadow,
                        llvm::Value *ShadowPointer) override;
  llvm::Value *isAny(llvm::IRBuilder<> &B, llvm::Value *Shadow) const override;
};

// The mathematical function that a name stands for, libdevice's, the C library's, or an intrinsic's, without prefix and
// without the suffix of its type; empty for one without a formula in rules/duals.cu.
llvm::StringRef dualFormula(const llvm::Function &F);

} // namespace adgen
