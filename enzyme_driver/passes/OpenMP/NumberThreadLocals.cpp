// A variable of which every thread has its own (threadprivate, thread_local) becomes an array with an element for each
// number of a thread: memory that other code may name has a shadow, and the thread of the reverse sweep has the number
// of the forward sweep's. Where teams lie in teams, numbers repeat; where something is destroyed with its thread, the
// runtime knows its address; such variables stay, and are refused.
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-number-thread-locals"

using namespace llvm;

STATISTIC(NumNumbered, "Number of variables of threads that became arrays");

namespace adgen {
namespace {

constexpr uint64_t MostThreads = 512, LargestArray = 64 << 20; // bytes

using Functions = SetVector<const Function *>;

void addStartedIn(const Function &F, Functions &Found) {
  for (const Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (const Function *Started = startedBy(*Call))
        Found.insert_range(reachedFrom(*Started));
}

// What teams run that were started by threads of a team.
Functions inNestedTeams(const Module &M) {
  Functions Outer, Inner;
  for (const Function &F : M)
    addStartedIn(F, Outer);
  for (const Function *F : Outer)
    addStartedIn(*F, Inner);
  return Inner;
}

bool endsWithThread(const Module &M) {
  const Function *Registers = M.getFunction("__cxa_thread_atexit");
  return Registers && !Registers->use_empty();
}

bool asks(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && Call->getIntrinsicID() == Intrinsic::threadlocal_address;
}

// Where the variable is asked for or, as those are that clang initialises at their first use, named; none where its
// address is anywhere else.
SmallSetVector<Instruction *, 8> usersOf(GlobalVariable &Variable) {
  SmallSetVector<Instruction *, 8> Found;
  for (User *U : Variable.users()) {
    auto *I = dyn_cast<Instruction>(U);
    if (!I || isa<PHINode>(I))
      return {};
    Found.insert(I);
  }
  return Found;
}

// More threads than there are elements share one behind them, and the runtime says that the call failed.
Value *numberIn(IRBuilder<> &B) {
  Module &M = *B.GetInsertBlock()->getModule();
  auto *Within = cast<Function>(
      M.getOrInsertFunction("adgen_omp_number_within", B.getInt32Ty(), B.getInt32Ty(), B.getInt32Ty()).getCallee());
  Within->setDoesNotAccessMemory();
  Within->setDoesNotThrow();
  Within->setWillReturn();
  Within->setDoesNotFreeMemory();
  Within->addFnAttr("enzyme_inactive");
  return B.CreateZExt(B.CreateCall(Within, {threadNumber(B), B.getInt32(MostThreads)}), B.getInt64Ty());
}

bool number(GlobalVariable &Variable, const Functions &Nested) {
  Type *T = Variable.getValueType();
  const uint64_t Size = Variable.getDataLayout().getTypeAllocSize(T);
  const SmallSetVector<Instruction *, 8> Users = usersOf(Variable);
  auto IsNested = [&](const Instruction *I) { return Nested.contains(I->getFunction()); };
  if (Users.empty() || any_of(Users, IsNested) || !Variable.hasInitializer() || Size * MostThreads > LargestArray)
    return false;
  auto *All = ArrayType::get(T, MostThreads + 1);
  Constant *Initial = Variable.getInitializer();
  Constant *Initials = Initial->isNullValue()
                           ? Constant::getNullValue(All)
                           : ConstantArray::get(All, SmallVector<Constant *>(MostThreads + 1, Initial));
  auto *Array = new GlobalVariable(*Variable.getParent(), All, /*isConstant=*/false, GlobalValue::InternalLinkage,
                                   Initials, Variable.getName() + "_of_threads");
  Array->setAlignment(std::max(Variable.getAlign().valueOrOne(), Align(64)));
  for (Instruction *I : Users) {
    IRBuilder<> B(I);
    Value *Mine = B.CreateInBoundsGEP(All, Array, {B.getInt64(0), numberIn(B)});
    I->replaceUsesOfWith(&Variable, Mine);
    if (!asks(*I))
      continue;
    I->replaceAllUsesWith(Mine);
    I->eraseFromParent();
  }
  return true;
}

} // namespace

ADGEN_DECLARE_PASS(NumberThreadLocals);

PreservedAnalyses NumberThreadLocals::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<GlobalVariable *> Variables;
  for (GlobalVariable &Variable : M.globals())
    if (Variable.isThreadLocal())
      Variables.push_back(&Variable);
  if (Variables.empty() || endsWithThread(M))
    return PreservedAnalyses::all();
  const Functions Nested = inNestedTeams(M);
  bool Changed = false;
  for (GlobalVariable *Variable : Variables)
    if (number(*Variable, Nested)) {
      ADGEN_COUNT(NumNumbered, Variable->getName());
      Changed = true;
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
