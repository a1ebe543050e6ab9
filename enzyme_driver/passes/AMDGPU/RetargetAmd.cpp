// Turns the GPU's final IR, kernels included, into IR of an AMD GPU, whose triple and data layout the option names
// ("triple;layout"). A warp of 32 threads is half of a wavefront of 64: what its lanes do together is done within each
// half. What has no counterpart is refused by name.
#include "Support/Pass.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned GlobalSpace = 1, ConstantSpace = 4, PrivateSpace = 5;
constexpr unsigned WarpLanes = 32;
constexpr StringLiteral CounterName = "adgen_barrier_counter";
// Where a kernel finds the extents of its launch behind its arguments (code object 5 and later): three words, then
// three half words, and more.
constexpr unsigned GridOffset = 0, BlockOffset = 12, DynamicSharedOffset = 120;

constexpr unsigned UsualProcessors = 256; // of a GPU

// One call of an intrinsic of NVVM as AMD's instructions.
class Lowering {
public:
  explicit Lowering(CallInst &Call) : Call(Call), B(&Call), Name(Call.getCalledFunction()->getName()) {
    Name.consume_front("llvm.nvvm.");
  }

  // What stands for the result, the call itself where it has none; null where there is no counterpart.
  Value *lowered() {
    if (StringRef Register = Name; Register.consume_front("read.ptx.sreg."))
      return specialRegister(Register);
    if (StringRef Kind = Name; Kind.consume_front("shfl.sync."))
      return shuffle(Kind);
    if (StringRef Kind = Name; Kind.consume_front("vote."))
      return vote(Kind);
    if (Name == "match.all.sync.i32p" || Name == "match.all.sync.i64p")
      return matchAll();
    if (Name == "match.any.sync.i32" || Name == "match.any.sync.i64")
      return matchAny();
    if (StringRef Kind = Name; Kind.consume_front("barrier.cta.red.") && Kind.consume_back(".aligned.all"))
      return isBlockBarrier(Call.getArgOperand(0)) ? countedBarrier(Kind) : nullptr;
    if (Name == "activemask")
      return ofHalf(ballot(B.getTrue()));
    return order();
  }

private:
  Value *specialRegister(StringRef Register) {
    static constexpr Intrinsic::ID Thread[] = {Intrinsic::amdgcn_workitem_id_x, Intrinsic::amdgcn_workitem_id_y,
                                               Intrinsic::amdgcn_workitem_id_z};
    static constexpr Intrinsic::ID Block[] = {Intrinsic::amdgcn_workgroup_id_x, Intrinsic::amdgcn_workgroup_id_y,
                                              Intrinsic::amdgcn_workgroup_id_z};
    auto [Kind, Axis] = Register.split('.');
    unsigned Along = Axis.empty() ? 0 : Axis[0] - 'x';
    if (Kind == "tid")
      return make(Thread[Along]);
    if (Kind == "ctaid")
      return make(Block[Along]);
    if (Kind == "nctaid")
      return ofLaunch(GridOffset + 4 * Along, B.getInt32Ty());
    if (Kind == "ntid")
      return B.CreateZExt(ofLaunch(BlockOffset + 2 * Along, B.getInt16Ty()), B.getInt32Ty());
    if (Kind == "dynamic_smem_size")
      return ofLaunch(DynamicSharedOffset, B.getInt32Ty());
    if (Kind == "laneid")
      return laneInWarp();
    if (Kind == "nsmid") // how many blocks walk, which no result depends on
      return B.getInt32(UsualProcessors);
    if (Kind == "warpsize")
      return B.getInt32(WarpLanes);
    if (Kind == "clock64" || Kind == "clock")
      return B.CreateTrunc(make(Intrinsic::readcyclecounter), Call.getType());
    return nullptr;
  }

  Value *make(Intrinsic::ID Id, ArrayRef<Value *> Operands = {}, ArrayRef<Type *> Overloads = {}) {
    return B.CreateIntrinsic(Id, Overloads, Operands);
  }

  Value *ofLaunch(unsigned Offset, Type *T) {
    Value *Launch = make(Intrinsic::amdgcn_implicitarg_ptr);
    auto *Load = B.CreateAlignedLoad(T, B.CreateConstInBoundsGEP1_32(B.getInt8Ty(), Launch, Offset), Align(2));
    Load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(B.getContext(), {}));
    return Load;
  }

  Value *lane() {
    Value *All = B.getInt32(-1);
    Value *Low = make(Intrinsic::amdgcn_mbcnt_lo, {All, B.getInt32(0)});
    return make(Intrinsic::amdgcn_mbcnt_hi, {All, Low});
  }
  Value *laneInWarp() { return B.CreateAnd(lane(), WarpLanes - 1); }
  Value *firstOfWarp() { return B.CreateAnd(lane(), WarpLanes); }
  Value *ballot(Value *Says) { return make(Intrinsic::amdgcn_ballot, Says, B.getInt64Ty()); }
  Value *ofHalf(Value *Ballot) {
    return B.CreateTrunc(B.CreateLShr(Ballot, B.CreateZExt(firstOfWarp(), B.getInt64Ty())), B.getInt32Ty());
  }

  // What a value of 32 or 64 bits is in a lane of the same warp.
  Value *from(Value *Lane, Value *V) {
    if (V->getType()->isIntegerTy(64)) {
      auto Half = [&](unsigned Shift) {
        return B.CreateZExt(from(Lane, B.CreateTrunc(B.CreateLShr(V, Shift), B.getInt32Ty())), V->getType());
      };
      Value *Low = Half(0);
      return B.CreateOr(Low, B.CreateShl(Half(32), 32));
    }
    Value *Address = B.CreateShl(B.CreateOr(firstOfWarp(), Lane), 2);
    Value *Bits = B.CreateBitCast(V, B.getInt32Ty());
    return B.CreateBitCast(make(Intrinsic::amdgcn_ds_bpermute, {Address, Bits}), V->getType());
  }

  // Operands: mask, value, lane or distance, and how the warp is divided (as PTX describes shfl.sync).
  Value *shuffle(StringRef Kind) {
    auto [Mode, Form] = Kind.split('.');
    Value *V = Call.getArgOperand(1), *By = B.CreateAnd(Call.getArgOperand(2), WarpLanes - 1);
    Value *Segments = B.CreateAnd(B.CreateLShr(Call.getArgOperand(3), 8), WarpLanes - 1);
    Value *Clamp = B.CreateAnd(Call.getArgOperand(3), WarpLanes - 1);
    Value *Lane = laneInWarp(), *Inside = B.CreateNot(Segments);
    Value *First = B.CreateAnd(Lane, Segments), *Last = B.CreateOr(First, B.CreateAnd(Clamp, Inside));
    Value *Source = Mode == "up"     ? B.CreateSub(Lane, By)
                    : Mode == "down" ? B.CreateAdd(Lane, By)
                    : Mode == "bfly" ? B.CreateXor(Lane, By)
                                     : B.CreateOr(First, B.CreateAnd(By, Inside));
    Value *Valid = Mode == "up" ? B.CreateICmpSGE(Source, Last) : B.CreateICmpSLE(Source, Last);
    Value *Found = from(B.CreateSelect(Valid, Source, Lane), V);
    return Form.ends_with("p") ? pair(Found, Valid) : Found;
  }

  Value *vote(StringRef Kind) {
    bool Sync = Kind.consume_back(".sync");
    Value *Mask = Sync ? Call.getArgOperand(0) : B.getInt32(-1);
    Value *Ayes = B.CreateAnd(ofHalf(ballot(Call.getArgOperand(Sync ? 1 : 0))), Mask);
    if (Kind == "ballot")
      return Ayes;
    if (Kind == "any")
      return B.CreateICmpNE(Ayes, B.getInt32(0));
    if (Kind == "all")
      return B.CreateICmpEQ(Ayes, B.CreateAnd(ofHalf(ballot(B.getTrue())), Mask));
    return nullptr;
  }

  Value *matchAll() {
    Value *Mask = Call.getArgOperand(0), *V = Call.getArgOperand(1);
    Value *First = from(B.CreateBinaryIntrinsic(Intrinsic::cttz, Mask, B.getTrue()), V);
    Value *Same = B.CreateAnd(ofHalf(ballot(B.CreateICmpEQ(V, First))), Mask);
    Value *All = B.CreateICmpEQ(Same, Mask);
    return pair(B.CreateSelect(All, Mask, B.getInt32(0)), All);
  }

  // A bit for each lane of the half that has the same value.
  Value *matchAny() {
    Value *Mask = Call.getArgOperand(0), *V = Call.getArgOperand(1), *Alike = B.getInt32(0);
    for (unsigned Other = 0; Other < WarpLanes; ++Other) {
      Value *Same = B.CreateZExt(B.CreateICmpEQ(V, from(B.getInt32(Other), V)), B.getInt32Ty());
      Alike = B.CreateOr(Alike, B.CreateShl(Same, Other));
    }
    return B.CreateAnd(Alike, Mask);
  }

  Value *pair(Value *First, Value *Second) {
    Value *Empty = PoisonValue::get(Call.getType());
    return B.CreateInsertValue(B.CreateInsertValue(Empty, First, 0), Second, 1);
  }

  // Barriers of all threads of a block, of a warp, and fences.
  Value *order() {
    if (is_contained({"barrier.cta.sync.aligned.all", "barrier.cta.sync.all", "barrier0", "barrier.sync"}, Name)) {
      bool WholeBlock = !Call.arg_size() || isBlockBarrier(Call.getArgOperand(0));
      return WholeBlock ? barrier() : nullptr;
    }
    if (Name == "bar.warp.sync") {
      fence(AtomicOrdering::Release, "wavefront");
      make(Intrinsic::amdgcn_wave_barrier);
      return fence(AtomicOrdering::Acquire, "wavefront");
    }
    StringRef Scope = StringSwitch<StringRef>(Name)
                          .Case("membar.cta", "workgroup")
                          .Case("membar.gl", "agent")
                          .Case("membar.sys", "")
                          .Default("none");
    return Scope == "none" ? nullptr : fence(AtomicOrdering::SequentiallyConsistent, Scope);
  }

  Value *barrier() {
    fence(AtomicOrdering::Release, "workgroup");
    make(Intrinsic::amdgcn_s_barrier);
    return fence(AtomicOrdering::Acquire, "workgroup");
  }

  // A barrier that counts the threads for which something holds ("popc"), or says whether it holds for all or for any.
  Value *countedBarrier(StringRef Kind) {
    Value *Holds = Call.getArgOperand(1), *Counter = counter();
    Value *Counted = Kind == "and" ? B.CreateNot(Holds) : Holds;
    B.CreateAlignedStore(B.getInt32(0), Counter, Align(4));
    barrier();
    B.CreateAtomicRMW(AtomicRMWInst::Add, Counter, B.CreateZExt(Counted, B.getInt32Ty()), Align(4),
                      AtomicOrdering::Monotonic, B.getContext().getOrInsertSyncScopeID("workgroup"));
    barrier();
    Value *Count = B.CreateAlignedLoad(B.getInt32Ty(), Counter, Align(4));
    barrier();
    if (Kind == "popc")
      return Count;
    return Kind == "and" ? B.CreateICmpEQ(Count, B.getInt32(0)) : B.CreateICmpNE(Count, B.getInt32(0));
  }

  // In shared memory, the same for all such barriers.
  Value *counter() {
    Module &M = *Call.getModule();
    if (GlobalVariable *Known = M.getNamedGlobal(CounterName))
      return Known;
    return new GlobalVariable(M, B.getInt32Ty(), false, GlobalValue::InternalLinkage, PoisonValue::get(B.getInt32Ty()),
                              CounterName, nullptr, GlobalValue::NotThreadLocal, SharedSpace);
  }

  static bool isBlockBarrier(Value *Barrier) {
    auto *Number = dyn_cast<ConstantInt>(Barrier);
    return Number && Number->isZero();
  }

  Value *fence(AtomicOrdering Ordering, StringRef Scope) {
    return B.CreateFence(Ordering, B.getContext().getOrInsertSyncScopeID(Scope));
  }

  CallInst &Call;
  IRBuilder<> B;
  StringRef Name;
};

// Libdevice's arithmetic in 128 bits, which it writes as assembly: results and operands are pairs of words of 64 bits,
// low ones first.
Value *wideArithmetic(CallInst &Call, StringRef Text) {
  IRBuilder<> B(&Call);
  auto Wide = [&](unsigned I) { return B.CreateZExt(Call.getArgOperand(I), B.getInt128Ty()); };
  auto Pair = [&](unsigned I) { return B.CreateOr(Wide(I), B.CreateShl(Wide(I + 1), 64)); };
  Value *Result = nullptr;
  if (Text.contains("add.cc.u32      r0, a0, b0;") && Call.arg_size() == 4)
    Result = B.CreateAdd(Pair(0), Pair(2));
  else if (Text.contains("sub.cc.u32      r0, a0, b0;") && Call.arg_size() == 4)
    Result = B.CreateSub(Pair(0), Pair(2));
  else if (Text.contains("mad.lo.cc.u32   r0, alo, blo, clo;") && Call.arg_size() == 3)
    Result = B.CreateAdd(B.CreateMul(Wide(0), Wide(1)), Wide(2));
  else if (Text.contains("mul.lo.u32      r0, alo, blo;") && Call.arg_size() == 2)
    Result = B.CreateMul(Wide(0), Wide(1));
  if (!Result)
    return nullptr;
  Value *Low = B.CreateTrunc(Result, B.getInt64Ty()), *High = B.CreateTrunc(B.CreateLShr(Result, 64), B.getInt64Ty());
  return B.CreateInsertValue(B.CreateInsertValue(PoisonValue::get(Call.getType()), Low, 0), High, 1);
}

void replaceAssembly(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<CallInst>(&I);
    if (!Call || !Call->isInlineAsm())
      continue;
    StringRef Text = cast<InlineAsm>(Call->getCalledOperand())->getAsmString();
    if (Value *New = Text == "exit;" ? IRBuilder<>(Call).CreateIntrinsic(Intrinsic::amdgcn_endpgm, {})
                                     : wideArithmetic(*Call, Text)) {
      Call->replaceAllUsesWith(New);
      Call->eraseFromParent();
    }
  }
}

StringRef hintFor(StringRef Name) {
  if (Name == "malloc" || Name == "free")
    return "compile with the tape, or give the loop a number of iterations that is known before it";
  if (Name.starts_with("llvm.nvvm."))
    return "leave this kernel to NVIDIA GPUs";
  return "define the function in the file, or avoid it";
}

void refuseLeftOvers(Module &M) {
  for (Function &F : M) {
    bool Known = F.isIntrinsic() && !F.getName().starts_with("llvm.nvvm.");
    if (!F.isDeclaration() || F.use_empty() || Known)
      continue;
    const auto *Use = dyn_cast<Instruction>(*F.user_begin());
    refuse(nullptr, Use ? Use->getDebugLoc() : DebugLoc(),
           ("an AMD GPU has no counterpart of '" + F.getName() + "'").str(), hintFor(F.getName()));
  }
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->isInlineAsm())
        refuse(nullptr, I.getDebugLoc(), "inline assembly of NVIDIA GPUs is in it", "write it in C++");
}

void lowerIntrinsics(Module &M) {
  for (Function &F : make_early_inc_range(M)) {
    if (!F.getName().starts_with("llvm.nvvm."))
      continue;
    for (User *U : make_early_inc_range(F.users())) {
      auto *Call = cast<CallInst>(U);
      Value *Lowered = Lowering(*Call).lowered();
      if (!Lowered)
        continue;
      if (!Call->getType()->isVoidTy())
        Call->replaceAllUsesWith(Lowered);
      Call->eraseFromParent();
    }
    if (F.use_empty())
      F.eraseFromParent();
  }
}

// A failed assertion ends the wavefront; there is nobody to print for.
void replaceAssertions(Module &M) {
  Function *Fail = M.getFunction("__assertfail");
  if (!Fail)
    return;
  for (User *U : make_early_inc_range(Fail->users())) {
    auto *Call = cast<CallInst>(U);
    IRBuilder<>(Call).CreateCall(Intrinsic::getOrInsertDeclaration(&M, Intrinsic::trap));
    Call->eraseFromParent();
  }
  Fail->eraseFromParent();
}

// Local variables lie in an address space of their own.
void movePrivate(Function &F) {
  SmallVector<AllocaInst *> Variables;
  SmallVector<Instruction *> Lifetimes;
  for (Instruction &I : instructions(F)) {
    if (auto *Variable = dyn_cast<AllocaInst>(&I); Variable && Variable->getAddressSpace() != PrivateSpace)
      Variables.push_back(Variable);
    if (I.isLifetimeStartOrEnd())
      Lifetimes.push_back(&I);
  }
  for (Instruction *I : Lifetimes)
    I->eraseFromParent();
  for (AllocaInst *Old : Variables) {
    IRBuilder<> B(Old);
    auto *New = B.CreateAlloca(Old->getAllocatedType(), PrivateSpace, Old->getArraySize());
    New->setAlignment(Old->getAlign());
    Old->replaceAllUsesWith(B.CreateAddrSpaceCast(New, Old->getType()));
    New->takeName(Old);
    Old->eraseFromParent();
  }
}

// Scopes of atomic operations and fences by AMD's names.
void renameScopes(Function &F) {
  LLVMContext &Context = F.getContext();
  SmallVector<StringRef> Names;
  Context.getSyncScopeNames(Names);
  for (Instruction &I : instructions(F)) {
    std::optional<SyncScope::ID> Id = getAtomicSyncScopeID(&I);
    if (!Id)
      continue;
    StringRef Scope = StringSwitch<StringRef>(Names[*Id])
                          .Case("block", "workgroup")
                          .Cases({"cluster", "device"}, "agent")
                          .Default("");
    if (!Scope.empty())
      setAtomicSyncScopeID(&I, Context.getOrInsertSyncScopeID(Scope));
  }
}

// A kernel's pointers lead to global memory, and structs by value lie in constant memory, from where each thread copies
// them.
void makeAmdKernel(Function &Old) {
  Module &M = *Old.getParent();
  LLVMContext &Context = M.getContext();
  SmallVector<Type *> Types;
  for (Argument &A : Old.args())
    Types.push_back(!A.getType()->isPointerTy()
                        ? A.getType()
                        : PointerType::get(Context, A.hasByValAttr() ? ConstantSpace : GlobalSpace));
  auto *New = Function::Create(FunctionType::get(Old.getReturnType(), Types, false), Old.getLinkage());
  M.getFunctionList().insert(Old.getIterator(), New);
  New->takeName(&Old);
  New->setCallingConv(CallingConv::AMDGPU_KERNEL);
  New->splice(New->begin(), &Old);
  IRBuilder<> B(&*New->getEntryBlock().getFirstInsertionPt());
  for (auto [Was, Is] : zip(Old.args(), New->args())) {
    Value *Stand = &Is;
    Is.takeName(&Was);
    if (Was.hasByValAttr()) {
      Type *Struct = Was.getParamByValType();
      Align Alignment = Was.getParamAlign().valueOrOne();
      Is.addAttr(Attribute::getWithByRefType(Context, Struct));
      Is.addAttr(Attribute::getWithAlignment(Context, Alignment));
      auto *Copy = B.CreateAlloca(Struct, PrivateSpace);
      Copy->setAlignment(Alignment);
      B.CreateMemCpy(Copy, Alignment, &Is, Alignment, M.getDataLayout().getTypeAllocSize(Struct));
      Stand = B.CreateAddrSpaceCast(Copy, Was.getType());
    } else if (Was.getType()->isPointerTy()) {
      for (Attribute::AttrKind Kind :
           {Attribute::NoAlias, Attribute::ReadOnly, Attribute::WriteOnly, Attribute::ReadNone})
        if (Was.hasAttribute(Kind))
          Is.addAttr(Kind);
      Stand = B.CreateAddrSpaceCast(&Is, Was.getType());
    }
    Was.replaceAllUsesWith(Stand);
  }
  New->addFnAttr("uniform-work-group-size", "true");
  New->addFnAttr("amdgpu-flat-work-group-size", "1,1024");
  Old.eraseFromParent();
}

void dropNvidiaAttributes(Function &F) {
  for (StringRef Name : {"target-cpu", "target-features", "nvvm.maxntid", "nvvm.minctasm", "nvvm.blocksareclusters"})
    F.removeFnAttr(Name);
}

// Shared memory holds nothing at first; an array of dynamic size keeps no size at all.
void settleGlobals(Module &M) {
  for (GlobalVariable &Global : M.globals())
    if (Global.getAddressSpace() == SharedSpace && Global.hasInitializer())
      Global.setInitializer(PoisonValue::get(Global.getValueType()));
}

void dropMetadata(Module &M) {
  for (StringRef Name : {"nvvm.annotations", "nvvmir.version", "llvm.ident"})
    if (NamedMDNode *Node = M.getNamedMetadata(Name))
      Node->eraseFromParent();
}

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(RetargetAmd);

PreservedAnalyses RetargetAmd::run(Module &M, ModuleAnalysisManager &) {
  auto [Triple, Layout] = StringRef(Option).split(';');
  replaceAssertions(M);
  M.setTargetTriple(llvm::Triple(Triple));
  M.setDataLayout(Layout);
  lowerIntrinsics(M);
  if (GlobalVariable *Lockstep = M.getGlobalVariable("adgen_lanes_lockstep")) // rules/barrier.cu
    Lockstep->setInitializer(ConstantInt::get(Lockstep->getValueType(), 1));
  for (Function &F : make_early_inc_range(M)) {
    dropNvidiaAttributes(F);
    if (F.isDeclaration())
      continue;
    replaceAssembly(F);
    movePrivate(F);
    renameScopes(F);
    if (isKernel(F))
      makeAmdKernel(F);
  }
  settleGlobals(M);
  dropMetadata(M);
  refuseLeftOvers(M);
  if (GlobalVariable *Waits = M.getGlobalVariable("adgen_waits_begun", /*AllowInternal=*/true);
      Waits && !Waits->use_empty()) // rules/barrier.cu
    refuse(nullptr, DebugLoc(),
           "lanes of an AMD GPU cannot wait at different barriers, as where threads return before one",
           "let all threads of the block come to every barrier: instead of returning, let them do nothing");
  return PreservedAnalyses::none();
}

} // namespace adgen
