// Numbers that depend on which way was taken are kept by Enzyme as soon as they pass through a call that it can neither see through nor
// repeat: adgen_hold_i64(value), adgen_hold_ieee64(value). Else it finds out the way again in the reverse sweep, wherever the value is needed, also in the
// innermost loop, and nothing shows any more that what is computed from it was computed before. Only outside of loops, where a
// kept value takes a register and no tape. Integers carry no derivative; that of floating point is registered, and hands the cotangent on.
// ForgetGuards takes the calls away.
#include "Hold.h"
#include "Passes.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned LeastBits = 32; // below are flags, which say which way was taken themselves

// The bits of a number of floating point carry a derivative.
bool staysInteger(PHINode &Join) {
  SmallVector<Value *> Next{&Join};
  SmallPtrSet<Value *, 16> Seen{&Join};
  while (!Next.empty())
    for (User *U : Next.pop_back_val()->users()) {
      if (isa<ICmpInst, GetElementPtrInst, UIToFPInst, SIToFPInst, SwitchInst>(U))
        continue;
      auto *Call = dyn_cast<IntrinsicInst>(U);
      bool Computes = isa<BinaryOperator, PHINode, SelectInst, FreezeInst, TruncInst, ZExtInst, SExtInst>(U) ||
                      (Call && !Call->mayReadOrWriteMemory());
      if (!Computes || !U->getType()->isIntegerTy())
        return false;
      if (Seen.insert(U).second)
        Next.push_back(U);
    }
  return true;
}

// Loops are not run again to find out what they leave behind.
bool isLeftByLoop(const Instruction &I, const LoopInfo &LI) {
  auto Left = [&](const Use &U) {
    auto *From = dyn_cast<Instruction>(U.get());
    return From && isLeftByLoop(*From, LI);
  };
  return LI.getLoopFor(I.getParent()) || (isa<PHINode>(I) && any_of(I.operands(), Left));
}

// Else the value is a choice among what is known already.
bool isComputedOnTheWay(const PHINode &Phi, const DominatorTree &DT, const LoopInfo &LI) {
  bool Computed = false;
  for (const Use &U : Phi.incoming_values())
    if (auto *I = dyn_cast<Instruction>(U.get()); I && !DT.dominates(I->getParent(), Phi.getParent())) {
      if (isLeftByLoop(*I, LI))
        return false;
      Computed = true;
    }
  return Computed;
}

bool isHeld(PHINode &Phi, const DominatorTree &DT, const LoopInfo &LI) {
  Type *T = Phi.getType();
  if (Phi.getNumIncomingValues() < 2)
    return false;
  if (T->isIntegerTy())
    return T->getIntegerBitWidth() >= LeastBits && staysInteger(Phi);
  return (T->isFloatTy() || T->isDoubleTy()) && isComputedOnTheWay(Phi, DT, LI);
}

// It gets the argument, which Enzyme then finds out once more for nothing, and the cotangent.
Function *reverseOf(Function &Hold) {
  Type *T = Hold.getReturnType();
  auto *Cotangents = StructType::get(T);
  auto *F = Function::Create(FunctionType::get(Cotangents, {T, T}, false), GlobalValue::InternalLinkage, Hold.getName() + "_reverse",
                             Hold.getParent());
  IRBuilder<> B(BasicBlock::Create(F->getContext(), "entry", F));
  B.CreateRet(B.CreateInsertValue(PoisonValue::get(Cotangents), F->getArg(1), 0));
  F->addFnAttr(Attribute::NoInline);
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotAccessMemory();
  return F;
}

void registerDerivative(Function &Hold) {
  LLVMContext &Context = Hold.getContext();
  Hold.setMetadata("enzyme_augment", MDTuple::get(Context, {ValueAsMetadata::get(&Hold)}));
  Hold.setMetadata("enzyme_gradient", MDTuple::get(Context, {ValueAsMetadata::get(reverseOf(Hold))}));
}

} // namespace

StringRef typeInWords(const Type *T) {
  const Type *Number = T->getScalarType();
  return Number->isIntegerTy() ? "{[-1]:Integer}" : Number->isFloatTy() ? "{[-1]:Float@float}" : "{[-1]:Float@double}";
}

Function *holdOf(Module &M, Type *T) {
  std::string Name = (HoldPrefix + Twine(T->isIntegerTy() ? "" : "eee") + Twine(T->getPrimitiveSizeInBits().getFixedValue())).str();
  if (Function *Known = M.getFunction(Name))
    return Known;
  auto *F = cast<Function>(M.getOrInsertFunction(Name, T, T).getCallee());
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotFreeMemory();
  F->setOnlyAccessesInaccessibleMemory();
  Attribute Kind = Attribute::get(M.getContext(), "enzyme_type", typeInWords(T));
  F->addRetAttr(Kind);
  F->addParamAttr(0, Kind);
  if (T->isIntegerTy())
    F->addFnAttr("enzyme_inactive");
  else
    registerDerivative(*F);
  return F;
}

void hold(Value &V, BasicBlock::iterator At) {
  IRBuilder<> B(At->getParent(), At);
  CallInst *Call = B.CreateCall(holdOf(*B.GetInsertBlock()->getModule(), V.getType()), {&V});
  V.replaceUsesWithIf(Call, [&](Use &U) { return U.getUser() != Call; });
}

namespace {

void holdAll(Function &F) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  for (BasicBlock &Block : F)
    if (!LI.getLoopFor(&Block))
      for (PHINode &Phi : Block.phis())
        if (isHeld(Phi, DT, LI))
          hold(Phi, Block.getFirstInsertionPt());
}

} // namespace

PreservedAnalyses HoldJoins::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration())
      holdAll(F);
  return PreservedAnalyses::none();
}

} // namespace adgen
