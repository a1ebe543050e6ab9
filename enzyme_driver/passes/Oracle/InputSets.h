// Sets of inputs: the shadow of a number is the set of those inputs that it is computed from, one bit each.
//
// A set lies in as many bits as the narrowest number or integer of the module has (a lane), and a wider number holds
// one in each of its lanes, which whoever reads it joins. Whatever moves whole lanes may therefore move the bits of a
// shadow as it moves those of the number, and no conversion loses an input. Arithmetic on bits joins all that it is
// given.
#pragma once

#include "Oracle/NumberType.h"

namespace adgen {

class InputSets : public NumberType {
public:
  // Makes the variable that says how many inputs a set can hold.
  // With `Global` sets hold all that influences a number, also through comparisons and whole numbers.
  InputSets(llvm::Module &M, bool Global);

  llvm::StringRef name() const override { return "set"; }
  llvm::Value *ofArithmetic(llvm::IRBuilder<> &B, llvm::Instruction &I, llvm::ArrayRef<llvm::Value *> Shadows,
                            RuleWriter &Writer) override;
  bool knows(const llvm::Function &F) const override;
  llvm::Value *ofFunction(llvm::IRBuilder<> &B, llvm::CallBase &Call, llvm::ArrayRef<llvm::Value *> Shadows,
                          RuleWriter &Writer) override;
  llvm::Value *ofAtomic(llvm::IRBuilder<> &B, llvm::AtomicRMWInst &Atomic, llvm::Value *Shadow,
                        llvm::Value *ShadowPointer) override;
  llvm::Value *ofBits(llvm::IRBuilder<> &B, llvm::Instruction &I, llvm::ArrayRef<llvm::Value *> Shadows,
                      RuleWriter &Writer) override;
  llvm::Value *isAny(llvm::IRBuilder<> &B, llvm::Value *Shadow) const override;
  bool areSets() const override { return true; }
  bool countsDecisions() const override { return Global; }
  llvm::Value *join(llvm::IRBuilder<> &B, llvm::ArrayRef<llvm::Value *> Sets, llvm::Type *T) const override {
    return unite(B, Sets, T);
  }

private:
  // The union of all shadows, as the shadow of a number of type T.
  llvm::Value *unite(llvm::IRBuilder<> &B, llvm::ArrayRef<llvm::Value *> Shadows, llvm::Type *T) const;
  llvm::Value *inAllLanes(llvm::IRBuilder<> &B, llvm::Value *Bits) const;
  llvm::Value *ofParts(llvm::IRBuilder<> &B, llvm::BinaryOperator &I, llvm::ArrayRef<llvm::Value *> Shadows) const;

  unsigned Lane; // bits
  bool Global;
};

} // namespace adgen
