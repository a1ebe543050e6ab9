// Writes the distribution of a loop over the threads as arithmetic on the thread's number. Static schedules are as the
// runtime's. Those that hand out chunks while the loop runs (dynamic, guided) deal larger chunks round, so that work
// that grows or shrinks along the loop stays balanced; auto and runtime give one chunk to a thread, and a loop with an
// ordered part runs on one thread. A correct program gives the same either way, and the reverse sweep has to meet the
// iterations of the forward sweep.
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace adgen {
namespace {

// kmp.h: sched_type, without the bits that say whether chunks come in order.
enum Schedule { StaticChunked = 33, Static = 34, Dynamic = 35, Guided = 36, Ordered = 64, Modifiers = 3 << 29 };
constexpr unsigned RoundsWanted = 16; // of chunks that a thread gets where they were to be handed out

constexpr StringLiteral Widths[] = {"4", "4u", "8", "8u"};

// Arithmetic on a loop's numbers, in 64 bits.
struct Numbers {
  IRBuilder<> &B;
  bool Signed;

  Value *widen(Value *V) { return Signed ? B.CreateSExt(V, B.getInt64Ty()) : B.CreateZExt(V, B.getInt64Ty()); }
  Value *thread() { return B.CreateZExt(threadNumber(B), B.getInt64Ty()); }
  Value *threads() { return B.CreateZExt(threadCount(B), B.getInt64Ty()); }
  Value *atMost(Value *X, Value *Limit) { return B.CreateBinaryIntrinsic(Intrinsic::smin, X, Limit); }
  Value *atLeast(Value *X, Value *Limit) { return B.CreateBinaryIntrinsic(Intrinsic::smax, X, Limit); }
  // For numbers that are not negative.
  Value *ratioUp(Value *X, Value *Y) { return B.CreateUDiv(B.CreateAdd(X, B.CreateSub(Y, B.getInt64(1))), Y); }
  void store(Value *V, Value *Address, Type *As) { B.CreateStore(B.CreateTrunc(V, As), Address); }
};

int64_t scheduleOf(CallInst &Call) {
  auto *Kind = dyn_cast<ConstantInt>(Call.getArgOperand(2));
  return Kind ? Kind->getSExtValue() & ~int64_t(Modifiers) : -1;
}

bool isOne(Value *V) { return isa<ConstantInt>(V) && cast<ConstantInt>(V)->isOne(); }

// init(place, thread, schedule, &last, &lower, &upper, &stride, increment, chunk)
void writeStatic(CallInst &Init, bool Signed) {
  IRBuilder<> B(&Init);
  Numbers N{B, Signed};
  Value *Last = Init.getArgOperand(3), *LowerAt = Init.getArgOperand(4), *UpperAt = Init.getArgOperand(5);
  Type *Number = Init.getArgOperand(7)->getType();
  Value *Lower = N.widen(B.CreateLoad(Number, LowerAt)), *Upper = N.widen(B.CreateLoad(Number, UpperAt));
  Value *Count = N.atLeast(B.CreateAdd(B.CreateSub(Upper, Lower), B.getInt64(1)), B.getInt64(0));
  Value *Thread = N.thread(), *Threads = N.threads(), *Mine, *Width, *Stride, *IsLast;
  if (scheduleOf(Init) == StaticChunked) {
    Width = N.atLeast(N.widen(Init.getArgOperand(8)), B.getInt64(1));
    Mine = B.CreateMul(Thread, Width);
    Stride = B.CreateMul(Threads, Width);
    Value *Final = B.CreateUDiv(B.CreateSub(Count, B.getInt64(1)), Width);
    IsLast = B.CreateICmpEQ(B.CreateURem(Final, Threads), Thread);
  } else {
    Value *Each = B.CreateUDiv(Count, Threads), *Extra = B.CreateURem(Count, Threads);
    Mine = B.CreateAdd(B.CreateMul(Thread, Each), N.atMost(Thread, Extra));
    Width = B.CreateAdd(Each, B.CreateZExt(B.CreateICmpULT(Thread, Extra), B.getInt64Ty()));
    Stride = Count;
    IsLast = B.CreateAnd(B.CreateICmpNE(Width, B.getInt64(0)), B.CreateICmpEQ(B.CreateAdd(Mine, Width), Count));
  }
  Value *First = B.CreateAdd(Lower, Mine);
  N.store(First, LowerAt, Number);
  N.store(B.CreateSub(B.CreateAdd(First, Width), B.getInt64(1)), UpperAt, Number);
  N.store(Stride, Init.getArgOperand(6), Number);
  B.CreateStore(B.CreateZExt(IsLast, B.getInt32Ty()), Last);
  Init.eraseFromParent();
}

// The chunks that a thread gets: the first begins at Thread * Width, the others follow at Threads * Width.
struct Deal {
  AllocaInst *Round, *Rounds, *First, *Width, *Step, *Lower,
      *Count; // of 64 bits, in memory until the optimiser sees them
};

// init(place, thread, schedule, lower, upper, stride, chunk)
Deal dealChunks(CallInst &Init, bool Signed) {
  IRBuilder<> Entry(&*Init.getFunction()->getEntryBlock().getFirstInsertionPt());
  auto Slot = [&](StringRef Name) { return Entry.CreateAlloca(Entry.getInt64Ty(), nullptr, Name); };
  Deal D{Slot("round"), Slot("rounds"), Slot("first"), Slot("width"), Slot("step"), Slot("lower"), Slot("count")};
  IRBuilder<> B(&Init);
  Numbers N{B, Signed};
  Value *Zero = B.getInt64(0), *One = B.getInt64(1);
  Value *Lower = N.widen(Init.getArgOperand(3)), *Upper = N.widen(Init.getArgOperand(4));
  Value *Count = N.atLeast(B.CreateAdd(B.CreateSub(Upper, Lower), One), Zero);
  Value *Thread = N.thread(), *Threads = N.threads(), *Width;
  int64_t Kind = scheduleOf(Init);
  if (Kind >= Ordered) {
    Width = Count;
    Threads = One;
  } else if (Kind == Dynamic || Kind == Guided) {
    Value *Even = N.ratioUp(Count, B.CreateMul(Threads, B.getInt64(RoundsWanted)));
    Width = N.atLeast(Even, N.widen(Init.getArgOperand(6)));
  } else {
    Width = N.ratioUp(Count, Threads);
  }
  Width = N.atLeast(Width, One);
  Value *First = B.CreateMul(Thread, Width), *Step = B.CreateMul(Threads, Width);
  Value *Rounds = N.ratioUp(N.atLeast(B.CreateSub(Count, First), Zero), Step);
  for (auto [V, Address] : {std::pair{Zero, D.Round},
                            {Rounds, D.Rounds},
                            {First, D.First},
                            {Width, D.Width},
                            {Step, D.Step},
                            {Lower, D.Lower},
                            {Count, D.Count}})
    B.CreateStore(V, Address);
  Init.eraseFromParent();
  return D;
}

// Where it is known that there is another chunk: behind the branch that asks, as clang writes it. Begin and end of a
// chunk follow from the number of the round there; computed before the branch, they would be handed from round to
// round, and Enzyme wrote invalid code.
Instruction *afterAsking(CallInst &Next) {
  auto *Asks = Next.hasOneUse() ? dyn_cast<ICmpInst>(Next.user_back()) : nullptr;
  auto *Branch = Asks && Asks->hasOneUse() ? dyn_cast<BranchInst>(Asks->user_back()) : nullptr;
  if (!Branch || Asks->getPredicate() != CmpInst::ICMP_NE || !match(Asks->getOperand(1), PatternMatch::m_Zero()))
    return nullptr;
  BasicBlock *Another = Branch->getSuccessor(0);
  return Another->getSinglePredecessor() ? &*Another->getFirstInsertionPt() : nullptr;
}

// next(place, thread, &last, &lower, &upper, &stride): whether there is another chunk, and which
void writeNext(CallInst &Next, const Deal &D, Type *Number) {
  IRBuilder<> B(&Next);
  Numbers N{B, false};
  auto Load = [&](AllocaInst *Address) { return B.CreateLoad(B.getInt64Ty(), Address); };
  Value *More = B.CreateICmpSLT(Load(D.Round), Load(D.Rounds)), *Holds = More;
  if (Instruction *Behind = afterAsking(Next)) {
    B.SetInsertPoint(Behind);
    Holds = B.getTrue();
  }
  Value *Round = Load(D.Round), *Count = Load(D.Count), *Lower = Load(D.Lower);
  Value *Begin = B.CreateAdd(Load(D.First), B.CreateMul(Round, Load(D.Step)));
  Value *End = N.atMost(B.CreateAdd(Begin, Load(D.Width)), Count);
  Value *Last = Next.getArgOperand(2), *IsLast = B.CreateZExt(B.CreateICmpEQ(End, Count), B.getInt32Ty());
  B.CreateStore(B.CreateSelect(Holds, IsLast, B.CreateLoad(B.getInt32Ty(), Last)), Last);
  N.store(B.CreateAdd(Lower, Begin), Next.getArgOperand(3), Number);
  N.store(B.CreateSub(B.CreateAdd(Lower, End), B.getInt64(1)), Next.getArgOperand(4), Number);
  N.store(B.getInt64(1), Next.getArgOperand(5), Number);
  B.CreateStore(B.CreateAdd(Round, B.getInt64(1)), D.Round);
  B.SetInsertPoint(&Next);
  Next.replaceAllUsesWith(B.CreateZExt(More, Next.getType()));
  Next.eraseFromParent();
}

// A loop asks for its chunks in the function in which it began, after it began and before another one does.
bool belongs(CallInst &Next, CallInst &Init, ArrayRef<CallInst *> Inits, DominatorTree &DT) {
  auto Between = [&](CallInst *Other) {
    return Other != &Init && Other->getFunction() == Init.getFunction() && DT.dominates(&Init, Other) &&
           DT.dominates(Other, &Next);
  };
  return Next.getFunction() == Init.getFunction() && DT.dominates(&Init, &Next) && none_of(Inits, Between);
}

void writeDispatch(Module &M, StringRef Width) {
  SmallVector<CallInst *> Inits = callsOf(M, ("__kmpc_dispatch_init_" + Width).str());
  SmallVector<std::pair<CallInst *, SmallVector<CallInst *>>> Loops;
  for (CallInst *Init : Inits) {
    if (scheduleOf(*Init) < 0 || !isOne(Init->getArgOperand(5)))
      continue;
    DominatorTree DT(*Init->getFunction());
    SmallVector<CallInst *> Nexts;
    for (CallInst *Next : callsOf(M, ("__kmpc_dispatch_next_" + Width).str()))
      if (belongs(*Next, *Init, Inits, DT))
        Nexts.push_back(Next);
    Loops.push_back({Init, Nexts});
  }
  for (auto &[Init, Nexts] : Loops) {
    Type *Number = Init->getArgOperand(3)->getType();
    Deal D = dealChunks(*Init, !Width.ends_with("u"));
    for (CallInst *Next : Nexts)
      writeNext(*Next, D, Number);
  }
}

} // namespace

ADGEN_DECLARE_PASS(LowerWorksharingLoops);

PreservedAnalyses LowerWorksharingLoops::run(Module &M, ModuleAnalysisManager &) {
  for (StringRef Width : Widths) {
    for (CallInst *Init : callsOf(M, ("__kmpc_for_static_init_" + Width).str()))
      if (scheduleOf(*Init) >= 0 && isOne(Init->getArgOperand(7)))
        writeStatic(*Init, !Width.ends_with("u"));
    writeDispatch(M, Width);
    eraseCalls(M, ("__kmpc_dispatch_fini_" + Width).str());
  }
  eraseCalls(M, "__kmpc_dispatch_deinit");
  eraseCalls(M, "__kmpc_for_static_fini");
  return PreservedAnalyses::none();
}

} // namespace adgen
