// After Enzyme: every fork asks for a team of the size that was captured with it (MakeRegions), also that of the reverse sweep,
// and what Enzyme keeps for each thread has room for the largest team. A region that accumulates into shadows by atomic additions
// gets a second form without them, for teams of one thread. In a larger team the runtime may give a thread copies of the shadows
// to accumulate into (host_runtime/accumulation.h); where all that the region only accumulates into are such copies, it needs no atomics either.
#include "Accumulation.h"
#include "OpenMP.h"
#include "Passes.h"

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
    report_fatal_error("adgen-openmp-teams: a fork without the size of its team");
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
  return Atomic && Atomic->getOperation() == AtomicRMWInst::FAdd;
}

static Function *withoutAtomics(Function &Region, StringRef Suffix, function_ref<bool(const Argument *)> Plain) {
  ValueToValueMapTy Map;
  Function *Form = CloneFunction(&Region, Map);
  Form->setName(Region.getName() + Suffix);
  for (Instruction &I : make_early_inc_range(instructions(Form)))
    if (isAccumulation(I) && Plain(dyn_cast<Argument>(getUnderlyingObject(cast<AtomicRMWInst>(I).getPointerOperand(), 0))))
      asAccumulation(I) ? addPlainly(cast<AtomicRMWInst>(I)) : void(lowerAtomicRMWInst(&cast<AtomicRMWInst>(I)));
  return Form;
}

// The arguments that a region only accumulates into.
static SmallVector<unsigned> accumulated(const Function &Region) {
  SmallVector<unsigned> Indices;
  for (const Argument &A : Region.args())
    if (A.getType()->isPointerTy() && !A.use_empty() && isOnlyAccumulatedInto(A))
      Indices.push_back(A.getArgNo());
  return Indices;
}

// Calls `Then` with the same arguments where the condition holds.
static void callInstead(CallInst &Call, Value *Condition, Function *Then) {
  Instruction *AtThen, *AtElse;
  SplitBlockAndInsertIfThenElse(Condition, Call.getIterator(), &AtThen, &AtElse);
  auto *Other = cast<CallInst>(Call.clone());
  Other->setCalledFunction(Then);
  Other->insertBefore(AtThen->getIterator());
  Call.moveBefore(AtElse->getIterator());
}

// What a thread starts calls the form that it can: nobody else runs, or what it accumulates into is its own.
static void chooseForm(CallInst &Call) {
  Function &Region = *Call.getCalledFunction();
  SmallVector<unsigned> Shadows = accumulated(Region);
  auto IsShadow = [&](const Argument *A) { return A && is_contained(Shadows, A->getArgNo()); };
  bool IsComplete = all_of(instructions(Region), [&](const Instruction &I) {
    return !isAccumulation(I) || IsShadow(dyn_cast<Argument>(getUnderlyingObject(I.getOperand(0), 0)));
  });
  Function *Alone = withoutAtomics(Region, "_alone", [](const Argument *) { return true; });
  Function *Apart = IsComplete ? Alone : withoutAtomics(Region, "_apart", IsShadow);
  Module &M = *Region.getParent();
  IRBuilder<> B(&Call);
  Value *InTeam = B.CreateCall(M.getOrInsertFunction("omp_in_parallel", B.getInt32Ty()));
  callInstead(Call, B.CreateICmpEQ(InTeam, B.getInt32(0)), Alone);
  if (Shadows.empty())
    return;
  B.SetInsertPoint(&Call);
  Value *AllApart = B.getTrue();
  for (unsigned I : Shadows) {
    Value *Shadow = Call.getArgOperand(I);
    Value *Own = B.CreateCall(M.getOrInsertFunction(OwnShadowName, B.getPtrTy(), B.getPtrTy()), Shadow);
    AllApart = B.CreateAnd(AllApart, B.CreateICmpNE(Own, Shadow));
    Call.setArgOperand(I, Own);
  }
  callInstead(Call, AllApart, Apart);
}

static void addForms(Module &M) {
  SmallSetVector<Function *, 8> Started;
  for (CallInst *Fork : callsOf(M, ForkName))
    if (auto *F = dyn_cast<Function>(Fork->getArgOperand(ForkFunction)); F && !F->isDeclaration())
      Started.insert(F);
  SmallVector<CallInst *> Calls;
  for (Function *F : Started)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->getType()->isVoidTy())
        if (Function *Region = Call->getCalledFunction(); Region && any_of(instructions(Region), isAccumulation))
          Calls.push_back(Call);
  for (CallInst *Call : Calls)
    chooseForm(*Call);
}

static void restoreCounter(Function &F) {
  StringRef Operation = F.getName().drop_front(CounterPrefix.size()).rsplit("_i").first;
  for (auto Op = AtomicRMWInst::FIRST_BINOP; Op <= AtomicRMWInst::LAST_BINOP; Op = AtomicRMWInst::BinOp(Op + 1))
    if (AtomicRMWInst::getOperationName(Op) == Operation) {
      IRBuilder<> B(BasicBlock::Create(F.getContext(), "entry", &F));
      B.CreateRet(B.CreateAtomicRMW(Op, F.getArg(0), F.getArg(1), MaybeAlign(), AtomicOrdering::SequentiallyConsistent));
    }
  F.setLinkage(GlobalValue::InternalLinkage);
  F.addFnAttr(Attribute::AlwaysInline);
}

PreservedAnalyses SizeTeams::run(Module &M, ModuleAnalysisManager &) {
  for (CallInst *Fork : callsOf(M, ForkName))
    askForTeam(*Fork);
  for (Function &F : M)
    if (F.isDeclaration() && F.getName().starts_with(CounterPrefix))
      restoreCounter(F);
  correct(M, "omp_get_max_threads", "adgen_omp_capacity");
  correct(M, "omp_get_thread_num", "omp_get_thread_num");
  addForms(M);
  return PreservedAnalyses::none();
}

} // namespace adgen
