// In shared memory an atomic addition of floating point is a loop of compare-and-swap. Where each thread of a block
// adds to its own element and to others at a distance that all threads share, as the gradients of cyclic reduction and
// of scans by doubling distances do, the block takes turns, one for each distance:
//   atomic a[t] += u; atomic a[min(t + d, n - 1)] += v;   becomes
//   wait; a[t] += u; wait; if (t + d <= n - 1) a[t + d] += v; wait; if (t + d > n - 1) atomic a[n - 1] += v; wait;
// In one turn no two threads have an element in common but those whose neighbour would lie beyond the end, which come
// last, those of a warp together. That this is so follows from how far the first and the last thread of the block reach
// and from how far the arrays of one turn lie apart, which is asked when the kernel runs; so both ways are there.
#include "Accumulate/HandOver.h"
#include "Analysis/Accumulation.h"
#include "Analysis/Uniformity.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <numeric>

#define DEBUG_TYPE "adgen-add-at-distances"

using namespace llvm;

STATISTIC(NumGroups, "Number of groups of additions taken in turns");

namespace adgen {
namespace {

constexpr size_t FewestMembers = 4;
constexpr unsigned MostSteps = 8; // of an index

// An accumulation at Base[Index], of which Base is the same in all threads.
struct Member {
  AtomicRMWInst *Atomic;
  Value *Base;
};

// Those with one index.
struct Turn {
  Value *Index;
  SmallVector<Member, 4> Members;
};

// Of a basic block.
struct Group {
  SmallVector<Turn, 4> Turns;
  AtomicRMWInst *Last = nullptr;

  size_t size() const {
    return std::accumulate(Turns.begin(), Turns.end(), size_t(0),
                           [](size_t Sum, const Turn &T) { return Sum + T.Members.size(); });
  }
};

// An index as the thread's x, times what is the same in all threads, and such numbers more; the whole may be kept
// between bounds.
class Index {
public:
  Index(Value *V, const Uniformity &Known) : Known(Known) {
    while (isa<SExtInst, ZExtInst>(V) && !isX(V)) // of what is not negative, as is asked when the kernel runs
      V = cast<Instruction>(V)->getOperand(0);
    for (; auto *Bound = dyn_cast<MinMaxIntrinsic>(V); V = Bound->getArgOperand(0)) {
      if (!Bound->isSigned() || !Known.isUniform(Bound->getArgOperand(1)))
        break;
      Bounds.push_back(Bound);
    }
    Linear = V;
  }

  bool isUnderstood() const { return !Known.isUniform(Linear) && understands(Linear, 0); }
  bool isBounded() const { return !Bounds.empty(); }

  // Both in 64 bits, of the thread whose x it is.
  Value *unbounded(IRBuilder<> &B, Value *X) const { return make(B, Linear, X); }
  Value *bounded(IRBuilder<> &B, Value *Whole) const {
    for (MinMaxIntrinsic *Bound : reverse(Bounds))
      Whole = B.CreateBinaryIntrinsic(Bound->getIntrinsicID(), Whole,
                                      B.CreateSExt(Bound->getArgOperand(1), B.getInt64Ty()));
    return Whole;
  }

private:
  static bool isX(const Value *V) {
    if (isa<SExtInst, ZExtInst>(V))
      V = cast<Instruction>(V)->getOperand(0);
    auto *Call = dyn_cast<IntrinsicInst>(V);
    return Call && Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_x;
  }

  // In one width, in which it is what it is in 64 bits unless that does not fit.
  bool understands(const Value *V, unsigned Depth) const {
    const Type *T = V->getType();
    if (Depth > MostSteps || !(T->isIntegerTy(32) || T->isIntegerTy(64)))
      return false;
    if (isX(V) || Known.isUniform(V))
      return true;
    auto *I = dyn_cast<BinaryOperator>(V);
    if (!I || !understands(I->getOperand(0), Depth + 1) || !understands(I->getOperand(1), Depth + 1))
      return false;
    const bool ByNumber = T->isIntegerTy(32) || isa<Constant>(I->getOperand(1));
    switch (I->getOpcode()) {
    case Instruction::Add:
      return true;
    case Instruction::Sub:
      return Known.isUniform(I->getOperand(1));
    case Instruction::Mul:
    case Instruction::Shl:
      return Known.isUniform(I->getOperand(1)) && ByNumber;
    default:
      return false;
    }
  }

  Value *make(IRBuilder<> &B, Value *V, Value *X) const {
    if (isX(V))
      return X;
    if (Known.isUniform(V))
      return B.CreateSExt(V, B.getInt64Ty());
    auto *I = cast<BinaryOperator>(V);
    Value *First = make(B, I->getOperand(0), X);
    return B.CreateBinOp(I->getOpcode(), First, make(B, I->getOperand(1), X));
  }

  const Uniformity &Known;
  SmallVector<MinMaxIntrinsic *, 2> Bounds; // the outer one first
  Value *Linear;
};

class Finder {
public:
  Finder(Function &F, AAResults &AA, const Uniformity &Known) : F(F), Meet(F, AA), Known(Known) {}

  std::vector<Group> find() {
    for (BasicBlock &Block : F)
      if (!Known.isDivergent(&Block))
        collect(Block);
    return std::move(Found);
  }

private:
  void collect(BasicBlock &Block) {
    Group Open;
    for (Instruction &I : Block) {
      bool IsMet = any_of(Open.Turns, [&](const Turn &T) {
        return any_of(T.Members, [&](const Member &M) {
          return Meet.mayMeet(I, M.Atomic->getPointerOperand(), M.Atomic->getType());
        });
      });
      if (IsMet)
        close(Open);
      if (AtomicRMWInst *Atomic = asAccumulation(I))
        add(*Atomic, Open);
    }
    close(Open);
  }

  // Not of one distance alone, of which other passes know more.
  void close(Group &G) {
    bool AtDistance = any_of(G.Turns, [&](const Turn &T) { return Index(T.Index, Known).isBounded(); });
    if (AtDistance && G.size() >= FewestMembers)
      Found.push_back(G);
    G = Group();
  }

  void add(AtomicRMWInst &Atomic, Group &Open) {
    Type *T = Atomic.getType();
    auto *Shadow = dyn_cast<Argument>(getUnderlyingObject(Atomic.getPointerOperand(), 0));
    if (!Shadow || !F.hasParamAttribute(Shadow->getArgNo(), SharedShadowAttribute) ||
        !(T->isFloatTy() || T->isDoubleTy()) || Atomic.hasMetadata(SeldomMark) ||
        (Open.Last && Open.Last->getType() != T))
      return;
    auto *GEP = dyn_cast<GetElementPtrInst>(Atomic.getPointerOperand());
    if (!GEP || GEP->getNumIndices() != 1 || GEP->getSourceElementType() != T ||
        !Known.isUniform(GEP->getPointerOperand()) || !Index(GEP->getOperand(1), Known).isUnderstood())
      return;
    auto Like = find_if(Open.Turns, [&](const Turn &Each) { return Each.Index == GEP->getOperand(1); });
    if (Like == Open.Turns.end())
      Like = Open.Turns.insert(Open.Turns.end(), Turn{GEP->getOperand(1), {}});
    Like->Members.push_back({&Atomic, GEP->getPointerOperand()});
    Open.Last = &Atomic;
  }

  Function &F;
  Meetings Meet;
  const Uniformity &Known;
  std::vector<Group> Found;
};

class Turns {
public:
  Turns(const Group &G, const Uniformity &Known) : G(G), Known(Known), T(G.Last->getType()), B(G.Last->getNextNode()) {}

  void make() {
    Value *Apart = areApart();
    Instruction *Then, *Else;
    SplitBlockAndInsertIfThenElse(Apart, B.GetInsertPoint(), &Then, &Else);
    B.SetInsertPoint(Then);
    Value *X = ownX();
    for (const Turn &Each : G.Turns) {
      wait();
      take(Each, X);
    }
    wait();
    if (any_of(G.Turns, [&](const Turn &Each) { return Index(Each.Index, Known).isBounded(); })) {
      for (const Turn &Each : G.Turns)
        takeAtBounds(Each, X);
      wait();
    }
    for (const Turn &Each : G.Turns)
      for (const Member &M : Each.Members) {
        M.Atomic->moveBefore(Else->getIterator());
        M.Atomic->setMetadata(SeldomMark, MDNode::get(B.getContext(), {}));
      }
  }

private:
  // Whether no two threads have an element in common in one turn, but at bounds.
  Value *areApart() {
    auto [X, Y, Z] = BlockExtents(B);
    Value *One = B.getInt32(1), *First = B.getInt64(0), *Last = B.CreateZExt(B.CreateSub(X, One), B.getInt64Ty());
    Value *Apart = B.CreateAnd(B.CreateICmpEQ(Y, One), B.CreateICmpEQ(Z, One), "apart");
    for (const Turn &Each : G.Turns) {
      const Index Of(Each.Index, Known);
      Value *Low = Of.unbounded(B, First), *High = Of.unbounded(B, Last);
      auto Require = [&](Value *Condition) { Apart = B.CreateAnd(Apart, Condition); };
      Require(B.CreateICmpSGE(Low, B.getInt64(INT32_MIN)));
      Require(B.CreateICmpSLE(High, B.getInt64(INT32_MAX)));
      Require(B.CreateICmpSGE(B.CreateSub(High, Low), Last)); // each thread at least one further than the one before
      Low = Of.bounded(B, Low);
      Require(B.CreateICmpSGE(Low, First));
      if (Each.Members.size() > 1)
        Require(B.CreateICmpSLT(B.CreateSub(Of.bounded(B, High), Low), distance(Each)));
    }
    return Apart;
  }

  // Between any two of the turn's arrays, in elements.
  Value *distance(const Turn &Of) {
    Value *Least = nullptr;
    for (const Member &M : Of.Members)
      for (const Member &Other : ArrayRef(Of.Members).take_while([&](const Member &O) { return &O != &M; })) {
        Value *Apart =
            B.CreateSub(B.CreatePtrToInt(M.Base, B.getInt64Ty()), B.CreatePtrToInt(Other.Base, B.getInt64Ty()));
        Apart = B.CreateBinaryIntrinsic(Intrinsic::abs, Apart, B.getFalse());
        Least = Least ? B.CreateBinaryIntrinsic(Intrinsic::smin, Least, Apart) : Apart;
      }
    return B.CreateSDiv(Least, B.getInt64(T->isFloatTy() ? 4 : 8));
  }

  Value *ownX() { return B.CreateZExt(readRegister(B, Intrinsic::nvvm_read_ptx_sreg_tid_x), B.getInt64Ty()); }

  void wait() { B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, {}, {B.getInt32(0)}); }

  // Whether the thread's element is another than it would be without the bounds; null where there are none.
  Value *isAtBound(const Turn &Of, Value *X) {
    const Index Where(Of.Index, Known);
    if (!Where.isBounded())
      return nullptr;
    Value *Whole = Where.unbounded(B, X);
    return B.CreateICmpNE(Whole, Where.bounded(B, Whole));
  }

  void take(const Turn &Of, Value *X) {
    Instruction *Behind = &*B.GetInsertPoint();
    if (Value *Bound = isAtBound(Of, X))
      B.SetInsertPoint(SplitBlockAndInsertIfThen(B.CreateNot(Bound), Behind->getIterator(), false));
    SmallVector<Value *> Before;
    for (const Member &M : Of.Members)
      Before.push_back(B.CreateLoad(T, M.Atomic->getPointerOperand()));
    for (auto [M, Sum] : zip_equal(Of.Members, Before))
      B.CreateStore(B.CreateFAdd(Sum, M.Atomic->getValOperand()), M.Atomic->getPointerOperand());
    B.SetInsertPoint(Behind);
  }

  void takeAtBounds(const Turn &Of, Value *X) {
    Value *Bound = isAtBound(Of, X);
    if (!Bound)
      return;
    Instruction *Behind = &*B.GetInsertPoint();
    B.SetInsertPoint(SplitBlockAndInsertIfThen(Bound, Behind->getIterator(), false));
    SmallVector<AtomicRMWInst *> Additions;
    for (const Member &M : Of.Members)
      Additions.push_back(cast<AtomicRMWInst>(B.Insert(M.Atomic->clone())));
    Value *Active = activeLanes(B);
    Value *Alike = alikeLanes(B, Active, Of.Members.front().Atomic->getPointerOperand(), true);
    handOver(B, "warp", Additions, Active, Alike, [&](ArrayRef<AtomicRMWInst *>) { return B.getFalse(); });
    B.SetInsertPoint(Behind);
  }

  const Group &G;
  const Uniformity &Known;
  Type *T;
  IRBuilder<> B;
};

} // namespace

ADGEN_DECLARE_PASS(AddAtDistances);

PreservedAnalyses AddAtDistances::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (!F.hasFnAttribute(ActivityAttribute) || F.isDeclaration() || sharedNames(F).empty())
      continue;
    const Uniformity Known(F, [&F](const Value &V) { return kindOnDevice(V, F); });
    for (const Group &G : Finder(F, FAM.getResult<AAManager>(F), Known).find()) {
      ADGEN_COUNT(NumGroups, F.getName());
      Turns(G, Known).make();
    }
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
