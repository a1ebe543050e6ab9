#include "Cache/PromoteSlots.h"
#include "Analysis/EnzymeCaches.h"
#include "Support/Pass.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace adgen {
namespace {

// What is done with a cache: its elements' addresses, reads and writes, and giving it back.
class Slot {
public:
  Slot(CallInst &Cache, ScalarEvolution &SE) : Cache(Cache), SE(SE) {}

  bool mayBeVariable() { return collect() && isFilledOnce() && areInside(); }

  void becomeVariable() {
    Function &F = *Cache.getFunction();
    IRBuilder<> Entry(&*F.getEntryBlock().getFirstInsertionPt());
    AllocaInst *Variable = Entry.CreateAlloca(Element);
    BasicBlock *Begin = Number->getLoop()->getHeader();
    IRBuilder<>(Begin, Begin->getFirstInsertionPt()).CreateStore(UndefValue::get(Element), Variable);
    for (GetElementPtrInst *Address : Addresses) {
      Address->replaceAllUsesWith(Variable);
      Address->eraseFromParent();
    }
    for (Instruction *Each : Left)
      Each->eraseFromParent();
    Cache.eraseFromParent();
  }

private:
  bool collect() {
    for (User *U : Cache.users())
      if (auto *Address = dyn_cast<GetElementPtrInst>(U); Address ? !collect(*Address) : !isLeft(*U))
        return false;
    return !Addresses.empty();
  }

  // It is given back, by itself or where the way around the loop has come in.
  bool isLeft(User &U) {
    auto *Phi = dyn_cast<PHINode>(&U);
    if (Phi && any_of(Phi->incoming_values(), [&](Value *V) { return V != &Cache && !isa<UndefValue>(V); }))
      return false;
    if (Phi && !all_of(Phi->users(), [&](User *Release) { return isLeft(*Release); }))
      return false;
    auto *I = cast<Instruction>(&U);
    if (!is_contained(Left, I))
      Left.push_back(I);
    return Phi || isCacheRelease(*I);
  }

  bool collect(GetElementPtrInst &Address) {
    if (Address.getNumIndices() != 1)
      return false;
    auto *Index = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Address.getOperand(1)));
    if (!Index || !Index->isAffine() || !Index->getStepRecurrence(SE)->isOne() || (Number && Index != Number))
      return false;
    Number = Index;
    Addresses.push_back(&Address);
    return all_of(Address.users(), [&](User *U) {
      auto *Load = dyn_cast<LoadInst>(U);
      auto *Store = dyn_cast<StoreInst>(U);
      bool Accesses =
          (Load && Load->isSimple()) || (Store && Store->isSimple() && Store->getValueOperand() != &Address);
      if (!Accesses || (Element && Element != getLoadStoreType(U)))
        return false;
      Element = getLoadStoreType(U);
      return Element == Address.getSourceElementType();
    });
  }

  // By one run of the loop: no other one finds there what an earlier one has left.
  bool isFilledOnce() const {
    const Loop &L = *Number->getLoop(), *Around = L.getParentLoop();
    return !L.contains(&Cache) && (!Around || Around->contains(&Cache));
  }

  bool areInside() const {
    return Element && all_of(Addresses, [&](GetElementPtrInst *Address) {
             return all_of(Address->users(),
                           [&](User *U) { return Number->getLoop()->contains(cast<Instruction>(U)); });
           });
  }

  CallInst &Cache;
  ScalarEvolution &SE;
  const SCEVAddRecExpr *Number = nullptr;
  Type *Element = nullptr;
  SmallVector<GetElementPtrInst *> Addresses;
  SmallVector<Instruction *> Left; // users before what they use
};

uint64_t mostBytes(const CallInst &Cache, ScalarEvolution &SE) {
  return SE.getUnsignedRangeMax(SE.getSCEV(Cache.getArgOperand(0))).getLimitedValue();
}

// Of the caches that are allocated once, those that may be a T.
template <class T> std::vector<T> findOutsideLoops(Function &F, FunctionAnalysisManager &FAM) {
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  std::vector<T> Found;
  for (Instruction &I : instructions(F))
    if (isCacheAllocation(&I) && !LI.getLoopFor(I.getParent()))
      if (T Each(cast<CallInst>(I)); Each.isOne(SE))
        Found.push_back(std::move(Each));
  return Found;
}

// A cache of flags that fits into a number.
class Flags {
public:
  explicit Flags(CallInst &Cache) : Cache(Cache) {}

  bool isOne(ScalarEvolution &SE) {
    Most = mostBytes(Cache, SE);
    return Most <= 64 && collect(Cache);
  }

  AllocaInst *becomeBits() {
    Function &F = *Cache.getFunction();
    Type *T = Type::getIntNTy(F.getContext(), Most <= 32 ? 32 : 64);
    AllocaInst *Bits =
        IRBuilder<>(&*F.getEntryBlock().getFirstInsertionPt()).CreateAlloca(T, nullptr, Cache.getName() + ".bits");
    IRBuilder<>(&Cache).CreateStore(ConstantInt::get(T, 0), Bits);
    for (Instruction *Access : Accesses)
      rewrite(*Access, *Bits);
    for (Instruction *I : Left) {
      I->replaceAllUsesWith(PoisonValue::get(I->getType()));
      I->eraseFromParent();
    }
    Cache.eraseFromParent();
    return Bits;
  }

private:
  bool collect(Instruction &Place) {
    return all_of(Place.users(), [&](User *U) {
      auto *I = cast<Instruction>(U);
      if (isa<LoadInst, StoreInst>(I)) {
        Accesses.insert(I);
        return isSimpleFlag(*I, Place);
      }
      bool IsPlace = isa<GetElementPtrInst, PHINode>(I);
      return !Left.insert(I) || (IsPlace ? leadsThere(*I) && collect(*I) : isCacheRelease(*I));
    });
  }

  static bool isSimpleFlag(Instruction &Access, const Value &Place) {
    auto *Store = dyn_cast<StoreInst>(&Access);
    return getLoadStoreType(&Access)->isIntegerTy(1) && !Access.isVolatile() && !Access.isAtomic() &&
           !(Store && Store->getValueOperand() == &Place);
  }

  // The beginning, on ways that come from there, or the address of an element.
  bool leadsThere(Instruction &I) const {
    if (auto *Address = dyn_cast<GetElementPtrInst>(&I))
      return Address->getNumIndices() == 1 && Address->getSourceElementType()->isIntegerTy(1) &&
             !isa<GetElementPtrInst>(Address->getPointerOperand());
    return all_of(I.operands(), [&](const Use &From) {
      return From == &Cache || isa<UndefValue>(From) || (isa<PHINode>(From) && Left.contains(cast<Instruction>(From)));
    });
  }

  static void rewrite(Instruction &Access, AllocaInst &Bits) {
    IRBuilder<> B(&Access);
    Type *T = Bits.getAllocatedType();
    auto *Element = dyn_cast<GetElementPtrInst>(getLoadStorePointerOperand(&Access));
    Value *Number = Element ? B.CreateZExtOrTrunc(Element->getOperand(1), T) : ConstantInt::get(T, 0);
    Value *Now = B.CreateLoad(T, &Bits);
    if (auto *Store = dyn_cast<StoreInst>(&Access)) {
      Value *Others = B.CreateAnd(Now, B.CreateNot(B.CreateShl(ConstantInt::get(T, 1), Number)));
      B.CreateStore(B.CreateOr(Others, B.CreateShl(B.CreateZExt(Store->getValueOperand(), T), Number)), &Bits);
    } else
      Access.replaceAllUsesWith(B.CreateTrunc(B.CreateLShr(Now, Number), Access.getType()));
    Access.eraseFromParent();
  }

  CallInst &Cache;
  uint64_t Most = 0;
  SetVector<Instruction *> Accesses, Left;
};

constexpr uint64_t MostOfOne = 64, MostOfAll = 128; // bytes

// A cache of few bytes, whatever lies in it.
class Small {
public:
  explicit Small(CallInst &Cache) : Cache(Cache) {}

  bool isOne(ScalarEvolution &SE) {
    Most = mostBytes(Cache, SE);
    return Most <= MostOfOne && collect(Cache);
  }

  uint64_t size() const { return alignTo(Most, Granule); }

  void becomeLocal() {
    Function &F = *Cache.getFunction();
    IRBuilder<> Entry(&*F.getEntryBlock().getFirstInsertionPt());
    AllocaInst *Variable = Entry.CreateAlloca(ArrayType::get(Entry.getInt8Ty(), Most), nullptr, Cache.getName());
    Variable->setAlignment(Align(Granule));
    for (CallInst *Release : Releases)
      Release->eraseFromParent();
    Cache.replaceAllUsesWith(Variable);
    Cache.eraseFromParent();
  }

private:
  // Whether nothing keeps a place in memory, nor this one places of other caches, which a tape knows as numbers.
  bool collect(Instruction &Place) {
    return all_of(Place.users(), [&](User *U) {
      auto *I = cast<Instruction>(U);
      if (isCacheRelease(*I))
        return Releases.insert(cast<CallInst>(I)) || true;
      if (isa<LoadInst, StoreInst>(I))
        return !getLoadStoreType(I)->isPointerTy();
      if (auto *Phi = dyn_cast<PHINode>(I); Phi && !isOfThisAlone(*Phi))
        return false;
      return isa<MemIntrinsic>(I) || (isa<GetElementPtrInst, PHINode>(I) && (!Places.insert(I).second || collect(*I)));
    });
  }

  bool isOfThisAlone(const PHINode &Phi) const {
    return all_of(Phi.incoming_values(), [&](const Use &From) { return From == &Cache || isa<UndefValue>(From); });
  }

  static constexpr uint64_t Granule = 8;
  CallInst &Cache;
  uint64_t Most = 0;
  SmallPtrSet<Instruction *, 8> Places;
  SetVector<CallInst *> Releases;
};

} // namespace

void promoteSmall(Function &F, FunctionAnalysisManager &FAM) {
  uint64_t Left = MostOfAll;
  for (Small &Each : findOutsideLoops<Small>(F, FAM))
    if (Each.size() <= Left) {
      Left -= Each.size();
      Each.becomeLocal();
    }
  if (Left < MostOfAll)
    FAM.invalidate(F, PreservedAnalyses::none());
}

void promoteFlags(Function &F, FunctionAnalysisManager &FAM) {
  std::vector<Flags> Found = findOutsideLoops<Flags>(F, FAM);
  if (Found.empty())
    return;
  SmallVector<AllocaInst *> Variables;
  for (Flags &Each : Found)
    Variables.push_back(Each.becomeBits());
  PromoteMemToReg(Variables, FAM.getResult<DominatorTreeAnalysis>(F));
  FAM.invalidate(F, PreservedAnalyses::none());
}

bool promoteSlots(Function &F, ScalarEvolution &SE) {
  SmallVector<Slot> Slots;
  for (Instruction &I : instructions(F))
    if (isCacheAllocation(&I))
      if (Slot Found(cast<CallInst>(I), SE); Found.mayBeVariable())
        Slots.push_back(std::move(Found));
  for (Slot &Each : Slots)
    Each.becomeVariable();
  return !Slots.empty();
}

} // namespace adgen
