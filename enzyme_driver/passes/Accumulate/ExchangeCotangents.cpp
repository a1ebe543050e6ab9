// Reads and zeroes a consumed cotangent in one exchange, where it could not be zeroed behind all loads
// (SinkZeroStores). A zero that is stored while its line is still on the way from memory holds up every load behind it:
// with 19 cotangents a thread that was a factor of six. An exchange is one message to the second-level cache, which
// orders it.
#include "Support/Pass.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"

#define DEBUG_TYPE "adgen-exchange-cotangents"

using namespace llvm;

STATISTIC(NumExchanges, "Number of cotangents taken by exchanges");

namespace adgen {
namespace {

bool isZero(const Value &V) {
  auto *Number = dyn_cast<ConstantFP>(&V);
  return Number && Number->isZero();
}

// The store that zeroes what the load has read, if nothing in between may see or change the element.
StoreInst *zeroingOf(LoadInst &Load, const Argument &Shadow) {
  for (Instruction *I = Load.getNextNode(); I; I = I->getNextNode()) {
    if (auto *Store = dyn_cast<StoreInst>(I); Store && Store->getPointerOperand() == Load.getPointerOperand()) {
      bool Zeroes = Store->isSimple() && isZero(*Store->getValueOperand());
      return Zeroes && Store->getValueOperand()->getType() == Load.getType() ? Store : nullptr;
    }
    auto *Other = dyn_cast<LoadInst>(I);
    const Value *Object = Other ? getUnderlyingObject(Other->getPointerOperand(), 0) : nullptr;
    bool Apart = Object && Object != &Shadow && (isa<Argument>(Object) || isIdentifiedObject(Object));
    if (I->mayReadOrWriteMemory() && !Apart)
      return nullptr;
  }
  return nullptr;
}

bool readsMemory(const Instruction &I) {
  auto *Load = dyn_cast<LoadInst>(&I);
  return Load && !isa<AllocaInst>(getUnderlyingObject(Load->getPointerOperand(), 0));
}

bool isFollowedByLoads(StoreInst &Store) {
  BasicBlock *Own = Store.getParent();
  if (any_of(make_range(std::next(Store.getIterator()), Own->end()), readsMemory))
    return true;
  SmallVector<BasicBlock *> Work(successors(Own));
  SmallPtrSet<BasicBlock *, 16> Seen(Work.begin(), Work.end());
  while (!Work.empty()) {
    BasicBlock *Block = Work.pop_back_val();
    if (any_of(*Block, readsMemory))
      return true;
    for (BasicBlock *Next : successors(Block))
      if (Seen.insert(Next).second)
        Work.push_back(Next);
  }
  return false;
}

void exchangeIn(BasicBlock &Block) {
  SmallVector<LoadInst *> Loads;
  for (Instruction &I : Block)
    if (auto *Load = dyn_cast<LoadInst>(&I);
        Load && Load->isSimple() && (I.getType()->isFloatTy() || I.getType()->isDoubleTy()))
      Loads.push_back(Load);
  for (LoadInst *Load : Loads) {
    const Argument *Shadow = shadowOf(Load->getPointerOperand());
    StoreInst *Zeroing = Shadow ? zeroingOf(*Load, *Shadow) : nullptr;
    if (!Zeroing || !isFollowedByLoads(*Zeroing))
      continue;
    ADGEN_COUNT(NumExchanges, *Load);
    IRBuilder<> B(Load);
    const Align Whole(Load->getDataLayout().getTypeStoreSize(Load->getType()).getFixedValue());
    Value *Taken = B.CreateAtomicRMW(AtomicRMWInst::Xchg, Load->getPointerOperand(), Zeroing->getValueOperand(),
                                     std::max(Load->getAlign(), Whole), AtomicOrdering::Monotonic);
    Load->replaceAllUsesWith(Taken);
    Load->eraseFromParent();
    Zeroing->eraseFromParent();
  }
}

} // namespace

ADGEN_DECLARE_PASS(ExchangeCotangents);

PreservedAnalyses ExchangeCotangents::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      for (BasicBlock &Block : F)
        exchangeIn(Block);
  return PreservedAnalyses::none();
}

} // namespace adgen
