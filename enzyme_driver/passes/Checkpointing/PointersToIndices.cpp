// A pointer that walks over an array in steps that differ,
//   for (...; p += step) use(p);   becomes   for (...; offset += step) use(base + offset);
// Enzyme would keep the pointer and its shadow for each iteration, and behind what was kept nobody sees whose shadow it
// is. Pointers that walk in equal steps it finds again by itself. Two or three of a kernel that take turns,
//   for (...; swap(p, q)) use(p, q);   become   for (n = 0; ...; ++n) use(n % 2 ? q : p, n % 2 ? p : q);
// or the one place that they lie behind, and what lies between.
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/Utils/Local.h"

#define DEBUG_TYPE "adgen-pointers-to-indices"

using namespace llvm;

STATISTIC(NumLoops, "Number of loops whose pointers are indices");
STATISTIC(NumTurns, "Number of loops whose pointers take turns by the iteration");

namespace adgen {
namespace {

bool walksInEqualSteps(PHINode &Pointer, ScalarEvolution &Evolution) {
  auto *Walk = dyn_cast<SCEVAddRecExpr>(Evolution.getSCEV(&Pointer));
  return Walk && Walk->isAffine();
}

// All pointers of a loop that come from the one it begins with: steps further, and the phis of loops in it and of ways
// that meet.
class Walk {
public:
  Walk(PHINode &Begin, const Loop &L) : Begin(Begin), L(L) {}

  // Whether it is nothing but these that the next iteration begins with.
  bool isKnown() { return collect(Begin.getIncomingValueForBlock(L.getLoopLatch())); }

  void index() {
    Value *Base = Begin.getIncomingValueForBlock(L.getLoopPreheader());
    Type *Index = Begin.getDataLayout().getIndexType(Begin.getType());
    for (PHINode *Phi : Phis)
      Offsets[Phi] = IRBuilder<>(Phi).CreatePHI(Index, Phi->getNumIncomingValues(), Phi->getName() + ".offset");
    for (PHINode *Phi : Phis)
      for (auto [V, From] : zip(Phi->incoming_values(), Phi->blocks()))
        cast<PHINode>(Offsets[Phi])
            ->addIncoming(Phi == &Begin && From == L.getLoopPreheader() ? ConstantInt::get(Index, 0) : offsetOf(V),
                          From);
    for (PHINode *Phi : Phis) {
      IRBuilder<> B(Phi->getParent(), Phi->getParent()->getFirstInsertionPt());
      Phi->replaceAllUsesWith(B.CreatePtrAdd(Base, Offsets[Phi], Phi->getName()));
    }
    for (PHINode *Phi : Phis)
      Phi->eraseFromParent();
  }

private:
  bool collect(Value *V) {
    auto *Phi = dyn_cast<PHINode>(V);
    if (auto *Step = dyn_cast<GetElementPtrInst>(V); Step && L.contains(Step))
      return collect(Step->getPointerOperand());
    if (!Phi || !L.contains(Phi) || (Phi != &Begin && Phi->getParent() == L.getHeader()))
      return false;
    return !Phis.insert(Phi) || Phi == &Begin || all_of(Phi->incoming_values(), [&](Use &U) { return collect(U); });
  }

  Value *offsetOf(Value *V) {
    Value *&Known = Offsets[V];
    if (Known)
      return Known;
    auto *Step = cast<GetElementPtrInst>(V);
    Value *Before = offsetOf(Step->getPointerOperand());
    IRBuilder<> B(Step);
    return Offsets[V] = B.CreateAdd(Before, emitGEPOffset(&B, Step->getDataLayout(), Step));
  }

  PHINode &Begin;
  const Loop &L;
  SmallSetVector<PHINode *, 8> Phis;
  DenseMap<Value *, Value *> Offsets;
};

bool indexPointers(const Loop &L, ScalarEvolution &Evolution) {
  BasicBlock *Latch = L.getLoopLatch();
  if (!L.getLoopPreheader() || !Latch)
    return false;
  bool Changed = false;
  for (PHINode &Phi : make_early_inc_range(L.getHeader()->phis())) {
    if (!Phi.getType()->isPointerTy() || walksInEqualSteps(Phi, Evolution))
      continue;
    Walk Pointers(Phi, L);
    if (!Pointers.isKnown())
      continue;
    Evolution.forgetLoop(&L);
    Pointers.index();
    Changed = true;
  }
  return Changed;
}

// Pointers of which each becomes the next one in the next iteration, and the last one the first.
class Turns {
public:
  explicit Turns(const Loop &L) : Header(*L.getHeader()), Before(L.getLoopPreheader()), Latch(L.getLoopLatch()) {}

  bool find() {
    if (!Before || !Latch)
      return false;
    for (PHINode &Phi : Header.phis())
      if (Phi.getType()->isPointerTy() && comesBackTo(Phi))
        return true;
    return false;
  }

  void index() {
    const unsigned Count = Pointers.size();
    IRBuilder<> B(&Header, Header.begin());
    PHINode *Number = B.CreatePHI(B.getInt64Ty(), 2, "turns");
    B.SetInsertPoint(Latch->getTerminator());
    Value *Next = B.CreateNUWAdd(Number, B.getInt64(1), "turns.next");
    Number->addIncoming(B.getInt64(0), Before);
    Number->addIncoming(Next, Latch);
    SmallVector<Value *> Starts(map_range(Pointers, [&](PHINode *P) { return P->getIncomingValueForBlock(Before); }));
    B.SetInsertPoint(Before->getTerminator());
    Value *Base = offsets(B, Starts);
    B.SetInsertPoint(&Header, Header.getFirstInsertionPt());
    Value *Turn = B.CreateURem(Number, B.getInt64(Count), "turn");
    for (unsigned I = 0; I < Count; ++I) {
      Value *Mine = Starts[(I + Count - 1) % Count];
      for (unsigned At = Count - 1; At-- > 0;)
        Mine = B.CreateSelect(B.CreateICmpEQ(Turn, B.getInt64(At)), Starts[(I + At) % Count], Mine);
      Pointers[I]->replaceAllUsesWith(Base ? B.CreateGEP(B.getInt8Ty(), Base, Mine) : Mine);
    }
    for (PHINode *Each : Pointers)
      Each->eraseFromParent();
  }

private:
  static constexpr unsigned MostTurns = 3;

  bool comesBackTo(PHINode &First) {
    Pointers = {&First};
    for (;;) {
      auto *Next = dyn_cast<PHINode>(Pointers.back()->getIncomingValueForBlock(Latch));
      if (Next == &First || !Next || Next->getParent() != &Header || is_contained(Pointers, Next))
        return Next == &First && Pointers.size() > 1;
      Pointers.push_back(Next);
      if (Pointers.size() > MostTurns)
        return false;
    }
  }

  // Where all lie behind one place, that, and how far; else they stay, and the place is null.
  static Value *offsets(IRBuilder<> &B, SmallVectorImpl<Value *> &Starts) {
    SmallVector<Value *> Offsets;
    Value *Base = nullptr;
    for (Value *Start : Starts) {
      Value *Place = Start, *Offset = B.getInt64(0);
      while (auto *Step = dyn_cast<GEPOperator>(Place)) {
        Offset = B.CreateAdd(Offset, emitGEPOffset(&B, B.GetInsertBlock()->getDataLayout(), Step));
        Place = Step->getPointerOperand();
      }
      if (Base && Place != Base)
        return nullptr;
      Base = Place;
      Offsets.push_back(Offset);
    }
    Starts.assign(Offsets.begin(), Offsets.end());
    return Base;
  }

  BasicBlock &Header;
  BasicBlock *Before, *Latch;
  SmallVector<PHINode *, MostTurns> Pointers;
};

bool indexTurns(const Loop &L) {
  bool Changed = false;
  for (Turns Of(L); Of.find(); Changed = true)
    Of.index();
  return Changed;
}

} // namespace

ADGEN_DECLARE_PASS(PointersToIndices);

PreservedAnalyses PointersToIndices::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false, IsKernel = M.getTargetTriple().isNVPTX();
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    for (const Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      if (IsKernel && indexTurns(*L)) {
        ADGEN_COUNT(NumTurns, *L);
        FAM.getResult<ScalarEvolutionAnalysis>(F).forgetLoop(L);
        Changed = true;
      }
    auto &Evolution = FAM.getResult<ScalarEvolutionAnalysis>(F);
    for (const Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      if (indexPointers(*L, Evolution)) {
        ADGEN_COUNT(NumLoops, *L);
        Changed = true;
      }
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
