#include "Accumulate/LentTables.h"
#include "Support/Adgen.h"
#include "Support/Lent.h"
#include "Support/Threads.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {

static constexpr StringLiteral Memory = "adgen_lent_tables";
static constexpr unsigned WhichBits = MostLent, Alignment = 1u << WhichBits; // of a table, in bytes

bool mayBeLent(const Function &Gradient) {
  return Gradient.getParent()->getTargetTriple().isNVPTX() && Gradient.getName().starts_with(GradientPrefix) &&
         !Gradient.hasFnAttribute(TapeAttribute) && roomInShared(Gradient) > 0;
}

Function &cloneToLend(Function &Gradient) {
  ValueToValueMapTy Map;
  Function *Clone = CloneFunction(&Gradient, Map);
  Clone->setName(Gradient.getName() + LentVariant);
  return *Clone;
}

void eraseUnlent(Function &Clone, FunctionAnalysisManager &FAM) {
  std::string Exchanged = (ExchangePrefix + symbolOf(Clone)).str();
  Module &M = *Clone.getParent();
  FAM.clear(Clone, Clone.getName());
  Clone.eraseFromParent();
  for (GlobalVariable &Array : make_early_inc_range(M.globals()))
    if (Array.getName().starts_with(Exchanged) && Array.use_empty())
      Array.eraseFromParent();
}

GlobalVariable &lentMemory(Module &M) {
  if (GlobalVariable *Known = M.getNamedGlobal(Memory))
    return *Known;
  auto *Made =
      new GlobalVariable(M, ArrayType::get(Type::getInt8Ty(M.getContext()), 0), false, GlobalValue::ExternalLinkage,
                         nullptr, Memory, nullptr, GlobalValue::NotThreadLocal, SharedSpace);
  Made->setAlignment(Align(Alignment));
  return *Made;
}

static Value *allBytes(IRBuilder<> &B) { return readRegister(B, Intrinsic::nvvm_read_ptx_sreg_dynamic_smem_size); }

Value *LentTable::bytesOfEach(IRBuilder<> &B, Value *All, unsigned Tables) {
  if (Tables == 1)
    return B.CreateAnd(All, -Alignment);
  Value *Count = B.CreateUnaryIntrinsic(Intrinsic::ctpop, B.CreateAnd(All, Alignment - 1));
  Value *Some = B.CreateBinaryIntrinsic(Intrinsic::umax, Count, B.getInt32(1));
  return B.CreateShl(B.CreateUDiv(B.CreateLShr(All, WhichBits), Some), WhichBits);
}

Value *LentTable::bytes(IRBuilder<> &B, unsigned Tables) const {
  Value *All = allBytes(B), *IsThere = B.CreateIsNotNull(B.CreateAnd(All, 1u << Number));
  return B.CreateSelect(IsThere, bytesOfEach(B, All, Tables), B.getInt32(0));
}

Value *LentTable::begin(IRBuilder<> &B) const {
  GlobalVariable *Begin = &lentMemory(*B.GetInsertBlock()->getModule());
  if (Number == 0)
    return Begin;
  Value *All = allBytes(B), *Before = B.CreateUnaryIntrinsic(Intrinsic::ctpop, B.CreateAnd(All, (1u << Number) - 1));
  return B.CreatePtrAdd(Begin, B.CreateMul(Before, bytesOfEach(B, All, MostLent)));
}

} // namespace adgen
