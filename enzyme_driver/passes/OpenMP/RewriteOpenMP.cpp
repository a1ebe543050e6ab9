// Writes what threads of a team do with each other in forms that have a derivative.
//
// What runs under a lock (critical sections, reductions, and atomic operations on floating point other than plain sums)
// is enclosed by calls of adgen_rule_omp_enter and adgen_rule_omp_leave on a lock of ours. In the forward sweep the
// lock counts who left it, and in the reverse sweep threads take it in exactly the opposite order, so that any code
// under it is differentiated rightly. Reductions take their lock in the order of the threads' numbers: the sum is the
// same in every run with as many threads. A barrier's adjoint is a barrier. `single` and `master` belong to thread 0,
// `ordered` is in order by itself (LowerWorksharingLoops).
//
// Locks are globals with a shadow: Enzyme keeps a call in the reverse sweep only where it takes differentiated memory.
// `simd` would have loops vectorised before they are differentiated, so its hints are dropped.
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral LockPrefix = "adgen_lock_";

Function *declareRule(Module &M, StringRef Name, bool HasTape) {
  LLVMContext &Context = M.getContext();
  auto *Pointer = PointerType::getUnqual(Context);
  Type *Void = Type::getVoidTy(Context), *Tape = Type::getInt64Ty(Context);
  std::string Full = (RegionRulePrefix + Name).str();
  auto Declare = [&](StringRef Part, Type *Result, ArrayRef<Type *> Types) {
    FunctionType *Type = FunctionType::get(Result, Types, false);
    auto *F = cast<Function>(M.getOrInsertFunction(Full + Part.str(), Type).getCallee());
    F->addFnAttr(Attribute::Convergent);
    F->setDoesNotThrow();
    return F;
  };
  auto Reference = [&](Function *F) {
    appendToCompilerUsed(M, {F}); // metadata alone does not keep it
    return MDTuple::get(Context, {ValueAsMetadata::get(F)});
  };
  Function *F = Declare("", Void, {Pointer});
  SmallVector<Type *> Reverse{Pointer, Pointer};
  if (HasTape)
    Reverse.push_back(Tape);
  F->setMetadata("enzyme_augment", Reference(Declare("_augmented", HasTape ? Tape : Void, {Pointer, Pointer})));
  F->setMetadata("enzyme_gradient", Reference(Declare("_reverse", Void, Reverse)));
  return F;
}

class Synchronization {
public:
  explicit Synchronization(Module &M) : M(M), Context(M.getContext()) {}

  void run() {
    replaceLocked();
    replaceReductions();
    replaceBarriers();
    replaceChoices();
    replaceAtomics();
    hideCounters();
    for (StringRef Name :
         {"__kmpc_ordered", "__kmpc_end_ordered", "__kmpc_end_single", "__kmpc_end_master", "__kmpc_end_masked",
          "omp_init_lock", "omp_destroy_lock", "omp_init_nest_lock", "omp_destroy_nest_lock"})
      eraseCalls(M, Name);
    for (CallInst *Flush : callsOf(M, "__kmpc_flush"))
      new FenceInst(Context, AtomicOrdering::SequentiallyConsistent, SyncScope::System, Flush->getIterator());
    eraseCalls(M, "__kmpc_flush");
    for (CallInst *Number : callsOf(M, "__kmpc_global_thread_num"))
      if (Number->use_empty())
        Number->eraseFromParent();
    markQueries();
  }

private:
  GlobalVariable *lock(StringRef Name) {
    std::string Full = (LockPrefix + Name).str();
    std::replace(Full.begin(), Full.end(), '.', '_');
    if (GlobalVariable *Known = M.getGlobalVariable(Full, /*AllowInternal=*/true))
      return Known;
    auto *Type =
        ArrayType::get(llvm::Type::getDoubleTy(Context), 8); // of one cache line; floating point only to Enzyme
    auto Make = [&](const std::string &As) {
      auto *New = new GlobalVariable(M, Type, false, GlobalValue::InternalLinkage, Constant::getNullValue(Type), As);
      New->setAlignment(Align(64));
      return New;
    };
    GlobalVariable *Lock = Make(Full);
    GlobalVariable *Shadow = Make(Full + "_shadow");
    appendToCompilerUsed(M, {Shadow}); // metadata alone does not keep it
    Lock->setMetadata("enzyme_shadow", MDTuple::get(Context, {ValueAsMetadata::get(Shadow)}));
    return Lock;
  }

  void call(Instruction &Before, StringRef Rule, StringRef Lock) {
    IRBuilder<> B(&Before);
    CallInst *New = B.CreateCall(declareRule(M, Rule, Rule == "leave"), {lock(Lock)});
    New->addFnAttr(Attribute::Convergent);
  }

  void replaceAll(StringRef Name, StringRef Rule, function_ref<StringRef(CallInst &)> LockOf) {
    for (CallInst *Call : callsOf(M, Name)) {
      call(*Call, Rule, LockOf(*Call));
      Call->eraseFromParent();
    }
  }

  // A critical section is known by its name; the user's own locks are one, as which of them is meant is known only when
  // it runs.
  void replaceLocked() {
    auto ByName = [](CallInst &Call) { return Call.getArgOperand(2)->getName(); };
    replaceAll("__kmpc_critical", "enter", ByName);
    replaceAll("__kmpc_critical_with_hint", "enter", ByName);
    replaceAll("__kmpc_end_critical", "leave", ByName);
    auto Users = [](CallInst &) -> StringRef { return "user"; };
    for (StringRef Kind : {"lock", "nest_lock"}) {
      replaceAll(("omp_set_" + Kind).str(), "enter", Users);
      replaceAll(("omp_unset_" + Kind).str(), "leave", Users);
    }
  }

  // The runtime's answer says how to combine; 1 is under a lock.
  void replaceReductions() {
    for (StringRef Name : {"__kmpc_reduce_nowait", "__kmpc_reduce"})
      for (CallInst *Call : callsOf(M, Name)) {
        call(*Call, "enter_in_turn", "reduction");
        Call->replaceAllUsesWith(ConstantInt::get(Call->getType(), 1));
        Function *F = Call->getFunction();
        Call->eraseFromParent();
        for (BasicBlock &Block : *F)
          ConstantFoldTerminator(&Block);
        removeUnreachableBlocks(*F);
      }
    for (StringRef Name : {"__kmpc_end_reduce_nowait", "__kmpc_end_reduce"})
      for (CallInst *Call : callsOf(M, Name)) {
        call(*Call, "leave", "reduction");
        if (!Name.ends_with("nowait"))
          call(*Call, "barrier", "barrier");
        Call->eraseFromParent();
      }
  }

  void replaceBarriers() {
    replaceAll("__kmpc_barrier", "barrier", [](CallInst &) -> StringRef { return "barrier"; });
  }

  // What one thread does alone.
  void replaceChoices() {
    for (StringRef Name : {"__kmpc_single", "__kmpc_master", "__kmpc_masked"})
      for (CallInst *Call : callsOf(M, Name)) {
        IRBuilder<> B(Call);
        Value *Chosen = Name == "__kmpc_masked" ? Call->getArgOperand(2) : B.getInt32(0);
        Call->replaceAllUsesWith(B.CreateZExt(B.CreateICmpEQ(threadNumber(B), Chosen), Call->getType()));
        Call->eraseFromParent();
      }
  }

  // Whether an integer that is loaded, stored or exchanged holds floating point.
  static bool holdsFloat(const Value *V) {
    if (V->getType()->isFloatingPointTy())
      return true;
    if (auto *Load = dyn_cast<LoadInst>(V); Load && readsFloat(Load->getPointerOperand()))
      return true;
    return isa<BitCastInst>(V) && cast<BitCastInst>(V)->getSrcTy()->isFloatingPointTy() ||
           V->hasUseList() && any_of(V->users(), [](const User *U) {
             if (auto *Store = dyn_cast<StoreInst>(U))
               return readsFloat(Store->getPointerOperand());
             if (auto *Phi = dyn_cast<PHINode>(U))
               return any_of(Phi->users(), [](const User *Next) { return isFloatCast(Next); });
             return isFloatCast(U);
           });
  }

  static bool isFloatCast(const User *U) { return isa<BitCastInst>(U) && U->getType()->isFloatingPointTy(); }

  static bool readsFloat(const Value *Address) {
    return isa<AllocaInst>(Address) && any_of(Address->users(), [](const User *U) {
             auto *Store = dyn_cast<StoreInst>(U);
             return U->getType()->isFloatingPointTy() ||
                    Store && Store->getValueOperand()->getType()->isFloatingPointTy();
           });
  }

  // clang's loop: load, compute, exchange if nothing has changed, else again.
  struct Update {
    LoadInst *Load;
    AtomicCmpXchgInst *Exchange;
  };

  static LoadInst *firstLoadOf(AtomicCmpXchgInst &Exchange) {
    auto *Phi = dyn_cast<PHINode>(Exchange.getCompareOperand());
    if (!Phi)
      return nullptr;
    for (Value *Incoming : Phi->incoming_values())
      if (auto *Load = dyn_cast<LoadInst>(Incoming); Load && Load->isAtomic())
        return Load;
    return nullptr;
  }

  static bool isPlainSum(const AtomicRMWInst &Atomic) {
    return Atomic.getOperation() == AtomicRMWInst::FAdd && Atomic.use_empty();
  }

  void replaceAtomics() {
    SmallVector<Update> Updates;
    SmallVector<Instruction *> Singles; // loads, stores and operations
    SmallPtrSet<Instruction *, 8> Loads;
    bool AllSums = true;
    for (Function &F : M)
      for (Instruction &I : instructions(F))
        if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
          LoadInst *Load = firstLoadOf(*Exchange);
          if (Load && (holdsFloat(Exchange->getCompareOperand()) || holdsFloat(Exchange->getNewValOperand()))) {
            Updates.push_back({Load, Exchange});
            Loads.insert(Load);
          }
        }
    for (Function &F : M)
      for (Instruction &I : instructions(F)) {
        auto *Load = dyn_cast<LoadInst>(&I);
        auto *Store = dyn_cast<StoreInst>(&I);
        auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
        bool IsLoad = Load && Load->isAtomic() && !Loads.contains(Load) && holdsFloat(Load);
        bool IsStore = Store && Store->isAtomic() && holdsFloat(Store->getValueOperand());
        bool IsOperation =
            Atomic && (Atomic->getType()->isFloatingPointTy() ||
                       Atomic->getOperation() == AtomicRMWInst::Xchg && holdsFloat(Atomic->getValOperand()));
        if (IsLoad || IsStore || IsOperation)
          Singles.push_back(&I);
        AllSums &= !IsLoad && !IsStore && (!IsOperation || isPlainSum(*Atomic));
      }
    if (AllSums && Updates.empty())
      return; // additions commute: Enzyme differentiates them without an order
    for (Update &U : Updates)
      lockUpdate(U);
    for (Instruction *I : Singles)
      lockSingle(*I);
  }

  void lockUpdate(Update &U) {
    call(*U.Load, "enter", "atomic");
    U.Load->setAtomic(AtomicOrdering::NotAtomic);
    IRBuilder<> B(U.Exchange);
    B.CreateStore(U.Exchange->getNewValOperand(), U.Exchange->getPointerOperand());
    call(*U.Exchange, "leave", "atomic");
    Value *Done = B.CreateInsertValue(PoisonValue::get(U.Exchange->getType()), U.Exchange->getCompareOperand(), 0);
    U.Exchange->replaceAllUsesWith(B.CreateInsertValue(Done, B.getTrue(), 1));
    U.Exchange->eraseFromParent();
  }

  void lockSingle(Instruction &I) {
    Instruction *After = I.getNextNode();
    call(I, "enter", "atomic");
    call(*After, "leave", "atomic");
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return Load->setAtomic(AtomicOrdering::NotAtomic);
    if (auto *Store = dyn_cast<StoreInst>(&I))
      return Store->setAtomic(AtomicOrdering::NotAtomic);
    auto &Atomic = cast<AtomicRMWInst>(I);
    IRBuilder<> B(&I);
    Value *Old = B.CreateLoad(I.getType(), Atomic.getPointerOperand());
    B.CreateStore(updated(B, Atomic, Old), Atomic.getPointerOperand());
    Atomic.replaceAllUsesWith(Old);
    Atomic.eraseFromParent();
  }

  static Value *updated(IRBuilder<> &B, AtomicRMWInst &Atomic, Value *Old) {
    Value *Operand = Atomic.getValOperand();
    switch (Atomic.getOperation()) {
    case AtomicRMWInst::FAdd:
      return B.CreateFAdd(Old, Operand);
    case AtomicRMWInst::FMax:
      return B.CreateMaxNum(Old, Operand);
    case AtomicRMWInst::FMin:
      return B.CreateMinNum(Old, Operand);
    default:
      return Operand; // an exchange
    }
  }

  // What an atomic operation on an integer found (the next free place of a list, say): Enzyme would look for it again
  // in the reverse sweep. It keeps what a function returns; SizeTeams gives these their bodies.
  void hideCounters() {
    SmallVector<AtomicRMWInst *> Counters;
    for (Function &F : M)
      for (Instruction &I : instructions(F))
        if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
            Atomic && Atomic->getType()->isIntegerTy() && !Atomic->use_empty())
          Counters.push_back(Atomic);
    for (AtomicRMWInst *Atomic : Counters) {
      IRBuilder<> B(Atomic);
      Value *Operands[] = {Atomic->getPointerOperand(), Atomic->getValOperand()};
      std::string Name = (CounterPrefix + AtomicRMWInst::getOperationName(Atomic->getOperation()) + "_i" +
                          Twine(Atomic->getType()->getIntegerBitWidth()))
                             .str();
      FunctionCallee Callee =
          M.getOrInsertFunction(Name, Atomic->getType(), Operands[0]->getType(), Operands[1]->getType());
      auto *F = cast<Function>(Callee.getCallee());
      F->addFnAttr("enzyme_inactive");
      F->addRetAttr(Attribute::get(Context, "enzyme_type", "{[-1]:Integer}"));
      F->setOnlyAccessesArgMemory();
      F->setDoesNotThrow();
      F->setDoesNotFreeMemory();
      F->setWillReturn();
      Atomic->replaceAllUsesWith(B.CreateCall(Callee, Operands));
      Atomic->eraseFromParent();
    }
  }

  // Questions to the runtime have no derivative.
  void markQueries() {
    for (Function &F : M)
      if (F.isDeclaration() && (F.getName().starts_with("omp_get_") || F.getName().starts_with("omp_in_") ||
                                F.getName().starts_with("omp_set_"))) {
        F.addFnAttr("enzyme_inactive");
        F.setDoesNotThrow();
        F.setDoesNotFreeMemory();
      }
    for (StringRef Name : {"omp_get_thread_num", "omp_get_num_threads"})
      if (Function *F = M.getFunction(Name))
        F->setDoesNotAccessMemory();
  }

  Module &M;
  LLVMContext &Context;
};

// The runtime throws nothing, but clang does not know that of functions that users call by name.
void forgetExceptions(Function &F) {
  SmallVector<InvokeInst *> Invokes;
  for (Instruction &I : instructions(F))
    if (auto *Invoke = dyn_cast<InvokeInst>(&I); Invoke && Invoke->getCalledFunction())
      if (Invoke->getCalledFunction()->getName().starts_with("omp_"))
        Invokes.push_back(Invoke);
  for (InvokeInst *Invoke : Invokes)
    changeToCall(Invoke);
}

void dropLoopHints(Function &F) {
  for (Instruction &I : instructions(F)) {
    I.setMetadata(LLVMContext::MD_loop, nullptr);
    I.setMetadata(LLVMContext::MD_access_group, nullptr);
  }
}

// What is left of OpenMP is nothing that the optimiser could do anything about: it would look for it in all functions
// again for each group of them, which takes most of the time where headers are large.
void forgetOpenMP(Module &M) {
  NamedMDNode *Flags = M.getModuleFlagsMetadata();
  if (!Flags)
    return;
  const SmallVector<MDNode *> All(Flags->operands());
  Flags->clearOperands();
  for (MDNode *Each : All)
    if (cast<MDString>(Each->getOperand(1))->getString() != "openmp")
      Flags->addOperand(Each);
}

} // namespace

ADGEN_DECLARE_PASS(RewriteOpenMP);

PreservedAnalyses RewriteOpenMP::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M) {
    dropLoopHints(F);
    forgetExceptions(F);
  }
  Synchronization(M).run();
  forgetOpenMP(M);
  return PreservedAnalyses::none();
}

} // namespace adgen
