// What a thread asks of the GPU: indices are arguments of its function, the rest are calls of the host's runtime.
#include "Analysis/Cooperates.h"
#include "Host/ThreadFunctions.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

static constexpr StringLiteral RegisterPrefix = "llvm.nvvm.read.ptx.sreg.";
static constexpr unsigned WarpSize = 32;
// Set in the number of a place at which lanes ask who is active, as host_runtime/cooperation.h has it, where they only
// wait for each other.
static constexpr unsigned MeetingPlace = 1u << 31;

static bool isMeeting(const CallInst &Active) {
  return all_of(Active.users(), [](const User *U) {
    auto *Call = dyn_cast<CallInst>(U);
    return Call && Call->getIntrinsicID() == Intrinsic::nvvm_bar_warp_sync;
  });
}

static bool isOfTheGpu(StringRef Name) { return Name.starts_with("llvm.nvvm.") || Name.starts_with(TogetherPrefix); }

// Whether a function that could not be inlined does what only the function of a thread can.
static bool usesTheGpu(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    auto *Call = dyn_cast<CallInst>(&I);
    return Call && Call->getCalledFunction() && isOfTheGpu(Call->getCalledFunction()->getName());
  });
}

SmallVector<BasicBlock *> ThreadFunctions::inOrder(Function &F) {
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

bool ThreadFunctions::replaceSpecials(Function &Thread, Function &F) {
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

Value *ThreadFunctions::special(CallInst &Call, StringRef Name, Function &Thread, unsigned First) {
  IRBuilder<> B(&Call);
  if (Name.starts_with("llvm.nvvm.membar") || Name.starts_with("llvm.nvvm.fence"))
    return B.CreateFence(AtomicOrdering::SequentiallyConsistent);
  if (Name.consume_front(RegisterPrefix))
    return registerValue(B, Name, Thread, First);
  Value *Caller = Thread.getArg(Thread.arg_size() - 1);
  if (Name.consume_front(TogetherPrefix))
    return Name.starts_with("gather_") || Name == "collect" ? gathered(B, Call, Name, Caller)
                                                            : participants(B, Call, Name, Caller);
  return together(B, Call, Name.drop_front(StringRef("llvm.nvvm.").size()), Caller);
}

Value *ThreadFunctions::registerValue(IRBuilder<> &B, StringRef Name, Function &Thread, unsigned First) {
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

Value *ThreadFunctions::assembly(CallInst &Call, Function &Thread, unsigned First) {
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

Value *ThreadFunctions::together(IRBuilder<> &B, CallInst &Call, StringRef Name, Value *Thread) {
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

Value *ThreadFunctions::gathered(IRBuilder<> &B, CallInst &Call, StringRef Name, Value *Thread) {
  Type *Word = B.getIntNTy(Call.getType()->getPrimitiveSizeInBits());
  Value *Given = B.CreateZExt(B.CreateBitCast(Call.getArgOperand(1), Word), B.getInt64Ty());
  Value *Result =
      warp(B, Name.str(), Thread, Call.getArgOperand(0), Given, Call.getArgOperand(2), Call.getArgOperand(3));
  return B.CreateBitCast(B.CreateTrunc(Result, Word), Call.getType());
}

Value *ThreadFunctions::participants(IRBuilder<> &B, CallInst &Call, StringRef Name, Value *Thread) {
  if (Name == "leave")
    return B.CreateCall(M.getOrInsertFunction("adgen_leave_forward", B.getVoidTy(), Pointer), Thread);
  return B.CreateTrunc(warp(B, Name.str(), Thread, Call.getArgOperand(0), B.getInt64(0)), Int32);
}

Value *ThreadFunctions::warp(IRBuilder<> &B, const std::string &Name, Value *Thread, Value *Mask, Value *Given,
                             Value *Offset, Value *Control) {
  FunctionCallee Callee =
      M.getOrInsertFunction("adgen_warp_" + Name, B.getInt64Ty(), Pointer, Int32, B.getInt64Ty(), Int32, Int32);
  CallInst *Call =
      B.CreateCall(Callee, {Thread, Mask, Given, Offset ? Offset : B.getInt32(0), Control ? Control : B.getInt32(0)});
  Call->setDoesNotThrow();
  return Call;
}

Value *ThreadFunctions::fromWarp(IRBuilder<> &B, Value *Result, Type *Wanted) {
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

Value *ThreadFunctions::barrier(IRBuilder<> &B, CallInst &Call, StringRef Name, Value *Thread) {
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

} // namespace adgen
