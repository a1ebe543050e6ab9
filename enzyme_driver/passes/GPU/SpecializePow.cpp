// libdevice's powf first computes the power of the base's magnitude and then asks of all arguments whether they are
// among a dozen special ones, which takes a third of its time. One question in front lets ordinary ones pass: a
// positive finite base and a finite exponent, for which that power is the answer.
#include "Support/Pass.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {
namespace {

void simplify(Function &F, FunctionAnalysisManager &FAM) {
  FunctionPassManager Passes;
  Passes.addPass(SimplifyCFGPass());
  Passes.addPass(InstCombinePass());
  Passes.addPass(SimplifyCFGPass());
  Passes.run(F, FAM);
}

// Of NVVM's own intrinsic LLVM knows nothing.
void nameAbsoluteValues(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    if (!Call || !Call->getCalledFunction()->getName().starts_with("llvm.nvvm.fabs"))
      continue;
    Call->replaceAllUsesWith(IRBuilder<>(Call).CreateUnaryIntrinsic(Intrinsic::fabs, Call->getArgOperand(0)));
    Call->eraseFromParent();
  }
}

// Or 1 where the base is 1 or the exponent 0, which the power is there too: the logarithm is exactly 0, or what it is
// multiplied with.
bool returnsOnly(const Function &F, const Value *Power) {
  auto *Return = dyn_cast<ReturnInst>(F.getEntryBlock().getTerminator());
  const Value *Returned = Return ? Return->getReturnValue() : nullptr;
  while (Returned && Returned != Power) {
    auto *Choice = dyn_cast<SelectInst>(Returned);
    auto *One = Choice ? dyn_cast<ConstantFP>(Choice->getTrueValue()) : nullptr;
    Returned = One && One->isExactlyValue(1.0) ? Choice->getFalseValue() : nullptr;
  }
  return Returned;
}

// Whether LLVM finds that nothing else is returned once it is told what the arguments are.
bool isAnswerToOrdinary(Function &F, Instruction &Power, FunctionAnalysisManager &FAM) {
  ValueToValueMapTy Copies;
  Function *Copy = CloneFunction(&F, Copies);
  WeakTrackingVH Same = Copies[&Power];
  Copy->addParamAttr(0, Attribute::getWithNoFPClass(F.getContext(), fcNan | fcInf | fcNegative | fcPosZero));
  Copy->addParamAttr(1, Attribute::getWithNoFPClass(F.getContext(), fcNan | fcInf));
  nameAbsoluteValues(*Copy);
  simplify(*Copy, FAM);
  bool Is = returnsOnly(*Copy, Same);
  FAM.clear(*Copy, Copy->getName());
  Copy->eraseFromParent();
  return Is;
}

struct Answer {
  PHINode *Returned;
  Instruction *Ordinary;
};

// Where the function returns, and what it computes for ordinary arguments before it asks anything.
std::optional<Answer> answerOf(Function &F, FunctionAnalysisManager &FAM) {
  auto Ends = make_filter_range(F, [](BasicBlock &Block) { return isa<ReturnInst>(Block.getTerminator()); });
  auto *Returned = hasSingleElement(Ends) ? dyn_cast<PHINode>((*Ends.begin()).getTerminator()->getOperand(0)) : nullptr;
  if (!Returned)
    return std::nullopt;
  for (Value *V : Returned->incoming_values())
    if (auto *I = dyn_cast<Instruction>(V); I && I->getParent() == &F.getEntryBlock() && isAnswerToOrdinary(F, *I, FAM))
      return Answer{Returned, I};
  return std::nullopt;
}

// The bits of a positive finite number lie between those of zero and of infinity: one comparison of whole numbers.
Value *areOrdinary(IRBuilder<> &B, Value *Base, Value *Exponent) {
  Type *Number = Base->getType();
  APInt Infinity = APFloat::getInf(Number->getFltSemantics()).bitcastToAPInt();
  Value *Bits = B.CreateBitCast(Base, B.getIntNTy(Infinity.getBitWidth()));
  Value *Positive = B.CreateICmpULT(B.CreateSub(Bits, ConstantInt::get(Bits->getType(), 1)), B.getInt(Infinity - 1));
  Value *Magnitude = B.CreateUnaryIntrinsic(Intrinsic::fabs, Exponent);
  return B.CreateAnd(Positive, B.CreateFCmpOLT(Magnitude, ConstantFP::getInfinity(Number)));
}

void askFirst(Function &F, const Answer &Of) {
  BasicBlock *Entry = &F.getEntryBlock(), *End = Of.Returned->getParent();
  BasicBlock *Questions = SplitBlock(Entry, Entry->getTerminator());
  Entry->getTerminator()->eraseFromParent();
  IRBuilder<> B(Entry);
  Value *Ordinary = areOrdinary(B, F.getArg(0), F.getArg(1));
  B.CreateCondBr(Ordinary, End, Questions, MDBuilder(F.getContext()).createLikelyBranchWeights());
  for (PHINode &Phi : End->phis())
    Phi.addIncoming(&Phi == Of.Returned ? cast<Value>(Of.Ordinary) : PoisonValue::get(Phi.getType()), Entry);
}

} // namespace

ADGEN_DECLARE_PASS(SpecializePow);

PreservedAnalyses SpecializePow::run(Module &M, ModuleAnalysisManager &AM) {
  Function *Power = M.getFunction("__nv_powf");
  if (!Power || Power->isDeclaration())
    return PreservedAnalyses::all();
  FunctionAnalysisManager &FAM = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  simplify(*Power, FAM);
  if (std::optional<Answer> Found = answerOf(*Power, FAM))
    askFirst(*Power, *Found);
  return PreservedAnalyses::none();
}

} // namespace adgen
