// A loop by the grid's stride (i += gridDim.x * blockDim.x) mostly runs once, because launches have a thread for each
// element; it serves those that do not. Its gradient has a loop for each sweep, and a tape on which each iteration
// keeps what it has computed until all have. Here what follows once the number of iterations is known is there twice,
// and the copy for one iteration has no such loop and no tape: what Enzyme has cached is in registers or, where loops
// inside index it, in local memory.
#include "Analysis/EnzymeCaches.h"
#include "Cache/Untangle.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Utils/Cloning.h"

#define DEBUG_TYPE "adgen-version-single-trips"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumVersions, "Number of gradients with a version for loops by the grid's stride that run once");

namespace adgen {
namespace {

constexpr unsigned MostInstructions = 1500; // of a gradient that is there twice
constexpr uint64_t MostLocalBytes = 128;    // of a cache that loops index

bool isOfGrid(const Value *V) {
  auto *Call = dyn_cast<IntrinsicInst>(V);
  if (Call)
    switch (Call->getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
      return true;
    case Intrinsic::umax:
    case Intrinsic::smax:
      break;
    default:
      return false;
    }
  auto *I = dyn_cast<Instruction>(V);
  return I && (Call || isa<CastInst, BinaryOperator>(I)) &&
         any_of(I->operands(), [](const Use &U) { return isOfGrid(U); });
}

// How often a loop runs whose stride has a block's or thread's distance to the same one of the next round in it
// (CountStrides).
bool isCount(Instruction &I) {
  Value *Step;
  if (!match(&I, m_Add(m_UDiv(m_Value(), m_Value(Step)), m_One())))
    return false;
  return isOfGrid(Step);
}

class TripVersion {
public:
  TripVersion(Function &F, FunctionAnalysisManager &FAM) : F(F), FAM(FAM) {}

  bool make() {
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    Instruction *Count = find(LI);
    if (!Count)
      return false;
    endAlone();
    BasicBlock *Rest = Count->getParent()->splitBasicBlock(std::next(Count->getIterator()));
    collect(*Rest);
    if (any_of(Blocks, doesTogether) || none_of(Blocks, hasCache))
      return false;
    const size_t Loops = LI.getLoopsInPreorder().size();
    copy(*Count, *Rest);
    FAM.invalidate(F, PreservedAnalyses::none());
    // Before anything rewrites the comparison by which it is known that there is one iteration.
    FAM.invalidate(F, GVNPass(GVNOptions().setPRE(false).setLoadPRE(false)).run(F, FAM));
    if (!keepInVariables())
      return false;
    clean(F, FAM);
    return FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder().size() < 2 * Loops;
  }

private:
  Instruction *find(const LoopInfo &LI) {
    for (Instruction &I : instructions(F)) {
      if (LI.getLoopFor(I.getParent()) || !isCount(I))
        continue;
      for (User *U : I.users()) // 0 where the variable would begin anew
        if (auto *Choice = dyn_cast<SelectInst>(U); Choice && Choice->getParent() == I.getParent())
          return Choice;
      return &I;
    }
    return nullptr;
  }

  // Both versions end in the same place.
  void endAlone() {
    for (BasicBlock &Block : F)
      if (isa<ReturnInst>(Block.getTerminator()) && &Block.front() != Block.getTerminator()) {
        Block.splitBasicBlock(Block.getTerminator());
        break;
      }
  }

  void collect(BasicBlock &Rest) {
    Blocks.insert(&Rest);
    for (unsigned I = 0; I < Blocks.size(); ++I)
      for (BasicBlock *Next : successors(Blocks[I]))
        if (!isa<ReturnInst>(Next->front()))
          Blocks.insert(Next);
  }

  static bool doesTogether(const BasicBlock *Block) {
    return any_of(*Block, [](const Instruction &I) {
      auto *Call = dyn_cast<CallBase>(&I);
      return Call && Call->isConvergent();
    });
  }

  static bool hasCache(const BasicBlock *Block) {
    return any_of(*Block, [](const Instruction &I) { return isCacheAllocation(&I); });
  }

  void copy(Instruction &Count, BasicBlock &Rest) {
    ValueToValueMapTy Map;
    SmallVector<BasicBlock *> Copies;
    for (BasicBlock *Block : Blocks) {
      Copies.push_back(CloneBasicBlock(Block, Map, ".once", &F));
      Map[Block] = Copies.back();
    }
    remapInstructionsInBlocks(Copies, Map);
    const SmallPtrSet<const BasicBlock *, 16> Own(llvm::from_range, Copies);
    for (BasicBlock *Block : Copies)
      for (PHINode &Phi : Block->phis())
        Phi.removeIncomingValueIf([&](unsigned I) { return !Own.contains(Phi.getIncomingBlock(I)); },
                                  /*DeletePHIIfEmpty=*/false);
    Instruction *End = Count.getParent()->getTerminator();
    IRBuilder<> B(End);
    B.CreateCondBr(B.CreateICmpEQ(&Count, ConstantInt::get(Count.getType(), 1), "once"), cast<BasicBlock>(Map[&Rest]),
                   &Rest);
    End->eraseFromParent();
    for (BasicBlock *Block : Copies)
      for (Instruction &I : *Block) {
        I.replaceUsesOfWith(&Count, ConstantInt::get(Count.getType(), 1));
        if (isCacheAllocation(&I))
          Caches.push_back(cast<CallInst>(&I));
      }
  }

  // What one iteration keeps; false where that is much, or nobody knows how much.
  bool keepInVariables() {
    for (CallInst *Cache : Caches) {
      auto *Bytes = dyn_cast<ConstantInt>(Cache->getArgOperand(0));
      SmallVector<Instruction *> Releases;
      if (!Bytes || Bytes->getValue().ugt(MostLocalBytes) || !areAccesses(*Cache, Releases))
        return false;
      IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
      AllocaInst *Variable = B.CreateAlloca(ArrayType::get(B.getInt8Ty(), Bytes->getZExtValue()));
      Variable->setAlignment(Align(8));
      for (Instruction *Release : Releases)
        Release->eraseFromParent();
      Cache->replaceAllUsesWith(Variable);
      Cache->eraseFromParent();
    }
    return true;
  }

  // Whether all that is done with the cache is to fill and to read it.
  static bool areAccesses(CallInst &Cache, SmallVectorImpl<Instruction *> &Releases) {
    SetVector<Instruction *> Places;
    Places.insert(&Cache);
    for (unsigned I = 0; I < Places.size(); ++I)
      for (User *U : Places[I]->users()) {
        auto *By = cast<Instruction>(U);
        auto *Store = dyn_cast<StoreInst>(By);
        if (isCacheRelease(*By))
          Releases.push_back(By);
        else if (isa<GetElementPtrInst>(By))
          Places.insert(By);
        else if (!isa<LoadInst>(By) && !(Store && Store->getPointerOperand() == Places[I]))
          return false;
      }
    return true;
  }

  Function &F;
  FunctionAnalysisManager &FAM;
  SetVector<BasicBlock *> Blocks;
  SmallVector<CallInst *> Caches; // of the version for one iteration
};

} // namespace

ADGEN_DECLARE_PASS(VersionSingleTrips);

PreservedAnalyses VersionSingleTrips::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function *F : gradientsUpTo(M, MostInstructions))
    if (any_of(instructions(*F), isCount))
      replaceByCopy(*F, FAM, [&](Function &Copy) {
        bool Made = TripVersion(Copy, FAM).make();
        if (Made)
          ADGEN_COUNT(NumVersions, F->getName());
        return Made;
      });
  return PreservedAnalyses::none();
}

} // namespace adgen
