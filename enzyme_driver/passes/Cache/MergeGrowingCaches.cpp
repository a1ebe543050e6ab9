// Of a loop whose number of iterations nobody knows beforehand (Newton's method, a ray that is marched), Enzyme keeps
// each value in a block of its own, which is replaced by one of twice the size where the iterations have filled it:
// every iteration asks for every value whether that is so, and the code for it is larger than what is computed. The
// values of an iteration become a record, and a loop has one block of them.
#include "Support/Pass.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-merge-growing-caches"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumMerged, "Number of growing caches merged into another");

namespace adgen {
namespace {

constexpr uint64_t Word = 8; // the alignment of a record, and what a tape is laid out in

// if (IsFull) { New = malloc(Size << ...); memset(New + ..., ...); memcpy(New, Old, ...); }  Grown = phi(New, Old)
struct Growth {
  BasicBlock *Asks = nullptr;
  Value *IsFull = nullptr;
  Use *Size = nullptr; // of one iteration's value
  PHINode *Grown = nullptr;
  SmallVector<GetElementPtrInst *> Elements;
  SmallVector<CallInst *> Frees;

  uint64_t bytes() const { return cast<ConstantInt>(Size->get())->getZExtValue(); }
};

bool calls(const Value *V, StringRef Name) {
  auto *Call = dyn_cast<CallInst>(V);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == Name;
}

// The size of a value in what the block allocates, if it is a block that makes room for more iterations.
Use *sizeIn(BasicBlock &B, const PHINode &Grown) {
  auto *New = dyn_cast<CallInst>(Grown.getIncomingValueForBlock(&B));
  if (!New || !calls(New, "malloc") || New->getParent() != &B)
    return nullptr;
  for (Instruction &I : B)
    if (&I != New && I.mayWriteToMemory() && !isa<MemSetInst>(I) && !isa<MemCpyInst>(I))
      return nullptr;
  auto *Bytes = dyn_cast<BinaryOperator>(New->getArgOperand(0));
  bool IsShifted = Bytes && Bytes->getOpcode() == Instruction::Shl && isa<ConstantInt>(Bytes->getOperand(0));
  return IsShifted && Bytes->getParent() == &B ? &Bytes->getOperandUse(0) : nullptr;
}

// Everything that holds a block's address: the values, those in memory that an outer loop keeps, and what is read
// there.
class Holders {
public:
  explicit Holders(Growth &Found, const BasicBlock &Grows) : Found(Found), Grows(Grows) {}

  // Whether nothing is done with the block but using its elements by number, growing and releasing it.
  bool collect() {
    Values.insert(Found.Grown);
    for (unsigned I = 0; I < Values.size(); ++I)
      for (User *U : Values[I]->users())
        if (!isKnown(*U, Values[I]))
          return false;
    return all_of(Values, [&](Value *V) { return V == Found.Grown || comesFromHolders(*V); }) &&
           all_of(Stored, [&](StoreInst *S) { return isHolder(S->getValueOperand()); });
  }

private:
  bool isKnown(User &U, Value *Holder) {
    auto *Address = dyn_cast<GetElementPtrInst>(&U);
    if (Address && Address->getPointerOperand() == Holder)
      return Found.Elements.push_back(Address), Address->getNumIndices() >= 1;
    if (calls(&U, "free"))
      return Found.Frees.push_back(cast<CallInst>(&U)), true;
    if (isa<PHINode>(U))
      return Values.insert(&U), true;
    auto *Store = dyn_cast<StoreInst>(&U);
    if (Store && Store->getValueOperand() == Holder)
      return collectFrom(*Store->getPointerOperand());
    return isa<MemCpyInst>(U) && cast<Instruction>(U).getParent() == &Grows;
  }

  // Of the outer loop's cache, in an element of which an address lies: all that is written and read there.
  bool collectFrom(Value &Element) {
    auto *Address = dyn_cast<GetElementPtrInst>(&Element);
    if (!Address || Address->getNumIndices() != 1)
      return false;
    SmallSetVector<Value *, 8> Outer;
    Outer.insert(Address->getPointerOperand());
    for (unsigned I = 0; I < Outer.size(); ++I) {
      if (auto *Phi = dyn_cast<PHINode>(Outer[I]))
        for (Value *From : Phi->incoming_values())
          if (!isa<ConstantPointerNull, UndefValue>(From))
            Outer.insert(From);
      if (!isa<PHINode>(Outer[I]) && !calls(Outer[I], "malloc"))
        return false;
      for (User *U : Outer[I]->users())
        if (isa<PHINode>(U))
          Outer.insert(U);
        else if (!isElementOfOuter(*U, Outer[I]) && !calls(U, "free") && !isa<MemIntrinsic>(U) && !isRest(*U))
          return false;
    }
    return true;
  }

  bool isElementOfOuter(User &U, const Value *Outer) {
    auto *Address = dyn_cast<GetElementPtrInst>(&U);
    if (!Address || Address->getPointerOperand() != Outer || Address->getNumIndices() != 1 ||
        !Address->getSourceElementType()->isPointerTy())
      return false;
    for (User *Access : Address->users())
      if (isa<LoadInst>(Access) && Access->getType()->isPointerTy())
        Values.insert(Access);
      else if (auto *Store = dyn_cast<StoreInst>(Access); Store && Store->getPointerOperand() == Address)
        Stored.insert(Store);
      else
        return false;
    return true;
  }

  // Where a new block has more room than the one before.
  static bool isRest(const User &U) {
    return isa<GetElementPtrInst>(U) && all_of(U.users(), [](const User *Access) { return isa<MemSetInst>(Access); });
  }

  bool comesFromHolders(Value &V) const {
    auto *Phi = dyn_cast<PHINode>(&V);
    return isa<LoadInst>(V) || (Phi && all_of(Phi->incoming_values(), [&](Value *From) { return isHolder(From); }));
  }

  // Or nothing, where there is no block yet.
  bool isHolder(Value *V) const { return Values.contains(V) || isa<ConstantPointerNull, UndefValue>(V); }

  Growth &Found;
  const BasicBlock &Grows;
  SmallSetVector<Value *, 8> Values;
  SmallSetVector<StoreInst *, 2> Stored;
};

std::optional<Growth> growthIn(BasicBlock &Grows, const DataLayout &DL) {
  BasicBlock *Asks = Grows.getSinglePredecessor(), *Behind = Grows.getSingleSuccessor();
  auto *Branch = Asks ? dyn_cast<BranchInst>(Asks->getTerminator()) : nullptr;
  if (!Branch || !Branch->isConditional() || !Behind || Branch->getSuccessor(0) != &Grows ||
      Branch->getSuccessor(1) != Behind || Behind->phis().empty() || !hasSingleElement(Behind->phis()))
    return std::nullopt;
  Growth Found{Asks, Branch->getCondition(), nullptr, &*Behind->phis().begin(), {}, {}};
  Found.Size = sizeIn(Grows, *Found.Grown);
  if (!Found.Size || !Holders(Found, Grows).collect())
    return std::nullopt;
  bool BySize = all_of(Found.Elements, [&](const GetElementPtrInst *Element) {
    return DL.getTypeAllocSize(Element->getSourceElementType()) == Found.bytes();
  });
  return BySize ? std::optional(Found) : std::nullopt;
}

// The element's record, and where the element lies in it.
void placeIn(GetElementPtrInst &Element, uint64_t Record, uint64_t Offset) {
  IRBuilder<> B(&Element);
  Type *Whole = ArrayType::get(B.getInt8Ty(), Record);
  Value *Place = B.CreateInBoundsGEP(Whole, Element.getPointerOperand(), Element.getOperand(1));
  if (Offset)
    Place = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Place, Offset);
  if (Element.getNumIndices() > 1) {
    SmallVector<Value *> Inside(Element.indices());
    Inside[0] = ConstantInt::get(Inside[0]->getType(), 0);
    Place = B.CreateInBoundsGEP(Element.getSourceElementType(), Place, Inside);
  }
  Element.replaceAllUsesWith(Place);
  Element.eraseFromParent();
}

// `Members` have their values in the block of the first, the largest first.
void merge(MutableArrayRef<Growth> Members) {
  Growth &First = Members.front();
  SmallVector<uint64_t> Sizes, Offsets;
  uint64_t Record = 0;
  for (const Growth &Member : Members) {
    uint64_t Alignment = MinAlign(Member.bytes(), Word);
    Record = alignTo(Record, Alignment);
    Offsets.push_back(Record);
    Record += Member.bytes();
  }
  Record = alignTo(Record, Word);
  First.Size->set(ConstantInt::get(First.Size->get()->getType(), Record));
  for (auto [Member, Offset] : zip(Members, Offsets))
    for (GetElementPtrInst *Element : Member.Elements)
      placeIn(*Element, Record, Offset);
  for (Growth &Member : Members.drop_front()) {
    for (CallInst *Free : Member.Frees)
      Free->eraseFromParent();
    Member.Grown->replaceAllUsesWith(First.Grown);
    Member.Grown->eraseFromParent();
    auto *Branch = cast<BranchInst>(Member.Asks->getTerminator());
    IRBuilder<>(Branch).CreateBr(Branch->getSuccessor(1));
    Branch->eraseFromParent();
    ++NumMerged;
  }
}

bool mergeIn(Function &F) {
  DominatorTree DT(F);
  MapVector<Value *, SmallVector<Growth>> Found;
  for (BasicBlock &B : F)
    if (std::optional<Growth> Each = growthIn(B, F.getDataLayout()))
      Found[Each->IsFull].push_back(*Each);
  bool Changed = false;
  for (auto &[IsFull, Members] : Found) {
    // What all others are behind grows for them.
    stable_sort(Members,
                [&](const Growth &One, const Growth &Other) { return DT.properlyDominates(One.Asks, Other.Asks); });
    erase_if(Members, [&](const Growth &Each) { return !DT.dominates(Members.front().Asks, Each.Asks); });
    if (Members.size() < 2)
      continue;
    merge(Members);
    Changed = true;
  }
  return Changed && (EliminateUnreachableBlocks(F), true);
}

} // namespace

ADGEN_DECLARE_PASS(MergeGrowingCaches);

PreservedAnalyses MergeGrowingCaches::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (F.getName().starts_with(GradientPrefix) && !F.isDeclaration())
      Changed |= mergeIn(F);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
