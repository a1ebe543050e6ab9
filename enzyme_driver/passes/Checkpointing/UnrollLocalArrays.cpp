// Short loops that say by their counter which element of a local array they use (the corners of a cell, the axes of a
// vector) are marked for complete unrolling. The elements then become values, of which Enzyme keeps none that it can
// compute again, where it keeps what is read from an array. The index may also come from a table of constants.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#define DEBUG_TYPE "adgen-unroll-local-arrays"

using namespace llvm;

STATISTIC(NumUnrolled, "Number of loops that are to be unrolled");

namespace adgen {
namespace {

constexpr unsigned MostIterations = 16;
constexpr unsigned MostInstructions = 4000; // of the code that a nest of loops becomes

// Whether nothing is done with the array but that elements are read and written, so that they can become values.
bool isPrivate(const AllocaInst &Array) {
  SmallVector<const Value *> Addresses{&Array};
  while (!Addresses.empty())
    for (const Use &U : Addresses.pop_back_val()->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      if (isa<GetElementPtrInst>(I))
        Addresses.push_back(I);
      else if (auto *Store = dyn_cast<StoreInst>(I); Store ? U.getOperandNo() != StoreInst::getPointerOperandIndex()
                                                           : !isa<LoadInst, MemSetInst, LifetimeIntrinsic>(I))
        return false;
    }
  return Array.isStaticAlloca();
}

class Nests {
public:
  Nests(const LoopInfo &Loops, ScalarEvolution &SE) : Loops(Loops), SE(SE) {}

  void mark(Loop &L) {
    if (size(L) > MostInstructions || !unrolls(L)) {
      for (Loop *Inner : L)
        mark(*Inner);
      return;
    }
    ADGEN_COUNT(NumUnrolled, L);
    for (Loop *Each : L.getLoopsInPreorder())
      addStringMetadataToLoop(Each, "llvm.loop.unroll.full");
  }

private:
  unsigned iterations(const Loop &L) const { return SE.getSmallConstantTripCount(&L); }

  // Whether the loop and those in it are short, and one of them uses elements that unrolling decides.
  bool unrolls(Loop &L) const {
    if (!all_of(L.getLoopsInPreorder(),
                [&](Loop *Each) { return iterations(*Each) && iterations(*Each) <= MostIterations; }))
      return false;
    return any_of(L.blocks(),
                  [&](BasicBlock *Block) { return any_of(*Block, [&](Instruction &I) { return usesElement(I, L); }); });
  }

  // Of the code that the loop becomes; more than enough where that is unknown.
  uint64_t size(const Loop &L) const {
    uint64_t Instructions = 0;
    for (BasicBlock *Block : L.blocks()) {
      uint64_t Times = 1;
      for (const Loop *Around = Loops.getLoopFor(Block);; Around = Around->getParentLoop()) {
        Times *= iterations(*Around);
        if (Around == &L)
          break;
      }
      Instructions += Block->size() * (Times ? Times : MostInstructions);
    }
    return Instructions;
  }

  bool usesElement(Instruction &I, const Loop &L) const {
    const Value *Address = getLoadStorePointerOperand(&I);
    auto *Array = Address ? dyn_cast<AllocaInst>(getUnderlyingObject(Address)) : nullptr;
    return Array && !L.isLoopInvariant(Address) && isPrivate(*Array) && isDecided(Address, L);
  }

  // Whether the value is a constant once the loop is unrolled; the address of an array counts as one.
  bool isDecided(const Value *V, const Loop &L) const {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || isa<AllocaInst>(I))
      return isa<Constant, AllocaInst>(V);
    if (auto *Phi = dyn_cast<PHINode>(I)) {
      const Loop *Around = Loops.getLoopFor(Phi->getParent());
      return Around && L.contains(Around) && Around->getHeader() == Phi->getParent() && SE.isSCEVable(Phi->getType()) &&
             isa<SCEVAddRecExpr>(SE.getSCEV(const_cast<PHINode *>(Phi)));
    }
    if (auto *Load = dyn_cast<LoadInst>(I)) {
      auto *Table = dyn_cast<GlobalVariable>(getUnderlyingObject(Load->getPointerOperand()));
      return Table && Table->isConstant() && Table->hasDefinitiveInitializer() &&
             isDecided(Load->getPointerOperand(), L);
    }
    return isa<GetElementPtrInst, CastInst, BinaryOperator>(I) &&
           all_of(I->operands(), [&](const Use &U) { return isDecided(U.get(), L); });
  }

  const LoopInfo &Loops;
  ScalarEvolution &SE;
};

} // namespace

ADGEN_DECLARE_PASS(UnrollLocalArrays);

PreservedAnalyses UnrollLocalArrays::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &Analyses = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    auto &Loops = Analyses.getResult<LoopAnalysis>(F);
    Nests Of(Loops, Analyses.getResult<ScalarEvolutionAnalysis>(F));
    for (Loop *L : Loops)
      Of.mark(*L);
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
