// The copy of a function of Enzyme's that carries tangents along several directions beside each other:
//   a tangent is a vector, of one number for each direction, and a vector of tangents one behind the other;
//   memory that is a shadow has the tangents of a number where the number would be, each byte of the memory becoming as
//   many as there are directions. A pointer in such memory lies at the beginning of its place;
//   a pointer that stands for no shadow is negative, and stays so where something is added to it. So memory without a
//   shadow can be told from other memory, also that of which shadows hold the address, where zero says the same.
#pragma once

#include "Autodiff/ShadowValues.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace adgen {

// Copies of the functions that are called are made by this.
class InterleavedCalls {
public:
  virtual ~InterleavedCalls() = default;
  virtual llvm::Function *copyOf(llvm::Function &F, Members Shadows) = 0;
  virtual const ShadowValues &valuesOf(llvm::Function &F, Members Shadows) = 0;
};

class InterleavedTypes {
public:
  explicit InterleavedTypes(unsigned Directions) : Directions(Directions) {}

  // Of what carries tangents in these members; null where there is no such type.
  llvm::Type *of(llvm::Type *T, Members Shadows) const;

protected:
  unsigned Directions;
};

class InterleavedFunction : InterleavedTypes {
public:
  // `To` has the arguments already, and no code.
  InterleavedFunction(unsigned Directions, InterleavedCalls &Calls, const ShadowValues &Values, llvm::Function &From,
                      llvm::Function &To)
      : InterleavedTypes(Directions), Calls(Calls), Values(Values), From(From), To(To) {}

  // Why it cannot be written, after which `To` is not to be used: an instruction of `From`.
  const llvm::Instruction *write();

private:
  bool isShadow(const llvm::Value *V) const { return Values.isShadow(V); }
  bool touchesShadows(const llvm::Instruction &I) const;

  // A value of `From`: as the primal has it, and as a tangent or a shadow.
  llvm::Value *primal(llvm::Value *V) const;
  llvm::Value *shadow(llvm::IRBuilder<> &B, llvm::Value *V) const;
  llvm::Value *either(llvm::IRBuilder<> &B, llvm::Value *V) const { return isShadow(V) ? shadow(B, V) : primal(V); }
  llvm::Value *withMembers(llvm::IRBuilder<> &B, llvm::Value *V, Members Shadows) const;
  llvm::Value *repeated(llvm::IRBuilder<> &B, llvm::Value *V) const;
  llvm::Constant *none() const;

  // The instruction with tangents; false where there is no such form.
  bool write(llvm::Instruction &I);
  llvm::Value *ofValue(llvm::IRBuilder<> &B, llvm::Instruction &I);
  llvm::Value *ofCast(llvm::IRBuilder<> &B, llvm::CastInst &I);
  llvm::Value *ofSelect(llvm::IRBuilder<> &B, llvm::SelectInst &I);
  llvm::Value *ofShuffle(llvm::IRBuilder<> &B, llvm::ShuffleVectorInst &I);
  llvm::Value *ofMember(llvm::IRBuilder<> &B, llvm::Value *Vector, llvm::Value *Place);
  llvm::Value *withMember(llvm::IRBuilder<> &B, llvm::InsertElementInst &I);
  llvm::Value *ofComparison(llvm::IRBuilder<> &B, llvm::CmpInst &I);
  bool finishPhis();

  // Memory.
  llvm::Value *hasNone(llvm::IRBuilder<> &B, llvm::Value *Pointer) const;
  llvm::Value *bytes(llvm::IRBuilder<> &B, llvm::Value *Bytes) const;
  llvm::Value *ofAddress(llvm::IRBuilder<> &B, llvm::GetElementPtrInst &I);
  llvm::Value *ofLoad(llvm::IRBuilder<> &B, llvm::LoadInst &I);
  llvm::Value *writable(llvm::IRBuilder<> &B, llvm::Value *Pointer, llvm::Type *T);
  void fill(llvm::IRBuilder<> &B, llvm::Value *Pointer, llvm::Value *With, llvm::Value *Length,
            llvm::MaybeAlign Alignment) const;
  bool ofStore(llvm::IRBuilder<> &B, llvm::StoreInst &I);
  llvm::Value *ofAtomic(llvm::IRBuilder<> &B, llvm::AtomicRMWInst &I);
  llvm::Value *ofVariable(llvm::IRBuilder<> &B, llvm::AllocaInst &I);
  bool ofCopy(llvm::IRBuilder<> &B, llvm::MemTransferInst &I);

  // Calls.
  bool ofCall(llvm::IRBuilder<> &B, llvm::CallBase &I);
  bool ofIntrinsic(llvm::IRBuilder<> &B, llvm::IntrinsicInst &I);
  bool ofMemoryFunction(llvm::IRBuilder<> &B, llvm::CallBase &I, llvm::Function &Callee);
  bool ofDefined(llvm::IRBuilder<> &B, llvm::CallBase &I, llvm::Function &Callee);

  InterleavedCalls &Calls;
  const ShadowValues &Values;
  llvm::Function &From, &To;
  llvm::ValueToValueMapTy Copies;
  llvm::DenseMap<const llvm::Value *, llvm::Value *> Shadows; // of values of From, in To
  llvm::AllocaInst *Nowhere = nullptr;                        // what is written where there is no shadow
};

} // namespace adgen
