// A tile that a mask leaves out: `if (masks && inside && !masks[tile]) { write; return; }`. Those of its threads that
// lie outside of the image go on, load Gaussians that nobody looks at, and count at barriers to which no one else
// comes. So all threads of the block may miss barriers, for all that Enzyme's gradient knows, which then announces
// each, and keeps what all the others need not keep.
//
// Behind such conditions the threads ask each other whether any returns, and then all do:
//   if (__syncthreads_or(leaves)) { if (leaves) write; return; }
// That is the same where who went on beside one that returned had nothing to do: either what it went on for has the
// same value in all threads, and then none returned; or what follows is, with that value, without effect, stores to
// shared memory aside, which nobody reads any more. Else those that return may stay (Bystanders).
#include "Analysis/UnchangedMemory.h"
#include "Analysis/Uniformity.h"
#include "Autodiff/Bystanders.h"
#include "Support/Pass.h"
#include "Support/Reaches.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

#define DEBUG_TYPE "adgen-return-together"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumReturns, "Number of places where all threads of a block return together");

namespace adgen {
namespace {

// Conditions one after the other: by each a thread may go on, and where it does by none, it returns.
struct Conditions {
  SmallVector<BasicBlock *> Blocks;
  BasicBlock *GoesOn, *Leaves;
};

bool goesOnIfTrue(const BasicBlock &Block, const BasicBlock &GoesOn) {
  return Block.getTerminator()->getSuccessor(0) == &GoesOn;
}

bool isConvergent(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && Call->isConvergent();
}

class Together {
public:
  Together(Function &Body, FunctionAnalysisManager &FAM, UnchangedMemory &Unchanged)
      : Body(Body), FAM(FAM), Unchanged(Unchanged), Threads(Body, kindInBody) {}

  bool run() {
    for (BasicBlock &Block : Body)
      if (std::optional<Conditions> Found = conditionsFrom(Block)) {
        const bool Return = canReturnTogether(*Found);
        if (!Return && !letThemStay(Body, Found->Blocks, *Found->GoesOn, *Found->Leaves, FAM))
          continue;
        ADGEN_COUNT(NumReturns, Body);
        if (Return)
          ask(*Found);
        return true; // what is known of threads is no longer so
      }
    return false;
  }

private:
  std::optional<Conditions> conditionsFrom(BasicBlock &First) const {
    if (Threads.isDivergent(&First))
      return {};
    for (unsigned Way : {0u, 1u}) {
      auto *Branch = dyn_cast<BranchInst>(First.getTerminator());
      if (!Branch || !Branch->isConditional())
        return {};
      Conditions Found{{&First}, Branch->getSuccessor(Way), Branch->getSuccessor(1 - Way)};
      while (BasicBlock *Next = extended(Found))
        Found.Leaves = Next;
      bool ComesFromElsewhere =
          any_of(predecessors(Found.GoesOn), [&](BasicBlock *From) { return !is_contained(Found.Blocks, From); });
      if (!ComesFromElsewhere && any_of(Found.Blocks, [&](const BasicBlock *Block) { return isDivided(*Block); }) &&
          onlyReturns(*Found.Leaves, *Found.GoesOn) && waitsBehind(*Found.GoesOn, First))
        return Found;
    }
    return {};
  }

  // The block where who has not gone on by the next condition comes.
  static BasicBlock *extended(Conditions &Of) {
    BasicBlock *Block = Of.Leaves;
    auto *Branch = dyn_cast<BranchInst>(Block->getTerminator());
    if (!Branch || !Branch->isConditional() || Block->getSinglePredecessor() != Of.Blocks.back() ||
        any_of(*Block, [](const Instruction &I) { return I.mayHaveSideEffects() || isConvergent(I); }))
      return nullptr;
    for (unsigned Way : {0u, 1u})
      if (Branch->getSuccessor(Way) == Of.GoesOn && Branch->getSuccessor(1 - Way) != Of.GoesOn) {
        Of.Blocks.push_back(Block);
        return Branch->getSuccessor(1 - Way);
      }
    return nullptr;
  }

  bool isDivided(const BasicBlock &Block) const {
    return !Threads.isUniform(cast<BranchInst>(Block.getTerminator())->getCondition());
  }

  static bool onlyReturns(const BasicBlock &From, const BasicBlock &GoesOn) {
    auto Reached = blocksReachedFrom(From);
    return !Reached.contains(&GoesOn) &&
           all_of(Reached, [](const BasicBlock *Block) { return none_of(*Block, isConvergent); });
  }

  // And no thread comes once more.
  static bool waitsBehind(const BasicBlock &GoesOn, const BasicBlock &First) {
    auto Reached = blocksReachedFrom(GoesOn);
    return !Reached.contains(&First) &&
           any_of(Reached, [](const BasicBlock *Block) { return any_of(*Block, waitsForBlock); });
  }

  bool canReturnTogether(const Conditions &Of) {
    return all_of(Of.Blocks, [&](const BasicBlock *Block) {
      return isNothing(cast<BranchInst>(Block->getTerminator())->getCondition(), goesOnIfTrue(*Block, *Of.GoesOn),
                       *Of.GoesOn);
    });
  }

  // Whether nobody goes on by that outcome while another thread returns, or whoever does has nothing to do.
  bool isNothing(Value *Condition, bool Outcome, const BasicBlock &GoesOn) {
    Value *One, *Other;
    if (match(Condition, m_Not(m_Value(One))))
      return isNothing(One, !Outcome, GoesOn);
    if (Outcome ? match(Condition, m_LogicalOr(m_Value(One), m_Value(Other)))
                : match(Condition, m_LogicalAnd(m_Value(One), m_Value(Other))))
      return isNothing(One, Outcome, GoesOn) && isNothing(Other, Outcome, GoesOn);
    return isSame(*Condition) || (isa<Instruction>(Condition) && hasNoEffect(*Condition, Outcome, GoesOn));
  }

  // In all threads that compute it.
  bool isSame(const Value &V) {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || Threads.isUniform(I))
      return true;
    auto *Load = dyn_cast<LoadInst>(I);
    if (Load ? !Unchanged.isReadBy(*Load) : !isa<CmpInst, CastInst, BinaryOperator, GetElementPtrInst, SelectInst>(I))
      return false;
    return all_of(I->operands(), [&](const Use &U) { return isSame(*U.get()); });
  }

  // What a thread goes on to do in which the condition has come out so.
  bool hasNoEffect(Value &Condition, bool Outcome, const BasicBlock &GoesOn) {
    ValueToValueMapTy Map;
    Function *Copy = CloneFunction(&Body, Map);
    cast<Value>(Map[&Condition])->replaceAllUsesWith(ConstantInt::getBool(Condition.getType(), Outcome));
    SCCPPass().run(*Copy, FAM);
    bool IsSo = all_of(blocksReachedFrom(*cast<BasicBlock>(Map[&GoesOn])), [&](const BasicBlock *Block) {
      return all_of(*Block, [&](const Instruction &I) { return isOfNobody(I, *Copy); });
    });
    FAM.clear(*Copy, Copy->getName());
    Copy->eraseFromParent();
    return IsSo;
  }

  static bool isOfNobody(const Instruction &I, const Function &Copy) {
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->isSimple())
      return isOwn(*Store->getPointerOperand(), Copy);
    if (auto *Set = dyn_cast<MemIntrinsic>(&I); Set && !Set->isVolatile())
      return isOwn(*Set->getDest(), Copy);
    auto *Known = dyn_cast<IntrinsicInst>(&I);
    return !I.mayHaveSideEffects() || waitsForBlock(I) || (Known && Known->isAssumeLikeIntrinsic());
  }

  // The thread's, or the block's.
  static bool isOwn(const Value &Pointer, const Function &Copy) {
    const Value *Object = getUnderlyingObject(&Pointer, 0);
    auto *A = dyn_cast<Argument>(Object);
    return isa<AllocaInst>(Object) || (A && A->getArgNo() + sharedNames(Copy).size() >= Copy.arg_size());
  }

  void ask(Conditions &Of) {
    LLVMContext &C = Body.getContext();
    BasicBlock *Last = Of.Blocks.back();
    auto Make = [&](const char *Name) { return BasicBlock::Create(C, Name, &Body, Of.GoesOn); };
    BasicBlock *Leaving = Make("leaving"), *Asks = Make("asks"), *All = Make("all"), *Returns = Make("returns");
    const DebugLoc &At = Last->getTerminator()->getDebugLoc();
    moveWays(Of, *Leaving, *Asks);
    IRBuilder<> B(Leaving);
    B.SetCurrentDebugLocation(At);
    B.CreateBr(Asks);
    B.SetInsertPoint(Asks, Asks->begin());
    PHINode *Leaves = B.CreatePHI(B.getInt1Ty(), Of.Blocks.size() + 1, "leaves");
    for (BasicBlock *From : Of.Blocks)
      Leaves->addIncoming(B.getFalse(), From);
    Leaves->addIncoming(B.getTrue(), Leaving);
    B.SetInsertPoint(Asks);
    Value *Any = B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_red_or_aligned_all, {}, {B.getInt32(0), Leaves});
    B.CreateCondBr(Any, All, Of.GoesOn);
    B.SetInsertPoint(All);
    B.CreateCondBr(Leaves, Of.Leaves, Returns);
    B.SetInsertPoint(Returns);
    B.CreateRetVoid();
    for (PHINode &Phi : Of.Leaves->phis())
      Phi.replaceIncomingBlockWith(Last, All);
    for (BasicBlock *Block : drop_begin(Of.Blocks))
      for (Instruction &I : *Block)
        bringTo(I);
  }

  // All of them come to where threads ask.
  static void moveWays(const Conditions &Of, BasicBlock &Leaving, BasicBlock &Asks) {
    IRBuilder<> B(&Asks);
    for (PHINode &Phi : Of.GoesOn->phis()) {
      PHINode *Before = B.CreatePHI(Phi.getType(), Of.Blocks.size() + 1, Phi.getName());
      for (BasicBlock *From : Of.Blocks)
        Before->addIncoming(Phi.removeIncomingValue(From, /*DeletePHIIfEmpty=*/false), From);
      Before->addIncoming(PoisonValue::get(Phi.getType()), &Leaving);
      Phi.addIncoming(Before, &Asks);
    }
    for (BasicBlock *From : Of.Blocks)
      From->getTerminator()->replaceSuccessorWith(Of.GoesOn, &Asks);
    Of.Blocks.back()->getTerminator()->replaceSuccessorWith(Of.Leaves, &Leaving);
  }

  // What is computed between the conditions, where it is used.
  static void bringTo(Instruction &I) {
    SmallVector<Use *> Uses;
    for (Use &U : I.uses())
      if (cast<Instruction>(U.getUser())->getParent() != I.getParent() || isa<PHINode>(U.getUser()))
        Uses.push_back(&U);
    if (Uses.empty())
      return;
    SSAUpdater Update;
    Update.Initialize(I.getType(), I.getName());
    Update.AddAvailableValue(I.getParent(), &I);
    for (Use *U : Uses)
      Update.RewriteUse(*U);
  }

  Function &Body;
  FunctionAnalysisManager &FAM;
  UnchangedMemory &Unchanged;
  Uniformity Threads;
};

} // namespace

ADGEN_DECLARE_PASS(ReturnTogether);

PreservedAnalyses ReturnTogether::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *> Bodies;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration() && F.getReturnType()->isVoidTy())
      Bodies.push_back(&F);
  const UnderlyingObjects Memory(M);
  UnchangedMemory Unchanged(Memory, BodyPrefix);
  for (Function *Body : Bodies)
    while (any_of(instructions(*Body), waitsForBlock) && Together(*Body, FAM, Unchanged).run())
      FAM.invalidate(*Body, PreservedAnalyses::none());
  return PreservedAnalyses::none();
}

} // namespace adgen
