// The loop over the threads of a row of a block, where the first thing that a thread does is to see whether it has
// anything to do,
//   for (i = 0; i < threads; ++i) if (!(base + i < first || base + i >= last)) work(base + i);
// runs from the first thread with something to do to the last one, and what is the same in all of them is asked once:
//   for (i = max(0, first - base); i < min(threads, last - base); ++i) work(base + i);
// Without the condition the loop is vectorised as it would be had a person written it. Where base + i might wrap
// around, the old loop runs.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#define DEBUG_TYPE "adgen-narrow-iteration-space"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumNarrowed, "Number of loops narrowed");

namespace adgen {
namespace {

constexpr size_t MostInstructions = 600; // of a loop that is there twice

// A loop from 0 in steps of 1, the header of which may lead straight to its end, where nothing is done.
struct Guarded {
  PHINode *Index;
  ICmpInst *Ends; // the next index is below the extent
  BranchInst *Guard;
  bool SkipsIfTrue;
};

std::optional<Guarded> guarded(const Loop &L) {
  BasicBlock *Latch = L.getLoopLatch(), *Header = L.getHeader(), *Exit = L.getUniqueExitBlock();
  if (!L.getLoopPreheader() || !Latch || L.getExitingBlock() != Latch || !Exit || isa<PHINode>(Exit->front()) ||
      isa<PHINode>(Latch->front()) || Latch == Header)
    return std::nullopt;
  Guarded G{nullptr, nullptr, dyn_cast<BranchInst>(Header->getTerminator()), false};
  auto *Back = dyn_cast<BranchInst>(Latch->getTerminator());
  if (!G.Guard || !G.Guard->isConditional() || !Back || !Back->isConditional() || Back->getSuccessor(0) != Header)
    return std::nullopt;
  G.SkipsIfTrue = G.Guard->getSuccessor(0) == Latch;
  if (!G.SkipsIfTrue && G.Guard->getSuccessor(1) != Latch)
    return std::nullopt;
  G.Ends = dyn_cast<ICmpInst>(Back->getCondition());
  if (!G.Ends || G.Ends->getPredicate() != CmpInst::ICMP_ULT || !G.Ends->hasOneUse() ||
      !L.isLoopInvariant(G.Ends->getOperand(1)))
    return std::nullopt;
  Value *Index;
  if (!match(G.Ends->getOperand(0), m_Add(m_Value(Index), m_One())))
    return std::nullopt;
  G.Index = dyn_cast<PHINode>(Index);
  bool Counts = G.Index && G.Index->getParent() == Header && hasSingleElement(Header->phis()) &&
                G.Index->getType()->isIntegerTy(32) &&
                match(G.Index->getIncomingValueForBlock(L.getLoopPreheader()), m_Zero()) &&
                G.Index->getIncomingValueForBlock(Latch) == G.Ends->getOperand(0);
  bool IsFree = all_of(*Header, [](const Instruction &I) {
    return isa<NoAliasScopeDeclInst>(I) || (!I.mayHaveSideEffects() && !I.mayReadFromMemory());
  });
  bool Skips = none_of(*Latch, [](const Instruction &I) { return I.mayHaveSideEffects(); });
  return Counts && IsFree && Skips ? std::optional(G) : std::nullopt;
}

// An iteration does nothing if `Predicate` holds between its place, which is the index or base + index, and a limit.
struct Bound {
  CmpInst::Predicate Predicate;
  Value *Limit;
};

// What a thread that does nothing is known by: any of these.
struct Conditions {
  Value *Place = nullptr; // what is compared with the bounds: 32 bits that stand for a number with a sign
  Value *Base = nullptr;
  bool NotNegative = false;
  SmallVector<Bound> Bounds;
  SmallVector<Value *> Same, Others; // in all iterations, and what is still to be asked
};

Value *baseOf(Value *Place, const Guarded &G, const Loop &L) {
  Value *Base;
  if (Place == G.Index)
    return ConstantInt::get(G.Index->getType(), 0);
  return match(Place, m_c_Add(m_Specific(G.Index), m_Value(Base))) && L.isLoopInvariant(Base) ? Base : nullptr;
}

bool addBound(Value *Leaf, const Guarded &G, const Loop &L, Conditions &Found) {
  auto *Compare = dyn_cast<ICmpInst>(Leaf);
  if (!Compare)
    return false;
  CmpInst::Predicate Predicate = G.SkipsIfTrue ? Compare->getPredicate() : Compare->getInversePredicate();
  Value *Place = Compare->getOperand(0), *Limit = Compare->getOperand(1);
  if (L.isLoopInvariant(Place)) {
    std::swap(Place, Limit);
    Predicate = CmpInst::getSwappedPredicate(Predicate);
  }
  if (Predicate == CmpInst::ICMP_EQ && match(Limit, m_Zero())) { // the optimiser's way to say: below one
    Predicate = CmpInst::ICMP_ULT;
    Limit = ConstantInt::get(Limit->getType(), 1);
  }
  bool NotNegative = match(Place, m_ZExt(m_Value(Place))) || CmpInst::isUnsigned(Predicate);
  if (!match(Place, m_SExt(m_Value(Place))) && Limit->getType()->isIntegerTy(64) && Place->getType()->isIntegerTy(64))
    return false;
  Value *Base = Place->getType()->isIntegerTy(32) ? baseOf(Place, G, L) : nullptr;
  if (!Base || !L.isLoopInvariant(Limit) || !CmpInst::isRelational(Predicate) || (Found.Place && Found.Place != Place))
    return false;
  Found.Place = Place;
  Found.Base = Base;
  Found.NotNegative |= NotNegative;
  Found.Bounds.push_back({Predicate, Limit});
  return true;
}

void collect(Value *Condition, const Guarded &G, const Loop &L, Conditions &Found) {
  Value *A, *B;
  bool Splits = G.SkipsIfTrue ? match(Condition, m_LogicalOr(m_Value(A), m_Value(B)))
                              : match(Condition, m_LogicalAnd(m_Value(A), m_Value(B)));
  if (Splits) {
    collect(A, G, L, Found);
    collect(B, G, L, Found);
  } else if (L.isLoopInvariant(Condition)) {
    Found.Same.push_back(Condition);
  } else if (!addBound(Condition, G, L, Found)) {
    Found.Others.push_back(Condition);
  }
}

class Clamp {
public:
  Clamp(const Loop &L, const Guarded &G, const Conditions &C) : L(L), G(G), C(C), Before(L.getLoopPreheader()) {}

  void make() {
    Function *F = Before->getParent();
    auto *Enter = BasicBlock::Create(F->getContext(), "clamped", F, L.getHeader());
    ValueToValueMapTy Map;
    SmallVector<BasicBlock *> Blocks;
    for (BasicBlock *Block : L.blocks()) {
      Blocks.push_back(CloneBasicBlock(Block, Map, ".clamped", F));
      Map[Block] = Blocks.back();
    }
    remapInstructionsInBlocks(Blocks, Map);
    IRBuilder<> B(Enter);
    Value *Base = B.CreateFreeze(C.Base);
    auto [First, Last] = range(B, Base);
    B.CreateCondBr(B.CreateAnd(B.CreateICmpSLT(First, Last), B.CreateNot(idle(B))), Blocks.front(),
                   L.getUniqueExitBlock());
    count(Map, First, Last, Base, *Enter);
    ask(*cast<BranchInst>(Map[G.Guard]), Map);
    choose(*Enter);
  }

private:
  // Iterations, at least one.
  Value *iterations(IRBuilder<> &B) const {
    return B.CreateBinaryIntrinsic(Intrinsic::umax, G.Ends->getOperand(1), B.getInt32(1));
  }

  // The old loop stays for places that wrap around, or that are negative where that matters.
  void choose(BasicBlock &Enter) const {
    Instruction *Old = Before->getTerminator();
    IRBuilder<> B(Old);
    Value *Base = B.CreateFreeze(C.Base);
    Value *Behind = B.CreateAdd(B.CreateSExt(Base, B.getInt64Ty()), B.CreateZExt(iterations(B), B.getInt64Ty()));
    Value *IsExact = B.CreateICmpSLE(Behind, B.getInt64(INT32_MAX));
    if (C.NotNegative)
      IsExact = B.CreateAnd(IsExact, B.CreateICmpSGE(Base, B.getInt32(0)));
    B.CreateCondBr(IsExact, &Enter, L.getHeader(), MDBuilder(B.getContext()).createLikelyBranchWeights());
    Old->eraseFromParent();
    addStringMetadataToLoop(const_cast<Loop *>(&L), "llvm.loop.vectorize.enable", 0);
    addStringMetadataToLoop(const_cast<Loop *>(&L), "llvm.loop.unroll.disable", 1);
  }

  // As a number with a sign; no place is the largest one.
  static Value *limitOf(IRBuilder<> &B, const Bound &Each) {
    Value *Limit = B.CreateFreeze(Each.Limit);
    auto Constant = [&](int64_t N) { return ConstantInt::get(Limit->getType(), N, true); };
    if (CmpInst::isUnsigned(Each.Predicate))
      Limit = B.CreateBinaryIntrinsic(Intrinsic::umin, Limit, Constant(INT32_MAX));
    else if (Limit->getType()->isIntegerTy(64))
      Limit = B.CreateBinaryIntrinsic(
          Intrinsic::smin, B.CreateBinaryIntrinsic(Intrinsic::smax, Limit, Constant(INT32_MIN)), Constant(INT32_MAX));
    Limit = B.CreateTrunc(Limit, B.getInt32Ty());
    CmpInst::Predicate Predicate = ICmpInst::getSignedPredicate(Each.Predicate);
    bool IsBehind = Predicate == CmpInst::ICMP_SLE || Predicate == CmpInst::ICMP_SGT;
    return IsBehind ? B.CreateBinaryIntrinsic(Intrinsic::sadd_sat, Limit, B.getInt32(1)) : Limit;
  }

  // The first place where there is something to do, and that behind the last one.
  std::pair<Value *, Value *> range(IRBuilder<> &B, Value *Base) const {
    Value *First = Base, *Last = B.CreateNSWAdd(Base, iterations(B));
    for (const Bound &Each : C.Bounds) {
      CmpInst::Predicate Predicate = ICmpInst::getSignedPredicate(Each.Predicate);
      if (Predicate == CmpInst::ICMP_SLT || Predicate == CmpInst::ICMP_SLE)
        First = B.CreateBinaryIntrinsic(Intrinsic::smax, First, limitOf(B, Each));
      else
        Last = B.CreateBinaryIntrinsic(Intrinsic::smin, Last, limitOf(B, Each));
    }
    return {First, Last};
  }

  Value *idle(IRBuilder<> &B) const {
    Value *Any = B.getFalse();
    for (Value *Condition : C.Same) {
      Value *Known = B.CreateFreeze(Condition);
      Any = B.CreateOr(Any, G.SkipsIfTrue ? Known : B.CreateNot(Known));
    }
    return Any;
  }

  // The new loop counts places.
  void count(ValueToValueMapTy &Map, Value *First, Value *Last, Value *Base, BasicBlock &Enter) const {
    auto *Index = cast<PHINode>(Map[G.Index]);
    auto *Ends = cast<ICmpInst>(Map[G.Ends]);
    BasicBlock *Latch = Ends->getParent();
    IRBuilder<> B(Index);
    PHINode *Place = B.CreatePHI(B.getInt32Ty(), 2, "place");
    B.SetInsertPoint(Latch->getTerminator());
    Value *Next = B.CreateAdd(Place, B.getInt32(1), "", C.NotNegative, true);
    Place->addIncoming(First, &Enter);
    Place->addIncoming(Next, Latch);
    Latch->getTerminator()->setOperand(0, B.CreateICmpSLT(Next, Last));
    auto *Step = cast<Instruction>(Ends->getOperand(0));
    Ends->eraseFromParent();
    if (C.Place != G.Index) {
      auto *Sum = cast<Instruction>(Map[C.Place]);
      Sum->replaceAllUsesWith(Place);
      Sum->eraseFromParent();
    }
    B.SetInsertPoint(Index->getParent()->getFirstInsertionPt());
    Index->replaceAllUsesWith(B.CreateNSWSub(Place, Base));
    Index->eraseFromParent();
    if (Step->use_empty())
      Step->eraseFromParent();
  }

  // What the new loop still has to ask.
  void ask(BranchInst &Guard, ValueToValueMapTy &Map) const {
    IRBuilder<> B(&Guard);
    if (C.Others.empty()) {
      B.CreateBr(Guard.getSuccessor(G.SkipsIfTrue));
      Guard.eraseFromParent();
      return;
    }
    Value *Left = nullptr;
    for (Value *Other : C.Others) {
      Value *Condition = Map[Other];
      if (Left)
        Condition = G.SkipsIfTrue ? B.CreateLogicalOr(Left, Condition) : B.CreateLogicalAnd(Left, Condition);
      Left = Condition;
    }
    Guard.setCondition(Left);
  }

  const Loop &L;
  const Guarded &G;
  const Conditions &C;
  BasicBlock *Before;
};

size_t sizeOf(const Loop &L) {
  size_t Size = 0;
  for (BasicBlock *Block : L.blocks())
    Size += Block->size();
  return Size;
}

bool clampOne(Function &F, SmallPtrSetImpl<BasicBlock *> &Seen) {
  DominatorTree DT(F);
  LoopInfo LI(DT);
  for (Loop *L : LI.getLoopsInPreorder()) {
    if (!Seen.insert(L->getHeader()).second || sizeOf(*L) > MostInstructions)
      continue;
    std::optional<Guarded> G = guarded(*L);
    if (!G)
      continue;
    for (Instruction &I : make_early_inc_range(*L->getHeader())) // what is the same in all iterations is seen outside
      if (bool Moved = false; !isa<PHINode>(I) && !I.isTerminator())
        L->makeLoopInvariant(&I, Moved);
    Conditions C;
    collect(G->Guard->getCondition(), *G, *L, C);
    if (C.Bounds.empty())
      continue;
    Clamp(*L, *G, C).make();
    return true;
  }
  return false;
}

} // namespace

ADGEN_DECLARE_PASS(NarrowIterationSpace);

PreservedAnalyses NarrowIterationSpace::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M) {
    SmallPtrSet<BasicBlock *, 16> Seen;
    while (!F.isDeclaration() && clampOne(F, Seen)) {
      ADGEN_COUNT(NumNarrowed, F.getName());
      Changed = true;
    }
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
