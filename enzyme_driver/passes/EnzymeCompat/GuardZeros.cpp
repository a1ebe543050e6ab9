// A cotangent of zero, of what has no part in the result, is multiplied with a derivative that may be infinite: zero
// times infinity is no number. In a gradient that is marked (adgen-sink-singularities) such a product is zero:
//   d == 0 ? 0 : d * slope
#include "Analysis/Poles.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ValueSymbolTable.h"

#define DEBUG_TYPE "adgen-guard-zeros"

using namespace llvm;

STATISTIC(NumGuarded, "Number of products that are zero where their cotangent is");

namespace adgen {
namespace {

constexpr unsigned MostLoads = 4; // of pointers to pointers

SmallVector<const Value *> objectsOf(const Value &Pointer) {
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(&Pointer, Objects, nullptr, /*MaxLookup=*/0);
  return Objects;
}

// The numbers of a function that are linear in cotangents: what shadows hold, and what becomes of it.
class Cotangents {
public:
  explicit Cotangents(Function &F) {
    for (bool Again = true; Again;) {
      Again = false;
      for (Instruction &I : instructions(F))
        Again |= isLinear(I) ? Linear.insert(&I).second : stores(I);
    }
  }

  bool contains(const Value *V) const { return Linear.contains(V); }

  // Of the two factors the one that is a cotangent, where it is one of them.
  const Use *factor(const Instruction &I) const {
    bool IsQuotient = I.getOpcode() == Instruction::FDiv;
    if (!IsQuotient && I.getOpcode() != Instruction::FMul && !isFma(I))
      return nullptr;
    const Use &One = I.getOperandUse(0), &Other = I.getOperandUse(1);
    if (isNothing(One, I) != isNothing(Other, I))
      return isNothing(One, I) ? &One : IsQuotient ? nullptr : &Other;
    if (IsQuotient || contains(One) == contains(Other))
      return IsQuotient && contains(One) ? &One : nullptr;
    return contains(One) ? &One : &Other;
  }

private:
  // Of what nothing is made of in the end. Enzyme lets signs of zeros go; the primal computes with them.
  static bool isNothing(const Value *V, const Instruction &Product) {
    auto *C = dyn_cast<ConstantFP>(V);
    return C && C->isZero() && Product.hasNoSignedZeros();
  }

  bool isShadow(const Value &Pointer, unsigned Loads = 0) const {
    return any_of(objectsOf(Pointer), [&](const Value *Object) { return holdsCotangents(*Object, Loads); });
  }

  // The shadows of arrays, of structs of pointers, and of shared variables.
  static bool isShadowArgument(const Argument &A) {
    const Function &F = *A.getParent();
    if (A.hasAttribute(ShadowAttribute) || A.hasAttribute(SharedShadowAttribute) || A.getName().ends_with("'"))
      return true;
    if (!F.hasFnAttribute(ActivityAttribute))
      return false;
    const auto Activities = activitiesOf(F);
    const unsigned Shadows = Activities.size() - count(Activities, Activity::Const);
    return A.getArgNo() >= Activities.size() && A.getArgNo() < Activities.size() + Shadows;
  }

  bool holdsCotangents(const Value &Object, unsigned Loads = 0) const {
    if (auto *A = dyn_cast<Argument>(&Object))
      return isShadowArgument(*A);
    if (auto *Variable = dyn_cast<GlobalVariable>(&Object))
      return Variable->getName().starts_with(ShadowPrefix);
    if (auto *Load = dyn_cast<LoadInst>(&Object)) // of a struct of pointers, or along a list, which may be a circle
      return Loads < MostLoads && (leadsToShadow(*Load) || isShadow(*Load->getPointerOperand(), Loads + 1));
    // Enzyme calls what it adds so. Where nothing is ever added to it, it holds zeros, which are cotangents as well.
    return Holding.contains(&Object) || (isa<AllocaInst, CallInst>(Object) && Object.getName().contains("'"));
  }

  bool isLinear(const Instruction &I) const {
    Type *T = I.getType();
    if (T->isVoidTy() || T->isPtrOrPtrVectorTy() || isa<CmpInst>(I))
      return false;
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return isShadow(*Load->getPointerOperand());
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      return Atomic->getOperation() == AtomicRMWInst::Xchg && isShadow(*Atomic->getPointerOperand());
    if (auto *Part = dyn_cast<ExtractValueInst>(&I)) // a rule of nothing is nothing
      return contains(Part->getAggregateOperand()) || isa<ConstantAggregateZero>(Part->getAggregateOperand());
    if (auto *Choice = dyn_cast<SelectInst>(&I))
      return contains(Choice->getTrueValue()) || contains(Choice->getFalseValue());
    if (I.getOpcode() == Instruction::FMul || I.getOpcode() == Instruction::FDiv)
      return factor(I);
    return any_of(I.operands(), [&](const Use &U) { return contains(U); });
  }

  // Of the addresses that a cache keeps, as of two arrays that take turns.
  bool leadsToShadow(const LoadInst &Load) const {
    return any_of(objectsOf(*Load.getPointerOperand()), [&](const Value *Object) { return Leading.contains(Object); });
  }

  // What local memory holds, once a cotangent, or the address of some, is stored there.
  bool stores(const Instruction &I) {
    auto *Store = dyn_cast<StoreInst>(&I);
    const Value *Stored = Store ? Store->getValueOperand() : nullptr;
    const bool IsAddress = Stored && Stored->getType()->isPointerTy() && isShadow(*Stored);
    bool IsNew = false;
    if (Stored && (IsAddress || contains(Stored)))
      for (const Value *Object : objectsOf(*Store->getPointerOperand()))
        if (isa<AllocaInst>(Object) || isNoAliasCall(Object))
          IsNew |= (IsAddress ? Leading : Holding).insert(Object).second;
    return IsNew;
  }

  SmallPtrSet<const Value *, 32> Linear;
  SmallPtrSet<const Value *, 8> Holding, Leading;
};

// The cotangent that the derivative of a mathematical function takes last.
const Use *cotangentOfRule(const Instruction &I, const Cotangents &All) {
  auto *Call = dyn_cast<CallInst>(&I);
  if (!Call || !Call->getCalledFunction() || !Call->getCalledFunction()->getName().ends_with("_reverse") ||
      Call->getType()->isVoidTy() || Call->arg_empty())
    return nullptr;
  const Use &Last = Call->getArgOperandUse(Call->arg_size() - 1);
  return All.contains(Last) ? &Last : nullptr;
}

// Enzyme computes a number again without its marks, under its name and this.
constexpr StringLiteral AgainSuffix = "_unwrap";

bool isMarkedNumber(const Instruction &I, StringRef Mark) {
  if (I.hasMetadata(Mark))
    return true;
  const auto [Name, Rest] = I.getName().split(AgainSuffix);
  if (Name.size() == I.getName().size())
    return false;
  const StringRef Behind = Rest.ltrim("0123456789"); // of what was inlined
  auto *First = dyn_cast_or_null<Instruction>(I.getFunction()->getValueSymbolTable()->lookup((Name + Behind).str()));
  return First && First->getOpcode() == I.getOpcode() && First->hasMetadata(Mark);
}

// The numbers of a gradient that may be infinite, or none, where no result is: what a pole that is not kept gives, and
// what is made of it until it comes into something that is kept. What memory holds is told apart by the variable.
class Suspects {
public:
  Suspects(Function &F, const Cotangents &All) : All(All), KnowsAll(!callsOthers(F)) {
    for (bool Again = KnowsAll; Again;) {
      Again = false;
      for (Instruction &I : instructions(F))
        Again |= isSuspect(I) ? Found.insert(&I).second : stores(I);
    }
  }

  bool contains(const Value *V) const { return KnowsAll ? Found.contains(V) : !isa<Constant>(V); }

  // Whether it is a quotient, or a function, that may be infinite where no result is.
  static bool mayMeet(const Instruction &I) {
    auto *Argument = hasPole(I) ? dyn_cast<Instruction>(I.getOperand(I.getOpcode() == Instruction::FDiv)) : nullptr;
    return mayMeetPole(I) && !(Argument && isMarkedNumber(*Argument, KeptArgumentMark));
  }

private:
  // Of C++, Enzyme makes the gradient of the body; the gradient itself only calls that.
  static bool holdsGradient(const Function &F) {
    return F.hasFnAttribute(ActivityAttribute) || F.getName().starts_with((ReversePrefix + BodyPrefix).str());
  }

  // Which may store anything anywhere, as may a function that is handed to one of a library, which also stores numbers
  // itself where it takes both numbers and addresses.
  static bool storesAnything(const CallBase &Call) {
    const Function *Called = Call.getCalledFunction();
    if (!Call.mayWriteToMemory() || isa<IntrinsicInst>(Call))
      return false;
    const auto Takes = [&](auto Is) { return any_of(Call.args(), Is); };
    return !Called || !Called->isDeclaration() || Takes([](const Value *A) { return isa<Function>(A); }) ||
           (Takes([](const Value *A) { return A->getType()->isFPOrFPVectorTy(); }) &&
            Takes([](const Value *A) { return A->getType()->isPointerTy(); }));
  }

  static bool callsOthers(const Function &F) {
    return !holdsGradient(F) || any_of(instructions(F), [](const Instruction &I) {
      auto *Call = dyn_cast<CallBase>(&I);
      return Call && storesAnything(*Call);
    });
  }

  bool isSuspect(const Instruction &I) const {
    if (!holdsNumbers(*I.getType()) || All.contains(&I) || isMarkedNumber(I, KeptMark))
      return false;
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return Holding.contains(variableOf(*Load->getPointerOperand()));
    return (mayMeet(I) && mayBeInfinite(I)) || any_of(I.operands(), [&](const Use &U) { return Found.contains(U); });
  }

  static bool holdsNumbers(const Type &T) { return T.isFPOrFPVectorTy() || T.isAggregateType() || T.isIntegerTy(64); }

  // Null is all memory that is not a local variable of its own.
  static const Value *variableOf(const Value &Pointer) {
    const Value *Object = getUnderlyingObject(&Pointer, /*MaxLookup=*/0);
    return isa<AllocaInst>(Object) && !PointerMayBeCaptured(Object, /*ReturnCaptures=*/true) ? Object : nullptr;
  }

  bool stores(const Instruction &I) {
    if (auto *Store = dyn_cast<StoreInst>(&I))
      return Found.contains(Store->getValueOperand()) && Holding.insert(variableOf(*Store->getPointerOperand())).second;
    if (auto *Copy = dyn_cast<MemTransferInst>(&I))
      return Holding.contains(variableOf(*Copy->getSource())) && Holding.insert(variableOf(*Copy->getDest())).second;
    return false;
  }

  const Cotangents &All;
  const bool KnowsAll;
  SmallPtrSet<const Value *, 32> Found;
  SmallPtrSet<const Value *, 8> Holding;
};

bool isGuarded(const Use &Cotangent, const Suspects &Infinite) {
  auto *Product = cast<Instruction>(Cotangent.getUser());
  if (!Cotangent->getType()->isFloatingPointTy())
    return false;
  if (isa<CallInst>(Product) && !isFma(*Product))
    return hasPole(*Product) || any_of(Product->operands(), [&](const Use &U) { return Infinite.contains(U); });
  const Value *Factor = Product->getOperand(1 - Cotangent.getOperandNo());
  return !isa<Constant>(Factor) && (Infinite.contains(Factor) || Suspects::mayMeet(*Product));
}

// The cotangent may be such a product itself.
void guard(const Use &Cotangent) {
  auto &Product = *cast<Instruction>(Cotangent.getUser());
  IRBuilder<> B(Product.getNextNode());
  Value *IsZero = B.CreateFCmpOEQ(Cotangent, Constant::getNullValue(Cotangent->getType()));
  Value *Else = isFma(Product) ? Product.getOperand(2) : Constant::getNullValue(Product.getType());
  Value *Guarded = B.CreateSelect(IsZero, Else, &Product);
  Product.replaceUsesWithIf(Guarded, [&](const Use &U) { return U.getUser() != Guarded; });
}

bool guardIn(Function &F) {
  const Cotangents All(F);
  const Suspects Infinite(F, All);
  SmallVector<const Use *> Found;
  for (Instruction &I : instructions(F)) {
    const Use *Cotangent = All.factor(I);
    if (!Cotangent)
      Cotangent = cotangentOfRule(I, All);
    if (Cotangent && isGuarded(*Cotangent, Infinite))
      Found.push_back(Cotangent);
  }
  for (const Use *Cotangent : Found) {
    guard(*Cotangent);
    ADGEN_COUNT(NumGuarded, F.getName());
  }
  return !Found.empty();
}

bool isMarked(const Function &F) { return F.hasFnAttribute(DroppedPolesAttribute); }

} // namespace

ADGEN_DECLARE_PASS(GuardZeros);

PreservedAnalyses GuardZeros::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  if (any_of(M, isMarked)) // what a gradient of C++ calls has functions of its own
    for (Function &F : M)
      if (!F.isDeclaration() && (isMarked(F) || !F.hasFnAttribute(ActivityAttribute)))
        Changed |= guardIn(F);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
