// Enzyme cannot carry tangents through a fork. So the code that carries them calls the region as an ordinary function,
// once (CallRegions, before Enzyme), and what Enzyme has made of that call is forked (ForkRegions, after it):
//   void adgen_forked_NAME(team, captured...)
// Forward nothing is kept, and each thread carries its own tangents, so that Enzyme need not know of the threads. What
// leads to a fork is copied, because a gradient needs the fork.
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral CarriedPrefix = "adgen_carried_"; // of copies
constexpr unsigned ThreadArguments = 2;                   // of what is started: pointers to the numbers of the thread

bool isFork(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == ForkName;
}

// Copies the functions that lead to a fork, with calls of what is started in place of forks.
class Copies {
public:
  // The copy; the function itself where it leads to no fork.
  Function *of(Function &F) {
    if (!leadsToFork(F))
      return &F;
    if (Function *Known = Made.lookup(&F))
      return Known;
    ValueToValueMapTy Map;
    Function *Copy = CloneFunction(&F, Map);
    Copy->setName(CarriedPrefix + F.getName());
    Copy->setLinkage(GlobalValue::InternalLinkage);
    Made[&F] = Copy;
    for (Instruction &I : make_early_inc_range(instructions(Copy))) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (isFork(I))
        callStarted(cast<CallInst>(I));
      else if (Call && Call->getCalledFunction() && !Call->getCalledFunction()->isDeclaration())
        Call->setCalledFunction(of(*Call->getCalledFunction()));
    }
    return Copy;
  }

private:
  bool leadsToFork(Function &F) {
    SmallVector<Function *> Work{&F};
    SmallPtrSet<Function *, 8> Seen;
    while (!Work.empty()) {
      Function *Next = Work.pop_back_val();
      if (!Seen.insert(Next).second)
        continue;
      for (Instruction &I : instructions(Next)) {
        if (isFork(I))
          return true;
        auto *Call = dyn_cast<CallBase>(&I);
        if (Call && Call->getCalledFunction() && !Call->getCalledFunction()->isDeclaration())
          Work.push_back(Call->getCalledFunction());
      }
    }
    return false;
  }

  void callStarted(CallInst &Fork) {
    IRBuilder<> B(&Fork);
    SmallVector<Value *> Captured(drop_begin(Fork.args(), ForkCaptured));
    B.CreateCall(startedAlone(*cast<Function>(Fork.getArgOperand(ForkFunction))), Captured);
    Fork.eraseFromParent();
  }

  // What is started in every thread, without the numbers of the thread, which it does not read
  // (OutlineParallelRegions).
  Function *startedAlone(Function &Started) {
    if (Function *Known = Alone.lookup(&Started))
      return Known;
    auto *Type = FunctionType::get(Started.getReturnType(),
                                   Started.getFunctionType()->params().drop_front(ThreadArguments), false);
    auto *New =
        Function::Create(Type, GlobalValue::ExternalLinkage, ForkedPrefix + Started.getName(), Started.getParent());
    Alone[&Started] = New;
    ValueToValueMapTy Map;
    for (Argument &A : Started.args())
      Map[&A] = A.getArgNo() < ThreadArguments ? static_cast<Value *>(PoisonValue::get(A.getType()))
                                               : New->getArg(A.getArgNo() - ThreadArguments);
    SmallVector<ReturnInst *> Returns;
    CloneFunctionInto(New, &Started, Map, CloneFunctionChangeType::LocalChangesOnly, Returns);
    New->setLinkage(GlobalValue::InternalLinkage);
    New->setMemoryEffects(MemoryEffects::unknown());
    New->addFnAttr(Attribute::NoInline);
    for (Instruction &I : instructions(New))
      if (auto *Call = dyn_cast<CallBase>(&I);
          Call && Call->getCalledFunction() && !Call->getCalledFunction()->isDeclaration())
        Call->setCalledFunction(of(*Call->getCalledFunction()));
    return New;
  }

  DenseMap<Function *, Function *> Made, Alone;
};

// void started(thread, bound, what the function takes...)
Function *startOf(Function &Forked) {
  auto *Pointer = PointerType::getUnqual(Forked.getContext());
  SmallVector<Type *> Types(ThreadArguments, Pointer);
  append_range(Types, Forked.getFunctionType()->params());
  auto *Start = Function::Create(FunctionType::get(Type::getVoidTy(Forked.getContext()), Types, false),
                                 GlobalValue::InternalLinkage, "start_" + Forked.getName(), Forked.getParent());
  IRBuilder<> B(BasicBlock::Create(Forked.getContext(), "entry", Start));
  SmallVector<Value *> Arguments;
  for (Argument &A : drop_begin(Start->args(), ThreadArguments))
    Arguments.push_back(&A);
  B.CreateCall(&Forked, Arguments);
  B.CreateRetVoid();
  return Start;
}

// What the runtime says of a fork whose place in the source is not known: an ident_t.
Constant *unknownPlace(Module &M) {
  LLVMContext &Context = M.getContext();
  constexpr StringLiteral Name = "adgen_unknown_place", Text = ";unknown;unknown;0;0;;";
  if (GlobalVariable *Known = M.getGlobalVariable(Name, /*AllowInternal=*/true))
    return Known;
  constexpr uint32_t IsKmpc = 2;
  auto Int = [&](uint32_t N) { return ConstantInt::get(Type::getInt32Ty(Context), N); };
  Constant *String = ConstantDataArray::getString(Context, Text);
  auto *Words = new GlobalVariable(M, String->getType(), true, GlobalValue::PrivateLinkage, String);
  Constant *Place = ConstantStruct::getAnon(Context, {Int(0), Int(IsKmpc), Int(0), Int(Text.size()), Words});
  return new GlobalVariable(M, Place->getType(), true, GlobalValue::PrivateLinkage, Place, Name);
}

void fork(Function &Forked) {
  Module &M = *Forked.getParent();
  SmallVector<CallInst *> Calls;
  for (User *U : Forked.users())
    if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getCalledFunction() == &Forked)
      Calls.push_back(Call);
  if (Calls.empty())
    return;
  Function *Start = startOf(Forked);
  auto *Pointer = PointerType::getUnqual(M.getContext());
  Type *Int32 = Type::getInt32Ty(M.getContext());
  auto *Type = FunctionType::get(llvm::Type::getVoidTy(M.getContext()), {Pointer, Int32, Pointer}, /*isVarArg=*/true);
  FunctionCallee Fork = M.getOrInsertFunction(ForkName, Type);
  for (CallInst *Call : Calls) {
    IRBuilder<> B(Call);
    SmallVector<Value *> Arguments{unknownPlace(M), B.getInt32(Call->arg_size()), Start};
    append_range(Arguments, Call->args());
    B.CreateCall(Fork, Arguments);
    Call->eraseFromParent();
  }
}

} // namespace

ADGEN_DECLARE_PASS(CallRegions);

PreservedAnalyses CallRegions::run(Module &M, ModuleAnalysisManager &) {
  Copies Copy;
  for (Function &Tangent : M)
    if (Tangent.getName().starts_with(TangentPrefix))
      for (Instruction &I : instructions(Tangent))
        if (auto *Call = dyn_cast<CallInst>(&I);
            Call && Call->getCalledFunction() && Call->getCalledFunction()->getName().starts_with(ForwardPrefix))
          Call->setArgOperand(0, Copy.of(*cast<Function>(Call->getArgOperand(0))));
  return PreservedAnalyses::none();
}

ADGEN_DECLARE_PASS(ForkRegions);

PreservedAnalyses ForkRegions::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Function *> Forked;
  for (Function &F : M)
    if (!F.isDeclaration() && F.getName().contains(ForkedPrefix))
      Forked.push_back(&F);
  for (Function *F : Forked)
    fork(*F);
  return PreservedAnalyses::none();
}

} // namespace adgen
