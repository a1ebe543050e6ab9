// What threads do together becomes, in bodies, a call of a function adgen_rule_NAME of rules/ for which a derivative is
// registered: adgen_rule_NAME_augmented runs in the forward sweep, adgen_rule_NAME_reverse in the reverse one. Until
// Enzyme has run these are mere declarations, about which nothing can be inferred: they may read and write any memory.
//
// Enzyme drops a call in the reverse sweep unless it takes differentiated memory. So each call is handed an anchor: a
// shared array, or else a parameter that the plan (option, as in adgen-make-gradients) duplicates.
#include "Analysis/Bits.h"
#include "Analysis/Refill.h"
#include "Analysis/SharedConstants.h"
#include "Analysis/Undo.h"
#include "Analysis/Uniformity.h"
#include "Autodiff/Collectives.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

SmallVector<Type *> typesOf(ArrayRef<Value *> Operands) {
  return SmallVector<Type *>(map_range(Operands, [](Value *Operand) { return Operand->getType(); }));
}

void insertRule(Instruction &Before, StringRef Rule, Value *Anchor, ArrayRef<Value *> Operands) {
  SmallVector<Value *> Arguments{Anchor};
  append_range(Arguments, Operands);
  Function *F = declareRule(*Before.getModule(), Rule, 1, typesOf(Operands));
  CallInst *New = CallInst::Create(F, Arguments, "", Before.getIterator());
  New->addFnAttr(Attribute::Convergent);
  New->setDebugLoc(Before.getDebugLoc());
}

namespace {

constexpr StringLiteral SwapPrefix = "adgen_hidden_swap_";

Value *anchorOf(Function &Body, ArrayRef<Activity> Activities) {
  Constants Known(Body, Activities);
  for (unsigned I = 0; I < sharedNames(Body).size(); ++I)
    if (Argument *Array = Body.getArg(Activities.size() + I); !Known.isArray(Array))
      return Array;
  for (auto [Index, A] : enumerate(Activities))
    if (A == Activity::Duplicated)
      return Body.getArg(Index);
  return nullptr;
}

bool isBarrier(const CallInst &Call, StringRef Name, uint64_t Wanted) {
  if (Name != "llvm.nvvm.barrier.cta.sync.aligned.all" && Name != "llvm.nvvm.barrier.cta.sync.all")
    return false;
  auto *Number = dyn_cast<ConstantInt>(Call.getArgOperand(0));
  return Number && Number->getZExtValue() == Wanted;
}

bool isBlockBarrier(const CallInst &Call, StringRef Name) {
  return Name == "llvm.nvvm.barrier0" || isBarrier(Call, Name, 0);
}

void replace(CallInst &Call, StringRef Rule, Value *Anchor, ArrayRef<Value *> Operands) {
  insertRule(Call, Rule, Anchor, Operands);
  Call.eraseFromParent();
}

// Barriers that also count: the barrier is reversed, the count is an integer.
bool isCountingBarrier(StringRef Name) { return Name.starts_with("llvm.nvvm.barrier.cta.red."); }

bool carriesNone(CallInst &Call, unsigned Sent) { return bitsMoved(*Call.getArgOperand(Sent), Call) == Bits::Integers; }

bool isInactive(CallInst &Call, StringRef Name) {
  return Name.starts_with("llvm.nvvm.vote.") || Name.starts_with("llvm.nvvm.match.") ||
         Name == "llvm.nvvm.activemask" || isCountingBarrier(Name) ||
         Name.starts_with("llvm.nvvm.redux.sync.") && Call.getType()->isIntegerTy() && carriesNone(Call, 0) ||
         isIntegerShuffle(Name) && carriesNone(Call, 1);
}

void declareInactive(Function &F, MemoryEffects Effects) {
  F.addFnAttr("enzyme_inactive");
  F.addFnAttr("enzyme_no_escaping_allocation"); // else Enzyme looks for a derivative where the reverse sweep needs it
  F.addFnAttr(Attribute::Convergent);
  F.setDoesNotThrow();
  F.setDoesNotFreeMemory();
  F.setMemoryEffects(Effects);
  if (F.getReturnType()->isIntegerTy()) // else a mask that only shuffles take could be anything
    F.addRetAttr(Attribute::get(F.getContext(), "enzyme_type", "{[-1]:Integer}"));
}

// A compare-and-swap of integers carries none either: Enzyme has no rule for the instruction.
void hideSwap(AtomicCmpXchgInst &Swap) {
  Module &M = *Swap.getModule();
  Type *Word = Swap.getNewValOperand()->getType(), *Pointer = Swap.getPointerOperand()->getType();
  std::string Name =
      (SwapPrefix + Twine(Word->getIntegerBitWidth()) + "_" + Twine(Pointer->getPointerAddressSpace())).str();
  FunctionCallee Hidden = M.getOrInsertFunction(Name, Swap.getType(), Pointer, Word, Word);
  auto *F = cast<Function>(Hidden.getCallee());
  F->addFnAttr("enzyme_inactive");
  F->setDoesNotThrow();
  F->setDoesNotFreeMemory();
  F->setMemoryEffects(MemoryEffects::inaccessibleOrArgMemOnly());
  IRBuilder<> B(&Swap);
  Swap.replaceAllUsesWith(
      B.CreateCall(Hidden, {Swap.getPointerOperand(), Swap.getCompareOperand(), Swap.getNewValOperand()}));
  Swap.eraseFromParent();
}

// Enzyme takes what counts in an array for active where the array has a shadow.
void markInactive(AtomicRMWInst &Atomic) {
  if (bitsLeft(Atomic) == Bits::Integers)
    for (StringRef Mark : {StringRef(InactiveMark), StringRef("enzyme_inactive_inst")})
      Atomic.setMetadata(Mark, MDNode::get(Atomic.getContext(), {}));
}

void showSwaps(Function &F) {
  for (User *U : make_early_inc_range(F.users())) {
    auto *Call = cast<CallInst>(U);
    IRBuilder<> B(Call);
    constexpr AtomicOrdering Order = AtomicOrdering::SequentiallyConsistent;
    Call->replaceAllUsesWith(B.CreateAtomicCmpXchg(Call->getArgOperand(0), Call->getArgOperand(1),
                                                   Call->getArgOperand(2), {}, Order, Order));
    Call->eraseFromParent();
  }
  F.eraseFromParent();
}

void showHidden(Module &M) {
  showBits(M);
  for (Function &F : make_early_inc_range(M)) {
    StringRef Name = F.getName();
    if (Name.starts_with(SwapPrefix)) {
      showSwaps(F);
      continue;
    }
    if (!Name.consume_front(HiddenPrefix))
      continue;
    F.replaceAllUsesWith(M.getOrInsertFunction(Name, F.getFunctionType()).getCallee());
    F.eraseFromParent();
  }
}

using Barriers = SmallPtrSet<const Instruction *, 8>;

// Barriers that some threads may come to and others not: those have returned, or wait elsewhere.
Barriers missedBarriers(Function &Body) {
  Barriers Found;
  for (const Instruction &I : instructions(Body))
    if (waitsForBlock(I))
      Found.insert(&I);
  if (Found.empty())
    return Found;
  Uniformity Threads(Body, kindInBody);
  Found.remove_if([&](const Instruction *Barrier) { return !Threads.isDivergent(Barrier->getParent()); });
  return Found;
}

bool waitsForAll(const CallInst &Call, StringRef Name) {
  return isCountingBarrier(Name) && Name.ends_with(".all") && match(Call.getArgOperand(0), m_Zero());
}

bool countsAtBarriers(const Function &Body) {
  return any_of(instructions(Body), [](const Instruction &I) {
    auto *Call = dyn_cast<CallInst>(&I);
    return Call && Call->getCalledFunction() && waitsForAll(*Call, Call->getCalledFunction()->getName());
  });
}

// How many threads say so, among which those that have come to the end say nothing.
CallInst *tallied(IRBuilder<> &B, Value *Says) {
  Module &M = *B.GetInsertBlock()->getModule();
  FunctionCallee Tally = M.getOrInsertFunction(TallyName, B.getInt32Ty(), B.getInt1Ty());
  declareInactive(*cast<Function>(Tally.getCallee()), MemoryEffects::inaccessibleMemOnly());
  CallInst *Count = B.CreateCall(Tally, {Says});
  Count->addFnAttr(Attribute::Convergent);
  return Count;
}

// A barrier that counts, in a body some of whose threads miss barriers: all conditions become counts.
void tally(CallInst &Call, StringRef Name, Value *Anchor) {
  insertRule(Call, "counted_barrier", Anchor, {});
  IRBuilder<> B(&Call);
  bool All = Name.contains(".red.and.");
  Value *Says = Call.getArgOperand(1);
  Value *Count = tallied(B, All ? B.CreateNot(Says) : Says);
  if (Call.getType()->isIntegerTy(1))
    Count = All ? B.CreateIsNull(Count) : B.CreateIsNotNull(Count);
  Call.replaceAllUsesWith(Count);
  Call.eraseFromParent();
}

// See rules/barrier.cu.
void turnTogether(Function &Body, Value *Anchor, StringRef Rule) {
  SmallVector<ReturnInst *> Returns;
  for (BasicBlock &Block : Body)
    if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator()))
      Returns.push_back(Return);
  for (ReturnInst *Return : Returns) {
    CallInst *Call = CallInst::Create(declareRule(*Body.getParent(), Rule, 1, {}), {Anchor}, "", Return->getIterator());
    Call->addFnAttr(Attribute::Convergent);
    Call->setDebugLoc(Return->getDebugLoc());
  }
}

// Enzyme knows the indices of blocks and threads, but not a lane's number or its masks.
bool isLanesRegister(StringRef Name) { return Name.starts_with("llvm.nvvm.read.ptx.sreg.lane"); }

void replaceIn(Function &Body, Value *Anchor) {
  Barriers Missed = missedBarriers(Body);
  bool Misses = !Missed.empty();
  bool Tallies = Misses && countsAtBarriers(Body);
  StringRef Barrier = Misses ? "counted_barrier" : "barrier";
  if (Misses)
    turnTogether(Body, Anchor, Tallies ? "tallied_turn" : "turn");
  for (BasicBlock &Block : Body) {
    joinHalves(Block);
    for (Instruction &I : make_early_inc_range(Block)) {
      if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I); Swap && bitsLeft(*Swap) == Bits::Integers) {
        hideSwap(*Swap);
        continue;
      }
      if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I); Atomic && Atomic->getType()->isIntegerTy())
        markInactive(*Atomic);
      auto *Call = dyn_cast<CallInst>(&I);
      Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (!Callee)
        continue;
      StringRef Name = Callee->getName();
      if (isLanesRegister(Name))
        markInteger(*Call);
      else if (std::string Rule = shuffleRule(*Call, Name); !Rule.empty())
        replaceShuffle(*Call, Rule);
      else if (isBlockBarrier(*Call, Name)) {
        IRBuilder<> B(Call->getNextNode());
        if (Tallies)
          tallied(B, B.getFalse());
        replace(*Call, Barrier, Anchor, {});
      } else if (Tallies && waitsForAll(*Call, Name))
        tally(*Call, Name, Anchor);
      else if (isBarrier(*Call, Name, GridBarrier)) {
        if (Misses)
          refuse(&Body, Call->getDebugLoc(),
                 Missed.contains(Call) ? "cannot differentiate a barrier of the whole grid to which some threads may "
                                         "not come: CUDA leaves undefined what the kernel itself does then"
                                       : "cannot differentiate a barrier of the whole grid where threads may miss "
                                         "another barrier",
                 "let all threads come to every barrier: instead of returning, let them do nothing");
        replace(*Call, "grid_barrier", Anchor, {});
      } else if (Name == "llvm.nvvm.bar.warp.sync")
        replace(*Call, "warp_barrier", Anchor, {Call->getArgOperand(0)});
      else if (isInactive(*Call, Name)) {
        if (isCountingBarrier(Name) && Misses)
          refuse(&Body, Call->getDebugLoc(),
                 "cannot differentiate a barrier that counts where threads may have returned before a barrier",
                 "let all threads of the block come to every barrier: instead of returning, let them do nothing");
        if (isCountingBarrier(Name))
          insertRule(*Call, Barrier, Anchor, {});
        hide(*Call);
      }
    }
  }
}

// Where nothing has a shadow, whatever threads hand each other carries no derivative.
void hideIn(Function &Body) {
  for (Instruction &I : make_early_inc_range(instructions(Body))) {
    auto *Call = dyn_cast<CallInst>(&I);
    StringRef Name = Call && Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
    bool IsBarrier = Name.starts_with("llvm.nvvm.barrier") || Name == "llvm.nvvm.bar.warp.sync";
    bool Moves = any_of(ArrayRef<StringRef>{"shfl.", "vote.", "match.", "redux.", "activemask"},
                        [&](StringRef Each) { return Name.starts_with(("llvm.nvvm." + Each).str()); });
    if (IsBarrier || Moves)
      hide(*Call, IsBarrier);
    if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I); Swap && bitsLeft(*Swap) == Bits::Integers)
      hideSwap(*Swap);
  }
}

} // namespace

void markInteger(CallInst &Call) {
  Call.addFnAttr(Attribute::get(Call.getContext(), "enzyme_inactive"));
  Call.addRetAttr(Attribute::get(Call.getContext(), "enzyme_type", "{[-1]:Integer}"));
}

void hide(CallInst &Call, bool IsBarrier) {
  Function *Intrinsic = Call.getCalledFunction();
  Module &M = *Call.getModule();
  FunctionCallee Hidden = M.getOrInsertFunction((HiddenPrefix + Intrinsic->getName()).str(), Call.getFunctionType());
  auto *F = cast<Function>(Hidden.getCallee());
  declareInactive(*F, IsBarrier ? MemoryEffects::unknown() : MemoryEffects::inaccessibleMemOnly());
  Call.setCalledFunction(F);
}

ADGEN_DECLARE_PASS_WITH_OPTION(LowerCollectivesToRules);

PreservedAnalyses LowerCollectivesToRules::run(Module &M, ModuleAnalysisManager &) {
  auto Plans = parsePlan(Option);
  if (!Plans)
    report_fatal_error(Plans.takeError());
  for (const EntryPlan &Plan : *Plans)
    if (Function *Body = M.getFunction((BodyPrefix + Plan.Symbol).str())) {
      waitAsBlock(*Body);
      Value *Anchor = anchorOf(*Body, Plan.Activities);
      keepLockstep(*Body, Anchor);
      Anchor ? replaceIn(*Body, Anchor) : hideIn(*Body);
    }
  return PreservedAnalyses::none();
}

// What the primal prints, the gradient does not print again.
static void silence(Module &M) {
  Function *Print = M.getFunction("vprintf");
  if (!Print)
    return;
  for (User *U : make_early_inc_range(Print->users())) {
    auto *Call = dyn_cast<CallInst>(U);
    if (!Call || isKernel(*Call->getFunction()) || Call->getFunction()->getName().starts_with(BodyPrefix))
      continue;
    Call->replaceAllUsesWith(ConstantInt::get(Call->getType(), 0));
    Call->eraseFromParent();
  }
}

// Which lanes take part is asked by calls until mathematics is inlined (adgen-inline-math): no size depends on it, nor
// any memory but that of these functions. The host's do nothing that would matter.
static void keepLanesApart(Module &M) {
  for (Function &F : M) {
    if (F.isDeclaration() || !F.getName().starts_with(LanesPrefix) || F.getName().ends_with(OnHost))
      continue;
    F.removeFnAttr(Attribute::AlwaysInline);
    F.addFnAttr(Attribute::NoInline);
    F.setConvergent();
    F.setDoesNotThrow();
    F.setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
  }
}

ADGEN_DECLARE_PASS(LowerRulesToCollectives);

// After Enzyme rules and derivatives need not be kept apart any more, so they are inlined.
PreservedAnalyses LowerRulesToCollectives::run(Module &M, ModuleAnalysisManager &) {
  if (GlobalVariable *Used = M.getNamedGlobal("llvm.compiler.used"))
    Used->eraseFromParent();
  silence(M);
  for (Function &F : M)
    if (!F.getName().starts_with(BodyPrefix))
      splitByParticipants(F);
  definePrimalsOfRefills(M);
  definePrimalsOfUndos(M);
  showHidden(M);
  for (Function &F : M) {
    F.removeFnAttr(ApartAttribute);
    F.setMetadata("enzyme_augment", nullptr);
    F.setMetadata("enzyme_gradient", nullptr);
    F.setMetadata("enzyme_derivative", nullptr);
  }
  markForInlining(M);
  keepLanesApart(M);
  return PreservedAnalyses::none();
}

} // namespace adgen
