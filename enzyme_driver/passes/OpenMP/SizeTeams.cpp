// After Enzyme: every fork asks for a team of the size that was captured with it (OutlineParallelRegions), also that of
// the reverse sweep, and what Enzyme keeps for each thread has room for the largest team. A region that accumulates
// into shadows by atomic additions gets a second form without them, for teams of one thread; so do the region itself,
// its forward sweep and what carries tangents through it, with all that they call. In a larger team the runtime may
// give a thread copies of the shadows to accumulate into (host_runtime/accumulation.h); where all that the region only
// accumulates into are such copies, it needs no atomics either. Copies of shadows that are also read and written are
// added up behind the fork. The runtime is told of shadows that the gradient allocates.
#include "Analysis/Accumulation.h"
#include "Analysis/UnderlyingObjects.h"
#include "Support/Allocations.h"
#include "Support/Iterations.h"
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"

using namespace llvm;

namespace adgen {

static void askForTeam(CallInst &Fork) {
  Value *Team = Fork.getArgOperand(ForkCaptured);
  if (!Team->getType()->isIntegerTy(32))
    report_fatal_error("adgen-size-teams: a fork without the size of its team");
  Module &M = *Fork.getModule();
  IRBuilder<> B(&Fork);
  Value *Place = Fork.getArgOperand(0);
  FunctionCallee Number = M.getOrInsertFunction("__kmpc_global_thread_num", B.getInt32Ty(), B.getPtrTy());
  FunctionCallee Push =
      M.getOrInsertFunction("__kmpc_push_num_threads", B.getVoidTy(), B.getPtrTy(), B.getInt32Ty(), B.getInt32Ty());
  B.CreateCall(Push, {Place, B.CreateCall(Number, {Place}), Team});
}

// Enzyme takes both for functions that return 64 bits, also where the user's file declares them as they are.
static void correct(Module &M, StringRef Name, StringRef As) {
  Type *Int32 = Type::getInt32Ty(M.getContext()), *Int64 = Type::getInt64Ty(M.getContext());
  Function *F = M.getFunction(Name);
  if (!F)
    return;
  for (User *U : make_early_inc_range(F->users()))
    if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getCalledOperand() == F && Call->getType() == Int64) {
      IRBuilder<> B(Call);
      FunctionCallee Right(FunctionType::get(Int32, false), M.getOrInsertFunction(As, Int32).getCallee());
      Call->replaceAllUsesWith(B.CreateZExt(B.CreateCall(Right), Int64));
      Call->eraseFromParent();
    }
}

static bool isAccumulation(const Instruction &I) {
  auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
  return Atomic && Atomic->getOperation() == AtomicRMWInst::FAdd && !Atomic->hasMetadata(OnceMark);
}

static Function *withoutAtomics(Function &Region, StringRef Suffix, function_ref<bool(const Instruction &)> Plain) {
  ValueToValueMapTy Map;
  Function *Form = CloneFunction(&Region, Map);
  Form->setName(Region.getName() + Suffix);
  for (Instruction &I : instructions(Region))
    if (isAccumulation(I) && Plain(I)) {
      auto *Atomic = cast<AtomicRMWInst>(Map[&I]);
      asAccumulation(*Atomic) ? void(addPlainly(*Atomic)) : void(lowerAtomicRMWInst(Atomic));
    }
  return Form;
}

// Forms for teams of one thread, in which nothing adds atomically, nor in what they call.
class AloneForms {
public:
  explicit AloneForms(Module &M) {
    SmallVector<Function *> Work;
    for (Function &F : M)
      if (any_of(instructions(F), isAccumulation))
        Work.push_back(&F);
    while (!Work.empty()) {
      Function *Adding = Work.pop_back_val();
      if (!AddsAtomically.insert(Adding).second)
        continue;
      for (User *U : Adding->users())
        if (auto *Call = dyn_cast<CallBase>(U); Call && Call->getCalledFunction() == Adding)
          Work.push_back(Call->getFunction());
    }
  }

  bool isNeeded(Function &F) const { return AddsAtomically.contains(&F); }
  bool isNeededByCallee(Function &F) const {
    return any_of(instructions(F), [&](Instruction &I) { return calleeOf(I) != nullptr; });
  }

  Function *of(Function &F) {
    if (Function *Known = Made.lookup(&F))
      return Known;
    Function *Form = withoutAtomics(F, "_alone", [](const Instruction &) { return true; });
    Form->setLinkage(GlobalValue::InternalLinkage);
    Made[&F] = Form;
    for (Instruction &I : instructions(Form))
      if (Function *Callee = calleeOf(I))
        cast<CallBase>(I).setCalledFunction(of(*Callee));
    return Form;
  }

private:
  Function *calleeOf(Instruction &I) const {
    auto *Call = dyn_cast<CallBase>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    return Callee && isNeeded(*Callee) ? Callee : nullptr;
  }

  SmallPtrSet<Function *, 16> AddsAtomically;
  DenseMap<Function *, Function *> Made;
};

// How a region comes to a shadow, and the pointer.
struct ShadowOf {
  Way By;
  const Value *Pointer;
};

static std::optional<ShadowOf> accumulatedInto(const Instruction &I) {
  if (!isAccumulation(I))
    return std::nullopt;
  const Value *Pointer = getUnderlyingObject(I.getOperand(0), 0);
  std::optional<Way> By = Way::of(Pointer);
  return By && !By->Held ? std::optional(ShadowOf{*By, Pointer}) : std::nullopt;
}

static bool isOnlyAccumulatedInto(const Way &By) {
  if (By.Member.empty())
    return isOnlyAccumulatedInto(*By.From);
  return all_of(By.From->users(), [&](const User *U) {
    auto *Member = dyn_cast<ExtractValueInst>(U);
    return Member && (Member->getIndices() != By.Member || isOnlyAccumulatedInto(*Member));
  });
}

// The shadows that a region only accumulates into, not counting what it adds once.
static SmallVector<ShadowOf> accumulated(const Function &Region) {
  SmallVector<ShadowOf> Found;
  for (const Instruction &I : instructions(Region)) {
    std::optional<ShadowOf> Shadow = accumulatedInto(I);
    auto IsThat = [&](const ShadowOf &Known) { return Known.By == Shadow->By; };
    if (Shadow && none_of(Found, IsThat) && isOnlyAccumulatedInto(Shadow->By))
      Found.push_back(*Shadow);
  }
  return Found;
}

// Calls `Then` with the same arguments where the condition holds.
static void callInstead(CallInst &Call, Value *Condition, Function *Then) {
  Instruction *AtThen, *AtElse;
  SplitBlockAndInsertIfThenElse(Condition, Call.getIterator(), &AtThen, &AtElse);
  auto *Other = cast<CallInst>(Call.clone());
  Other->setCalledFunction(Then);
  Other->insertBefore(AtThen->getIterator());
  BasicBlock *Behind = Call.getParent();
  Call.moveBefore(AtElse->getIterator());
  if (Call.getType()->isVoidTy())
    return;
  PHINode *Result = PHINode::Create(Call.getType(), 2, "", Behind->begin());
  Call.replaceAllUsesWith(Result);
  Result->addIncoming(Other, Other->getParent());
  Result->addIncoming(&Call, Call.getParent());
}

static void callAlone(CallInst &Call, AloneForms &Forms) {
  IRBuilder<> B(&Call);
  Value *InTeam = B.CreateCall(Call.getModule()->getOrInsertFunction("omp_in_parallel", B.getInt32Ty()));
  callInstead(Call, B.CreateICmpEQ(InTeam, B.getInt32(0)), Forms.of(*Call.getCalledFunction()));
}

// What a call hands over there.
static Value *handedOver(IRBuilder<> &B, const CallInst &Call, const Way &By) {
  Value *Pointer = Call.getArgOperand(By.From->getArgNo());
  if (!By.Member.empty())
    Pointer = B.CreateExtractValue(Pointer, By.Member);
  return By.Held ? B.CreateLoad(B.getPtrTy(), B.CreatePtrAdd(Pointer, B.getInt64(*By.Held))) : Pointer;
}

static void handOver(IRBuilder<> &B, CallInst &Call, const Way &By, Value *Pointer) {
  const unsigned Number = By.From->getArgNo();
  Call.setArgOperand(Number,
                     By.Member.empty() ? Pointer : B.CreateInsertValue(Call.getArgOperand(Number), Pointer, By.Member));
}

// Whether these ways into what is called lead to other memory than that shadow: two arrays may change places from step
// to step.
static Value *areElsewhere(IRBuilder<> &B, CallInst &Call, ArrayRef<Way> Others, Value *Shadow) {
  FunctionCallee Ask =
      Call.getModule()->getOrInsertFunction("adgen_omp_is_elsewhere", B.getInt32Ty(), B.getPtrTy(), B.getPtrTy());
  Value *All = B.getInt32(1);
  for (const Way &Other : Others)
    All = B.CreateAnd(All, B.CreateCall(Ask, {handedOver(B, Call, Other), Shadow}));
  return All;
}

// What a thread starts calls the form that it can: nobody else runs, or what it accumulates into is its own. Returns
// the shadows to which nothing else happens in the region, as far as known now.
static SmallVector<ShadowOf> chooseForm(CallInst &Call, AloneForms &Forms, const UnderlyingObjects &Memory) {
  Function &Region = *Call.getCalledFunction();
  SmallVector<ShadowOf> Shadows = accumulated(Region);
  auto IsToShadow = [&](const Instruction &I) {
    std::optional<ShadowOf> Into = accumulatedInto(I);
    return Into && any_of(Shadows, [&](const ShadowOf &Known) { return Known.By == Into->By; });
  };
  bool IsComplete =
      all_of(instructions(Region), [&](const Instruction &I) { return !isAccumulation(I) || IsToShadow(I); });
  callAlone(Call, Forms);
  IsComplete = IsComplete && !Forms.isNeededByCallee(Region);
  Function *Apart = IsComplete ? Forms.of(Region) : withoutAtomics(Region, "_apart", IsToShadow);
  Module &M = *Region.getParent();
  SmallVector<ShadowOf> Untouched;
  IRBuilder<> B(&Call);
  Value *AllApart = B.getTrue();
  for (const ShadowOf &Each : Shadows) {
    Value *Shadow = handedOver(B, Call, Each.By);
    const auto Others = metOtherwise(*Each.Pointer, Memory);
    if (Others)
      Untouched.push_back(Each);
    FunctionCallee Choose = M.getOrInsertFunction(OwnShadowName, B.getPtrTy(), B.getPtrTy(), B.getInt32Ty());
    Value *Own = B.CreateCall(Choose, {Shadow, Others ? areElsewhere(B, Call, *Others, Shadow) : B.getInt32(0)});
    AllApart = B.CreateAnd(AllApart, B.CreateICmpNE(Own, Shadow));
    handOver(B, Call, Each.By, Own);
  }
  if (!Shadows.empty())
    callInstead(Call, AllApart, Apart);
  return Untouched;
}

static void addUpBehind(CallInst &Fork) {
  IRBuilder<> B(Fork.getNextNode());
  B.CreateCall(Fork.getModule()->getOrInsertFunction("adgen_add_up", B.getVoidTy()));
}

// How many bytes an allocation takes; null where that is not known.
static Value *bytesOf(const Value *Memory) {
  auto *Call = dyn_cast_or_null<CallInst>(Memory);
  return Call && Call->returnDoesNotAlias() && !releaseFor(*Call).empty() ? Call->getArgOperand(0) : nullptr;
}

// Bytes of the numbers that are accumulated through an argument; 0 where they differ.
static unsigned elementOf(const Way &Shadow) {
  unsigned Bytes = 0;
  for (const Instruction &I : instructions(Shadow.From->getParent()))
    if (std::optional<ShadowOf> Into = accumulatedInto(I); Into && Into->By == Shadow) {
      unsigned Here = I.getType()->getPrimitiveSizeInBits() / 8;
      if ((Bytes && Bytes != Here) || (Here != 4 && Here != 8))
        return 0;
      Bytes = Here;
    }
  return Bytes;
}

// Whether the threads of a team run it: the runtime hears only of what is done outside.
static bool isInRegion(const Function &F) {
  return F.getName().contains(RegionPrefix) || any_of(F.users(), [](const User *U) {
           auto *Call = dyn_cast<CallBase>(U);
           return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == ForkName;
         });
}

// The shadows that gradients allocate and regions accumulate into, with the bytes of their numbers; 0 where they have
// different ones.
static MapVector<CallInst *, unsigned> allocatedShadows(ArrayRef<ShadowOf> Untouched, const UnderlyingObjects &Memory) {
  MapVector<CallInst *, unsigned> Found;
  for (const ShadowOf &Shadow : Untouched)
    for (const Value *Object : Memory.of(Shadow.Pointer))
      if (bytesOf(Object) && !isInRegion(*cast<CallInst>(Object)->getFunction())) {
        unsigned Element = elementOf(Shadow.By);
        auto [Place, IsNew] = Found.try_emplace(const_cast<CallInst *>(cast<CallInst>(Object)), Element);
        if (!IsNew && Place->second != Element)
          Place->second = 0;
      }
  return Found;
}

// What a region gives back that its tape holds, its forward sweep has allocated.
static bool isOfTape(const Value &Pointer) {
  std::optional<Way> By = Way::of(&Pointer);
  return By && !By->Member.empty();
}

// Tells the runtime of such shadows, and when they are given back.
static void describeShadows(Module &M, ArrayRef<const Function *> Part, ArrayRef<ShadowOf> Untouched,
                            const UnderlyingObjects &Memory) {
  SmallVector<CallInst *> Releases;
  for (const Function *F : Part)
    for (Instruction &I : instructions(const_cast<Function *>(F)))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && isRelease(*Call))
        Releases.push_back(Call);
  SmallPtrSet<CallInst *, 8> Forgetting;
  for (auto [Allocation, Element] : allocatedShadows(Untouched, Memory)) {
    auto MayRelease = [&, Allocation = Allocation](CallInst *Call) {
      const UnderlyingObjects::Set &Led = Memory.of(Call->getArgOperand(0));
      return (Led.contains(nullptr) || Led.contains(Allocation)) && !isOfTape(*Call->getArgOperand(0));
    };
    SmallVector<CallInst *> Here(make_filter_range(Releases, MayRelease));
    if (!Element || any_of(Here, [](CallInst *Call) { return isInRegion(*Call->getFunction()); }))
      continue;
    IRBuilder<> B(Allocation->getNextNode());
    Type *Void = B.getVoidTy();
    B.CreateCall(M.getOrInsertFunction("adgen_describe_shadow", Void, B.getPtrTy(), B.getInt64Ty(), B.getInt32Ty()),
                 {Allocation, Allocation->getArgOperand(0), B.getInt32(Element)});
    for (CallInst *Call : Here)
      if (Forgetting.insert(Call).second)
        IRBuilder<>(Call).CreateCall(M.getOrInsertFunction("adgen_forget_shadow", Void, B.getPtrTy()),
                                     Call->getArgOperand(0));
  }
}

// The calls of regions that add atomically, in what a thread starts. What carries tangents starts another function that
// calls the region (ForkTangents).
static void regionCalls(Function &Started, const AloneForms &Forms, SmallVectorImpl<CallInst *> &Calls) {
  for (Instruction &I : instructions(Started))
    if (auto *Call = dyn_cast<CallInst>(&I);
        Call && Call->getCalledFunction() && Forms.isNeeded(*Call->getCalledFunction()))
      Calls.push_back(Call);
}

// Whether it is the reverse sweep of a region, or the region itself, whose tape no caller gets.
static bool mayAccumulateApart(const CallInst &Call) {
  return Call.getType()->isVoidTy() && !Call.getCalledFunction()->getName().contains(ForkedPrefix) &&
         any_of(instructions(*Call.getCalledFunction()), isAccumulation);
}

static void addForms(Module &M, ArrayRef<const Function *> Part, AloneForms &Forms) {
  SmallVector<CallInst *> Forks;
  copy_if(callsOf(M, ForkName), std::back_inserter(Forks),
          [&](CallInst *Fork) { return is_contained(Part, Fork->getFunction()); });
  if (Forks.empty())
    return;
  const UnderlyingObjects Memory(M, Part);
  SmallSetVector<Function *, 8> Started;
  for (CallInst *Fork : Forks)
    if (Function *F = startedBy(*Fork))
      Started.insert(F);
  SmallVector<CallInst *> Calls;
  for (Function *F : Started)
    regionCalls(*F, Forms, Calls);
  SmallVector<ShadowOf> Untouched;
  SmallPtrSet<const Function *, 8> Copying;
  for (CallInst *Call : Calls)
    if (!mayAccumulateApart(*Call)) {
      callAlone(*Call, Forms);
    } else if (SmallVector<ShadowOf> Here = chooseForm(*Call, Forms, Memory); !Here.empty()) {
      append_range(Untouched, Here);
      Copying.insert(Call->getFunction());
    }
  for (CallInst *Fork : Forks)
    if (Copying.contains(dyn_cast<Function>(Fork->getArgOperand(ForkFunction))))
      addUpBehind(*Fork);
  describeShadows(M, Part, Untouched, Memory);
}

static void restoreCounter(Function &F) {
  StringRef Operation = F.getName().drop_front(CounterPrefix.size()).rsplit("_i").first;
  for (auto Op = AtomicRMWInst::FIRST_BINOP; Op <= AtomicRMWInst::LAST_BINOP; Op = AtomicRMWInst::BinOp(Op + 1))
    if (AtomicRMWInst::getOperationName(Op) == Operation) {
      IRBuilder<> B(BasicBlock::Create(F.getContext(), "entry", &F));
      B.CreateRet(
          B.CreateAtomicRMW(Op, F.getArg(0), F.getArg(1), MaybeAlign(), AtomicOrdering::SequentiallyConsistent));
    }
  F.setLinkage(GlobalValue::InternalLinkage);
  F.addFnAttr(Attribute::AlwaysInline);
}

ADGEN_DECLARE_PASS(SizeTeams);

PreservedAnalyses SizeTeams::run(Module &M, ModuleAnalysisManager &) {
  for (CallInst *Fork : callsOf(M, ForkName))
    askForTeam(*Fork);
  for (Function &F : M)
    if (F.isDeclaration() && F.getName().starts_with(CounterPrefix))
      restoreCounter(F);
  correct(M, "omp_get_max_threads", "adgen_omp_capacity");
  correct(M, "omp_get_thread_num", "omp_get_thread_num");
  AloneForms Forms(M);
  for (const std::vector<const Function *> &Part : connectedFunctions(M))
    addForms(M, Part, Forms);
  return PreservedAnalyses::none();
}

} // namespace adgen
