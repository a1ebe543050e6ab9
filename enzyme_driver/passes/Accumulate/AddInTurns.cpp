// In shared memory an atomic addition of floating point is a loop of compare-and-swap. Where each thread of a block
// adds to elements that lie around one of its own, as the gradient of a convolution or a stencil does, the block takes
// turns:
//   atomic own[-1] += u; atomic own[0] += v; atomic own[1] += w;   becomes
//   own[-1] += u; wait; own[0] += v; wait; own[1] += w;
// In one turn no two threads have an element in common: what a thread adds to lies within the distance of its
// neighbour's, and rows lie behind each other. That depends on the block's extents, so both ways are there. All threads
// have to come there, and wait for each other before and behind; where rows touch only elements of their own and lie in
// one warp, threads of a warp wait for each other between turns.
#include "Accumulate/HandOver.h"
#include "Analysis/Accumulation.h"
#include "Analysis/Indices.h"
#include "Analysis/Uniformity.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-add-in-turns"

using namespace llvm;

STATISTIC(NumInTurns, "Number of groups of additions taken in turns");

namespace adgen {
namespace {

constexpr unsigned FewestMembers = 6;
constexpr int64_t MostBeside = 4; // places over which lanes hand sums on to each other instead

// Accumulations of one block of code around an element of the thread's own.
struct Circle {
  struct Member {
    AtomicRMWInst *Atomic;
    int64_t Offset;
  };
  const Argument *Shadow;
  Type *T;
  int64_t ByX, ByY; // bytes from a thread's own element to that of the next one along an axis
  Polynomial Begin;
  SmallVector<Member, 0> Members;
  AtomicRMWInst *Last = nullptr; // of the members, also where another circle's turns part the block
  BasicBlock *Meeting = nullptr; // where all threads come next, if some come here only
  Instruction *End = nullptr;    // by which these go there

  bool isLike(const Circle &Other) const {
    return Shadow == Other.Shadow && T == Other.T && ByX == Other.ByX && ByY == Other.ByY && Begin == Other.Begin;
  }
  int64_t size() const { return T->isFloatTy() ? 4 : 8; }
  int64_t span() const { return Members.back().Offset - Members.front().Offset + size(); } // once sorted
};

class Circles {
public:
  Circles(Function &F, AAResults &AA, LoopInfo &LI)
      : F(F), Meet(F, AA), Index(F, LI), Known(F, [&F](const Value &V) { return kindOnDevice(V, F); }) {}

  std::vector<Circle> find() {
    for (BasicBlock &Block : F) {
      BasicBlock *Next = Known.isDivergent(&Block) ? Block.getSingleSuccessor() : nullptr;
      if (!Known.isDivergent(&Block) || (Next && !Known.isDivergent(Next)))
        collect(Block, Next);
    }
    return std::move(Found);
  }

private:
  // Of a block by which some threads go to where they meet, what nothing follows there that may see it.
  void collect(BasicBlock &Block, BasicBlock *Meeting) {
    SmallVector<Circle, 0> Open;
    for (Instruction &I : Block) {
      auto IsMet = [&](const Circle &C) {
        return any_of(C.Members,
                      [&](const Circle::Member &M) { return Meet.mayMeet(I, M.Atomic->getPointerOperand(), C.T); });
      };
      if (Meeting)
        erase_if(Open, IsMet);
      else
        close(Open, IsMet);
      AtomicRMWInst *Atomic = asAccumulation(I);
      std::optional<Circle> One = Atomic ? around(*Atomic) : std::nullopt;
      if (!One)
        continue;
      auto Like = find_if(Open, [&](const Circle &C) { return C.isLike(*One); });
      if (Like == Open.end())
        Open.push_back(*One);
      else
        Like->Members.push_back(One->Members[0]);
    }
    for (Circle &C : Open)
      std::tie(C.Meeting, C.End) = std::pair(Meeting, Block.getTerminator());
    close(Open, [](const Circle &) { return true; });
  }

  void close(SmallVectorImpl<Circle> &Open, function_ref<bool(const Circle &)> Ends) {
    for (Circle &C : Open)
      if (Ends(C) && C.Members.size() >= FewestMembers) {
        Circle Sorted = C;
        Sorted.Last = C.Members.back().Atomic;
        stable_sort(Sorted.Members, [](const auto &X, const auto &Y) { return X.Offset < Y.Offset; });
        bool Beside = C.ByX == C.size() && Sorted.span() <= (MostBeside + 1) * C.size();
        if (!Beside)
          Found.push_back(Sorted);
      }
    erase_if(Open, Ends);
  }

  // Around an element whose place is a multiple of the thread's indices and something that all threads share.
  std::optional<Circle> around(AtomicRMWInst &Atomic) {
    auto *Shadow = dyn_cast<Argument>(getUnderlyingObject(Atomic.getPointerOperand(), 0));
    if (!Shadow || !F.hasParamAttribute(Shadow->getArgNo(), SharedShadowAttribute) ||
        !(Atomic.getType()->isFloatTy() || Atomic.getType()->isDoubleTy()))
      return {};
    std::optional<Polynomial> P = Index.offsetFrom(Shadow, Atomic.getPointerOperand());
    if (!P)
      return {};
    int64_t ByX = P->take({onAxis(Source::Thread, 0)}), ByY = P->take({onAxis(Source::Thread, 1)}),
            Offset = P->take({});
    Circle One{Shadow, Atomic.getType(), ByX, ByY, *P, {{&Atomic, Offset}}};
    bool Shared = all_of(P->Terms, [](const auto &Term) {
      return all_of(Term.first, [](const Source &S) {
        return S.Of == Source::Block || S.Of == Source::BlockSize || S.Of == Source::GridSize || S.Of == Source::Shared;
      });
    });
    return Shared && ByX >= One.size() && (ByY == 0 || ByY >= ByX) ? std::optional(One) : std::nullopt;
  }

  Function &F;
  Meetings Meet;
  Indices Index;
  Uniformity Known;
  std::vector<Circle> Found;
};

class Turns {
public:
  explicit Turns(Circle &C) : C(C), B(C.Members[0].Atomic) {}

  void make() {
    Value *Apart = testExtents(*C.Last->getFunction());
    if (C.Meeting)
      bringToMeeting(*C.End->getParent());
    Instruction *Then, *Else;
    SplitBlockAndInsertIfThenElse(Apart, C.Last->getNextNode(), &Then, &Else);
    for (const Circle::Member &M : C.Members) {
      M.Atomic->moveBefore(Else->getIterator());
      M.Atomic->setMetadata(SeldomMark, MDNode::get(M.Atomic->getContext(), {}));
    }
    if (C.Meeting)
      Then = SplitBlockAndInsertIfThen(Apart, C.Meeting->getFirstInsertionPt(), false);
    takeTurns(*Then);
  }

private:
  // Whether no two threads have an element in common in one turn, and whether rows have elements of their own and lie
  // in one warp each.
  Value *testExtents(Function &F) {
    B.SetInsertPoint(F.getEntryBlock().getFirstInsertionPt());
    auto [X, Y, Z] = BlockExtents(B);
    Value *One = B.getInt32(1);
    Value *Rows = C.ByY ? B.CreateICmpULE(X, B.getInt32(C.ByY / C.ByX)) : B.CreateICmpEQ(Y, One);
    Value *Apart = B.CreateAnd(Rows, B.CreateICmpEQ(Z, One), "turns");
    int64_t Room = C.ByY - C.span();
    if (C.ByY && Room >= 0) {
      Value *Fits = B.CreateICmpULE(X, B.getInt32(std::min<int64_t>(Room / C.ByX + 1, 1 << LaneBits)));
      Value *Power = B.CreateICmpEQ(B.CreateAnd(X, B.CreateSub(X, One)), B.getInt32(0));
      Value *Lanes = B.getInt32((1 << LaneBits) - 1);
      Value *Whole = B.CreateICmpEQ(B.CreateAnd(B.CreateMul(X, Y), Lanes), B.getInt32(0));
      InWarp = B.CreateAnd(Fits, B.CreateAnd(Power, Whole), "rows.in.warp");
    }
    return Apart;
  }

  // What those threads have that come by this block, and which these are, where all threads meet.
  void bringToMeeting(BasicBlock &From) {
    auto Bring = [&](Value *V, Value *Otherwise) -> Value * {
      if (isa<Constant>(V) && V != B.getTrue())
        return V;
      PHINode *Phi = PHINode::Create(V->getType(), pred_size(C.Meeting), "brought", C.Meeting->begin());
      for (BasicBlock *Before : predecessors(C.Meeting))
        Phi->addIncoming(Before == &From ? V : Otherwise, Before);
      return Phi;
    };
    auto Number = [&](Value *V) -> Value * {
      Value *&Known = Brought[V];
      return Known ? Known : Known = Bring(V, Constant::getNullValue(V->getType()));
    };
    Comes = Bring(B.getTrue(), B.getFalse());
    First = Number(C.Members[0].Atomic->getPointerOperand());
    for (const Circle::Member &M : C.Members)
      if (BinaryOperator *Sunk = sinkable(*M.Atomic))
        for (Value *Operand : Sunk->operands())
          Number(Operand);
      else
        Number(M.Atomic->getValOperand());
  }

  void takeTurns(Instruction &At) {
    B.SetInsertPoint(&At);
    waitForBlock();
    for (auto Turn = C.Members.begin(); Turn != C.Members.end();) {
      auto Next = std::find_if(Turn, C.Members.end(),
                               [&](const Circle::Member &M) { return M.Offset - Turn->Offset + C.size() > C.ByX; });
      if (Turn != C.Members.begin())
        waitInRow();
      Instruction *Behind = &*B.GetInsertPoint();
      if (Comes)
        B.SetInsertPoint(SplitBlockAndInsertIfThen(Comes, Behind->getIterator(), false));
      for (; Turn != Next; ++Turn)
        add(*Turn);
      B.SetInsertPoint(Behind);
    }
    waitForBlock();
  }

  void waitForBlock() { B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, {}, {B.getInt32(0)}); }

  void waitInRow() {
    if (!InWarp)
      return waitForBlock();
    Instruction *At = &*B.GetInsertPoint(), *OfWarp, *OfBlock;
    SplitBlockAndInsertIfThenElse(InWarp, At, &OfWarp, &OfBlock);
    B.SetInsertPoint(OfWarp);
    B.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {B.getInt32(-1)});
    B.SetInsertPoint(OfBlock);
    waitForBlock();
    B.SetInsertPoint(At);
  }

  // What is added is computed in its turn, if for nothing else, so that fewer numbers wait.
  static BinaryOperator *sinkable(AtomicRMWInst &Atomic) {
    auto *I = dyn_cast<BinaryOperator>(Atomic.getValOperand());
    return I && I->hasOneUse() && any_of(I->operands(), [](const Use &U) { return isa<Constant>(U); }) ? I : nullptr;
  }

  void add(const Circle::Member &M) {
    Value *Number = M.Atomic->getValOperand(), *Pointer = M.Atomic->getPointerOperand();
    if (Comes)
      Pointer = B.CreateInBoundsGEP(B.getInt8Ty(), First, B.getInt64(M.Offset - C.Members[0].Offset));
    if (BinaryOperator *Sunk = sinkable(*M.Atomic)) {
      Number = B.Insert(Sunk->clone());
      for (Use &Operand : cast<Instruction>(Number)->operands())
        if (Value *There = Brought.lookup(Operand))
          Operand = There;
    } else if (Value *There = Brought.lookup(Number)) {
      Number = There;
    }
    B.CreateStore(B.CreateFAdd(B.CreateLoad(C.T, Pointer), Number), Pointer);
  }

  Circle &C;
  IRBuilder<> B;
  Value *InWarp = nullptr, *Comes = nullptr, *First = nullptr;
  DenseMap<Value *, Value *> Brought;
};

} // namespace

ADGEN_DECLARE_PASS(AddInTurns);

PreservedAnalyses AddInTurns::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M) {
    if (!F.hasFnAttribute(ActivityAttribute) || F.isDeclaration() || sharedNames(F).empty())
      continue;
    for (Circle &C : Circles(F, FAM.getResult<AAManager>(F), FAM.getResult<LoopAnalysis>(F)).find()) {
      ADGEN_COUNT(NumInTurns, F.getName());
      Turns(C).make();
      Changed = true;
    }
    FAM.invalidate(F, PreservedAnalyses::none());
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
