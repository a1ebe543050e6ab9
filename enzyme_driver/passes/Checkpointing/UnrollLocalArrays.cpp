// Short loops that say by their counter which element of a local array they use (the corners of a cell, the axes of a
// vector) are marked for complete unrolling. The elements then become values, of which Enzyme keeps none that it can
// compute again, where it keeps what is read from an array. The index may also come from a table of constants, and how
// often an inner loop runs from the counters around it, as in the triangles of a factorisation.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <optional>

#define DEBUG_TYPE "adgen-unroll-local-arrays"

using namespace llvm;

STATISTIC(NumUnrolled, "Number of loops that are to be unrolled");

namespace adgen {
namespace {

constexpr unsigned MostIterations = 16;
constexpr unsigned MostInRegisters = 64;    // iterations, if all elements have registers, as in a row of attention
constexpr uint64_t RegisterBytes = 512;     // half of what a thread has
constexpr unsigned MostInstructions = 4000; // of the code that a nest of loops becomes
constexpr unsigned MostAroundLoops = 1000;  // if loops in it stay

// Whether nothing is done with the array but that elements are read and written, so that they can become values. An
// address may be the one or the other, as SROA makes those of x[side + k] in a loop over two sides.
bool isPrivate(const AllocaInst &Array) {
  SmallVector<const Value *> Addresses{&Array};
  SmallPtrSet<const Value *, 4> Chosen;
  while (!Addresses.empty())
    for (const Use &U : Addresses.pop_back_val()->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      if (isa<PHINode, SelectInst>(I) ? Chosen.insert(I).second : isa<GetElementPtrInst>(I))
        Addresses.push_back(I);
      else if (isa<PHINode, SelectInst>(I))
        continue;
      else if (auto *Store = dyn_cast<StoreInst>(I); Store ? U.getOperandNo() != StoreInst::getPointerOperandIndex()
                                                           : !isa<LoadInst, MemSetInst, LifetimeIntrinsic>(I))
        return false;
    }
  return Array.isStaticAlloca();
}

// Of all arrays whose elements can become values.
uint64_t privateBytes(const Function &F) {
  uint64_t Bytes = 0;
  for (const Instruction &I : F.getEntryBlock())
    if (auto *Array = dyn_cast<AllocaInst>(&I); Array && isPrivate(*Array))
      Bytes += Array->getAllocationSize(F.getDataLayout())->getFixedValue();
  return Bytes;
}

// A counter of two iterations, of which LLVM keeps no more than the two numbers that it has.
const ConstantInt *secondNumber(const PHINode &Phi, const Loop &L) {
  const BasicBlock *Latch = L.getLoopLatch();
  if (!Latch || Phi.getParent() != L.getHeader() || Phi.getNumIncomingValues() != 2)
    return nullptr;
  const Value *First = Phi.getIncomingValue(Phi.getIncomingBlock(0) == Latch);
  return isa<ConstantInt>(First) ? dyn_cast<ConstantInt>(Phi.getIncomingValueForBlock(Latch)) : nullptr;
}

class Nests {
public:
  Nests(const Function &F, const LoopInfo &Loops, ScalarEvolution &SE)
      : Loops(Loops), SE(SE), Longest(privateBytes(F) <= RegisterBytes ? MostInRegisters : MostIterations) {}

  void mark(Loop &L) {
    Staying.clear();
    Iterations At;
    const uint64_t Size = iterations(L, At) ? size(L, At) : MostInstructions + 1;
    if (Size > (Staying.empty() ? MostInstructions : MostAroundLoops) || !usesElements(L)) {
      for (Loop *Inner : L)
        mark(*Inner);
      return;
    }
    ADGEN_COUNT(NumUnrolled, L);
    SmallVector<Loop *> Others;
    for (Loop *Each : L.getLoopsInPreorder())
      if (isUnrolled(Each, L))
        addStringMetadataToLoop(Each, "llvm.loop.unroll.full");
      else if (Staying.contains(Each))
        append_range(Others, *Each);
    for (Loop *Each : Others)
      mark(*Each);
  }

private:
  using Iterations = DenseMap<const Loop *, unsigned>;

  // What an expression is in one iteration of each of some loops.
  struct AtIterations : SCEVRewriteVisitor<AtIterations> {
    AtIterations(ScalarEvolution &SE, const Iterations &At) : SCEVRewriteVisitor(SE), At(At) {}

    const SCEV *visitAddRecExpr(const SCEVAddRecExpr *Expr) {
      auto Found = At.find(Expr->getLoop());
      const SCEV *Inside = SCEVRewriteVisitor::visitAddRecExpr(Expr);
      auto *Steps = dyn_cast<SCEVAddRecExpr>(Inside);
      if (Found == At.end() || !Steps || !Expr->getType()->isIntegerTy())
        return Inside;
      return Steps->evaluateAtIteration(SE.getConstant(Expr->getType(), Found->second), SE);
    }

    const SCEV *visitUnknown(const SCEVUnknown *Expr) {
      auto *Phi = dyn_cast<PHINode>(Expr->getValue());
      for (auto [L, Iteration] : At)
        if (const ConstantInt *Second = Phi ? secondNumber(*Phi, *L) : nullptr)
          return SE.getConstant(Iteration ? const_cast<ConstantInt *>(Second)
                                          : cast<ConstantInt>(Phi->getIncomingValueForBlock(L->getLoopPreheader())));
      return Expr;
    }

    const Iterations &At;
  };

  // How often the loop runs at most, in that iteration of the loops around it, if one of its exits says so. None is
  // said of a loop that is not reached then: one that counts from j to n where j is n.
  std::optional<unsigned> iterations(const Loop &L, const Iterations &At) const {
    SmallVector<BasicBlock *> Exiting;
    L.getExitingBlocks(Exiting);
    std::optional<unsigned> Least;
    for (BasicBlock *Block : Exiting) {
      const SCEV *Count = SE.getExitCount(&L, Block);
      if (isa<SCEVCouldNotCompute>(Count))
        continue;
      auto *Taken = dyn_cast<SCEVConstant>(AtIterations(SE, At).visit(Count));
      if (Taken && (Taken->getAPInt() + 1).ule(Longest))
        Least = std::min<unsigned>(Least.value_or(Longest), (Taken->getAPInt() + 1).getZExtValue());
    }
    return Least;
  }

  static uint64_t sizeAsItIs(const Loop &L) {
    uint64_t Instructions = 0;
    for (const BasicBlock *Block : L.blocks())
      Instructions += Block->size();
    return Instructions;
  }

  // Of the code that the loop becomes, in that iteration of the loops around it. Loops that stay are found with it.
  uint64_t size(const Loop &L, Iterations &At) {
    std::optional<unsigned> Times = iterations(L, At);
    if (Staying.contains(&L) || !Times) {
      Staying.insert(&L);
      return sizeAsItIs(L);
    }
    uint64_t Own = sizeAsItIs(L);
    for (const Loop *Inner : L)
      Own -= sizeAsItIs(*Inner);
    uint64_t Instructions = 0;
    for (unsigned Iteration = 0; Iteration < *Times && Instructions <= MostInstructions; ++Iteration) {
      At[&L] = Iteration;
      Instructions += Own;
      for (const Loop *Inner : L)
        Instructions += size(*Inner, At);
    }
    At.erase(&L);
    return Instructions;
  }

  // Whether it becomes straight code if `Nest` does.
  bool isUnrolled(const Loop *L, const Loop &Nest) const {
    for (; L && L != &Nest; L = L->getParentLoop())
      if (Staying.contains(L))
        return false;
    return L;
  }

  // Whether unrolling decides an element.
  bool usesElements(const Loop &L) const {
    return any_of(L.blocks(),
                  [&](BasicBlock *Block) { return any_of(*Block, [&](Instruction &I) { return usesElement(I, L); }); });
  }

  bool usesElement(Instruction &I, const Loop &L) const {
    const Value *Address = getLoadStorePointerOperand(&I);
    if (!Address || L.isLoopInvariant(Address))
      return false;
    SmallVector<const Value *> Arrays;
    getUnderlyingObjects(Address, Arrays);
    return all_of(Arrays, [](const Value *V) { return isa<AllocaInst>(V) && isPrivate(*cast<AllocaInst>(V)); }) &&
           isDecided(Address, L);
  }

  bool isDecided(const Value *V, const Loop &L) const {
    SmallPtrSet<const PHINode *, 4> Assumed;
    return isDecided(V, L, Assumed);
  }

  // Whether the value is a constant once the loop is unrolled; the address of an array counts as one.
  bool isDecided(const Value *V, const Loop &L, SmallPtrSetImpl<const PHINode *> &Assumed) const {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || isa<AllocaInst>(I))
      return isa<Constant, AllocaInst>(V);
    auto AllDecided = [&] {
      return all_of(I->operands(), [&](const Use &U) { return isDecided(U.get(), L, Assumed); });
    };
    if (auto *Phi = dyn_cast<PHINode>(I)) { // one iteration's follows from that of the one before
      const Loop *Around = Loops.getLoopFor(Phi->getParent());
      return Around && isUnrolled(Around, L) && Around->getHeader() == Phi->getParent() &&
             ((SE.isSCEVable(Phi->getType()) && isa<SCEVAddRecExpr>(SE.getSCEV(const_cast<PHINode *>(Phi)))) ||
              !Assumed.insert(Phi).second || AllDecided());
    }
    if (auto *Load = dyn_cast<LoadInst>(I)) {
      auto *Table = dyn_cast<GlobalVariable>(getUnderlyingObject(Load->getPointerOperand()));
      return Table && Table->isConstant() && Table->hasDefinitiveInitializer() &&
             isDecided(Load->getPointerOperand(), L, Assumed);
    }
    return isa<GetElementPtrInst, CastInst, BinaryOperator, SelectInst, CmpInst>(I) && AllDecided();
  }

  const LoopInfo &Loops;
  ScalarEvolution &SE;
  const unsigned Longest;               // of the loops that become straight code
  SmallPtrSet<const Loop *, 4> Staying; // in the nest that is looked at: how often these run is not known before
};

} // namespace

ADGEN_DECLARE_PASS(UnrollLocalArrays);

PreservedAnalyses UnrollLocalArrays::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &Analyses = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    auto &Loops = Analyses.getResult<LoopAnalysis>(F);
    Nests Of(F, Loops, Analyses.getResult<ScalarEvolutionAnalysis>(F));
    for (Loop *L : Loops)
      Of.mark(*L);
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
