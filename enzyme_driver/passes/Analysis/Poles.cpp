#include "Analysis/Poles.h"
#include "Support/Adgen.h"
#include "Support/Guards.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <cmath>
#include <limits>

using namespace llvm;

namespace adgen {

bool isFma(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && (Call->getIntrinsicID() == Intrinsic::fma || Call->getIntrinsicID() == Intrinsic::fmuladd);
}

namespace {

constexpr unsigned MostSteps = 8;
constexpr double LeastSummand = 1e-12; // whose reciprocal's powers are finite in single precision, too

bool isNamed(const Instruction &I, ArrayRef<StringRef> Words) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Called = Call ? Call->getCalledFunction() : nullptr;
  return Called && any_of(Words, [&](StringRef Word) { return Called->getName().contains(Word); });
}

// The name of a function of mathematics without what the library, or the compiler, puts in front of it.
StringRef mathNameOf(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  if (!Call || !Call->getCalledFunction() || Call->arg_empty())
    return {};
  StringRef Name = Call->getCalledFunction()->getName();
  for (StringRef Prefix : {"adgen_math_", "llvm.", "nvvm.", "__nv_", "__", "fast_"})
    Name.consume_front(Prefix);
  return Name;
}

double asDouble(const ConstantFP &C) {
  APFloat V = C.getValueAPF();
  bool LosesDigits;
  V.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &LosesDigits);
  return V.convertToDouble();
}

} // namespace

bool isExponential(const Instruction &I) {
  StringRef Name = mathNameOf(I);
  return Name.starts_with("ex2") || (Name.starts_with("exp") && !Name.starts_with("expm1"));
}

namespace {

constexpr double Unknown = -std::numeric_limits<double>::infinity();

// What a number is not below by its form, where it is a number: a square, a size, a root, a power of e, and what is
// made of them and of constants is not below zero; Unknown of any other.
double leastOf(const Value &V, unsigned Steps = 0) {
  if (auto *C = dyn_cast<ConstantFP>(&V))
    return C->isNegative() ? Unknown : asDouble(*C);
  auto *I = dyn_cast<Instruction>(&V);
  if (!I || ++Steps > MostSteps)
    return Unknown;
  const auto Of = [&](unsigned Operand) { return leastOf(*I->getOperand(Operand), Steps); };
  const auto Sum = [](double One, double Other) { return std::min(One, Other) < 0 ? Unknown : One + Other; };
  const auto Product = [&] {
    const double One = Of(0);
    if (I->getOperand(0) == I->getOperand(1))
      return std::max(One, 0.0) * std::max(One, 0.0);
    const double Other = One < 0 ? Unknown : Of(1);
    return Other < 0 ? Unknown : One * Other;
  };
  if (I->getOpcode() == Instruction::FAdd)
    return Sum(Of(0), Of(1));
  if (I->getOpcode() == Instruction::FMul)
    return Product();
  if (isFma(*I))
    return Sum(Product(), Of(2));
  StringRef Name = mathNameOf(*I);
  if (isa<FPExtInst, FPTruncInst>(I))
    return Of(0);
  if (Name.starts_with("sqrt")) {
    const double Square = Of(0);
    return Square < 0 ? Unknown : std::sqrt(Square);
  }
  return isa<UIToFPInst>(I) || Name.starts_with("fabs") || isExponential(*I) ? 0 : Unknown;
}

bool isPositive(const Value &V) { return leastOf(V) >= 0; }

// Also not zero: where a constant is added.
bool isPositiveApart(const Value &V) { return leastOf(V) >= LeastSummand; }

// What is infinite has a finite function value: it has no part in what comes of it.
bool isSwallowed(const Use &U) {
  auto *User = cast<Instruction>(U.getUser());
  if (User->getOpcode() == Instruction::FDiv)
    return U.getOperandNo() == 1 && !isNamed(*cast<Instruction>(U.get()), {"sqrt"});
  return isNamed(*User, {"tanh", "atan", "erf", "exp", "ex2"}) && !isNamed(*User, {"atanh"});
}

} // namespace

bool hasPole(const Instruction &I) {
  if (I.getOpcode() == Instruction::FDiv)
    return !isa<Constant>(I.getOperand(1));
  return isNamed(
      I, {"log", "pow", "sqrt", "cbrt", "acos", "asin", "atanh", "gamma", "div", "rcp", "inv", "hypot", "norm"});
}

bool mayMeetPole(const Instruction &I) {
  if (I.getOpcode() == Instruction::FDiv)
    return hasPole(I) && !isPositiveApart(*I.getOperand(1));
  const bool IsAtZero = isNamed(I, {"sqrt", "log", "rcp"}) && !isNamed(I, {"log1p", "logb", "lgamma"});
  return hasPole(I) && !(IsAtZero && isPositiveApart(*I.getOperand(0)));
}

bool mayBeInfinite(const Instruction &I) {
  return mayMeetPole(I) && !(mathNameOf(I).starts_with("sqrt") && isPositive(*I.getOperand(0)));
}

// The argument that a pointer is of, or the one that holds the pointer, as a struct does: of these any two may be one.
static const Value *arrayOf(const Value &Pointer) {
  const Value *Object = getUnderlyingObject(&Pointer, /*MaxLookup=*/0);
  auto *Load = dyn_cast<LoadInst>(Object);
  return Load ? getUnderlyingObject(Load->getPointerOperand(), /*MaxLookup=*/0) : Object;
}

// Whether something is stored, compared or chosen that is infinite by what is written.
static bool namesInfinity(const Instruction &I) {
  return any_of(I.operands(), [](const Use &U) {
    auto *C = dyn_cast<ConstantFP>(U);
    return C && C->isInfinity();
  });
}

KeptNumbers::KeptNumbers(Function &F) : F(F), DT(F), PDT(F) {
  for (Instruction &I : instructions(F)) {
    HasInfinities |= namesInfinity(I);
    if (auto *Store = dyn_cast<StoreInst>(&I))
      Stores[arrayOf(*Store->getPointerOperand())].push_back(Store);
    else if (auto *Load = dyn_cast<LoadInst>(&I))
      Loads[arrayOf(*Load->getPointerOperand())].push_back(Load);
  }
}

// What only comparisons use has no derivative.
bool KeptNumbers::isDropped(const Instruction &Pole) {
  return Pole.getType()->isFloatingPointTy() && mayMeetPole(Pole) && !Pole.hasMetadata(InactiveMark) &&
         !all_of(Pole.users(), [](const User *U) { return isa<FCmpInst>(U); }) && !isKept(Pole);
}

bool KeptNumbers::dropsPoles() {
  return any_of(instructions(F), [&](const Instruction &I) { return isDropped(I); });
}

void KeptNumbers::mark() {
  MDNode *Mark = MDNode::get(F.getContext(), {});
  SmallPtrSet<Value *, 16> Kept, Dropped;
  for (Instruction &I : instructions(F)) {
    if (!I.getType()->isFloatingPointTy())
      continue;
    if (isKept(I) || isFiniteWhereUsed(I))
      I.setMetadata(KeptMark, Mark);
    if (!hasPole(I))
      continue;
    auto &Arguments = isDropped(I) ? Dropped : Kept;
    Arguments.insert(&I);
    Arguments.insert_range(I.operands());
  }
  for (Value *Argument : Kept)
    if (auto *I = dyn_cast<Instruction>(Argument); I && !Dropped.contains(Argument))
      I->setMetadata(KeptArgumentMark, Mark);
}

// A quotient by a number of iterations, say, which only these iterations use.
bool KeptNumbers::isFiniteWhereUsed(const Instruction &I) const {
  auto *Divisor = I.getOpcode() == Instruction::FDiv ? dyn_cast<CastInst>(I.getOperand(1)) : nullptr;
  return Divisor && Divisor->getSrcTy()->isIntegerTy() && all_of(I.uses(), [&](const Use &U) {
           auto *User = cast<Instruction>(U.getUser());
           auto *Phi = dyn_cast<PHINode>(User);
           const Instruction *Where = Phi ? Phi->getIncomingBlock(U)->getTerminator() : User;
           return isKnownNonZero(Divisor->getOperand(0), SimplifyQuery(F.getDataLayout(), &DT, nullptr, Where));
         });
}

// A phi takes a number on one way, and drops it where the others have no phi that takes it as well.
bool KeptNumbers::isUsedAlways(const Use &U, const Instruction &Number) const {
  auto *User = cast<Instruction>(U.getUser());
  auto *Phi = dyn_cast<PHINode>(User);
  if (!Phi || Phi->getNumIncomingValues() == 1)
    return PDT.dominates(User->getParent(), Number.getParent());
  const BasicBlock *From = Phi->getIncomingBlock(U);
  return PDT.dominates(From, Number.getParent()) && all_of(successors(From), [&](const BasicBlock *To) {
           return any_of(To->phis(),
                         [&](const PHINode &Each) { return Each.getIncomingValueForBlock(From) == &Number; });
         });
}

// What a loop carries is kept where something behind the loop is.
bool KeptNumbers::isKept(const Instruction &Number) {
  auto [Entry, IsNew] = Known.try_emplace(&Number, false);
  if (!IsNew)
    return Entry->second;
  bool Found = any_of(Number.uses(), [&](const Use &U) { return isUsedAlways(U, Number) && isKeptBy(U); });
  return Known[&Number] = Found;
}

bool KeptNumbers::isKeptBy(const Use &U) {
  auto *User = cast<Instruction>(U.getUser());
  if (auto *Store = dyn_cast<StoreInst>(User))
    return isResult(*Store);
  if (isa<AtomicRMWInst, ReturnInst>(User))
    return true;
  if (isa<SelectInst, CmpInst>(User) || isSwallowed(U))
    return false;
  if (auto *Call = dyn_cast<CallInst>(User)) {
    if (isPin(*Call))
      return false;
    Intrinsic::ID ID = Call->getIntrinsicID();
    if (ID == Intrinsic::minnum || ID == Intrinsic::maxnum)
      return false;
    return Call->getType()->isVoidTy() || isKept(*Call);
  }
  Type *T = User->getType();
  return (T->isFPOrFPVectorTy() || T->isAggregateType()) && isKept(*User);
}

// Whether a logarithm is a summand of it, or of a number that it may be.
static bool holdsLogarithm(const Value &V) {
  SmallSetVector<const Instruction *, 16> Parts;
  const auto Insert = [&](const Value *Part) {
    if (auto *I = dyn_cast<Instruction>(Part))
      Parts.insert(I);
  };
  Insert(&V);
  for (unsigned N = 0; N < Parts.size(); ++N) {
    const Instruction &I = *Parts[N];
    if (StringRef Name = mathNameOf(I); Name.starts_with("log") || Name.starts_with("lg2"))
      return true;
    if (isa<BinaryOperator, PHINode, SelectInst, FPExtInst, FPTruncInst>(I) || isFma(I))
      for (const Value *Operand : I.operands())
        Insert(Operand);
  }
  return false;
}

// Whether the kernel goes on with what it stores, as with the rows of a lattice.
bool KeptNumbers::isReadAgain(const StoreInst &Store, const Value &Array) const {
  return any_of(Loads.lookup(&Array),
                [&](const LoadInst *Load) { return isPotentiallyReachable(&Store, Load, {}, &DT); });
}

// Shared arrays, the last arguments of a body, hold no results. Another store behind it may replace it: to the same
// address, or on some way to an address that is not known. Of logarithms of probabilities, of which some are zero, an
// array holds infinities that have no part in what comes of them, nor a derivative where it is a result as well.
bool KeptNumbers::isResult(const StoreInst &Store) const {
  const Value *Object = arrayOf(*Store.getPointerOperand());
  auto *Array = dyn_cast<Argument>(Object);
  if (!Array || Array->getArgNo() + sharedNames(F).size() >= F.arg_size())
    return false;
  if (HasInfinities && (isReadAgain(Store, *Object) || holdsLogarithm(*Store.getValueOperand())))
    return false;
  return none_of(Stores.lookup(Object), [&](const StoreInst *Other) {
    bool IsSame = Other->getPointerOperand() == Store.getPointerOperand();
    return Other != &Store && (IsSame || !PDT.dominates(Other->getParent(), Store.getParent())) &&
           isPotentiallyReachable(&Store, Other);
  });
}

} // namespace adgen
