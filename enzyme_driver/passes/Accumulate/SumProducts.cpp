// Where each lane of a warp adds products to the same elements, to each the product of one of its numbers with another,
// as the gradient of a small network or a matrix in each thread does by the weights, the sums over the lanes are a
// product of matrices: of the lanes' first numbers, transposed, with their second ones. Each lane leaves its numbers in
// a row of shared memory, and computes the sums of some of the products from all rows, in place of handing on each
// product from lane to lane. Lanes of a warp that come there at different times do so each for those that are there.
//
// Threads beyond those that have room, and lanes of which it turns out that their elements differ, add by themselves.
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneOrigins.h"
#include "Accumulate/OuterProducts.h"
#include "Accumulate/ProductStage.h"
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-sum-products"

using namespace llvm;

STATISTIC(NumSummed, "Number of additions of products summed over lanes");

namespace adgen {
namespace {

constexpr size_t Fewest = 48; // additions; of fewer, lanes hand on the products

// Additions of a block to elements that are a constant away from one place, with nothing between that may see them.
struct Open {
  const Value *Base;
  Type *T;
  SmallVector<AtomicRMWInst *> Additions;
};

class Summer {
public:
  Summer(Function &F, const Meetings &Meet, LoopInfo &LI)
      : F(F), Meet(Meet), LI(LI), Stage(F), KeepsOwn(keepsOwnAddresses(F)) {}

  void run() {
    for (BasicBlock &Block : F)
      collect(Block);
    if (All.empty())
      return;
    Stage.create(All);
    for (auto [Number, Each] : enumerate(Loops))
      begin(Each, Number);
    for (const ProductSum &It : All)
      sum(It);
  }

private:
  // A loop whose warps keep sums, and whether this one does.
  struct Keeper {
    const Loop *L;
    Instruction *Before;
    SmallVector<BasicBlock *> Exits;
    Value *Whole = nullptr;
  };

  void collect(BasicBlock &Block) {
    SmallVector<Open> Known;
    auto Close = [&](auto Ends) {
      for (const Open &Each : Known)
        if (Ends(Each))
          take(Each);
      erase_if(Known, Ends);
    };
    for (Instruction &I : Block) {
      Close([&](const Open &Each) { return Meet.mayMeetArray(I, Each.Base); });
      AtomicRMWInst *Atomic = asAccumulation(I);
      if (!Atomic || !isCommon(*Atomic))
        continue;
      const Value *Base = baseOf(*Atomic);
      auto Same = find_if(Known, [&](const Open &Each) { return Each.Base == Base && Each.T == Atomic->getType(); });
      if (Same == Known.end())
        Same = &Known.emplace_back(Open{Base, Atomic->getType(), {}});
      Same->Additions.push_back(Atomic);
    }
    Close([](const Open &) { return true; });
  }

  void take(const Open &Known) {
    const size_t Most = Stage.most(*Known.T);
    if (!Most || Known.Additions.size() < Fewest)
      return;
    SmallVector<AtomicRMWInst *> Terms;
    for (AtomicRMWInst *Addition : Known.Additions)
      separate(*Addition, Terms);
    for (const OuterProduct &Whole : outerProducts(Terms, Fewest))
      for (OuterProduct &Some : inParts(Whole, Most)) {
        AtomicRMWInst *Last = *max_element(Some.Additions, [](auto *A, auto *B) { return A->comesBefore(B); });
        ArrayRef<Value *> Compared = From.of(Last->getPointerOperand()).Compared.getArrayRef();
        auto *Base = const_cast<Value *>(Known.Base);
        const unsigned Loop = loopOf(*Last, *Base, Compared);
        All.push_back({std::move(Some), Last, Base, {Compared.begin(), Compared.end()}, Loop});
      }
  }

  // The outermost loop in which nothing sees what is added, and the elements stay the same.
  unsigned loopOf(const AtomicRMWInst &Addition, Value &Base, ArrayRef<Value *> Compared) {
    const Loop *Found = nullptr;
    for (const Loop *L = LI.getLoopFor(Addition.getParent()); L && isAlone(*L, Base, Compared); L = L->getParentLoop())
      Found = L;
    auto Known = find_if(Loops, [&](const Keeper &Each) { return Each.L == Found; });
    if (!Found || Known != Loops.end())
      return Found ? Known - Loops.begin() : ~0u;
    Keeper &New = Loops.emplace_back(Keeper{Found, Found->getLoopPreheader()->getTerminator(), {}});
    Found->getUniqueExitBlocks(New.Exits);
    return Loops.size() - 1;
  }

  bool isAlone(const Loop &L, const Value &Base, ArrayRef<Value *> Compared) const {
    return L.isLoopSimplifyForm() && L.isLoopInvariant(&Base) &&
           all_of(Compared, [&](const Value *V) { return L.isLoopInvariant(V); }) &&
           none_of(L.blocks(), [&](const BasicBlock *Block) {
             return any_of(*Block, [&](const Instruction &I) { return Meet.mayMeetArray(I, &Base); });
           });
  }

  void begin(Keeper &Each, unsigned Number) const {
    SmallVector<const ProductSum *> Its;
    for (const ProductSum &It : All)
      if (It.Loop == Number)
        Its.push_back(&It);
    if (Its.empty())
      return;
    Each.Whole = Stage.begin(*Each.Before, Its);
    for (BasicBlock *Exit : Each.Exits)
      Stage.end(*Exit->getFirstInsertionPt(), Its, *Each.Whole);
  }

  // The products of a sum are added one by one, as where an iteration asks a network at several points. What does not
  // become a product of matrices, adgen-merge-accumulations puts together again.
  static void separate(AtomicRMWInst &Addition, SmallVectorImpl<AtomicRMWInst *> &Terms) {
    auto *Sum = dyn_cast<BinaryOperator>(Addition.getValOperand());
    if (!Sum || Sum->getOpcode() != Instruction::FAdd || !Sum->hasOneUse() || !all_of(Sum->operands(), isSumOfProducts))
      return Terms.push_back(&Addition);
    auto *Other = cast<AtomicRMWInst>(Addition.clone());
    Other->insertAfter(Addition.getIterator());
    Addition.setOperand(1, Sum->getOperand(0));
    Other->setOperand(1, Sum->getOperand(1));
    Sum->eraseFromParent();
    separate(Addition, Terms);
    separate(*Other, Terms);
  }

  static bool isSumOfProducts(const Value *V) {
    auto *I = dyn_cast<BinaryOperator>(V);
    return I && (I->getOpcode() == Instruction::FMul ||
                 (I->getOpcode() == Instruction::FAdd && all_of(I->operands(), isSumOfProducts)));
  }

  // Whether the lanes of a warp add to the same element, as far as that is known before the kernel runs.
  bool isCommon(AtomicRMWInst &Atomic) {
    if (!(Atomic.getType()->isFloatTy() || Atomic.getType()->isDoubleTy()) || !isInt<32>(distanceOf(Atomic)))
      return false;
    const LaneOrigin &Where = From.of(Atomic.getPointerOperand());
    auto *A = dyn_cast<Argument>(getUnderlyingObject(Atomic.getPointerOperand()));
    // Other arguments are the thread's own copies of structs, whose addresses are the same in all threads.
    const bool MayBe = A ? F.hasParamAttribute(A->getArgNo(), ShadowAttribute) ||
                               F.hasParamAttribute(A->getArgNo(), SharedShadowAttribute)
                         : !KeepsOwn;
    return MayBe && !Where.X && !Where.OtherAxes && !Where.Unknown && Where.Compared.size() <= MostCompared;
  }

  void sum(const ProductSum &It) {
    ADGEN_COUNT(NumSummed, *It.Last);
    IRBuilder<> B(It.Last);
    Value *Active = activeLanes(B);
    Value *Together = Stage.hasRoom(B);
    for (Value *V : It.Compared)
      Together = B.CreateAnd(Together, areAlike(B, Active, V));
    Instruction *Then = It.Last, *Else = nullptr;
    if (!isa<Constant>(Together))
      SplitBlockAndInsertIfThenElse(Together, It.Last->getIterator(), &Then, &Else);
    Stage.sum(*Then, It, *Active, It.Loop == ~0u ? nullptr : Loops[It.Loop].Whole);
    for (AtomicRMWInst *Addition : It.Of.Additions)
      Else ? Addition->moveBefore(Else->getIterator()) : void(Addition->eraseFromParent());
  }

  Function &F;
  const Meetings &Meet;
  LoopInfo &LI;
  ProductStage Stage;
  LaneOrigins From;
  bool KeepsOwn;
  SmallVector<ProductSum> All;
  SmallVector<Keeper> Loops;
};

} // namespace

ADGEN_DECLARE_PASS(SumProducts);

PreservedAnalyses SumProducts::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Summer(F, Meetings(F, FAM.getResult<AAManager>(F)), FAM.getResult<LoopAnalysis>(F)).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
