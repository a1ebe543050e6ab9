// A loop that `collapse` has made of several divides its index to find those of the loops that the user wrote:
//   for (x = a; x < b; ++x) { i = x / n; j = x % n; work(i, j); }
// becomes one over rows again, which divides once a row, and whose inner loop may be fissioned and vectorised:
//   for (x = a; x < b;) { i = x / n; for (each of the row, until b) { j = x - i * n; work(i, j); ++x; } }
// So do loops in which x falls, as in reverse sweeps. Where x or n is negative, rows have one element.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"

#define DEBUG_TYPE "adgen-nest-collapsed-loops"

using namespace llvm;

STATISTIC(NumNested, "Number of loops nested");

namespace adgen {
namespace {

constexpr uint64_t ShortestRow = 8; // where its length is known: a division by a constant is cheap

bool isDivision(const Instruction &I) {
  return is_contained({Instruction::SDiv, Instruction::UDiv, Instruction::SRem, Instruction::URem}, I.getOpcode());
}

bool isQuotient(const Instruction &I) {
  return I.getOpcode() == Instruction::SDiv || I.getOpcode() == Instruction::UDiv;
}

bool isSigned(const Instruction &I) { return I.getOpcode() == Instruction::SDiv || I.getOpcode() == Instruction::SRem; }

class Nester {
public:
  Nester(Loop &L, DominatorTree &DT, ScalarEvolution &SE) : L(L), DT(DT), SE(SE) {}

  bool run() {
    Latch = L.getLoopLatch(), Preheader = L.getLoopPreheader(), Exit = L.getUniqueExitBlock();
    auto *Branch = Latch ? dyn_cast<BranchInst>(Latch->getTerminator()) : nullptr;
    if (!L.isInnermost() || !Preheader || !Exit || !Branch || L.getExitingBlock() != Latch || !L.hasDedicatedExits() ||
        !counts(*Branch))
      return false;
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (isDivision(I) && DT.dominates(Block, Latch) && divides(I)) {
          nest(*Branch);
          return true;
        }
    return false;
  }

private:
  // By how much it changes in each iteration; zero where that is not one.
  int stepOf(Value &V) {
    auto *Steps = V.getType()->isIntegerTy() ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&V)) : nullptr;
    if (!Steps || Steps->getLoop() != &L || !Steps->isAffine())
      return 0;
    const SCEV *Step = Steps->getStepRecurrence(SE);
    return Step->isOne() ? 1 : Step->isAllOnesValue() ? -1 : 0;
  }

  bool divides(Instruction &I) {
    auto *Known = dyn_cast<ConstantInt>(I.getOperand(1));
    if (!L.isLoopInvariant(I.getOperand(1)) || (Known && Known->getValue().ult(ShortestRow)) ||
        !(Step = stepOf(*I.getOperand(0))) || !canStart(*I.getOperand(0)) || Counted->getType() != I.getType())
      return false;
    Signed = isSigned(I), Dividend = I.getOperand(0), Divisor = I.getOperand(1);
    return true;
  }

  // What goes on while `Counted` is on one side of `Bound`.
  bool counts(BranchInst &Branch) {
    auto *Asks = Branch.isConditional() ? dyn_cast<ICmpInst>(Branch.getCondition()) : nullptr;
    if (!Asks || !L.isLoopInvariant(Asks->getOperand(1)))
      return false;
    Counted = Asks->getOperand(0), Bound = Asks->getOperand(1);
    GoesOn = L.contains(Branch.getSuccessor(0)) ? Asks->getPredicate() : Asks->getInversePredicate();
    Counting = stepOf(*Counted);
    return canStart(*Counted) && Counting != 0 &&
           (GoesOn == CmpInst::ICMP_NE || is_contained(Counting > 0 ? ArrayRef({CmpInst::ICMP_SLT, CmpInst::ICMP_ULT})
                                                                    : ArrayRef({CmpInst::ICMP_SGT, CmpInst::ICMP_UGT}),
                                                       GoesOn));
  }

  // Whether its value in the first iteration can be computed ahead of the loop.
  bool canStart(Value &V, unsigned Depth = 4) {
    auto *I = dyn_cast<Instruction>(&V);
    if (L.isLoopInvariant(&V) || (isa<PHINode>(V) && I->getParent() == L.getHeader()))
      return true;
    return Depth && isa<BinaryOperator>(V) && is_contained({Instruction::Add, Instruction::Sub}, I->getOpcode()) &&
           canStart(*I->getOperand(0), Depth - 1) && canStart(*I->getOperand(1), Depth - 1);
  }

  Value *startOf(Value &V, IRBuilder<> &B) {
    if (L.isLoopInvariant(&V))
      return &V;
    if (auto *Phi = dyn_cast<PHINode>(&V))
      return Phi->getIncomingValueForBlock(Preheader);
    auto &Sum = cast<BinaryOperator>(V);
    return B.CreateBinOp(Sum.getOpcode(), startOf(*Sum.getOperand(0), B), startOf(*Sum.getOperand(1), B));
  }

  Value *iterations(IRBuilder<> &B) {
    Value *From = startOf(*Counted, B);
    Value *Further = Counting > 0 ? B.CreateSub(Bound, From) : B.CreateSub(From, Bound);
    if (GoesOn != CmpInst::ICMP_NE)
      Further = B.CreateSelect(B.CreateICmp(GoesOn, From, Bound), Further, ConstantInt::get(From->getType(), 0));
    return B.CreateAdd(Further, ConstantInt::get(From->getType(), 1), "iterations");
  }

  void nest(BranchInst &Branch) {
    Type *T = Dividend->getType();
    IRBuilder<> Ahead(Preheader->getTerminator());
    Value *First = startOf(*Dividend, Ahead), *All = iterations(Ahead);
    BasicBlock *Header = L.getHeader();
    auto *Row = BasicBlock::Create(T->getContext(), "row", Header->getParent(), Header);
    auto *End = BasicBlock::Create(T->getContext(), "row.end", Header->getParent(), Exit);
    Preheader->getTerminator()->replaceSuccessorWith(Header, Row);
    IRBuilder<> B(Row), E(End);
    PHINode *Begin = B.CreatePHI(T, 2, "row.begin"), *Left = B.CreatePHI(T, 2, "row.left");
    carry(*Header, *Row, *End);
    Value *Quotient = B.CreateBinOp(Signed ? Instruction::SDiv : Instruction::UDiv, Begin, Divisor, "row.index");
    Value *Base = B.CreateMul(Quotient, Divisor, "row.base");
    Value *Within = B.CreateSub(Begin, Base), *One = ConstantInt::get(T, 1), *Zero = ConstantInt::get(T, 0);
    Value *Room = Step > 0 ? B.CreateSub(Divisor, Within) : B.CreateAdd(Within, One);
    Value *Counts = B.CreateAnd(B.CreateICmpSGE(Begin, Zero), B.CreateICmpSGT(Divisor, Zero));
    Value *Length =
        B.CreateBinaryIntrinsic(Intrinsic::umin, B.CreateSelect(Counts, Room, One), Left, nullptr, "row.length");
    B.CreateBr(Header);
    count(Branch, *Header, *Row, *End, *Length);
    Value *Rest = E.CreateSub(Left, Length);
    Value *Next = Step > 0 ? E.CreateAdd(Begin, Length) : E.CreateSub(Begin, Length);
    E.CreateCondBr(E.CreateICmpEQ(Rest, Zero), Exit, Row);
    Begin->addIncoming(First, Preheader), Begin->addIncoming(Next, End);
    Left->addIncoming(All, Preheader), Left->addIncoming(Rest, End);
    replaceDivisions(*Quotient, *Base);
    ADGEN_COUNT(NumNested, Header->getParent()->getName());
  }

  // What the loop carries is carried from row to row.
  void carry(BasicBlock &Header, BasicBlock &Row, BasicBlock &End) {
    for (PHINode &Phi : Header.phis()) {
      PHINode *Outer = PHINode::Create(Phi.getType(), 2, Phi.getName() + ".row", Row.getFirstNonPHIIt());
      PHINode *Last = PHINode::Create(Phi.getType(), 1, Phi.getName() + ".last", End.begin());
      Last->addIncoming(Phi.getIncomingValueForBlock(Latch), Latch);
      Outer->addIncoming(Phi.getIncomingValueForBlock(Preheader), Preheader);
      Outer->addIncoming(Last, &End);
      unsigned From = Phi.getBasicBlockIndex(Preheader);
      Phi.setIncomingValue(From, Outer);
      Phi.setIncomingBlock(From, &Row);
    }
    for (PHINode &Phi : Exit->phis()) { // all come from the latch: what is used behind the loop
      PHINode *Last = PHINode::Create(Phi.getType(), 1, Phi.getName() + ".last", End.begin());
      Last->addIncoming(Phi.getIncomingValueForBlock(Latch), Latch);
      unsigned From = Phi.getBasicBlockIndex(Latch);
      Phi.setIncomingValue(From, Last);
      Phi.setIncomingBlock(From, &End);
    }
  }

  // The inner loop ends with its row.
  static void count(BranchInst &Branch, BasicBlock &Header, BasicBlock &Row, BasicBlock &End, Value &Length) {
    Type *T = Length.getType();
    PHINode *Done = PHINode::Create(T, 2, "row.done", Header.begin());
    IRBuilder<> B(&Branch);
    Value *Next = B.CreateAdd(Done, ConstantInt::get(T, 1), "row.next", true, true);
    Done->addIncoming(ConstantInt::get(T, 0), &Row);
    Done->addIncoming(Next, Branch.getParent());
    B.CreateCondBr(B.CreateICmpULT(Next, &Length), &Header, &End);
    Branch.eraseFromParent();
  }

  void replaceDivisions(Value &Quotient, Value &Base) {
    SmallVector<Instruction *> All;
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (isDivision(I) && isSigned(I) == Signed && I.getOperand(0) == Dividend && I.getOperand(1) == Divisor)
          All.push_back(&I);
    for (Instruction *I : All) {
      Value *Now = &Quotient;
      if (!isQuotient(*I))
        Now = BinaryOperator::CreateSub(Dividend, &Base, "row.place", I->getIterator());
      I->replaceAllUsesWith(Now);
      I->eraseFromParent();
    }
  }

  Loop &L;
  DominatorTree &DT;
  ScalarEvolution &SE;
  BasicBlock *Latch = nullptr, *Preheader = nullptr, *Exit = nullptr;
  Value *Dividend = nullptr, *Divisor = nullptr;
  Value *Counted = nullptr, *Bound = nullptr;
  CmpInst::Predicate GoesOn = CmpInst::BAD_ICMP_PREDICATE;
  int Step = 0, Counting = 0;
  bool Signed = true;
};

bool nestOne(Function &F) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  AssumptionCache AC(F);
  TargetLibraryInfoImpl Impl(F.getParent()->getTargetTriple());
  TargetLibraryInfo TLI(Impl, &F);
  ScalarEvolution SE(F, TLI, AC, DT, LI);
  for (Loop *L : LI.getLoopsInPreorder())
    if (Nester(*L, DT, SE).run())
      return true;
  return false;
}

} // namespace

ADGEN_DECLARE_PASS(NestCollapsedLoops);

PreservedAnalyses NestCollapsedLoops::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    while (!F.isDeclaration() && nestOne(F))
      Changed = true;
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
