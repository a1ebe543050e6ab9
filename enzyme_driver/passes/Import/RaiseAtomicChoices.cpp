// Maxima and minima of floating point by atomics, in bodies: of the values that threads bring one remains, and its
// cotangent is that of the thread whose value it is. Each becomes a call of adgen_rule_choose_HOW_TYPE(place, value)
// (rules/choice.cu), be it an atomic operation of numbers, one of integers on their bits, or a loop around a
// compare-and-swap:
//   do old = cas(p, assumed = old, max(value, assumed)) while (old != assumed)
//   while (value > old) { if ((old = cas(p, assumed = old, value)) == assumed) break; }
// What was there before must not be used: it depends on the order of threads.
#include "Analysis/Bits.h"
#include "Import/AtomicChoices.h"
#include "Import/SwapLoop.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

#include <map>
#include <set>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

bool isNumber(const Type *T) { return T->isFloatTy() || T->isDoubleTy(); }

void choose(IRBuilder<> &B, StringRef How, Value *Place, Value *Number) {
  Function &Body = *B.GetInsertBlock()->getParent();
  IRBuilder<> Start(&*Body.getEntryBlock().getFirstInsertionPt());
  Type *T = Number->getType();
  Value *Brought = Start.CreateAlloca(T, nullptr, "brought");
  B.CreateStore(Number, Brought);
  Value *Generic = B.CreateAddrSpaceCast(Place, B.getPtrTy());
  std::string Name = (ChoicePrefix + How + (T->isFloatTy() ? "_f32" : "_f64")).str();
  CallInst *Call = B.CreateCall(declareRule(*Body.getParent(), Name, 2, {}, T), {Generic, Brought});
  Call->setDebugLoc(B.getCurrentDebugLocation());
}

StringRef wayOf(AtomicRMWInst::BinOp Operation) {
  switch (Operation) {
  case AtomicRMWInst::FMax:
    return "max";
  case AtomicRMWInst::FMin:
    return "min";
  case AtomicRMWInst::Max:
    return "smax";
  case AtomicRMWInst::Min:
    return "smin";
  case AtomicRMWInst::UMax:
    return "umax";
  case AtomicRMWInst::UMin:
    return "umin";
  default:
    return "";
  }
}

bool raise(AtomicRMWInst &Atomic) {
  StringRef How = wayOf(Atomic.getOperation());
  Value *Number = bitsOf(Atomic.getValOperand());
  if (How.empty() || !Atomic.use_empty() || !isNumber(Number->getType()))
    return false;
  IRBuilder<> B(&Atomic);
  choose(B, How, Atomic.getPointerOperand(), Number);
  Atomic.eraseFromParent();
  return true;
}

// What is chosen of both if the comparison holds: "max" where it is the larger one, "min" where it is the smaller one.
StringRef chosenBy(CmpInst::Predicate Predicate, bool First) {
  bool Greater = is_contained({CmpInst::FCMP_OGT, CmpInst::FCMP_OGE, CmpInst::FCMP_UGT, CmpInst::FCMP_UGE}, Predicate);
  bool Less = is_contained({CmpInst::FCMP_OLT, CmpInst::FCMP_OLE, CmpInst::FCMP_ULT, CmpInst::FCMP_ULE}, Predicate);
  return Greater == Less ? "" : Greater == First ? "max" : "min";
}

// The comparison by size in a condition, which may ask beside it whether a value is no number, as fmax does.
const FCmpInst *comparisonIn(const Value *Condition) {
  auto IsQuestion = [](const Value *V) {
    auto *Test = dyn_cast<FCmpInst>(V);
    return Test && (Test->getPredicate() == CmpInst::FCMP_UNO || Test->getPredicate() == CmpInst::FCMP_ORD);
  };
  Value *A, *B;
  if (match(Condition, m_BinOp(m_Value(A), m_Value(B))))
    Condition = IsQuestion(A) ? B : IsQuestion(B) ? A : Condition;
  return dyn_cast<FCmpInst>(Condition);
}

class Choice {
public:
  explicit Choice(SwapLoop &Tries) : Tries(Tries) {}

  bool raise() {
    findWay();
    if (How.empty() || !Tries.isIndependent(Brought) || !Tries.isRetried(Brought, How == "max") ||
        !Tries.isFoundUnused())
      return false;
    // A loop that begins with a comparison may end there: the thread's value is then none that remains.
    Instruction *Before = Guarded ? entry() : &Tries.swap();
    if (!Before)
      return false;
    IRBuilder<> B(Before);
    B.SetCurrentDebugLocation(Tries.swap().getDebugLoc());
    choose(B, How, Tries.swap().getPointerOperand(), Brought);
    Tries.remove(nullptr);
    return true;
  }

private:
  void findWay() {
    Value *New = Tries.newValue(), *A, *B;
    if (!isNumber(New->getType()))
      return;
    if (auto *Known = dyn_cast<IntrinsicInst>(New)) {
      switch (Known->getIntrinsicID()) {
      case Intrinsic::maxnum:
      case Intrinsic::maximum:
        return find(Known->getArgOperand(0), Known->getArgOperand(1), "max");
      case Intrinsic::minnum:
      case Intrinsic::minimum:
        return find(Known->getArgOperand(0), Known->getArgOperand(1), "min");
      default:
        return;
      }
    }
    if (auto *Call = dyn_cast<CallInst>(New); Call && Call->arg_size() == 2 && Call->getCalledFunction()) {
      StringRef Name = Call->getCalledFunction()->getName();
      StringRef Way = Name.contains("fmax") ? "max" : Name.contains("fmin") ? "min" : "";
      return find(Call->getArgOperand(0), Call->getArgOperand(1), Way);
    }
    auto *Select = dyn_cast<SelectInst>(New);
    const FCmpInst *Test = Select ? comparisonIn(Select->getCondition()) : nullptr;
    if (!Test)
      return findGuard(*New);
    A = Test->getOperand(0), B = Test->getOperand(1);
    bool First = Select->getTrueValue() == A && Select->getFalseValue() == B;
    if (First || (Select->getTrueValue() == B && Select->getFalseValue() == A))
      find(A, B, chosenBy(Test->getPredicate(), First));
  }

  void find(Value *A, Value *B, StringRef Way) {
    if (Tries.isExpected(A) == Tries.isExpected(B))
      return;
    Brought = Tries.isExpected(A) ? B : A;
    How = Way;
  }

  // The loop begins with a condition, by which it goes on to the swap while the value is larger (smaller) than what is
  // there.
  void findGuard(Value &New) {
    BasicBlock *Header = Tries.tries().getHeader(), *Swapping = Tries.swap().getParent();
    auto *Branch = dyn_cast<BranchInst>(Header->getTerminator());
    CmpPredicate Predicate;
    Value *A, *B;
    if (Swapping == Header || !Branch || !Branch->isConditional() ||
        !match(Branch->getCondition(), m_FCmp(Predicate, m_Value(A), m_Value(B))))
      return;
    bool Stays = Branch->getSuccessor(0) == Swapping;
    if (Tries.tries().contains(Branch->getSuccessor(Stays)) || Branch->getSuccessor(!Stays) != Swapping ||
        (A != &New && B != &New) || Tries.isExpected(A) == Tries.isExpected(B))
      return;
    CmpInst::Predicate Held = Stays ? CmpInst::Predicate(Predicate) : CmpInst::getInversePredicate(Predicate);
    How = chosenBy(Held, A == &New);
    Brought = &New;
    Guarded = true;
  }

  // Where the loop is entered, if all that is needed is there.
  Instruction *entry() const {
    BasicBlock *Before = Tries.tries().getLoopPredecessor();
    bool IsThere = Before && Tries.tries().isLoopInvariant(Brought) &&
                   Tries.tries().isLoopInvariant(Tries.swap().getPointerOperand()) &&
                   Before->getUniqueSuccessor() == Tries.tries().getHeader();
    return IsThere ? Before->getTerminator() : nullptr;
  }

  SwapLoop &Tries;
  StringRef How;
  Value *Brought = nullptr;
  bool Guarded = false;
};

} // namespace

ADGEN_DECLARE_PASS(RaiseAtomicChoices);

PreservedAnalyses RaiseAtomicChoices::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M) {
    if (F.isDeclaration() || !F.getName().starts_with(BodyPrefix))
      continue;
    forEachSwapLoop(F, [&](SwapLoop &Tries) { Changed |= Choice(Tries).raise(); });
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
        Changed |= raise(*Atomic);
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

// What a place holds in which threads choose must be the same in the whole gradient, or threads that turn back early
// would not know whose value remains. So nothing else may read or write it, nor anything be done twice that shows. In
// shared memory a barrier sees to it (SettleSharedChoices).
ADGEN_DECLARE_PASS(VerifyAtomicChoices);

namespace {

class Places {
public:
  explicit Places(Function &Body) : Body(Body), Own(Body.arg_size() - sharedNames(Body).size()) {}

  void verify() {
    for (Instruction &I : instructions(Body))
      if (isChoice(I))
        Choices.push_back(&I);
    for (Instruction *Choice : Choices) {
      std::optional<Array> Of = arrayOf(*getUnderlyingObject(Choice->getOperand(0), 0));
      if (!Of)
        return stop(*Choice, "outside of an array that is a parameter, or in a struct by value, or in shared memory",
                    "use an array that is a parameter of its own, or a member of a struct by value");
      if (Of->first->getArgNo() < Own)
        Arrays.insert(*Of);
      Ways[*Of].insert(wayOf(*Choice));
    }
    for (Instruction *Choice : Choices)
      if (!agree(Ways[*arrayOf(*getUnderlyingObject(Choice->getOperand(0), 0))]))
        return stop(*Choice, "of an array of which both are taken",
                    "take the maximum of one array, the minimum of another");
    for (Instruction &I : instructions(Body))
      if (!Arrays.empty() && !isChoice(I) && !isHarmless(I))
        return stop(I, "where the kernel does something else to the array too, or changes a variable",
                    "let the kernel do nothing else to it: fill it, and read what remains, in other kernels");
  }

private:
  // A parameter, and where its struct has the array; Whole where it is the array itself.
  using Array = std::pair<const Argument *, int64_t>;
  static constexpr int64_t Whole = -1;

  static std::optional<Array> arrayOf(const Value &Object) {
    if (auto *A = dyn_cast<Argument>(&Object))
      return Array(A, Whole);
    if (auto Member = memberArray(&Object))
      return Array(Member->Struct, Member->Offset);
    return std::nullopt;
  }

  // "max_f32" and so on.
  static StringRef wayOf(const Instruction &Choice) {
    return cast<CallInst>(Choice).getCalledFunction()->getName().drop_front(RulePrefix.size() + ChoicePrefix.size());
  }

  // By bits, the larger of two positive integers and the smaller of two negative ones are of the larger number.
  static bool agree(const std::set<StringRef> &Ways) {
    if (Ways.size() == 1)
      return true;
    StringRef One = *Ways.begin(), Other = *Ways.rbegin();
    return Ways.size() == 2 && ((One.starts_with("smax") && Other.starts_with("umin")) ||
                                (One.starts_with("smin") && Other.starts_with("umax")));
  }

  bool isHarmless(const Instruction &I) const {
    if (!I.mayReadOrWriteMemory() || I.isLifetimeStartOrEnd() || isa<AssumeInst>(I))
      return true;
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call) {
      const Value *Pointer = isa<FenceInst>(I) ? nullptr : I.getOperand(isa<StoreInst>(I));
      return !Pointer || isElsewhere(*Pointer, I.mayWriteToMemory());
    }
    return all_of(Call->args(), [&](const Use &U) {
      return !U->getType()->isPointerTy() || isElsewhere(*U, Call->mayWriteToMemory());
    });
  }

  bool isElsewhere(const Value &Pointer, bool Writes) const {
    SmallVector<const Value *> Objects;
    getUnderlyingObjects(&Pointer, Objects, nullptr, 0);
    return all_of(Objects, [&](const Value *Object) {
      if (auto *A = dyn_cast<Argument>(Object))
        return !Arrays.count({A, Whole}) && !(Writes && hasMember(*A));
      if (auto *Load = dyn_cast<LoadInst>(Object))
        return isElsewhere(*Load);
      if (auto *Variable = dyn_cast<GlobalVariable>(Object))
        return !Writes || Variable->getAddressSpace() == SharedSpace;
      return isa<AllocaInst, Function>(Object) || isNoAliasCall(Object) || isa<ConstantPointerNull>(Object);
    });
  }

  // Of arrays to which a pointer in memory leads. A copy of a struct has the same pointers.
  bool isElsewhere(const LoadInst &Pointer) const {
    if (std::optional<Array> Of = arrayOf(Pointer))
      return !Arrays.count(*Of);
    bool AreMembers = any_of(Arrays, [](const Array &Each) { return Each.second != Whole; });
    return !AreMembers || !isa<AllocaInst>(getUnderlyingObject(Pointer.getPointerOperand(), 0));
  }

  bool hasMember(const Argument &Struct) const {
    return any_of(Arrays, [&](const Array &Each) { return Each.first == &Struct && Each.second != Whole; });
  }

  void stop(const Instruction &I, const Twine &What, const Twine &Hint) const {
    refuse(&Body, I.getDebugLoc(), ("cannot differentiate a maximum or minimum by atomics " + What).str(), Hint.str());
  }

  Function &Body;
  const unsigned Own; // arrays of the caller's come before shared ones
  SmallVector<Instruction *> Choices;
  std::set<Array> Arrays;
  std::map<Array, std::set<StringRef>> Ways;
};

} // namespace

PreservedAnalyses VerifyAtomicChoices::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (!F.isDeclaration() && F.getName().starts_with(BodyPrefix))
      Places(F).verify();
  return PreservedAnalyses::all();
}

} // namespace adgen
