// Volatile shared memory is how lanes of a warp handed each other values before there were shuffles: without a barrier,
// as all of them do the same instruction at once. They do so no more, and less so in a reverse sweep or on the host. So
// they meet before a read behind a write, and before a write behind anything; what other lanes do before and behind a
// block is not known. That is behind and before in the reverse sweep. Lanes that a condition or a loop keeps from such
// accesses meet the others before and behind it: each round of a loop is one for all of them.
#include "Analysis/Uniformity.h"
#include "Autodiff/Collectives.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

bool isVolatile(const Instruction &I) {
  auto *Load = dyn_cast<LoadInst>(&I);
  auto *Store = dyn_cast<StoreInst>(&I);
  return (Load && Load->isVolatile()) || (Store && Store->isVolatile());
}

bool isShared(Function &Body, Value *Pointer) {
  SmallVector<const Value *> Objects;
  getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/0);
  return any_of(Objects, [&](const Value *Object) {
    auto *A = dyn_cast<Argument>(Object);
    return A && A->getArgNo() >= Body.arg_size() - sharedNames(Body).size();
  });
}

// Without a derivative the lanes only have to wait.
void meet(Instruction &Before, Value *Anchor) {
  if (Anchor)
    return insertRule(Before, "lockstep", Anchor, {});
  IRBuilder<> B(&Before);
  Value *Active = B.CreateIntrinsic(Intrinsic::nvvm_activemask, ArrayRef<Type *>(), ArrayRef<Value *>());
  B.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, ArrayRef<Type *>(), {Active});
}

class Lockstep {
public:
  Lockstep(Function &Body, Value *Anchor) : Body(Body), Anchor(Anchor) {}

  void keep() {
    for (BasicBlock &Block : Body)
      if (any_of(Block, [&](Instruction &I) { return exchanges(I); }))
        Exchanging.insert(&Block);
    if (Exchanging.empty())
      return;
    SmallSetVector<Instruction *, 8> Places = aroundConditions();
    for (BasicBlock *Block : Exchanging)
      keepIn(*Block);
    for (Instruction *Place : Places)
      meet(*Place, Anchor);
  }

private:
  bool exchanges(Instruction &I) const { return isVolatile(I) && isShared(Body, getLoadStorePointerOperand(&I)); }

  SmallSetVector<Instruction *, 8> aroundConditions() {
    SmallSetVector<Instruction *, 8> Places;
    Uniformity Threads(Body, kindInBody);
    for (BasicBlock &Block : Body) {
      auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
      if (!Branch || Branch->isUnconditional() || Threads.isUniform(Branch->getCondition()))
        continue;
      BasicBlock *Meeting = Threads.meetingPoint(&Block);
      if (!exchangeBetween(Block, Meeting))
        continue;
      Places.insert(Branch);
      if (Meeting)
        Places.insert(&*Meeting->getFirstNonPHIOrDbgOrAlloca());
    }
    return Places;
  }

  bool exchangeBetween(BasicBlock &Before, BasicBlock *Meeting) const {
    SmallSetVector<BasicBlock *, 8> Ways;
    auto Enter = [&](BasicBlock *Next) { return Next == Meeting || Next == &Before || Ways.insert(Next); };
    for_each(successors(&Before), Enter);
    for (unsigned I = 0; I < Ways.size(); ++I)
      for_each(successors(Ways[I]), Enter);
    return any_of(Ways, [&](BasicBlock *Block) { return Exchanging.contains(Block); });
  }

  void keepIn(BasicBlock &Block) {
    bool Read = true, Written = true; // what may have been done since they met
    for (Instruction &I : Block) {
      if (!exchanges(I))
        continue;
      bool Writes = isa<StoreInst>(I);
      if (Written || (Writes && Read)) {
        meet(I, Anchor);
        Read = Written = false;
      }
      (Writes ? Written : Read) = true;
    }
    if (Anchor)
      meet(*Block.getTerminator(), Anchor);
  }

  Function &Body;
  Value *Anchor;
  SmallSetVector<BasicBlock *, 8> Exchanging;
};

} // namespace

void keepLockstep(Function &Body, Value *Anchor) { Lockstep(Body, Anchor).keep(); }

ADGEN_DECLARE_PASS(KeepLockstep);

PreservedAnalyses KeepLockstep::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (!F.isDeclaration() && F.getName().starts_with(BodyPrefix))
      keepLockstep(F, nullptr);
  return PreservedAnalyses::none();
}

} // namespace adgen
