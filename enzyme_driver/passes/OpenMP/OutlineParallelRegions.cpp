// Makes of what clang outlined from a parallel directive two functions: the region, an ordinary function of what is
// captured, and the one that the runtime starts in every thread, which only calls it:
//   void adgen_region_NAME(captured...)      void NAME(thread, bound, team, captured...)
// Enzyme has a way of its own with loops in a function that is forked, which fails in all but the simplest; in the
// region they are ordinary loops. The size of the team is captured, so that the reverse sweep gets the team of the
// forward sweep (SizeTeams). Floating point that is captured by value arrives as an integer; it goes by address
// instead. What an `if` clause leaves to one thread becomes a team of one.
#include "Support/Iterations.h"
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned ThreadArguments = 2; // of an outlined function: pointers to the numbers of the thread

// The type in which an integer argument is read, where that is floating point.
Type *hiddenFloat(Argument &A) {
  if (!A.getType()->isIntegerTy())
    return nullptr;
  for (User *U : A.users())
    if (auto *Store = dyn_cast<StoreInst>(U); Store && Store->getValueOperand() == &A)
      for (User *Reader : Store->getPointerOperand()->users())
        if (auto *Load = dyn_cast<LoadInst>(Reader); Load && Load->getType()->isFloatingPointTy())
          return Load->getType();
  return nullptr;
}

Function *createLike(Function &F, ArrayRef<Type *> Types, const Twine &Name) {
  auto *Type = FunctionType::get(llvm::Type::getVoidTy(F.getContext()), Types, false);
  Function *New = Function::Create(Type, GlobalValue::InternalLinkage, Name, F.getParent());
  New->addFnAttrs(AttrBuilder(F.getContext(), F.getAttributes().getFnAttrs()).removeAttribute(Attribute::AlwaysInline));
  return New;
}

class Outlined {
public:
  explicit Outlined(Function &F) : F(F), Context(F.getContext()), Pointer(PointerType::getUnqual(Context)) {
    for (Argument &A : drop_begin(F.args(), ThreadArguments))
      Floats.push_back(hiddenFloat(A));
  }

  void split() {
    SmallVector<Type *> Captured;
    for (auto [A, Float] : zip(drop_begin(F.args(), ThreadArguments), Floats))
      Captured.push_back(Float ? Pointer : A.getType());
    Region = createLike(F, Captured, RegionPrefix + F.getName());
    Region->addFnAttr(Attribute::NoInline);
    if (F.hasPersonalityFn())
      Region->setPersonalityFn(F.getPersonalityFn());
    Region->splice(Region->begin(), &F);
    Region->setSubprogram(F.getSubprogram());
    F.setSubprogram(nullptr);
    handOver();
    makeStarted(Captured);
  }

  // Also what an `if` clause calls directly instead of forking.
  void fork(CallInst &Old, Value *Place, Value *Team, unsigned First) {
    IRBuilder<> B(&Old);
    Module &M = *F.getParent();
    FunctionCallee Fork = M.getOrInsertFunction(
        ForkName, FunctionType::get(B.getVoidTy(), {Pointer, B.getInt32Ty(), Pointer}, /*isVarArg=*/true));
    SmallVector<Value *> Arguments{Place, B.getInt32(Floats.size() + 1), Started, Team};
    for (auto [Index, Float] : enumerate(Floats)) {
      Value *V = Old.getArgOperand(First + Index);
      Arguments.push_back(Float ? addressOf(B, V) : V);
    }
    B.CreateCall(Fork, Arguments);
  }

private:
  void handOver() {
    IRBuilder<> B(&*Region->getEntryBlock().getFirstInsertionPt());
    for (auto [Index, A] : enumerate(F.args())) {
      if (Index < ThreadArguments) { // whoever asks for the number gets it from the runtime
        auto *Number = B.CreateAlloca(B.getInt32Ty());
        B.CreateStore(B.getInt32(0), Number);
        A.replaceAllUsesWith(Number);
        continue;
      }
      Argument *New = Region->getArg(Index - ThreadArguments);
      New->takeName(&A);
      if (Type *Float = Floats[Index - ThreadArguments])
        storeAs(A, Float, *New);
      else
        for (Attribute Attr : F.getAttributes().getParamAttrs(Index))
          New->addAttr(Attr);
      A.replaceAllUsesWith(New->getType() == A.getType() ? cast<Value>(New) : PoisonValue::get(A.getType()));
    }
  }

  static void storeAs(Argument &A, Type *Float, Argument &New) {
    for (User *U : make_early_inc_range(A.users()))
      if (auto *Store = dyn_cast<StoreInst>(U)) {
        IRBuilder<> B(Store);
        B.CreateStore(B.CreateLoad(Float, &New), Store->getPointerOperand());
        Store->eraseFromParent();
      }
  }

  void makeStarted(ArrayRef<Type *> Captured) {
    SmallVector<Type *> Types{Pointer, Pointer, Type::getInt32Ty(Context)};
    append_range(Types, Captured);
    Started = createLike(F, Types, "");
    Started->takeName(&F);
    IRBuilder<> B(BasicBlock::Create(Context, "entry", Started));
    SmallVector<Value *> Arguments;
    for (Argument &A : drop_begin(Started->args(), ThreadArguments + 1))
      Arguments.push_back(&A);
    B.CreateCall(Region, Arguments);
    B.CreateRetVoid();
  }

  // Clang puts such a value into memory and loads it as an integer.
  Value *addressOf(IRBuilder<> &B, Value *V) {
    if (auto *Load = dyn_cast<LoadInst>(V); Load && isa<AllocaInst>(Load->getPointerOperand()))
      return Load->getPointerOperand();
    IRBuilder<> Entry(&*B.GetInsertBlock()->getParent()->getEntryBlock().getFirstInsertionPt());
    Value *Slot = Entry.CreateAlloca(V->getType());
    B.CreateStore(V, Slot);
    return Slot;
  }

  Function &F;
  LLVMContext &Context;
  PointerType *Pointer;
  SmallVector<Type *> Floats; // of the captured values, null where they are what they seem
  Function *Region = nullptr, *Started = nullptr;
};

// A function of the host runtime that remembers what num_threads asked for: its calls stay in order and run once.
FunctionCallee teamFunction(Module &M, StringRef Name, Type *Result, ArrayRef<Type *> Types) {
  FunctionCallee Callee = M.getOrInsertFunction(Name, FunctionType::get(Result, Types, false));
  auto *F = cast<Function>(Callee.getCallee());
  F->addFnAttr("enzyme_inactive");
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotFreeMemory();
  F->setOnlyAccessesInaccessibleMemory();
  if (!Result->isVoidTy())
    F->addRetAttr(Attribute::get(M.getContext(), "enzyme_type", "{[-1]:Integer}"));
  return Callee;
}

// How many threads the next team is to have.
Value *teamSize(IRBuilder<> &B) {
  return B.CreateCall(teamFunction(*B.GetInsertBlock()->getModule(), "adgen_omp_team", B.getInt32Ty(), {}));
}

void requestThreads(Module &M) {
  for (CallInst *Push : callsOf(M, "__kmpc_push_num_threads")) {
    IRBuilder<> B(Push);
    B.CreateCall(teamFunction(M, "adgen_omp_request", B.getVoidTy(), B.getInt32Ty()), {Push->getArgOperand(2)});
    Push->eraseFromParent();
  }
}

} // namespace

ADGEN_DECLARE_PASS(OutlineParallelRegions);

PreservedAnalyses OutlineParallelRegions::run(Module &M, ModuleAnalysisManager &) {
  requestThreads(M);
  MapVector<Function *, SmallVector<CallInst *>> Forks;
  for (CallInst *Fork : callsOf(M, ForkName))
    if (Function *F = startedBy(*Fork))
      Forks[F].push_back(Fork);
  for (auto &[F, Calls] : Forks) {
    Outlined O(*F);
    O.split();
    Value *Place = Calls.front()->getArgOperand(0); // a constant
    for (CallInst *Fork : Calls) {
      IRBuilder<> B(Fork);
      O.fork(*Fork, Fork->getArgOperand(0), teamSize(B), ForkCaptured);
      Fork->eraseFromParent();
    }
    for (User *U : make_early_inc_range(F->users()))
      if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getCalledFunction() == F) {
        IRBuilder<> B(Call);
        teamSize(B);
        O.fork(*Call, Place, B.getInt32(1), ThreadArguments);
        Call->eraseFromParent();
      }
    F->eraseFromParent();
  }
  for (StringRef Name : {"__kmpc_serialized_parallel", "__kmpc_end_serialized_parallel", "__kmpc_push_proc_bind"})
    eraseCalls(M, Name);
  return PreservedAnalyses::none();
}

} // namespace adgen
