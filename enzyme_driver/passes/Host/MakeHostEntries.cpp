// Makes of every body and derivative the functions that the host library exports (docs/architecture.md):
//   int SYMBOL__primal(launch, args, result)   int SYMBOL__gradient(launch, args, result)   int SYMBOL__tangent(launch,
//   args, result)
// For a kernel it calls the runtime, which runs the blocks of the grid in parallel. Where threads do not wait for each
// other, a function runs those of blocks beside each other in loops; else the runtime gives each a stack of its own
// (host_runtime/cooperation.h) and calls the function of one thread, in which barriers and operations of a warp are
// calls of the runtime. Needs everything inlined into the bodies, so that thread and block indices can become
// arguments. A second form without atomics is for when only one thread of the operating system runs.
//
// Shared arrays lie in memory of the runtime: the static ones, then the dynamic ones, which all begin at the same
// place; behind them, in a derivative, their shadows in the same order.
#include "Analysis/Accumulation.h"
#include "Analysis/Cooperates.h"
#include "Host/AccumulatedShadows.h"
#include "Host/Columns.h"
#include "Host/Footprint.h"
#include "Host/HostArguments.h"
#include "Host/ThreadFunctions.h"
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

// Whether anything that the function calls makes a team of threads; what a pointer leads to may.
bool mayFork(const Function &Entry) {
  const Function *Fork = Entry.getParent()->getFunction(ForkName);
  if (!Fork || Fork->use_empty())
    return false;
  SmallVector<const Function *> Work{&Entry};
  SmallPtrSet<const Function *, 16> Seen{&Entry};
  while (!Work.empty())
    for (const Instruction &I : instructions(*Work.pop_back_val())) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call || Call->isInlineAsm())
        continue;
      const Function *Callee = Call->getCalledFunction();
      if (!Callee || Callee == Fork)
        return true;
      if (Seen.insert(Callee).second)
        Work.push_back(Callee);
    }
  return false;
}

class EntryMaker {
public:
  EntryMaker(Module &M, FunctionAnalysisManager &FAM)
      : M(M), FAM(FAM), Context(M.getContext()), Pointer(PointerType::getUnqual(Context)),
        Int32(Type::getInt32Ty(Context)), HostArgs(M), Threads(M) {}

  void makeKernelEntry(Function &F) {
    EntryNames N = namesOf(F);
    F.setLinkage(GlobalValue::InternalLinkage);
    bool Cooperates = cooperates(F);
    Function *Thread = Threads.make(F, Cooperates);
    if (!Thread)
      return;
    if (!Cooperates)
      Threads.takeInTurn(*Thread);
    Function *Alone = Threads.hasAtomics(*Thread) ? Threads.withoutAtomics(*Thread) : Thread;
    Repeats = F.getFnAttribute(BlocksDifferAttribute).getValueAsString();
    if (Cooperates) {
      FunctionCallee Run = M.getOrInsertFunction("adgen_run_cooperative", Int32, Pointer, Pointer, Pointer);
      return makeEntry(N, Run, {describe(*Thread, *Alone, F, N)});
    }
    Function *Blocks = makeBlocksFunction(*Thread, F, N.entry() + "_blocks");
    Function *BlocksAlone = Alone == Thread ? Blocks : makeBlocksFunction(*Alone, F, N.entry() + "_blocks_alone");
    Type *Int64 = Type::getInt64Ty(Context);
    uint64_t Shadows = accumulatedBy(*Thread, F);
    FunctionCallee Run =
        M.getOrInsertFunction("adgen_run_blocks", Int32, Pointer, Pointer, Pointer, Int64, Pointer, Pointer);
    makeEntry(N, Run,
              {Blocks, BlocksAlone, ConstantInt::get(Int64, Shadows),
               makeFootprint(*Thread, F, Shadows, FAM.getResult<ScalarEvolutionAnalysis>(*Thread))});
  }

  void makeFunctionEntry(Function &F, const UnderlyingObjects &Memory) {
    EntryNames N = namesOf(F);
    Function *Call = Function::Create(FunctionType::get(Type::getVoidTy(Context), {Pointer, Pointer}, false),
                                      GlobalValue::InternalLinkage, N.entry() + "_call", &M);
    IRBuilder<> B(BasicBlock::Create(Context, "entry", Call));
    // A primal that returns a value stores it through its last argument, and what carries tangents stores the value's.
    bool StoresResult = F.hasFnAttribute(ResultAttribute);
    SmallVector<Value *> Arguments;
    for (unsigned I = 0; I < F.arg_size() - StoresResult; ++I)
      Arguments.push_back(HostArgs.loadArgument(B, F, I, Call->getArg(0)));
    if (StoresResult)
      Arguments.push_back(Call->getArg(1));
    B.CreateCall(&F, Arguments);
    B.CreateRetVoid();
    if (M.getFunction("__gxx_personality_v0"))
      Call->setUWTableKind(UWTableKind::Default);

    Type *Int64 = Type::getInt64Ty(Context);
    Constant *Accumulated = ConstantInt::get(Int64, N.HasShadows ? accumulatedShadows(M, F, Memory) : 0);
    Constant *Overwritten = ConstantInt::get(Int64, restoredArguments(F));
    Constant *Forks = ConstantInt::get(Int32, mayFork(F));
    FunctionCallee Run =
        M.getOrInsertFunction("adgen_run_function", Int32, Pointer, Int32, Int64, Int64, Pointer, Pointer);
    Function *Entry = createEntry(N.entry());
    B.SetInsertPoint(BasicBlock::Create(Context, "entry", Entry));
    B.CreateRet(B.CreateCall(Run, {Call, Forks, Accumulated, Overwritten, Entry->getArg(1), Entry->getArg(2)}));
    F.setLinkage(GlobalValue::InternalLinkage);
  }

private:
  uint64_t accumulatedBy(const Function &Thread, const Function &F) const {
    unsigned Arrays = sharedNames(F).size(), Shared = namesOf(F).HasShadows ? 2 * Arrays : Arrays;
    return accumulatedShadows(Thread, F, F.arg_size() - Shared, F.arg_size());
  }

  // The entry of a kernel: run(launch, code..., args).
  void makeEntry(const EntryNames &N, FunctionCallee Run, ArrayRef<Value *> Code) {
    Function *Entry = createEntry(N.entry());
    IRBuilder<> B(BasicBlock::Create(Context, "entry", Entry));
    SmallVector<Value *> Arguments{Entry->getArg(0)};
    SmallVector<StringRef> Limits;
    if (!Repeats.empty()) {
      SmallVector<Value *> Said(Arguments);
      Repeats.split(Limits, ',');
      for (StringRef Limit : Limits)
        Said.push_back(B.getInt32(numberIn(Limit)));
      SmallVector<Type *> Types(Said.size(), Int32);
      Types[0] = Pointer;
      B.CreateCall(M.getOrInsertFunction("adgen_blocks_differ", FunctionType::get(B.getVoidTy(), Types, false)), Said);
    }
    append_range(Arguments, Code);
    Arguments.push_back(Entry->getArg(1));
    B.CreateRet(B.CreateCall(Run, Arguments));
  }

  static uint32_t numberIn(StringRef Text) {
    uint32_t Number = 0;
    if (Text.getAsInteger(10, Number))
      report_fatal_error("adgen-make-host-entries: no number: " + Text);
    return Number;
  }

  Function *createEntry(const std::string &Name) {
    return Function::Create(FunctionType::get(Int32, {Pointer, Pointer, Pointer}, false), GlobalValue::ExternalLinkage,
                            Name, &M);
  }

  // void blocks(launch, args, x, y, z, count): the threads of blocks beside each other, one after another. Those that
  // ask for their column only see one wide block, whose rows are loops that are worth vectorising.
  Function *makeBlocksFunction(Function &Thread, Function &F, const std::string &Name) {
    auto *Type =
        FunctionType::get(llvm::Type::getVoidTy(Context), {Pointer, Pointer, Int32, Int32, Int32, Int32}, false);
    auto *Made = Function::Create(Type, GlobalValue::InternalLinkage, Name, &M);
    IRBuilder<> B(BasicBlock::Create(Context, "entry", Made));
    Value *Launch = Made->getArg(0), *Count = Made->getArg(5);
    SmallVector<Value *> Extents = HostArgs.loadExtents(B, Launch);
    Value *AreOne =
        sharedNames(F).empty() ? Columns(Thread, F.arg_size()).allowWideBlocks(B, Extents[0]) : B.getFalse();
    Value *Width = B.CreateSelect(AreOne, B.CreateMul(Extents[0], Count), Extents[0]);
    Value *Number = beginLoop(B, Made, B.CreateSelect(AreOne, B.getInt32(1), Count));
    ThreadArguments Loaded =
        HostArgs.loadArguments(B, F, Launch, Made->getArg(1), [&] { return sharedMemory(B, F, Launch); });
    Value *Z = beginLoop(B, Made, Extents[2]), *Y = beginLoop(B, Made, Extents[1]), *X = beginLoop(B, Made, Width);
    HostArgs.copyStructs(B, F, Loaded);
    SmallVector<Value *> Arguments = Loaded.Values;
    Arguments.append({X, Y, Z, B.CreateAdd(Made->getArg(2), Number), Made->getArg(3), Made->getArg(4)});
    append_range(Arguments, Extents);
    B.CreateCall(&Thread, Arguments);
    while (!Loops.empty())
      endLoop(B);
    B.CreateRetVoid();
    return Made;
  }

  // Returns from the block function where there is none; the runtime reports it.
  Value *sharedMemory(IRBuilder<> &B, Function &F, Value *Launch) {
    FunctionCallee Get = M.getOrInsertFunction("adgen_shared_memory", Pointer, Pointer, B.getInt64Ty(), Int32);
    Value *Begin =
        B.CreateCall(Get, {Launch, B.getInt64(HostArgs.sharedLayout(F).Bytes), B.getInt32(namesOf(F).HasShadows)});
    Function *Block = B.GetInsertBlock()->getParent();
    auto *Enough = BasicBlock::Create(Context, "enough", Block),
         *Nothing = BasicBlock::Create(Context, "nothing", Block);
    B.CreateCondBr(B.CreateIsNull(Begin), Nothing, Enough);
    B.SetInsertPoint(Nothing);
    B.CreateRetVoid();
    B.SetInsertPoint(Enough);
    return Begin;
  }

  // void thread(launch, args, shared memory, handle, block x, y, z, thread x, y, z): one thread of a block whose
  // threads work together.
  Function *makeCooperativeFunction(Function &Thread, Function &F, const std::string &Name) {
    SmallVector<Type *> Types(4, Pointer);
    Types.append(6, Int32);
    auto *Made = Function::Create(FunctionType::get(Type::getVoidTy(Context), Types, false),
                                  GlobalValue::InternalLinkage, Name, &M);
    IRBuilder<> B(BasicBlock::Create(Context, "entry", Made));
    Value *Launch = Made->getArg(0);
    SmallVector<Value *> Extents = HostArgs.loadExtents(B, Launch);
    ThreadArguments Loaded = HostArgs.loadArguments(B, F, Launch, Made->getArg(1), [&] { return Made->getArg(2); });
    HostArgs.copyStructs(B, F, Loaded);
    SmallVector<Value *> Arguments = Loaded.Values;
    for (unsigned I : {7, 8, 9, 4, 5, 6})
      Arguments.push_back(Made->getArg(I));
    append_range(Arguments, Extents);
    Arguments.push_back(Made->getArg(3));
    B.CreateCall(&Thread, Arguments);
    B.CreateRetVoid();
    return Made;
  }

  // adgen_cooperative of host_runtime/launch.h.
  Constant *describe(Function &Thread, Function &Alone, Function &F, const EntryNames &N) {
    Function *Each = makeCooperativeFunction(Thread, F, (N.entry() + EachSuffix).str());
    Function *EachAlone = &Alone == &Thread ? Each : makeCooperativeFunction(Alone, F, N.entry() + "_each_alone");
    Type *Int64 = Type::getInt64Ty(Context);
    Constant *Nothing = ConstantPointerNull::get(Pointer); // what adgen-barrier-loop-fission fills in
    uint64_t Shadows = accumulatedBy(Thread, F);
    Constant *Members[] = {Each,
                           EachAlone,
                           Nothing,
                           Nothing,
                           ConstantInt::get(Int64, 0),
                           ConstantInt::get(Int64, HostArgs.sharedLayout(F).Bytes),
                           ConstantInt::get(Int32, N.HasShadows),
                           ConstantInt::get(Int32, stackBytes(Thread)),
                           ConstantInt::get(Int64, Shadows),
                           makeFootprint(Thread, F, Shadows, FAM.getResult<ScalarEvolutionAnalysis>(Thread)),
                           ConstantInt::get(Int32, waitsForGrid(Thread))};
    Constant *Value = ConstantStruct::getAnon(Context, Members);
    return new GlobalVariable(M, Value->getType(), true, GlobalValue::InternalLinkage, Value,
                              (N.entry() + CooperativeSuffix).str());
  }

  static bool waitsForGrid(const Function &Thread) {
    return any_of(instructions(Thread), [](const Instruction &I) {
      auto *Number = isCallOf(I, "adgen_barrier") ? dyn_cast<ConstantInt>(I.getOperand(1)) : nullptr;
      return Number && Number->getZExtValue() == GridBarrier;
    });
  }

  // What a thread keeps in memory of its own, and as much again for what the compiler spills.
  uint64_t stackBytes(const Function &Thread) const {
    uint64_t Bytes = 0;
    for (const Instruction &I : instructions(Thread))
      if (auto *Alloca = dyn_cast<AllocaInst>(&I))
        if (auto Size = Alloca->getAllocationSize(M.getDataLayout()); Size && !Size->isScalable())
          Bytes += Size->getFixedValue();
    return 2 * Bytes;
  }

  struct Loop {
    PHINode *Index;
    Value *Extent;
    BasicBlock *Head;
  };
  SmallVector<Loop> Loops;

  // for (i = 0; i != extent; ++i): extents are at least one.
  Value *beginLoop(IRBuilder<> &B, Function *Block, Value *Extent) {
    BasicBlock *Before = B.GetInsertBlock();
    auto *Head = BasicBlock::Create(Context, "thread", Block);
    B.CreateBr(Head);
    B.SetInsertPoint(Head);
    PHINode *Index = B.CreatePHI(Int32, 2);
    Index->addIncoming(B.getInt32(0), Before);
    Loops.push_back({Index, Extent, Head});
    return Index;
  }

  void endLoop(IRBuilder<> &B) {
    Loop L = Loops.pop_back_val();
    Value *Next = B.CreateAdd(L.Index, B.getInt32(1), "", true, true);
    L.Index->addIncoming(Next, B.GetInsertBlock());
    auto *After = BasicBlock::Create(Context, "done", B.GetInsertBlock()->getParent());
    B.CreateCondBr(B.CreateICmpULT(Next, L.Extent), L.Head, After);
    B.SetInsertPoint(After);
  }

  Module &M;
  FunctionAnalysisManager &FAM;
  StringRef Repeats; // of the kernel at hand, when blocks may store to one element (BlocksDifferAttribute)
  LLVMContext &Context;
  PointerType *Pointer;
  Type *Int32;
  HostArguments HostArgs;
  ThreadFunctions Threads;
};

} // namespace

ADGEN_DECLARE_PASS(MakeHostEntries);

PreservedAnalyses MakeHostEntries::run(Module &M, ModuleAnalysisManager &MAM) {
  SmallVector<Function *> Functions;
  for (Function &F : M)
    if (!F.isDeclaration() && (F.getName().starts_with(BodyPrefix) || isDerivative(F)))
      Functions.push_back(&F);
  EntryMaker Maker(M, MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager());
  std::optional<const UnderlyingObjects> Memory;
  for (Function *F : Functions) {
    if (F->hasFnAttribute(SharedAttribute)) { // only kernels have it
      Maker.makeKernelEntry(*F);
    } else {
      if (!Memory)
        Memory.emplace(M);
      Maker.makeFunctionEntry(*F, *Memory);
    }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
