// Several threads may store the same value to one element (CUDA: one store wins), as all threads of a block do with the
// block's sum. In the reverse sweep each of them would load the element's cotangent before any of them has set it to
// zero, and each would use it. Here a cotangent is loaded and set to zero by one atomic exchange: whoever comes first
// takes it. On a GPU an exchange is no slower than a load and a store (measured on an H200); on the host it would keep
// loops over threads from being vectorised, so elements that are proved to be one thread's own (StoredOnce) keep their
// load and store there (option `host`), and those of one block get the mark by which the exchange becomes plain once
// the block's threads are a loop.
#include "Analysis/Accumulation.h"
#include "Analysis/StoredOnce.h"
#include "Support/Pass.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

bool isShadow(const Value &Object, bool IsEntry) {
  auto *A = dyn_cast<Argument>(&Object);
  if (A && IsEntry)
    return A->getParent()->hasParamAttribute(A->getArgNo(), ShadowAttribute) ||
           A->getParent()->hasParamAttribute(A->getArgNo(), SharedShadowAttribute);
  if (auto *Variable = dyn_cast<GlobalVariable>(&Object))
    return Variable->getName().starts_with(ShadowPrefix);
  return !isa<AllocaInst>(Object) && !isNoAliasCall(&Object);
}

// The load whose cotangent the store consumes: Enzyme writes the one right behind the other.
LoadInst *consumedBy(StoreInst &Zero) {
  auto *Nothing = dyn_cast<Constant>(Zero.getValueOperand());
  if (!Zero.isSimple() || !Nothing || !Nothing->isNullValue() || Nothing->getType()->isIntOrIntVectorTy() ||
      Nothing->getType()->isPtrOrPtrVectorTy())
    return nullptr;
  for (Instruction *I = Zero.getPrevNode(); I; I = I->getPrevNode()) {
    auto *Load = dyn_cast<LoadInst>(I);
    if (Load && Load->getPointerOperand() == Zero.getPointerOperand() && Load->getType() == Nothing->getType())
      return Load->isSimple() ? Load : nullptr;
    if (I->mayWriteToMemory())
      return nullptr;
  }
  return nullptr;
}

// Whether the thread adds to the element again before it meets others: the primal has read there what it then replaced,
// as y[i] += z does. Several threads that did so would race, so the element is one thread's.
bool isUpdated(const Consumption &Each) {
  for (Instruction *I = Each.Zero->getNextNode(); I; I = I->getNextNode()) {
    auto *Sum = asAccumulation(*I);
    if (Sum && Sum->getPointerOperand() == Each.Read->getPointerOperand() && Sum->getType() == Each.Read->getType())
      return true;
    if (isa<CallBase>(I) && I->mayWriteToMemory())
      return false;
  }
  return false;
}

// What one exchange for each number leaves in place of a load.
class Exchange {
public:
  Exchange(LoadInst &Load, bool IsOfBlock) : B(&Load), IsOfBlock(IsOfBlock), Layout(Load.getDataLayout()), Load(Load) {}

  Value *all() { return take(Load.getType(), Load.getPointerOperand(), Load.getAlign()); }

private:
  Value *take(Type *T, Value *From, Align Alignment) {
    if (T->isFloatingPointTy())
      return takeNumber(T, From, Alignment);
    Value *Whole = PoisonValue::get(T);
    auto *Vector = dyn_cast<FixedVectorType>(T);
    unsigned Count = Vector           ? Vector->getNumElements()
                     : T->isArrayTy() ? T->getArrayNumElements()
                                      : T->getStructNumElements();
    for (unsigned I = 0; I < Count; ++I) {
      Type *Part = Vector ? Vector->getElementType() : ExtractValueInst::getIndexedType(T, I);
      uint64_t Offset = T->isStructTy()
                            ? Layout.getStructLayout(cast<StructType>(T))->getElementOffset(I).getFixedValue()
                            : I * Layout.getTypeAllocSize(Part).getFixedValue();
      Value *Address = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), From, Offset);
      Value *Taken = take(Part, Address, commonAlignment(Alignment, Offset));
      Whole = Vector ? B.CreateInsertElement(Whole, Taken, I) : B.CreateInsertValue(Whole, Taken, I);
    }
    return Whole;
  }

  Value *takeNumber(Type *T, Value *From, Align Alignment) {
    bool IsHalf = T->getPrimitiveSizeInBits() == 16;
    Type *Word = IsHalf ? B.getInt16Ty() : T;
    // A number that is copied by bytes is taken to lie where one can be exchanged (RelaxAlignments).
    const Align Whole(Layout.getTypeStoreSize(Word).getFixedValue());
    auto *Taken = B.CreateAtomicRMW(AtomicRMWInst::Xchg, From, Constant::getNullValue(Word), std::max(Alignment, Whole),
                                    AtomicOrdering::Monotonic);
    Taken->setAAMetadata(Load.getAAMetadata());
    Taken->setMetadata(ConsumedMark, MDNode::get(B.getContext(), {}));
    if (IsOfBlock)
      Taken->setMetadata(BlocksOwnMark, MDNode::get(B.getContext(), {}));
    return B.CreateBitCast(Taken, T);
  }

  IRBuilder<> B;
  bool IsOfBlock;
  const DataLayout &Layout;
  LoadInst &Load;
};

bool holdsNumbers(const Type &T) {
  if (T.isFloatingPointTy())
    return T.isHalfTy() || T.isBFloatTy() || T.isFloatTy() || T.isDoubleTy();
  return (isa<FixedVectorType>(T) || T.isArrayTy() || T.isStructTy()) &&
         all_of(T.subtypes(), [](const Type *Part) { return holdsNumbers(*Part); });
}

void exchange(const Consumption &Each, bool IsOfBlock) {
  // A type with a wider alignment than its place cannot be exchanged; Enzyme reads each number as it is stored.
  if (!holdsNumbers(*Each.Read->getType()))
    return;
  Value *Taken = Exchange(*Each.Read, IsOfBlock).all();
  Taken->takeName(Each.Read);
  Each.Read->replaceAllUsesWith(Taken);
  Each.Read->eraseFromParent();
  Each.Zero->eraseFromParent();
}

class Consumptions {
public:
  Consumptions(Function &F, FunctionAnalysisManager &FAM, bool OnHost)
      : F(F), FAM(FAM), OnHost(OnHost), IsEntry(F.hasFnAttribute(ActivityAttribute)) {
    for (Instruction &I : instructions(F))
      if (auto *Zero = dyn_cast<StoreInst>(&I))
        if (LoadInst *Read = consumedBy(*Zero)) {
          Value *Object = getUnderlyingObject(Read->getPointerOperand(), 0);
          if (isShadow(*Object, IsEntry) && !isUpdated({Read, Zero}))
            ByObject[Object].push_back({Read, Zero});
        }
  }

  void exchangeAll() {
    LaunchLimits Limits;
    SmallVector<std::pair<Consumption, bool>> Exchanged;
    if (OnHost && IsEntry && !ByObject.empty()) {
      StoredOnce Stored(F, FAM.getResult<LoopAnalysis>(F), FAM.getResult<DominatorTreeAnalysis>(F));
      for (auto &[Object, All] : ByObject) {
        bool IsShared =
            isa<Argument>(Object) && F.hasParamAttribute(cast<Argument>(Object)->getArgNo(), SharedShadowAttribute);
        LaunchLimits Tried = Limits;
        Owners Own = Stored.ownersOf(*Object, All, Tried);
        if (Own.Blocks && !IsShared)
          Limits = Tried;
        Own.Blocks |= IsShared;
        for (const Consumption &Each : All)
          if (!(Own.Blocks && Own.Rows))
            Exchanged.push_back({Each, Own.Blocks});
      }
      remember(Limits);
    } else {
      for (auto &[Object, All] : ByObject)
        for (const Consumption &Each : All)
          Exchanged.push_back({Each, false});
    }
    for (auto [Each, IsOfBlock] : Exchanged)
      exchange(Each, IsOfBlock);
  }

private:
  void remember(const LaunchLimits &Limits) {
    std::string Text = utostr(Limits.OneBlockAlong);
    for (int64_t Most : Limits.MostThreads)
      Text += "," + itostr(Most);
    F.addFnAttr(BlocksDifferAttribute, Text);
  }

  Function &F;
  FunctionAnalysisManager &FAM;
  bool OnHost, IsEntry;
  MapVector<Value *, SmallVector<Consumption>> ByObject;
};

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(ConsumeOnce);

PreservedAnalyses ConsumeOnce::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration() && (F.hasFnAttribute(ActivityAttribute) || F.getName().starts_with(ReversePrefix)))
      Consumptions(F, FAM, Option == "host").exchangeAll();
  return PreservedAnalyses::none();
}

} // namespace adgen
