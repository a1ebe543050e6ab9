#include "Checkpointing/BarrierMeetings.h"

#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace adgen {

static constexpr StringLiteral WarpRegister = "llvm.nvvm.read.ptx.sreg.warpid";

BarrierMeetings::BarrierMeetings(Function &Body, FunctionAnalysisManager &FAM, UnchangedMemory &Unchanged)
    : Body(Body), Loops(FAM.getResult<LoopAnalysis>(Body)), After(FAM.getResult<PostDominatorTreeAnalysis>(Body)) {
  if (readsWarpNumber())
    return;
  // The analysis takes a kernel's parameters, and no other function's, for the same in all threads; and no call, nor
  // what is in memory.
  CallingConv::ID Convention = Body.getCallingConv();
  Body.setCallingConv(CallingConv::PTX_Kernel);
  SmallVector<std::pair<Instruction *, Instruction *>> Same = standInForWhatIsSame(Unchanged);
  UniformityInfo &Uniform = FAM.getResult<UniformityInfoAnalysis>(Body);
  for (BasicBlock &Block : Body)
    if (Uniform.hasDivergentTerminator(Block))
      Divergent.insert(&Block);
  for (auto [I, StandIn] : Same) {
    StandIn->replaceAllUsesWith(I);
    RecursivelyDeleteTriviallyDeadInstructions(StandIn);
  }
  Body.setCallingConv(Convention);
  Known = true;
}

bool BarrierMeetings::all(BasicBlock &Block) const {
  if (!Known)
    return false;
  SmallVector<BasicBlock *> Work{&Block};
  SmallPtrSet<BasicBlock *, 16> Seen;
  while (!Work.empty()) {
    BasicBlock *Reached = Work.pop_back_val();
    for (BasicBlock &Branch : Body) {
      if (!decides(Branch, *Reached) || !Seen.insert(&Branch).second)
        continue;
      if (Divergent.contains(&Branch))
        return false;
      Work.push_back(&Branch);
    }
  }
  return true;
}

bool BarrierMeetings::isRecurrence(const Instruction &I) const {
  if (!isa<PHINode>(I) || !Loops.isLoopHeader(I.getParent()))
    return false;
  SmallVector<const Instruction *> Work{&I};
  SmallPtrSet<const Instruction *, 16> Seen;
  while (!Work.empty())
    for (const User *U : Work.pop_back_val()->users()) {
      auto *Next = cast<Instruction>(U);
      if (Next == &I)
        return true;
      if (Seen.insert(Next).second)
        Work.push_back(Next);
    }
  return false;
}

bool BarrierMeetings::isLoopBehind(const Instruction &Load, const CallInst &Barrier) const {
  const Loop *L = Loops.getLoopFor(Load.getParent());
  return L && !L->contains(Barrier.getParent());
}

SmallVector<std::pair<Instruction *, Instruction *>> BarrierMeetings::standInForWhatIsSame(UnchangedMemory &Unchanged) {
  SmallVector<std::pair<Instruction *, Instruction *>> Same;
  for (Instruction &I : instructions(Body)) {
    auto *Call = dyn_cast<CallInst>(&I);
    auto *Load = dyn_cast<LoadInst>(&I);
    if (Call ? isSameInBlock(*Call) || isOfIntegers(*Call)
             : Load && hasBits(*Load->getType()) && Unchanged.isReadBy(*Load))
      Same.push_back({&I, nullptr});
  }
  for (auto &[I, StandIn] : Same) {
    if (auto *Load = dyn_cast<LoadInst>(I))
      StandIn = CastInst::CreateBitOrPointerCast(addressAsNumber(*Load), Load->getType(), "", Load->getIterator());
    else if (isOfIntegers(*cast<CallInst>(I)))
      StandIn = BinaryOperator::CreateAnd(I->getOperand(0), I->getOperand(isa<MinMaxIntrinsic, SaturatingInst>(I)), "",
                                          I->getIterator());
    else
      StandIn = new FreezeInst(PoisonValue::get(I->getType()), "", I->getIterator());
    I->replaceAllUsesWith(StandIn);
  }
  return Same;
}

Value *BarrierMeetings::addressAsNumber(LoadInst &Load) {
  IRBuilder<> B(&Load);
  unsigned Bits = Load.getDataLayout().getTypeSizeInBits(Load.getType()).getFixedValue();
  return B.CreateZExtOrTrunc(B.CreatePtrToInt(Load.getPointerOperand(), B.getInt64Ty()), B.getIntNTy(Bits));
}

// Such as a minimum, or the number of leading zeros, by which loops that halve are counted: the same for the same
// integers.
bool BarrierMeetings::isOfIntegers(const CallInst &Call) {
  switch (Call.getIntrinsicID()) {
  case Intrinsic::ctlz:
  case Intrinsic::usub_sat:
    return true;
  default:
    return isa<MinMaxIntrinsic>(Call);
  }
}

bool BarrierMeetings::isSameInBlock(const CallInst &Call) {
  StringRef Name = Call.getCalledFunction() ? Call.getCalledFunction()->getName() : "";
  Name.consume_front(HiddenPrefix);
  if (Name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return Name.starts_with("ctaid.") || Name.starts_with("ntid.") || Name.starts_with("nctaid.");
  return Name.starts_with("llvm.nvvm.barrier.cta.red.");
}

bool BarrierMeetings::readsWarpNumber() const {
  return any_of(instructions(Body), [](const Instruction &I) {
    auto *Call = dyn_cast<CallInst>(&I);
    return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == WarpRegister;
  });
}

bool BarrierMeetings::decides(BasicBlock &Branch, BasicBlock &Reached) const {
  return !After.properlyDominates(&Reached, &Branch) &&
         any_of(successors(&Branch), [&](BasicBlock *Next) { return After.dominates(&Reached, Next); }) &&
         succ_size(&Branch) > 1;
}

} // namespace adgen
