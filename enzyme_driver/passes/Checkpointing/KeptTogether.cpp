// Finds the places whose numbers move together by splitting classes until those of a class are filled alike.
#include "Checkpointing/KeptTogether.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

#include <map>

using namespace llvm;

namespace adgen {

// What there is to be told apart without knowing what moves.
FoldingSetNodeID KeptTogether::beginning(const Value &V) const {
  FoldingSetNodeID As;
  const KeptPlaces::Before &Group = Kept.beforeOf(&V);
  auto First = Group.First.find(&V);
  As.AddInteger(First == Group.First.end() ? -1 : int64_t(First->second));
  if (const KeptArray *Array = Kept.arrayOf(&V))
    As.AddInteger(Array->Count);
  else
    As.AddPointer(cast<PHINode>(V).getParent());
  return As;
}

// An element, and when it is read: behind so many stores of a block.
void KeptTogether::describeAddress(FoldingSetNodeID &As, const Instruction &Access, const Parts &Of) const {
  const Value *Address = getLoadStorePointerOperand(&Access);
  const KeptArray &Array = *Kept.arrayOf(Address);
  const DataLayout &Layout = Access.getDataLayout();
  unsigned Bits = Layout.getIndexTypeSizeInBits(Address->getType());
  APInt Offset(Bits, 0), Bytes(Bits, Layout.getTypeStoreSize(Array.Number));
  SmallMapVector<Value *, APInt, 4> Steps;
  As.AddInteger(Of.lookup(Array.Memory));
  for (auto *Step = dyn_cast<GEPOperator>(Address); Step; Step = dyn_cast<GEPOperator>(Step->getPointerOperand()))
    if (!Step->collectOffset(Layout, Bits, Steps, Offset))
      As.AddPointer(&Access);
  As.AddInteger(Offset.sdiv(Bytes).getSExtValue());
  for (auto &[Index, Scale] : Steps) {
    As.AddPointer(Index);
    As.AddInteger(Scale.sdiv(Bytes).getSExtValue());
  }
  As.AddPointer(Access.getParent());
  unsigned Stores = 0;
  for (const Instruction &I : *Access.getParent()) {
    if (&I == &Access)
      break;
    auto *Store = dyn_cast<StoreInst>(&I);
    Stores += Store && Kept.arrayOf(Store->getPointerOperand()) == &Array;
  }
  As.AddInteger(Stores);
}

// Where a number comes from, in terms of places.
void KeptTogether::describe(FoldingSetNodeID &As, const Value *Group, Value *V, const Parts &Of) const {
  if (!Kept.isKept(V)) {
    As.AddInteger(0);
    As.AddInteger(Kept.sourcesOf(Group).size());
    As.AddInteger(Kept.sourceOf(Group, V));
  } else if (auto *Load = dyn_cast<LoadInst>(V)) {
    As.AddInteger(1);
    describeAddress(As, *Load, Of);
  } else if (auto *Choice = dyn_cast<SelectInst>(V)) {
    As.AddInteger(2);
    As.AddPointer(Choice->getCondition());
    describe(As, Group, Choice->getTrueValue(), Of);
    describe(As, Group, Choice->getFalseValue(), Of);
  } else {
    As.AddInteger(3);
    As.AddInteger(Of.lookup(V));
  }
}

// All that is put into a place, or an array.
void KeptTogether::describe(FoldingSetNodeID &As, const Value &V, const Parts &Of) const {
  As.AddInteger(Of.lookup(&V));
  if (auto *Phi = dyn_cast<PHINode>(&V)) {
    for (const BasicBlock *From : predecessors(Phi->getParent()))
      if (Phi->getParent() != L.getHeader() || L.contains(From))
        describe(As, Phi, Phi->getIncomingValueForBlock(From), Of);
    return;
  }
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block)
      if (auto *Store = dyn_cast<StoreInst>(&I)) {
        const KeptArray *To = Kept.arrayOf(Store->getPointerOperand());
        if (To && To->Memory == &V) {
          describeAddress(As, *Store, Of);
          describe(As, &V, Store->getValueOperand(), Of);
        }
      }
}

// Places are taken for one until something else is put into them.
DenseMap<const Value *, const Value *> KeptTogether::leaders() const {
  SmallVector<const Value *> All;
  for (const KeptArray &Each : Kept.arrays())
    All.push_back(Each.Memory);
  for (Instruction *Each : Kept.kept())
    if (isa<PHINode>(Each))
      All.push_back(Each);
  Parts Of;
  for (size_t Count = 0, Before = 0;; Before = Count) {
    std::map<FoldingSetNodeID, unsigned> Numbers;
    Parts Finer;
    for (const Value *Each : All) {
      FoldingSetNodeID As;
      if (Before)
        describe(As, *Each, Of);
      else
        As = beginning(*Each);
      Finer[Each] = Numbers.insert({As, unsigned(Numbers.size())}).first->second;
    }
    Of = std::move(Finer);
    Count = Numbers.size();
    if (Count == Before || Count == All.size())
      break;
  }
  DenseMap<unsigned, const Value *> First;
  DenseMap<const Value *, const Value *> Leaders;
  for (const Value *Each : All)
    Leaders[Each] = First.insert({Of[Each], Each}).first->second;
  return Leaders;
}

} // namespace adgen
