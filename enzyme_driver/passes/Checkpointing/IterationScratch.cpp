// Every access lies in what was allocated, so a loop that stores to as many elements as there are has stored to all
// that may be read. Where there are none, nothing is read.
#include "Checkpointing/IterationScratch.h"
#include "Support/Allocations.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

// What was allocated, where it is that or null.
CallBase *allocationOf(Value *Base) {
  auto *Phi = dyn_cast<PHINode>(Base);
  if (!Phi)
    return dyn_cast<CallBase>(Base);
  CallBase *Found = nullptr;
  for (Value *From : Phi->incoming_values()) {
    if (isa<ConstantPointerNull>(From))
      continue;
    auto *Call = dyn_cast<CallBase>(From);
    if (!Call || (Found && Found != Call))
      return nullptr;
    Found = Call;
  }
  return Found;
}

// A number of elements without what widens it and without `max(…, 1)`, which changes nothing where there are some.
const SCEV *plain(const SCEV *Count) {
  while (true) {
    if (auto *Cast = dyn_cast<SCEVIntegralCastExpr>(Count); Cast && !isa<SCEVTruncateExpr>(Cast))
      Count = Cast->getOperand();
    else if (auto *Max = dyn_cast<SCEVMinMaxExpr>(Count);
             Max && isa<SCEVSMaxExpr, SCEVUMaxExpr>(Max) && Max->getNumOperands() == 2 && Max->getOperand(0)->isOne())
      Count = Max->getOperand(1);
    else
      return Count;
  }
}

// Of a count that is not negative, or what is allocated would be poison.
bool isNotNegative(const CastInst &Count, const Instruction &Bytes) {
  return (isa<SExtInst>(Count) && Bytes.hasNoUnsignedWrap()) || (isa<ZExtInst>(Count) && Count.hasNonNeg());
}

// Whether a count that is not negative and compares like that may be more than zero.
bool allowsElements(ICmpInst::Predicate Predicate, const APInt &Bound) {
  unsigned Width = Bound.getBitWidth();
  ConstantRange Some(APInt(Width, 1), APInt::getSignedMinValue(Width));
  return !ConstantRange::makeExactICmpRegion(Predicate, Bound).intersectWith(Some).isEmptySet();
}

// Of two addresses, neither of which is null: an array without elements is not null once it is an iteration's own.
bool isComparison(const Instruction &I) {
  return isa<ICmpInst>(I) && none_of(I.operands(), [](const Use &U) { return isa<ConstantPointerNull>(U.get()); });
}

} // namespace

IterationScratch::IterationScratch(Loop &L, ScalarEvolution &SE, const DominatorTree &DT, const LoopInfo &Loops)
    : L(L), SE(SE), DT(DT), Loops(Loops) {
  if (!L.getLoopPreheader() || !L.getLoopLatch() || L.getExitingBlock() != L.getLoopLatch())
    return;
  for (Instruction &I : instructions(*L.getHeader()->getParent()))
    if (isa<IntToPtrInst>(I))
      return;
  SmallSetVector<Value *, 8> Bases;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      if (auto *Store = dyn_cast<StoreInst>(&I))
        Bases.insert(getUnderlyingObject(Store->getPointerOperand()));
  for (Value *Base : Bases)
    if (std::optional<Array> Found = arrayAt(Base); Found && findUses(*Found) && isFilledFirst(*Found))
      Arrays.push_back(std::move(*Found));
}

bool IterationScratch::contains(const Value *Allocation) const {
  return any_of(Arrays, [&](const Array &Of) { return Of.Allocation == Allocation; });
}

void IterationScratch::giveEachIterationItsOwn() {
  for (const Array &Of : Arrays) {
    auto *Before = L.getLoopPreheader()->getTerminator();
    auto *Count = Of.Count->clone(), *Bytes = Of.Bytes->clone();
    Count->insertBefore(Before->getIterator());
    Bytes->insertBefore(Before->getIterator());
    Bytes->replaceUsesOfWith(Of.Count, Count);
    Count->dropPoisonGeneratingFlags(); // they speak of the place where it was allocated
    Bytes->dropPoisonGeneratingFlags();
    FunctionCallee Allocate = Of.Allocation->getCalledFunction();
    auto *Own = CallInst::Create(Allocate, {Bytes}, "own", L.getHeader()->getFirstInsertionPt());
    Own->setAttributes(Of.Allocation->getAttributes());
    Own->setDebugLoc(Of.Allocation->getDebugLoc());
    auto InLoop = [&](const Use &U) { return L.contains(cast<Instruction>(U.getUser())); };
    for (GetElementPtrInst *Place : Of.In.Places) {
      Instruction *OwnPlace = Place->clone();
      OwnPlace->insertAfter(Own->getIterator());
      OwnPlace->setOperand(0, Own);
      Place->replaceUsesWithIf(OwnPlace, InLoop);
    }
    Of.Base->replaceUsesWithIf(Own, InLoop);
    IRBuilder<> End(L.getLoopLatch()->getTerminator());
    FunctionCallee Release =
        L.getHeader()->getModule()->getOrInsertFunction(releaseFor(*Of.Allocation), End.getVoidTy(), End.getPtrTy());
    End.CreateCall(Release, {Own})->setDebugLoc(Of.Allocation->getDebugLoc());
  }
}

std::optional<IterationScratch::Array> IterationScratch::arrayAt(Value *Base) const {
  auto *At = dyn_cast<Instruction>(Base);
  CallBase *Allocation = At && !L.contains(At) ? allocationOf(Base) : nullptr;
  if (!Allocation || !Allocation->returnDoesNotAlias() || releaseFor(*Allocation).empty())
    return std::nullopt;
  auto *Bytes = dyn_cast<BinaryOperator>(Allocation->getArgOperand(0));
  uint64_t Factor = 0;
  if (!Bytes || !match(Bytes->getOperand(1), m_ConstantInt(Factor)) || Factor > 64)
    return std::nullopt;
  auto *Count = dyn_cast<CastInst>(Bytes->getOperand(0));
  bool IsShift = Bytes->getOpcode() == Instruction::Shl;
  if (!Count || !isa<ZExtInst, SExtInst>(Count) || !isNotNegative(*Count, *Bytes) ||
      !(IsShift ? Factor < 4 : Bytes->getOpcode() == Instruction::Mul) ||
      !DT.dominates(Count->getOperand(0), L.getLoopPreheader()->getTerminator()))
    return std::nullopt;
  return Array{Allocation, Base, Bytes, Count, IsShift ? uint64_t(1) << Factor : Factor, {}};
}

// False where it is used in another way than this can follow, or read behind the loop.
bool IterationScratch::findUses(Array &Of) const {
  SmallSetVector<Value *, 16> Addresses;
  Addresses.insert(Of.Allocation);
  for (unsigned I = 0; I < Addresses.size(); ++I)
    for (Use &U : Addresses[I]->uses()) {
      auto *User = cast<Instruction>(U.getUser());
      bool IsInside = L.contains(User);
      auto *Load = dyn_cast<LoadInst>(User);
      auto *Store = dyn_cast<StoreInst>(User);
      auto *Call = dyn_cast<CallBase>(User);
      if (IsInside && Addresses[I] != Of.Base && !L.contains(cast<Instruction>(Addresses[I]))) {
        auto *Place = dyn_cast<GetElementPtrInst>(Addresses[I]);
        if (!Place || Place->getPointerOperand() != Of.Base)
          return false;
        Of.In.Places.insert(Place);
      }
      if ((Store && (U.getOperandNo() == 0 || !Store->isSimple())) || (Load && !Load->isSimple()))
        return false;
      if (isa<GetElementPtrInst>(User) || (isa<PHINode, SelectInst>(User) && User->getParent() != L.getHeader()))
        Addresses.insert(User);
      else if (IsInside && (Load || (Call && Call->isArgOperand(&U) && Call->onlyReadsMemory() &&
                                     Call->doesNotCapture(Call->getArgOperandNo(&U)))))
        Of.In.Reads.push_back(User);
      else if (Store && IsInside)
        Of.In.Writes.push_back(Store);
      else if (!(IsInside ? isComparison(*User) : isHarmlessOutside(*User)))
        return false;
    }
  return true;
}

// Whether it changes nothing that an iteration reads, and reads nothing that one has left.
bool IterationScratch::isHarmlessOutside(const Instruction &I) const {
  auto *Call = dyn_cast<CallBase>(&I);
  return isa<StoreInst, ICmpInst, PtrToIntInst, MemSetInst>(I) ||
         (isa<LoadInst>(I) && !isPotentiallyReachable(L.getHeader(), I.getParent(), nullptr, &DT, &Loops)) ||
         (Call && isRelease(*Call));
}

bool IterationScratch::isFilledFirst(const Array &Of) const {
  SmallVector<const Loop *> Filling;
  for (StoreInst *Write : Of.In.Writes)
    if (fills(*Write, Of))
      Filling.push_back(Loops.getLoopFor(Write->getParent()));
  return !Filling.empty() && all_of(Of.In.Reads, [&](const Instruction *Read) {
    return hasNoElement(*Read, Of) || any_of(Filling, [&](const Loop *Fill) {
             return !Fill->contains(Read) && DT.dominates(Fill->getLoopLatch(), Read->getParent());
           });
  });
}

// Whether it stores to one element after the other, in a loop that is left when all are done.
bool IterationScratch::fills(const StoreInst &Write, const Array &Of) const {
  const Loop *Fill = Loops.getLoopFor(Write.getParent());
  const BasicBlock *Latch = Fill ? Fill->getLoopLatch() : nullptr;
  if (!Latch || Fill == &L || Fill->getExitingBlock() != Latch || !DT.dominates(Write.getParent(), Latch))
    return false;
  auto *Address = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(const_cast<Value *>(Write.getPointerOperand())));
  const SCEV *Taken = SE.getBackedgeTakenCount(Fill);
  TypeSize Stored = Write.getDataLayout().getTypeStoreSize(Write.getValueOperand()->getType());
  if (!Address || Address->getLoop() != Fill || !Address->isAffine() || isa<SCEVCouldNotCompute>(Taken) ||
      Stored.isScalable() || Stored.getFixedValue() != Of.Width || Address->getStart() != SE.getSCEV(Of.Base))
    return false;
  auto *Step = dyn_cast<SCEVConstant>(Address->getStepRecurrence(SE));
  return Step && Step->getAPInt() == Of.Width &&
         plain(SE.getTripCountFromExitCount(Taken, Taken->getType(), Fill)) ==
             plain(SE.getSCEV(Of.Count->getOperand(0)));
}

// Whether it is only reached where the array has no element, so that it would read what was not allocated.
bool IterationScratch::hasNoElement(const Instruction &Read, const Array &Of) const {
  for (const BasicBlock *Block = Read.getParent(); L.contains(Block);
       Block = DT.getNode(Block)->getIDom()->getBlock()) {
    const BasicBlock *From = Block->getSinglePredecessor();
    auto *Branch = From ? dyn_cast<BranchInst>(From->getTerminator()) : nullptr;
    if (!Branch || !Branch->isConditional() || Branch->getSuccessor(0) == Branch->getSuccessor(1))
      continue;
    CmpPredicate Predicate;
    const APInt *Bound = nullptr;
    if (match(Branch->getCondition(), m_ICmp(Predicate, m_Specific(Of.Count->getOperand(0)), m_APInt(Bound))) &&
        !allowsElements(Branch->getSuccessor(0) == Block ? ICmpInst::Predicate(Predicate)
                                                         : CmpInst::getInversePredicate(Predicate),
                        *Bound))
      return true;
  }
  return false;
}

} // namespace adgen
