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
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

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
    FunctionCallee Run = M.getOrInsertFunction("adgen_run_function", Int32, Pointer, Int64, Int64, Pointer, Pointer);
    Function *Entry = createEntry(N.entry());
    B.SetInsertPoint(BasicBlock::Create(Context, "entry", Entry));
    B.CreateRet(B.CreateCall(Run, {Call, Accumulated, Overwritten, Entry->getArg(1), Entry->getArg(2)}));
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

<<<<<<< HEAD
  // A clone that takes the indices as its last arguments; null where something in it has no counterpart here. Where
  // threads work together, the very last argument is the runtime's handle of the thread.
  Function *makeThreadFunction(Function &F, bool Cooperates) {
    SmallVector<Type *> Types(F.getFunctionType()->params());
    Types.append(RegisterCount, Int32);
    if (Cooperates)
      Types.push_back(Pointer);
    auto *Thread = Function::Create(FunctionType::get(F.getReturnType(), Types, false), GlobalValue::ExternalLinkage,
                                    F.getName() + "_thread", &M);
    ValueToValueMapTy Map;
    for (Argument &A : F.args())
      Map[&A] = Thread->getArg(A.getArgNo());
    SmallVector<ReturnInst *> Returns;
    CloneFunctionInto(Thread, &F, Map, CloneFunctionChangeType::LocalChangesOnly, Returns);
    Thread->setLinkage(GlobalValue::InternalLinkage); // not before: cloning takes the original's visibility
    Thread->removeFnAttr(Attribute::NoInline);
    Thread->addFnAttr(Attribute::AlwaysInline);
    if (Cooperates)
      forgetAliasing(*Thread);
    tellArraysApart(*Thread, F);
    replaceTraps(*Thread);
    if (!replaceSpecials(*Thread, F)) {
      Thread->eraseFromParent();
      return nullptr;
    }
    return Thread;
  }

  // What one thread stores before a barrier another one reads behind it, through its own copy of a pointer that aliases
  // nothing.
  static void forgetAliasing(Function &Thread) {
    for (Argument &A : Thread.args())
      A.removeAttr(Attribute::NoAlias);
    for (Instruction &I : instructions(Thread)) {
      I.setMetadata(LLVMContext::MD_noalias, nullptr);
      I.setMetadata(LLVMContext::MD_alias_scope, nullptr);
    }
  }

  // Shared arrays and their shadows lie one behind the other, which is all that their addresses will show. Dynamic ones
  // begin at the same place.
  void tellArraysApart(Function &Thread, const Function &F) {
    SmallVector<StringRef> Names = sharedNames(F);
    unsigned Own = F.arg_size() - (namesOf(F).HasShadows ? 2 : 1) * Names.size();
    MDBuilder Builder(Context);
    MDNode *Domain = Builder.createAnonymousAliasScopeDomain("shared");
    DenseMap<const Value *, Metadata *> Scopes;
    Metadata *Dynamic[] = {nullptr, nullptr}; // the arrays, and their shadows
    for (unsigned I = Own; I < F.arg_size(); ++I) {
      bool IsShadow = I - Own >= Names.size();
      Metadata *&Known = Dynamic[IsShadow];
      bool IsDynamic = M.getNamedGlobal(Names[(I - Own) % Names.size()])->isDeclaration();
      Metadata *Scope = IsDynamic && Known ? Known : Builder.createAnonymousAliasScope(Domain);
      Scopes[Thread.getArg(I)] = Scope;
      if (IsDynamic)
        Known = Scope;
    }
    for (Instruction &I : instructions(Thread)) {
      const Value *At = isa<AtomicCmpXchgInst>(I) ? nullptr : accessedPointer(I);
      Metadata *Scope = At ? Scopes.lookup(getUnderlyingObject(At, 0)) : nullptr;
      if (!Scope)
        continue;
      SetVector<Metadata *> Others;
      for (unsigned J = Own; J < F.arg_size(); ++J)
        if (Metadata *Other = Scopes.lookup(Thread.getArg(J)); Other != Scope)
          Others.insert(Other);
      I.setMetadata(LLVMContext::MD_alias_scope,
                    MDNode::concatenate(I.getMetadata(LLVMContext::MD_alias_scope), MDNode::get(Context, Scope)));
      I.setMetadata(LLVMContext::MD_noalias, MDNode::concatenate(I.getMetadata(LLVMContext::MD_noalias),
                                                                 MDNode::get(Context, Others.getArrayRef())));
    }
  }

  // A failed assertion ends the thread and is reported when the call ends; on the host it must not end the process.
  void replaceTraps(Function &Thread) {
    SmallVector<CallInst *> Traps;
    for (BasicBlock &Block : Thread)
      for (Instruction &I : Block)
        if (auto *Call = dyn_cast<CallInst>(&I);
            Call && Call->getCalledFunction() && isTrap(*Call->getCalledFunction()))
          Traps.push_back(Call);
    for (CallInst *Call : Traps) {
      IRBuilder<> B(Call);
      if (Call->getIntrinsicID() == Intrinsic::trap)
        B.CreateCall(M.getOrInsertFunction("adgen_trapped", B.getVoidTy()));
      else
        B.CreateCall(M.getOrInsertFunction("adgen_assertion_failed", B.getVoidTy(), Pointer, Pointer, Int32),
                     {Call->getArgOperand(0), Call->getArgOperand(1), Call->getArgOperand(2)});
      BasicBlock *Block = Call->getParent();
      changeToUnreachable(Call);
      Block->getTerminator()->eraseFromParent();
      ReturnInst::Create(Context, Block);
    }
  }

  static bool isTrap(const Function &F) {
    return F.getName() == "__assertfail" || F.getIntrinsicID() == Intrinsic::trap;
  }

  // A block comes before those that it leads to, and all of a loop before what follows it.
  static SmallVector<BasicBlock *> inOrder(Function &F) {
    DominatorTree Tree(F);
    LoopInfo Loops(Tree);
    SmallVector<BasicBlock *> Order; // backwards
    SmallPtrSet<BasicBlock *, 32> Seen;
    SmallVector<std::pair<BasicBlock *, SmallVector<BasicBlock *>>> Path;
    auto Enter = [&](BasicBlock *Block) {
      SmallVector<BasicBlock *> Next(successors(Block));
      stable_sort(Next, [&](BasicBlock *A, BasicBlock *B) { return Loops.getLoopDepth(A) > Loops.getLoopDepth(B); });
      Seen.insert(Block);
      Path.emplace_back(Block, std::move(Next));
    };
    for (Enter(&F.getEntryBlock()); !Path.empty();) {
      SmallVector<BasicBlock *> &Left = Path.back().second;
      if (Left.empty())
        Order.push_back(Path.pop_back_val().first);
      else if (BasicBlock *Next = Left.pop_back_val(); !Seen.contains(Next))
        Enter(Next);
    }
    for (BasicBlock &Block : F)
      if (!Seen.contains(&Block))
        Order.push_back(&Block);
    return SmallVector<BasicBlock *>(reverse(Order));
  }

  bool replaceSpecials(Function &Thread, Function &F) {
    bool Complete = true;
    auto Stop = [&](CallInst &Call, const Twine &Reason) {
      refuse(&F, Call.getDebugLoc(), Reason.str(), "compile this kernel for the cuda target");
      Complete = false;
    };
    for (BasicBlock *Block : inOrder(Thread))
      for (Instruction &I : make_early_inc_range(*Block)) {
        auto *Call = dyn_cast<CallInst>(&I);
        if (!Call)
          continue;
        Function *Callee = Call->getCalledFunction();
        if (Callee && !Callee->isDeclaration() && usesTheGpu(*Callee))
          Stop(*Call, "on the openmp target a recursive function can't use thread indices, shared arrays or barriers");
        if (!Call->isInlineAsm() && !(Callee && isOfTheGpu(Callee->getName())))
          continue;
        Value *New = Call->isInlineAsm() ? assembly(*Call, Thread, F.arg_size())
                                         : special(*Call, Callee->getName(), Thread, F.arg_size());
        if (!New && Call->isInlineAsm())
          Stop(*Call, assemblyInWords(cast<InlineAsm>(Call->getCalledOperand())->getAsmString()) +
                          " of the GPU has no meaning on the openmp target");
        else if (!New)
          Stop(*Call, "the openmp target has no counterpart of " + Callee->getName());
        if (!New)
          continue;
        if (!Call->use_empty())
          Call->replaceAllUsesWith(New);
        Call->eraseFromParent();
      }
    return Complete;
  }

  Value *special(CallInst &Call, StringRef Name, Function &Thread, unsigned First) {
    IRBuilder<> B(&Call);
    if (Name.starts_with("llvm.nvvm.membar") || Name.starts_with("llvm.nvvm.fence"))
      return B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    if (Name.consume_front(RegisterPrefix))
      return registerValue(B, Name, Thread, First);
    Value *Caller = Thread.getArg(Thread.arg_size() - 1);
    if (Name.consume_front(TogetherPrefix))
      return Name.starts_with("gather_") ? gathered(B, Call, Name, Caller) : participants(B, Call, Name, Caller);
    return together(B, Call, Name.drop_front(StringRef("llvm.nvvm.").size()), Caller);
  }

  // The value of a register of PTX, or null; its name without dots or underscores in it also stands for that in
  // assembly.
  Value *registerValue(IRBuilder<> &B, StringRef Name, Function &Thread, unsigned First) {
    auto Register = [&](unsigned Index) { return Thread.getArg(First + Index); };
    for (auto [Index, Known] : enumerate(Registers))
      if (Name == Known)
        return Register(Index);
    if (Name == "dynamic_smem_size")
      return B.CreateCall(M.getOrInsertFunction("adgen_dynamic_bytes", Int32, Pointer),
                          Thread.getArg(Thread.arg_size() - 1));
    if (Name == "warpsize")
      return B.getInt32(WarpSize);
    if (Name == "clock")
      return B.CreateTrunc(B.CreateIntrinsic(Intrinsic::readcyclecounter, ArrayRef<Type *>(), ArrayRef<Value *>()),
                           B.getInt32Ty());
    if (Name == "clock64" || Name == "globaltimer")
      return B.CreateIntrinsic(Intrinsic::readcyclecounter, ArrayRef<Type *>(), ArrayRef<Value *>());
    Value *Row = B.CreateAdd(Register(1), B.CreateMul(Register(7), Register(2)));
    Value *Linear = B.CreateAdd(Register(0), B.CreateMul(Register(6), Row));
    Value *Lane = B.CreateAnd(Linear, WarpSize - 1);
    if (Name == "laneid")
      return Lane;
    if (Name == "warpid")
      return B.CreateLShr(Linear, 5);
    if (!Name.consume_front("lanemask") || Name.size() != 3)
      return nullptr;
    Value *Own = B.CreateShl(B.getInt32(1), Lane), *Below = B.CreateSub(Own, B.getInt32(1));
    return StringSwitch<Value *>(Name.drop_front())
        .Case("eq", Own)
        .Case("lt", Below)
        .Case("le", B.CreateOr(Below, Own))
        .Case("ge", B.CreateNot(Below))
        .Case("gt", B.CreateNot(B.CreateOr(Below, Own)))
        .Default(nullptr);
  }

  // Assembly in the headers of CUDA and cooperative groups: it reads a register, or pauses. Null for any other.
  Value *assembly(CallInst &Call, Function &Thread, unsigned First) {
    StringRef Text = cast<InlineAsm>(Call.getCalledOperand())->getAsmString();
    IRBuilder<> B(&Call);
    if (Text.trim().starts_with("nanosleep"))
      return B.CreateCall(M.getOrInsertFunction("adgen_pause", B.getVoidTy(), Pointer),
                          Thread.getArg(Thread.arg_size() - 1));
    if (Call.use_empty() && !cast<InlineAsm>(Call.getCalledOperand())->hasSideEffects())
      return PoisonValue::get(Call.getType());
    SmallVector<StringRef> Words;
    Text.trim().rtrim(';').split(Words, ' ', -1, /*KeepEmpty=*/false);
    if (Words.size() != 3 || !Words[0].starts_with("mov.u32") || Words[1] != "$0," || !Words[2].consume_front("%"))
      return nullptr;
    return registerValue(B, Words[2], Thread, First);
  }

  // Barriers, and what warps do: calls of the runtime (host_runtime/together.cpp); null where it has nothing for it.
  Value *together(IRBuilder<> &B, CallInst &Call, StringRef Name, Value *Thread) {
    if (Name == "nanosleep")
      return B.CreateCall(M.getOrInsertFunction("adgen_pause", B.getVoidTy(), Pointer), Thread);
    if (Name == "bar.warp.sync")
      return warp(B, "barrier", Thread, Call.getArgOperand(0), B.getInt64(0));
    if (Name == "activemask")
      return B.CreateTrunc(warp(B, "activemask", Thread, B.getInt32(0), B.getInt64(0),
                                B.getInt32(Places++ | (isMeeting(Call) ? MeetingPlace : 0))),
                           Int32);
    if (Name.consume_front("barrier.cta."))
      return barrier(B, Call, Name, Thread);
    SmallVector<StringRef> Parts;
    Name.split(Parts, '.');
    bool Known =
        Parts.size() >= 3 && (Parts[1] == "sync" ? is_contained({"shfl", "redux"}, Parts[0])
                                                 : Parts[2] == "sync" && is_contained({"vote", "match"}, Parts[0]));
    if (!Known)
      return nullptr;
    StringRef Kind = Parts[1] == "sync" ? Parts[2] : Parts[1];
    bool IsReduction = Parts[0] == "redux"; // alone has its mask last
    Value *Mask = Call.getArgOperand(IsReduction), *Given = Call.getArgOperand(!IsReduction);
    if (IsReduction && !Given->getType()->isIntegerTy())
      return nullptr;
    if (Given->getType()->isFloatTy())
      Given = B.CreateBitCast(Given, Int32);
    bool IsShuffle = Parts[0] == "shfl";
    Value *Result = warp(B, (Parts[0] + "_" + Kind).str(), Thread, Mask, B.CreateZExt(Given, B.getInt64Ty()),
                         IsShuffle ? Call.getArgOperand(2) : nullptr, IsShuffle ? Call.getArgOperand(3) : nullptr);
    return fromWarp(B, Result, Call.getType());
  }

  // The derivative of a shuffle (rules/shuffle.cu).
  Value *gathered(IRBuilder<> &B, CallInst &Call, StringRef Name, Value *Thread) {
    Type *Word = B.getIntNTy(Call.getType()->getPrimitiveSizeInBits());
    Value *Given = B.CreateZExt(B.CreateBitCast(Call.getArgOperand(1), Word), B.getInt64Ty());
    Value *Result =
        warp(B, Name.str(), Thread, Call.getArgOperand(0), Given, Call.getArgOperand(2), Call.getArgOperand(3));
    return B.CreateBitCast(B.CreateTrunc(Result, Word), Call.getType());
  }

  // Which lanes have not come to the end of the forward sweep; or that the own one has.
  Value *participants(IRBuilder<> &B, CallInst &Call, StringRef Name, Value *Thread) {
    if (Name == "leave")
      return B.CreateCall(M.getOrInsertFunction("adgen_leave_forward", B.getVoidTy(), Pointer), Thread);
    return B.CreateTrunc(warp(B, Name.str(), Thread, Call.getArgOperand(0), B.getInt64(0)), Int32);
  }

  Value *warp(IRBuilder<> &B, const std::string &Name, Value *Thread, Value *Mask, Value *Given,
              Value *Offset = nullptr, Value *Control = nullptr) {
    FunctionCallee Callee =
        M.getOrInsertFunction("adgen_warp_" + Name, B.getInt64Ty(), Pointer, Int32, B.getInt64Ty(), Int32, Int32);
    CallInst *Call =
        B.CreateCall(Callee, {Thread, Mask, Given, Offset ? Offset : B.getInt32(0), Control ? Control : B.getInt32(0)});
    Call->setDoesNotThrow();
    return Call;
  }

  // What the runtime packs in 64 bits, as the intrinsic gives it: an integer, the bits of a float, or one of these and
  // a predicate.
  Value *fromWarp(IRBuilder<> &B, Value *Result, Type *Wanted) {
    auto *Pair = dyn_cast<StructType>(Wanted);
    Type *First = Pair ? Pair->getElementType(0) : Wanted;
    Value *Plain = B.CreateTrunc(Result, First->isIntegerTy() ? First : Int32);
    if (First->isFloatTy())
      Plain = B.CreateBitCast(Plain, First);
    if (!Pair)
      return Plain;
    Value *Predicate = B.CreateTrunc(B.CreateLShr(Result, 32), B.getInt1Ty());
    return B.CreateInsertValue(B.CreateInsertValue(PoisonValue::get(Pair), Plain, 0), Predicate, 1);
  }

  // sync, arrive or red.and/or/popc; then "all" or "count". The operands are the barrier, the threads expected, the
  // predicate.
  Value *barrier(IRBuilder<> &B, CallInst &Call, StringRef Name, Value *Thread) {
    SmallVector<Value *> Arguments{Thread, Call.getArgOperand(0), B.getInt32(0)};
    if (Name.ends_with(".count"))
      Arguments[2] = Call.getArgOperand(1);
    bool Counts = Name.consume_front("red.");
    StringRef Kind = Name.split('.').first;
    if (!is_contained({"sync", "arrive", "popc", "and", "or"}, Kind))
      return nullptr;
    std::string Callee = Kind == "sync" ? "adgen_barrier" : ("adgen_barrier_" + Kind).str();
    if (!Counts) {
      CallInst *New = B.CreateCall(M.getOrInsertFunction(Callee, B.getVoidTy(), Pointer, Int32, Int32), Arguments);
      New->setDoesNotThrow();
      return New;
    }
    Arguments.push_back(B.CreateZExt(Call.getArgOperand(Call.arg_size() - 1), Int32));
    CallInst *New = B.CreateCall(M.getOrInsertFunction(Callee, Int32, Pointer, Int32, Int32, Int32), Arguments);
    New->setDoesNotThrow();
    return Call.getType() == Int32 ? New : B.CreateICmpNE(New, B.getInt32(0));
  }

  // The threads of a block, which run one after the other, take the cotangents of elements that no other block stores
  // to.
  static void takeInTurn(Function &Thread) {
    for (BasicBlock &Block : Thread)
      for (Instruction &I : make_early_inc_range(Block))
        if (I.hasMetadata(BlocksOwnMark)) {
          IRBuilder<> B(&I);
          I.replaceAllUsesWith(takePlainly(B, cast<AtomicRMWInst>(I), I.getOperand(0)));
          I.eraseFromParent();
        }
  }

  static bool hasAtomics(const Function &F) {
    for (const BasicBlock &Block : F)
      for (const Instruction &I : Block)
        if (isa<AtomicRMWInst>(I))
          return true;
    return false;
  }

  Function *withoutAtomics(Function &Thread) {
    ValueToValueMapTy Map;
    Function *Alone = CloneFunction(&Thread, Map);
    Alone->setLinkage(GlobalValue::InternalLinkage);
    Alone->setName(Thread.getName() + "_alone");
    for (BasicBlock &Block : *Alone)
      for (Instruction &I : make_early_inc_range(Block))
        if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
          asAccumulation(I) ? addPlainly(*Atomic) : lower(*Atomic);
    return Alone;
  }

  static void lower(AtomicRMWInst &Atomic) {
    AtomicRMWInst::BinOp Op = Atomic.getOperation();
    if (Op != AtomicRMWInst::FAdd && Op != AtomicRMWInst::Add)
      return;
    IRBuilder<> B(&Atomic);
    Value *Old = B.CreateAlignedLoad(Atomic.getType(), Atomic.getPointerOperand(), Atomic.getAlign());
    Value *New = Op == AtomicRMWInst::FAdd ? B.CreateFAdd(Old, Atomic.getValOperand())
                                           : B.CreateAdd(Old, Atomic.getValOperand());
    B.CreateAlignedStore(New, Atomic.getPointerOperand(), Atomic.getAlign());
    Atomic.replaceAllUsesWith(Old);
    Atomic.eraseFromParent();
  }

  // Argument I of F, from the array of pointers to values; a struct is passed by its address.
  Value *loadArgument(IRBuilder<> &B, Function &F, unsigned I, Value *Arguments) {
    Value *Slot = B.CreateConstInBoundsGEP1_64(Pointer, Arguments, I);
    Value *Address = B.CreateLoad(Pointer, Slot);
    return isStructByValue(F, I) ? Address : B.CreateLoad(F.getArg(I)->getType(), Address);
  }

  // Also the shadows of structs that hold pointers are structs by value.
  bool isStructByValue(const Function &F, unsigned I) const { return structSize(F, I) != 0; }

  uint64_t structSize(const Function &F, unsigned I) const {
    SmallVector<Activity> Activities = activitiesOf(F);
    if (Activities.empty() || I < Activities.size())
      return structBytes(F, I);
    unsigned Shadow = Activities.size();
    for (auto [Index, A] : enumerate(Activities))
      if (A != Activity::Const && Shadow++ == I)
        return A == Activity::Duplicated ? structBytes(F, Index) : 0;
    return 0;
  }

  // Where in shared memory the arrays of an entry lie.
  struct SharedLayout {
    SmallVector<uint64_t> Offsets; // of each array
    uint64_t Bytes = 0;            // of the static ones
  };

  SharedLayout sharedLayout(const Function &F) const {
    SharedLayout Layout;
    SmallVector<GlobalVariable *> Arrays;
    for (StringRef Name : sharedNames(F))
      Arrays.push_back(M.getNamedGlobal(Name));
    for (GlobalVariable *Array : Arrays) {
      Layout.Bytes = alignTo(Layout.Bytes, std::max(Array->getAlign().valueOrOne(), Align(16)));
      Layout.Offsets.push_back(Layout.Bytes);
      if (!Array->isDeclaration())
        Layout.Bytes += M.getDataLayout().getTypeAllocSize(Array->getValueType());
    }
    for (auto [Offset, Array] : zip(Layout.Offsets, Arrays))
      if (!Array->isDeclaration())
        Array->setLinkage(GlobalValue::InternalLinkage); // MakeBodies kept it
      else
        Offset = alignTo(Layout.Bytes, SharedAlignment);
    return Layout;
  }

  // What the function of one thread takes before the indices: the arguments of the call, and the shared arrays.
  struct ThreadArguments {
    SmallVector<Value *> Values;
    SmallVector<std::pair<unsigned, Value *>> Copies; // structs, of which each thread has its own copy: the originals
  };

  // `Shared` gives the beginning of shared memory, where there are shared arrays.
  ThreadArguments loadArguments(IRBuilder<> &B, Function &F, Value *Launch, Value *Arguments,
                                function_ref<Value *()> Shared) {
    ThreadArguments Loaded;
    bool HasShadows = namesOf(F).HasShadows;
    SharedLayout Layout = sharedLayout(F);
    unsigned Own = F.arg_size() - (HasShadows ? 2 : 1) * Layout.Offsets.size();
    for (unsigned I = 0; I < Own; ++I) {
      Value *V = loadArgument(B, F, I, Arguments);
      if (isStructByValue(F, I)) {
        Loaded.Copies.push_back({I, V});
        V = createCopy(B, structSize(F, I));
      }
      Loaded.Values.push_back(V);
    }
    if (Layout.Offsets.empty())
      return Loaded;
    auto Place = [&](Value *Begin) {
      for (uint64_t Offset : Layout.Offsets)
        Loaded.Values.push_back(B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Begin, Offset));
    };
    Value *Begin = Shared();
    Place(Begin);
    if (HasShadows)
      Place(B.CreateInBoundsGEP(B.getInt8Ty(), Begin, sharedBytes(B, Launch, Layout)));
    return Loaded;
  }

  // Once for a function, also where it is taken in a loop.
  static Value *createCopy(IRBuilder<> &B, uint64_t Bytes) {
    BasicBlock &Entry = B.GetInsertBlock()->getParent()->getEntryBlock();
    auto *Copy = IRBuilder<>(&Entry, Entry.getFirstInsertionPt()).CreateAlloca(ArrayType::get(B.getInt8Ty(), Bytes));
    Copy->setAlignment(Align(16));
    return Copy;
  }

  // Of static and dynamic arrays, as the runtime pads them.
  Value *sharedBytes(IRBuilder<> &B, Value *Launch, const SharedLayout &Layout) {
    Value *Dynamic = B.CreateLoad(B.getInt64Ty(), B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Launch, 24));
    Value *Up = B.CreateAdd(Dynamic, B.getInt64(SharedAlignment.value() - 1));
    Value *Padded = B.CreateAnd(Up, B.getInt64(~(SharedAlignment.value() - 1)));
    return B.CreateAdd(Padded, B.getInt64(alignTo(Layout.Bytes, SharedAlignment)));
  }

  void copyStructs(IRBuilder<> &B, Function &F, const ThreadArguments &Loaded) {
    for (auto &[Index, Original] : Loaded.Copies)
      B.CreateMemCpy(Loaded.Values[Index], Align(16), Original, Align(1), structSize(F, Index));
  }

  SmallVector<Value *> loadExtents(IRBuilder<> &B, Value *Launch) { // block x y z, grid x y z
    SmallVector<Value *> Extents;
    for (unsigned I : {3, 4, 5, 0, 1, 2})
      Extents.push_back(B.CreateLoad(Int32, B.CreateConstInBoundsGEP1_64(Int32, Launch, I)));
    return Extents;
  }

=======
>>>>>>> main
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
                           makeFootprint(Thread, F, Shadows, FAM.getResult<ScalarEvolutionAnalysis>(Thread))};
    Constant *Value = ConstantStruct::getAnon(Context, Members);
    return new GlobalVariable(M, Value->getType(), true, GlobalValue::InternalLinkage, Value,
                              (N.entry() + CooperativeSuffix).str());
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
