// Has the thread that meets a task run it there and then, as the runtime may: a task that nobody defers has the
// derivative of the code that it is. What it captures lies in a local variable instead of memory of the runtime's; a
// taskloop is one task with all iterations, and a reduction among tasks adds to the variable itself. Tasks that may be
// continued by other threads (untied) or that events complete stay, and are refused.
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

// kmp.h: kmp_task_t and kmp_tasking_flags.
enum Offset { Shared = 0, Destructors = 24, IsLast = 64 };
enum Flag { Tied = 1, HasDestructors = 8 };
constexpr uint64_t PlainSize = 40; // of a task without bounds of a loop

// Operands of __kmpc_omp_task_alloc: place, thread, flags, size, size of what is shared, what runs.
struct Task {
  explicit Task(CallInst &Allocation)
      : Allocation(Allocation), Size(dyn_cast<ConstantInt>(Allocation.getArgOperand(3))),
        SharedSize(dyn_cast<ConstantInt>(Allocation.getArgOperand(4))),
        Entry(dyn_cast<Function>(Allocation.getArgOperand(5)->stripPointerCasts())),
        Flags(computeKnownBits(Allocation.getArgOperand(2), Allocation.getDataLayout())) {}

  bool has(Flag F) const { return (Flags.One & F) == F; }
  bool known() const { return Size && SharedSize && Entry && !Entry->isDeclaration() && has(Tied) && understood(); }

  CallInst &Allocation;
  ConstantInt *Size, *SharedSize;
  Function *Entry;
  KnownBits Flags;

private:
  static bool isRun(StringRef Name) {
    return Name == "__kmpc_omp_task" || Name == "__kmpc_omp_task_with_deps" || Name == "__kmpc_taskloop" ||
           Name.starts_with("__kmpc_omp_task_begin_if0") || Name.starts_with("__kmpc_omp_task_complete_if0");
  }

  bool understood() const {
    return all_of(Allocation.users(), [&](const User *U) {
      auto *Call = dyn_cast<CallInst>(U);
      const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (!Call)
        return isa<GetElementPtrInst, LoadInst>(U) || storesInto(*U);
      return Callee && (Callee == Entry || isRun(Callee->getName()) && (Call->arg_size() < 11 || copiesPlainly(*Call)));
    });
  }

  bool storesInto(const User &U) const {
    auto *Store = dyn_cast<StoreInst>(&U);
    return Store && Store->getValueOperand() != &Allocation;
  }

  // What copies a taskloop's task for each part: without it, nothing is missed where no constructor is called.
  static bool copiesPlainly(const CallInst &Loop) {
    auto *Copy = dyn_cast<Function>(Loop.getArgOperand(10)->stripPointerCasts());
    return isa<ConstantPointerNull>(Loop.getArgOperand(10)) ||
           Copy && none_of(instructions(*Copy),
                           [](const Instruction &I) { return isa<CallBase>(I) && !isa<IntrinsicInst>(I); });
  }
};

class Tasks {
public:
  explicit Tasks(Module &M) : M(M) {}

  bool run() {
    SmallVector<CallInst *> Made = callsOf(M, "__kmpc_omp_task_alloc");
    for (CallInst *Call : Made)
      if (Task T(*Call); T.known())
        replace(T);
    if (Made.empty())
      return false;
    forgetOrder();
    for (CallInst *Call : callsOf(M, "__kmpc_task_reduction_get_th_data")) {
      Call->replaceAllUsesWith(Call->getArgOperand(2));
      Call->eraseFromParent();
    }
    for (Function &F : M)
      F.removeFnAttr(Attribute::NoRecurse); // what makes a task may be what the task calls
    return true;
  }

private:
  Value *at(IRBuilder<> &B, Value *Task, uint64_t Offset) {
    return Offset ? B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Task, Offset) : Task;
  }

  AllocaInst *local(Function &F, uint64_t Bytes, const Twine &Name) {
    IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
    AllocaInst *New = B.CreateAlloca(ArrayType::get(B.getInt8Ty(), std::max<uint64_t>(Bytes, 1)), nullptr, Name);
    New->setAlignment(Align(16));
    return New;
  }

  void replace(Task &T) {
    Function &F = *T.Allocation.getFunction();
    Value *Memory = local(F, T.Size->getZExtValue(), "task");
    IRBuilder<> B(&T.Allocation);
    B.CreateStore(local(F, T.SharedSize->getZExtValue(), "shared"), at(B, Memory, Shared));
    T.Allocation.replaceAllUsesWith(Memory);
    for (User *U : make_early_inc_range(Memory->users()))
      if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getCalledFunction() != T.Entry)
        runAt(*Call, T);
    T.Allocation.eraseFromParent();
    T.Entry->removeFnAttr(Attribute::NoInline);
    T.Entry->removeFnAttr(Attribute::OptimizeNone);
    T.Entry->addFnAttr(Attribute::AlwaysInline);
  }

  void runAt(CallInst &Call, Task &T) {
    IRBuilder<> B(&Call);
    StringRef Name = Call.getCalledFunction()->getName();
    Value *Thread = Call.getArgOperand(1), *Memory = Call.getArgOperand(2);
    bool Loop = Name == "__kmpc_taskloop", Begins = Name.starts_with("__kmpc_omp_task_begin"),
         Completes = Name.starts_with("__kmpc_omp_task_complete");
    if (Loop && T.Size->getZExtValue() > PlainSize)
      B.CreateStore(B.getInt32(1), at(B, Memory, IsLast));
    if (!Begins && !Completes)
      B.CreateCall(T.Entry, {Thread, Memory});
    if (!Begins && T.has(HasDestructors))
      B.CreateCall(T.Entry->getFunctionType(), B.CreateLoad(B.getPtrTy(), at(B, Memory, Destructors)),
                   {Thread, Memory});
    if (!Call.getType()->isVoidTy())
      Call.replaceAllUsesWith(Constant::getNullValue(Call.getType()));
    Call.eraseFromParent();
  }

  // What has run already need not be waited for.
  void forgetOrder() {
    for (StringRef Name : {"__kmpc_omp_taskwait", "__kmpc_omp_taskwait_deps_51", "__kmpc_omp_wait_deps",
                           "__kmpc_omp_taskyield", "__kmpc_taskgroup", "__kmpc_end_taskgroup", "__kmpc_taskred_init"})
      for (CallInst *Call : callsOf(M, Name)) {
        if (!Call->getType()->isVoidTy())
          Call->replaceAllUsesWith(Constant::getNullValue(Call->getType()));
        Call->eraseFromParent();
      }
  }

  Module &M;
};

} // namespace

ADGEN_DECLARE_PASS(RunTasksAtOnce);

PreservedAnalyses RunTasksAtOnce::run(Module &M, ModuleAnalysisManager &) {
  return Tasks(M).run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
