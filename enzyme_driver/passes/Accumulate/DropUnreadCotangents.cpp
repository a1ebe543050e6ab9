// Where derivatives are asked for of some inputs only, cotangents in shared memory may be added up that nobody uses: of
// a tile with two images of which one is constant, say. All that is written to a shared shadow at places from which no
// number comes to anything that stays is left out, with what was computed for it. Elements are told apart by what is
// left of their places in the array when these are divided by what all indices are multiplied by, as members of a
// struct are. So is what is written to the shared array itself, where it only led to results that are not asked for:
// the partial sums of a row, say.
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

#include <numeric>

#define DEBUG_TYPE "adgen-drop-unread-cotangents"

using namespace llvm;

STATISTIC(NumDropped, "Number of writes to cotangents that nothing reads");

namespace adgen {
namespace {

// Any number that leaves this remainder; with the divisor 0, this number.
struct Residue {
  uint64_t Divisor;
  int64_t Remainder;

  Residue operator+(const Residue &Other) const {
    return {std::gcd(Divisor, Other.Divisor), Remainder + Other.Remainder};
  }
  Residue operator*(int64_t Scale) const { return {Divisor * std::abs(Scale), Remainder * Scale}; }
};

constexpr Residue Any{1, 0};

bool keepsItsNumber(const BinaryOperator &I) {
  if (auto *Or = dyn_cast<PossiblyDisjointInst>(&I))
    return Or->isDisjoint();
  auto *Overflowing = dyn_cast<OverflowingBinaryOperator>(&I);
  return Overflowing && (I.getType()->isIntegerTy(64) || Overflowing->hasNoSignedWrap());
}

Residue residueOf(const Value *V) {
  if (auto *Number = dyn_cast<ConstantInt>(V))
    return {0, Number->getSExtValue()};
  if (isa<SExtInst>(V) || (isa<ZExtInst>(V) && cast<ZExtInst>(V)->hasNonNeg()))
    return residueOf(cast<CastInst>(V)->getOperand(0));
  auto *I = dyn_cast<BinaryOperator>(V);
  if (!I || !keepsItsNumber(*I))
    return Any;
  auto *By = dyn_cast<ConstantInt>(I->getOperand(1));
  switch (I->getOpcode()) {
  case Instruction::Add:
  case Instruction::Or:
    return residueOf(I->getOperand(0)) + residueOf(I->getOperand(1));
  case Instruction::Mul:
    return By ? residueOf(I->getOperand(0)) * By->getSExtValue() : Any;
  case Instruction::Shl:
    return By && By->getValue().ult(32) ? residueOf(I->getOperand(0)) * (int64_t(1) << By->getZExtValue()) : Any;
  default:
    return Any;
  }
}

// Where in an array an instruction reads or writes.
struct Place {
  Instruction *By;
  Residue Where;
  uint64_t Bytes;
};

// An array of the block, and all that is done with it.
class SharedArray {
public:
  // Nothing where a pointer goes elsewhere.
  static std::optional<SharedArray> of(Argument &Array) {
    SharedArray Result;
    return Result.follow(Array, {0, 0}) ? std::optional(std::move(Result)) : std::nullopt;
  }

  ArrayRef<Place> places() const { return Places; }

  bool mayOverlap(const Place &One, const Place &Other) const {
    int64_t Between = Other.Where.Remainder - One.Where.Remainder;
    if (!Divisor)
      return Between < int64_t(One.Bytes) && -Between < int64_t(Other.Bytes);
    int64_t Behind = ((Between % int64_t(Divisor)) + int64_t(Divisor)) % int64_t(Divisor);
    return Behind < int64_t(One.Bytes) || Behind + int64_t(Other.Bytes) > int64_t(Divisor);
  }

private:
  bool follow(Value &Pointer, Residue Where) {
    const DataLayout &Layout = layoutOf(Pointer);
    for (User *Each : Pointer.users()) {
      auto *I = dyn_cast<Instruction>(Each);
      if (auto *Address = dyn_cast<GetElementPtrInst>(Each)) {
        if (!follow(*Address, Where + offsetOf(*Address, Layout)))
          return false;
      } else if (isa<AddrSpaceCastInst>(Each)) {
        if (!follow(*Each, Where))
          return false;
      } else if (!I || !isAccess(*I, Pointer)) {
        return false;
      } else {
        Places.push_back({I, Where, Layout.getTypeStoreSize(accessed(*I))});
        Divisor = std::gcd(Divisor, Where.Divisor);
      }
    }
    return true;
  }

  static const DataLayout &layoutOf(const Value &Pointer) {
    auto *A = dyn_cast<Argument>(&Pointer);
    return A ? A->getParent()->getDataLayout() : cast<Instruction>(Pointer).getDataLayout();
  }

  static Residue offsetOf(const GetElementPtrInst &Address, const DataLayout &Layout) {
    unsigned Bits = Layout.getIndexTypeSizeInBits(Address.getType());
    SmallMapVector<Value *, APInt, 4> Scales;
    APInt Constant(Bits, 0);
    if (!Address.collectOffset(Layout, Bits, Scales, Constant))
      return Any;
    Residue Result{0, Constant.getSExtValue()};
    for (auto &[Index, Scale] : Scales)
      Result = Result + residueOf(Index) * Scale.getSExtValue();
    return Result;
  }

  static bool isAccess(const Instruction &I, const Value &Pointer) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return Load->isSimple();
    if (auto *Store = dyn_cast<StoreInst>(&I))
      return Store->isSimple() && Store->getValueOperand() != &Pointer;
    auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
    return Atomic && !Atomic->isVolatile() && Atomic->getValOperand() != &Pointer;
  }

  static Type *accessed(const Instruction &I) {
    auto *Store = dyn_cast<StoreInst>(&I);
    return Store ? Store->getValueOperand()->getType() : I.getType();
  }

  SmallVector<Place> Places;
  uint64_t Divisor = 0;
};

// What is needed: what has an effect that stays, and what comes to it.
class Needs {
public:
  Needs(Function &F, ArrayRef<SharedArray> Arrays) {
    for (const SharedArray &Each : Arrays)
      for (const Place &P : Each.places())
        Known[P.By] = {&Each, &P};
    for (Instruction &I : instructions(F))
      if ((I.mayHaveSideEffects() || I.isTerminator()) && !Known.contains(&I))
        add(I);
    while (!Next.empty()) {
      Instruction *I = Next.pop_back_val();
      for (Value *Operand : I->operands())
        if (auto *From = dyn_cast<Instruction>(Operand))
          add(*From);
      if (auto At = Known.find(I); At != Known.end() && !isa<StoreInst>(I))
        addWrites(*At->second.first, *At->second.second);
    }
  }

  bool have(const Instruction &I) const { return Needed.contains(&I); }

private:
  void add(Instruction &I) {
    if (Needed.insert(&I).second)
      Next.push_back(&I);
  }

  // What is read was written somewhere.
  void addWrites(const SharedArray &From, const Place &Read) {
    for (const Place &Each : From.places())
      if (!isa<LoadInst>(Each.By) && From.mayOverlap(Read, Each))
        add(*Each.By);
  }

  DenseMap<const Instruction *, std::pair<const SharedArray *, const Place *>> Known;
  SmallPtrSet<const Instruction *, 32> Needed;
  SmallVector<Instruction *> Next;
};

// The shadows of shared arrays, and those arrays that overlap nothing else.
SmallVector<SharedArray> arraysOf(Function &F) {
  SmallVector<SharedArray> Found;
  auto Add = [&](Argument &Array) {
    if (std::optional<SharedArray> Each = SharedArray::of(Array))
      Found.push_back(std::move(*Each));
  };
  size_t Count = sharedNames(F).size(); // the arrays come first, then as many shadows
  for (Argument &A : F.args())
    if (F.hasParamAttribute(A.getArgNo(), SharedShadowAttribute)) {
      Add(A);
      if (Count && F.getAttributeAtIndex(A.getArgNo() + AttributeList::FirstArgIndex, SharedShadowAttribute)
                           .getValueAsString() == StaticArray)
        Add(*F.getArg(A.getArgNo() - Count));
    }
  return Found;
}

bool dropUnread(Function &F) {
  SmallVector<SharedArray> Arrays = arraysOf(F);
  if (Arrays.empty())
    return false;
  Needs Needed(F, Arrays);
  bool Changed = false;
  for (const SharedArray &Each : Arrays)
    for (const Place &P : Each.places())
      if (!isa<LoadInst>(P.By) && !Needed.have(*P.By)) {
        ADGEN_COUNT(NumDropped, *P.By);
        if (!P.By->getType()->isVoidTy())
          P.By->replaceAllUsesWith(Constant::getNullValue(P.By->getType()));
        P.By->eraseFromParent();
        Changed = true;
      }
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(DropUnreadCotangents);

PreservedAnalyses DropUnreadCotangents::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Changed |= dropUnread(F);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
