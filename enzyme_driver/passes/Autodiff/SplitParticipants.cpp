// Which lanes take part is mostly: all that the mask names. Then masks are constants, for which the hardware exchanges
// values in one instruction, and nobody else is in the warp to be told anything. So behind such a question, what
// follows up to the return is there twice, and the answer decides.
#include "Autodiff/Collectives.h"
#include "Support/Adgen.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostToSplit = 4000; // instructions

SmallVector<BasicBlock *> reachableFrom(BasicBlock *Start) {
  SmallVector<BasicBlock *> Found{Start};
  SmallPtrSet<BasicBlock *, 32> Seen{Start};
  for (unsigned I = 0; I < Found.size(); ++I)
    for (BasicBlock *Next : successors(Found[I]))
      if (Seen.insert(Next).second)
        Found.push_back(Next);
  return Found;
}

// The blocks again, of which the first comes from `From` alone; to blocks outside they do not lead.
BasicBlock *copyOf(ArrayRef<BasicBlock *> Region, ValueToValueMapTy &Map) {
  SmallVector<BasicBlock *> Copies;
  for (BasicBlock *Block : Region) {
    Copies.push_back(CloneBasicBlock(Block, Map, ".all", Block->getParent()));
    Map[Block] = Copies.back();
  }
  for (auto [Block, Copy] : zip(Region, Copies))
    for (Instruction &I : make_early_inc_range(*Copy)) {
      auto *Phi = dyn_cast<PHINode>(&I);
      for (unsigned From = Phi ? Phi->getNumIncomingValues() : 0; From-- > 0;)
        if (!Map.count(Phi->getIncomingBlock(From)))
          Phi->removeIncomingValue(From, /*DeletePHIIfEmpty=*/false);
      RemapInstruction(&I, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    }
  return Copies.front();
}

void splitAt(CallInst &Question, bool IsOnly) {
  auto *Mask = cast<ConstantInt>(Question.getArgOperand(0));
  BasicBlock *Rest = SplitBlock(Question.getParent(), Question.getNextNode());
  SmallVector<BasicBlock *> Region = reachableFrom(Rest);
  if (is_contained(Region, Question.getParent()))
    return;
  ValueToValueMapTy Map;
  Map[&Question] = Mask;
  BasicBlock *All = copyOf(Region, Map);
  if (IsOnly && Mask->isMinusOne())
    for (BasicBlock *Block : Region)
      for (Instruction &I : make_early_inc_range(*cast<BasicBlock>(Map[Block])))
        if (isCallOf(I, (LanesPrefix + "leave").str()))
          I.eraseFromParent();
  Instruction *End = Question.getParent()->getTerminator();
  IRBuilder<> B(End);
  B.CreateCondBr(B.CreateICmpEQ(&Question, Mask), All, Rest);
  End->eraseFromParent();
}

} // namespace

void splitByParticipants(Function &F) {
  SmallVector<CallInst *> Questions;
  for (Instruction &I : instructions(F))
    if (isCallOf(I, (LanesPrefix + "participants").str()))
      Questions.push_back(cast<CallInst>(&I));
  CallInst *First = Questions.empty() ? nullptr : Questions.front();
  if (!First || !isa<ConstantInt>(First->getArgOperand(0)) || F.getInstructionCount() > MostToSplit)
    return;
  splitAt(*First, Questions.size() == 1);
}

} // namespace adgen
