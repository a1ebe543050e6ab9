// Removes stores to shared arrays that nothing reads before the same thread has stored there again, and the block has
// met behind that. Where a reverse sweep fills the tiles of a product again, and the forward sweep's result is not
// asked for, the forward sweep has nothing to do but to fill them: what it reads for that goes too.
//
// A thread's element may be read by any other one, so that ways count and not threads: on each way from a store to
// anything that reads the array lies a store to the same address, and behind that a barrier of the block. Another
// thread that reads has come by that barrier, and so has this one, by a way that would lead on to the reader. Threads
// that end before are none where all of the block end there.
#include "Analysis/Cooperates.h"
#include "Support/Pass.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#define DEBUG_TYPE "adgen-drop-refilled-stores"

using namespace llvm;

STATISTIC(NumDropped, "Number of stores to shared memory that are done again before anything reads there");

namespace adgen {
namespace {

// The same for all threads of a block, and all the time that the kernel runs.
bool isOfLaunch(const Value &V) {
  if (isa<Argument, Constant>(V))
    return true;
  auto *I = dyn_cast<Instruction>(&V);
  if (!I)
    return false;
  if (auto *Call = dyn_cast<IntrinsicInst>(I)) {
    StringRef Name = Call->getCalledFunction()->getName();
    return Name.starts_with("llvm.nvvm.read.ptx.sreg.ctaid.") || Name.starts_with("llvm.nvvm.read.ptx.sreg.nctaid.") ||
           Name.starts_with("llvm.nvvm.read.ptx.sreg.ntid.");
  }
  return isa<BinaryOperator, CmpInst, CastInst, SelectInst>(I) &&
         all_of(I->operand_values(), [](const Value *Operand) { return isOfLaunch(*Operand); });
}

// Lanes of a warp that exchange something are at one place.
bool isOfWarp(const Instruction &I) {
  constexpr StringLiteral Names[] = {"llvm.nvvm.bar.warp.sync", "llvm.nvvm.shfl.",      "llvm.nvvm.vote.",
                                     "llvm.nvvm.match.",        "llvm.nvvm.activemask", "llvm.nvvm.redux."};
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && any_of(Names, [&](StringRef Name) { return Call->getCalledFunction()->getName().starts_with(Name); });
}

bool meetsBlock(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  Intrinsic::ID Id = Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic;
  if (Id != Intrinsic::nvvm_barrier_cta_sync_aligned_all && Id != Intrinsic::nvvm_barrier_cta_sync_all)
    return false;
  auto *Number = dyn_cast<ConstantInt>(Call->getArgOperand(0));
  return Number && Number->isZero();
}

// Whether threads come to know of each other in no other way than at one place that all of them come by.
bool meetsInPlaces(Function &F) {
  return none_of(instructions(F), [](const Instruction &I) {
    return I.isVolatile() || (I.isAtomic() && isa<LoadInst, StoreInst>(I)) ||
           (ordersThreads(I) && !meetsBlock(I) && !isOfWarp(I));
  });
}

// A shared array of the file's and all that is done to it in a kernel; null where that isn't known.
class Array {
public:
  explicit Array(GlobalVariable &Variable) { IsKnown = !Variable.isDeclaration() && follow(Variable); }

  bool isKnown() const { return IsKnown; }
  const SetVector<StoreInst *> &stores() const { return Stores; }
  bool isRead(const Instruction &I) const { return Reads.contains(&I); }

private:
  bool follow(Value &Pointer) {
    if (!Seen.insert(&Pointer).second)
      return true;
    return all_of(Pointer.uses(), [&](Use &Each) { return use(Each); });
  }

  bool use(Use &Each) {
    User *By = Each.getUser();
    if (auto *Operation = dyn_cast<Operator>(By); isa<GEPOperator, AddrSpaceCastOperator>(By))
      return follow(*Operation);
    if (isa<PHINode, SelectInst>(By))
      return follow(*By);
    auto *I = dyn_cast<Instruction>(By);
    if (!I || !isKernel(*I->getFunction()))
      return false;
    if (auto *Store = dyn_cast<StoreInst>(I)) {
      Stores.insert(Store);
      return Each.getOperandNo() == StoreInst::getPointerOperandIndex();
    }
    Reads.insert(I);
    return isa<LoadInst, ICmpInst, IntrinsicInst>(I) ||
           (isa<AtomicRMWInst, AtomicCmpXchgInst>(I) && Each.getOperandNo() == 0);
  }

  DenseSet<const Value *> Seen;
  DenseSet<const Instruction *> Reads;
  SetVector<StoreInst *> Stores;
  bool IsKnown = false;
};

class Dropper {
public:
  Dropper(Function &F, DominatorTree &DT, LoopInfo &LI, ScalarEvolution &SE)
      : DT(DT), LI(LI), SE(SE), Layout(F.getDataLayout()) {}

  void find(const Array &Given, Function &F, SmallVectorImpl<StoreInst *> &Found) {
    In = &Given;
    for (StoreInst *Store : Given.stores())
      if (Store->getFunction() == &F && Store->isSimple() && isFixed(*Store) && isDoneAgain(*Store))
        Found.push_back(Store);
  }

private:
  // Where control goes on: behind an instruction, if any, or at the beginning of a block.
  using Place = std::pair<const BasicBlock *, const Instruction *>;
  enum class End { Leaves, Stored, Met, Read };

  // Whether a thread stores at one address all the time.
  bool isFixed(StoreInst &Store) {
    return !SCEVExprContains(SE.getSCEV(Store.getPointerOperand()), [&](const SCEV *Part) {
      auto *Leaf = dyn_cast<SCEVUnknown>(Part);
      auto *I = Leaf ? dyn_cast<Instruction>(Leaf->getValue()) : nullptr;
      return isa<SCEVAddRecExpr, SCEVCouldNotCompute>(Part) || (I && LI.getLoopFor(I->getParent()));
    });
  }

  bool storesAgain(StoreInst &Again, StoreInst &Store) {
    auto Bytes = [&](StoreInst &Each) {
      return Layout.getTypeStoreSize(Each.getValueOperand()->getType()).getFixedValue();
    };
    return Again.getFunction() == Store.getFunction() && Bytes(Again) >= Bytes(Store) &&
           SE.getSCEV(Again.getPointerOperand()) == SE.getSCEV(Store.getPointerOperand());
  }

  bool isDoneAgain(StoreInst &Store) {
    Again.clear();
    Passed.clear();
    for (StoreInst *Each : In->stores())
      if (storesAgain(*Each, Store))
        Again.insert(Each);
    return isStoredBeforeRead(Store) && isLeftByAll(Store);
  }

  // Follows the ways from the store on: first as long as nothing is stored again, then until the block has met.
  bool isStoredBeforeRead(StoreInst &Store) {
    SmallVector<std::pair<Place, bool>> Ways{{{Store.getParent(), &Store}, false}};
    DenseSet<const BasicBlock *> Seen[2];
    while (!Ways.empty()) {
      auto [From, IsStored] = Ways.pop_back_val();
      bool WasStored = IsStored;
      End Ends = walk(From, IsStored);
      if (Ends == End::Read)
        return false;
      if (!WasStored)
        Passed[From] = IsStored;
      if (Ends == End::Leaves)
        for (const BasicBlock *Next : successors(From.first))
          if (Seen[IsStored].insert(Next).second)
            Ways.push_back({{Next, nullptr}, IsStored});
    }
    return true;
  }

  End walk(Place From, bool &IsStored) const {
    auto Begin = From.second ? std::next(From.second->getIterator()) : From.first->begin();
    for (const Instruction &I : make_range(Begin, From.first->end())) {
      if (In->isRead(I))
        return End::Read;
      if (auto *Each = dyn_cast<StoreInst>(&I); Each && Again.contains(Each))
        IsStored = true;
      else if (IsStored && meetsBlock(I))
        return End::Met;
    }
    return End::Leaves;
  }

  // Whether the threads of a block agree where one leaves all ways to what is stored again.
  bool isLeftByAll(StoreInst &Store) {
    DenseSet<const BasicBlock *> Leading; // to what is stored again
    for (bool IsMore = true; IsMore;) {
      IsMore = false;
      for (auto &[From, IsStored] : Passed)
        if (IsStored || any_of(successors(From.first), [&](const BasicBlock *Next) { return Leading.contains(Next); }))
          IsMore |= Leading.insert(From.first).second;
    }
    return all_of(Passed, [&](const auto &Each) {
      const BasicBlock *From = Each.first.first;
      bool Leaves = !Each.second && Leading.contains(From) &&
                    any_of(successors(From), [&](const BasicBlock *Next) { return !Leading.contains(Next); });
      return !Leaves || (isDecidedAtLaunch(*From->getTerminator()) && isBeforeAll(*From, Store));
    });
  }

  static bool isDecidedAtLaunch(const Instruction &Terminator) {
    auto *Branch = dyn_cast<BranchInst>(&Terminator);
    return Branch && Branch->isConditional() && isOfLaunch(*Branch->getCondition());
  }

  bool isBeforeAll(const BasicBlock &Block, StoreInst &Store) const {
    return all_of(Again,
                  [&](const StoreInst *Each) { return Each == &Store || DT.dominates(&Block, Each->getParent()); });
  }

  DominatorTree &DT;
  LoopInfo &LI;
  ScalarEvolution &SE;
  const DataLayout &Layout;
  const Array *In = nullptr;
  DenseSet<const StoreInst *> Again; // stores at the same address
  MapVector<Place, bool> Passed;     // on the ways without, and whether it is stored there
};

} // namespace

ADGEN_DECLARE_PASS(DropRefilledStores);

PreservedAnalyses DropRefilledStores::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  std::vector<Array> Arrays;
  for (GlobalVariable &Variable : M.globals())
    if (Variable.getAddressSpace() == SharedSpace)
      if (Array Each(Variable); Each.isKnown())
        Arrays.push_back(std::move(Each));
  SmallVector<StoreInst *> Found;
  for (Function &F : M) {
    if (!isKernel(F) || !F.getName().contains(GradientSuffix) || !meetsInPlaces(F))
      continue;
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    ReversePostOrderTraversal<const Function *> Order(&F);
    if (containsIrreducibleCFG<const BasicBlock *>(Order, LI))
      continue;
    Dropper Drops(F, FAM.getResult<DominatorTreeAnalysis>(F), LI, FAM.getResult<ScalarEvolutionAnalysis>(F));
    for (const Array &Each : Arrays)
      Drops.find(Each, F, Found);
  }
  for (StoreInst *Store : Found) { // none before all are found: one may be the other's reason
    ADGEN_COUNT(NumDropped, *Store);
    Store->eraseFromParent();
  }
  return Found.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace adgen
