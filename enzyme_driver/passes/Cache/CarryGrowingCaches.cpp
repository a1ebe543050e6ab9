// Of a loop inside another whose number of iterations nobody knows beforehand, Enzyme keeps where the block of its
// values lies in an element of the outer loop's cache:
//   old = *slot; new = full ? grown(old) : old; *slot = new; new[i] = value
// Every iteration waits for memory that the one before has written. Here the loop carries the address, and writes it
// where the block grows. What grows is filled with zeros, for values that an iteration may not reach; where every
// iteration writes all that is kept, it need not be.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-carry-growing-caches"

using namespace llvm;

STATISTIC(NumCarried, "Number of addresses of growing caches that loops carry");
STATISTIC(NumFills, "Number of growing caches that are not filled with zeros");

namespace adgen {
namespace {

// A block that grows in some iterations of a loop, and where an outer loop keeps its address.
struct Growth {
  const Loop *L = nullptr;
  PHINode *Grown = nullptr;
  CallInst *New = nullptr;
  LoadInst *Old = nullptr;
  Value *Slot = nullptr;            // where that reads
  SmallVector<StoreInst *, 2> Kept; // the second one of a block into which another one was merged
};

bool isMalloc(const Value &V) {
  auto *I = dyn_cast<Instruction>(&V);
  return I && isCallOf(*I, "malloc");
}

// Or what may be one.
bool isInCache(const Value &Pointer) {
  return !isa<Argument, AllocaInst, GlobalVariable>(getUnderlyingObject(&Pointer, 0));
}

class Carrier {
public:
  Carrier(const DominatorTree &DT, const LoopInfo &Loops) : DT(DT), Loops(Loops) {}

  bool carry(PHINode &Grown) {
    Growth Found;
    if (!find(Grown, Found) ||
        !all_of(Found.L->blocks(), [&](BasicBlock *Block) { return leavesAlone(*Block, Found); }))
      return false;
    const Loop &L = *Found.L;
    IRBuilder<> Before(L.getLoopPreheader()->getTerminator());
    Value *First = Before.CreateAlignedLoad(Found.Old->getType(), Found.Slot, Found.Old->getAlign());
    PHINode *Carried = PHINode::Create(Found.Old->getType(), 2, "carried", L.getHeader()->begin());
    Carried->addIncoming(First, L.getLoopPreheader());
    Carried->addIncoming(&Grown, L.getLoopLatch());
    Found.Old->replaceAllUsesWith(Carried);
    for (StoreInst *Store : Found.Kept) {
      Value *Slot = Store->getPointerOperand();
      for (BasicBlock *Block : L.blocks())
        for (Instruction &I : make_early_inc_range(*Block))
          if (auto *Load = dyn_cast<LoadInst>(&I); Load && isSame(*Load->getPointerOperand(), *Slot)) {
            if (DT.dominates(Store, Load))
              Load->replaceAllUsesWith(&Grown);
            Load->eraseFromParent();
          }
      Before.CreateAlignedStore(First, Slot, Store->getAlign());
      Store->moveBefore(Found.New->getParent()->getTerminator()->getIterator());
      Store->setOperand(0, Found.New);
    }
    return true;
  }

  // What a block has more than the one before, where each iteration that is done writes to all that any one writes to.
  bool leaveEmpty(PHINode &Grown) {
    const Loop *L = Loops.getLoopFor(Grown.getParent());
    bool Dropped = false;
    for (BasicBlock *Grows : Grown.blocks())
      for (Instruction &I : make_early_inc_range(*Grows)) {
        auto *Fill = dyn_cast<MemSetInst>(&I);
        Value *New = Grown.getIncomingValueForBlock(Grows);
        if (!Fill || !L || !L->getLoopLatch() || !isMalloc(*New) || getUnderlyingObject(Fill->getRawDest()) != New ||
            !isWrittenAlways(Grown, *L))
          continue;
        Fill->eraseFromParent();
        Dropped = true;
      }
    return Dropped;
  }

private:
  bool find(PHINode &Grown, Growth &Found) const {
    const Loop *L = Loops.getLoopFor(Grown.getParent());
    if (Grown.getNumIncomingValues() != 2 || !L || !L->getLoopPreheader() || !L->getLoopLatch() ||
        !DT.dominates(Grown.getParent(), L->getLoopLatch()))
      return false;
    Found.L = L, Found.Grown = &Grown;
    for (Value *From : Grown.incoming_values())
      if (auto *Load = dyn_cast<LoadInst>(From))
        Found.Old = Load;
      else if (auto *Call = dyn_cast<CallInst>(From); Call && isMalloc(*Call))
        Found.New = Call;
    if (!Found.Old || !Found.New || !Found.Old->isSimple() || Loops.getLoopFor(Found.Old->getParent()) != L ||
        Found.New->getParent()->getSingleSuccessor() != Grown.getParent() ||
        Grown.getIncomingValueForBlock(Found.New->getParent()) != Found.New)
      return false;
    for (User *U : Grown.users())
      if (auto *Store = dyn_cast<StoreInst>(U); Store && Store->getValueOperand() == &Grown) {
        if (!isa<GetElementPtrInst>(Store->getPointerOperand()) || !L->isLoopInvariant(Store->getPointerOperand()) ||
            Loops.getLoopFor(Store->getParent()) != L || !DT.dominates(Store->getParent(), L->getLoopLatch()))
          return false;
        Found.Kept.push_back(Store);
      }
    for (StoreInst *Store : Found.Kept)
      if (isSame(*Store->getPointerOperand(), *Found.Old->getPointerOperand()))
        Found.Slot = Store->getPointerOperand();
    return Found.Slot;
  }

  // The same number of bytes behind the same element.
  static bool isSame(const Value &One, const Value &Other) {
    auto [Record, Offset] = placeOf(One);
    auto [OtherRecord, OtherOffset] = placeOf(Other);
    return Offset == OtherOffset && isSameRecord(*Record, *OtherRecord);
  }

  static bool isSameRecord(const Value &One, const Value &Other) {
    auto *I = dyn_cast<GetElementPtrInst>(&One), *J = dyn_cast<GetElementPtrInst>(&Other);
    return &One == &Other || (I && J && I->isIdenticalTo(J));
  }

  static std::pair<const Value *, APInt> placeOf(const Value &Pointer) {
    APInt Offset(64, 0);
    auto *I = dyn_cast<Instruction>(&Pointer);
    const Value *Record = I ? Pointer.stripAndAccumulateConstantOffsets(I->getDataLayout(), Offset,
                                                                        /*AllowNonInbounds=*/true)
                            : &Pointer;
    return {Record, Offset};
  }

  // Nothing else of the loop is done with the elements; others of the same record lie beside them.
  bool leavesAlone(const BasicBlock &All, const Growth &Found) const {
    return all_of(All, [&](const Instruction &I) {
      auto *Block = dyn_cast<MemIntrinsic>(&I);
      const Value *Pointer = Block ? Block->getRawDest() : getLoadStorePointerOperand(&I);
      return !Pointer || is_contained(Found.Kept, &I) || all_of(Found.Kept, [&](const StoreInst *Kept) {
        const Value &Slot = *Kept->getPointerOperand();
        if (getUnderlyingObject(Pointer, 0) != getUnderlyingObject(&Slot, 0))
          return true;
        if (isSame(*Pointer, Slot)) // read before or behind, but not where that is open
          return isa<LoadInst>(I) && (DT.dominates(Kept, &I) || &I == Found.Old || I.use_empty());
        return isSameRecord(*placeOf(*Pointer).first, *placeOf(Slot).first);
      });
    });
  }

  // Behind the loop it is only read.
  bool isWrittenAlways(const PHINode &Grown, const Loop &L) const {
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (isa<LoadInst>(I) && I.getType()->isPointerTy() && isInCache(*I.getOperand(0)))
          return false; // which may lead there, too
    SmallVector<const User *> Next(Grown.users());
    while (!Next.empty()) {
      auto *I = cast<Instruction>(Next.pop_back_val());
      auto *Store = dyn_cast<StoreInst>(I);
      if (Store && Store->getValueOperand() != &Grown && !DT.dominates(I->getParent(), L.getLoopLatch()))
        return false;
      if (isa<GetElementPtrInst>(I))
        append_range(Next, I->users());
      else if (!isa<StoreInst, LoadInst>(I) &&
               !(isa<PHINode>(I) && (I->getParent() == L.getHeader() || !L.contains(I))))
        return false;
    }
    return true;
  }

  const DominatorTree &DT;
  const LoopInfo &Loops;
};

} // namespace

ADGEN_DECLARE_PASS(CarryGrowingCaches);

PreservedAnalyses CarryGrowingCaches::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (!F.getName().starts_with(GradientPrefix) || F.isDeclaration())
      continue;
    Carrier Each(FAM.getResult<DominatorTreeAnalysis>(F), FAM.getResult<LoopAnalysis>(F));
    SmallVector<PHINode *> Addresses;
    for (BasicBlock &Block : F)
      for (PHINode &Phi : Block.phis())
        if (Phi.getType()->isPointerTy())
          Addresses.push_back(&Phi);
    for (PHINode *Phi : Addresses)
      if (Each.carry(*Phi))
        ADGEN_COUNT(NumCarried, F.getName());
    for (PHINode *Phi : Addresses)
      if (Each.leaveEmpty(*Phi))
        ADGEN_COUNT(NumFills, F.getName());
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
