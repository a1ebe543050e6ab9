// x86 without AVX-512 rounds to bfloat16 by a function of the compiler's library, once for each number, and its back
// end keeps a bfloat16 that one block passes to another as a float, which is rounded again. Nothing orders these calls:
// the back end takes time quadratic in how many of them a block has. Here roundings become arithmetic on integers, with
// the same results, and blocks pass integers to each other.
#include "Support/Pass.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/TargetParser/Triple.h"

#define DEBUG_TYPE "adgen-round-bfloats"

using namespace llvm;

STATISTIC(NumRounded, "Number of roundings to bfloat16 that are arithmetic on integers");

namespace adgen {
namespace {

// To the nearest, in ties to the even one; a NaN keeps its sign and upper bits, and is quiet.
Value *round(IRBuilder<> &B, Value *Float, Type *Bfloat) {
  Type *Words = Float->getType()->getWithNewType(B.getInt32Ty()), *Halves = Words->getWithNewType(B.getInt16Ty());
  Value *Bits = B.CreateBitCast(Float, Words);
  Value *Odd = B.CreateAnd(B.CreateLShr(Bits, 16), 1);
  Value *Rounded = B.CreateAdd(Bits, B.CreateAdd(Odd, ConstantInt::get(Words, 0x7fff)));
  Value *Quiet = B.CreateOr(Bits, ConstantInt::get(Words, 0x400000));
  Value *Chosen = B.CreateSelect(B.CreateFCmpUNO(Float, Float), Quiet, Rounded);
  return B.CreateBitCast(B.CreateTrunc(B.CreateLShr(Chosen, 16), Halves), Bfloat);
}

// What is rounded, as floats: of arithmetic on bfloat16 the same of its operands, which is exact enough that rounding
// once more gives the same number.
Value *unrounded(IRBuilder<> &B, Instruction &I) {
  Type *Floats = I.getType()->getWithNewType(B.getFloatTy());
  if (auto *Trunc = dyn_cast<FPTruncInst>(&I))
    return Trunc->getSrcTy() == Floats ? Trunc->getOperand(0) : nullptr;
  if (!is_contained({Instruction::FAdd, Instruction::FSub, Instruction::FMul, Instruction::FDiv}, I.getOpcode()))
    return nullptr;
  Value *Left = B.CreateFPExt(I.getOperand(0), Floats), *Right = B.CreateFPExt(I.getOperand(1), Floats);
  Value *Result = B.CreateBinOp(cast<BinaryOperator>(I).getOpcode(), Left, Right);
  if (auto *Arithmetic = dyn_cast<Instruction>(Result))
    Arithmetic->copyFastMathFlags(&I);
  return Result;
}

bool isBfloat(const Instruction &I) { return I.getType()->getScalarType()->isBFloatTy(); }

Type *bitsOf(const Instruction &I) { return I.getType()->getWithNewType(Type::getInt16Ty(I.getContext())); }

bool roundAll(Function &F) {
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    IRBuilder<> B(&I);
    Value *Float = isBfloat(I) ? unrounded(B, I) : nullptr;
    if (!Float)
      continue;
    ADGEN_COUNT(NumRounded, I);
    Value *Result = round(B, Float, I.getType());
    Result->takeName(&I);
    I.replaceAllUsesWith(Result);
    I.eraseFromParent();
    Changed = true;
  }
  return Changed;
}

void mergeBits(PHINode &Phi) {
  IRBuilder<> B(&Phi);
  PHINode *Bits = B.CreatePHI(bitsOf(Phi), Phi.getNumIncomingValues());
  SmallDenseMap<BasicBlock *, Value *> Given; // one value for all edges from a block
  for (auto [Value, From] : zip(Phi.incoming_values(), Phi.blocks())) {
    if (!Given.contains(From))
      Given[From] = IRBuilder<>(From->getTerminator()).CreateBitCast(Value, Bits->getType());
    Bits->addIncoming(Given[From], From);
  }
  B.SetInsertPoint(Phi.getParent(), Phi.getParent()->getFirstInsertionPt());
  Value *Number = B.CreateBitCast(Bits, Phi.getType());
  Phi.replaceAllUsesWith(Number);
  Number->takeName(&Phi);
  Phi.eraseFromParent();
}

bool passBits(Instruction &I) {
  SmallVector<Use *> Elsewhere;
  for (Use &U : I.uses())
    if (auto *By = cast<Instruction>(U.getUser()); By->getParent() != I.getParent() && !isa<PHINode>(By))
      Elsewhere.push_back(&U);
  auto After = I.getInsertionPointAfterDef();
  if (Elsewhere.empty() || !After)
    return false;
  Value *Bits = IRBuilder<>((*After)->getParent(), *After).CreateBitCast(&I, bitsOf(I));
  SmallDenseMap<BasicBlock *, Value *> Numbers;
  for (Use *U : Elsewhere) {
    BasicBlock *Block = cast<Instruction>(U->getUser())->getParent();
    Value *&Number = Numbers[Block];
    if (!Number)
      Number = IRBuilder<>(Block, Block->getFirstInsertionPt()).CreateBitCast(Bits, I.getType());
    U->set(Number);
  }
  return true;
}

bool expand(Function &F) {
  bool Changed = roundAll(F);
  SmallVector<PHINode *> Phis;
  for (Instruction &I : instructions(F))
    if (auto *Phi = dyn_cast<PHINode>(&I); Phi && isBfloat(I) && none_of(Phi->incoming_values(), IsaPred<InvokeInst>))
      Phis.push_back(Phi);
  for (PHINode *Phi : Phis)
    mergeBits(*Phi);
  SmallVector<Instruction *> Numbers;
  for (Instruction &I : instructions(F))
    if (isBfloat(I))
      Numbers.push_back(&I);
  for (Instruction *I : Numbers)
    Changed |= passBits(*I);
  return Changed || !Phis.empty();
}

} // namespace

ADGEN_DECLARE_PASS(RoundBfloats);

PreservedAnalyses RoundBfloats::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  if (M.getTargetTriple().isX86())
    for (Function &F : M)
      Changed |= expand(F);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
