// Adds up what lanes of a warp add to places that were looked up: the camera of an observation, the vertices of a
// pixel's triangle, a voxel, a texel. Nothing says whether lanes have such a place in common, but where threads side by
// side work on what lies side by side, many have. Each lane asks the next one; where few have the same, all add by
// themselves, which costs a shuffle and a vote. Where it pays, those of one place add up first, and one of them adds
// the sum.
//
// What is added at once as a record, or as a pair, stays as it is: one message is enough for it. So does what the
// lanes' own numbers tell apart, as the channels of a row that was looked up.
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneGroups.h"
#include "Accumulate/Lookups.h"
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-compare-lanes"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumGroups, "Number of groups of additions to places that lanes may have in common");

namespace adgen {
namespace {

constexpr uint64_t RecordBytes = 96; // from which on adgen-bulk-reduce-atomics takes what lies side by side
constexpr size_t MostGroups = 12;    // of a function: each is there twice
constexpr size_t FewestInLoop = 3;   // additions of a block

// Whether lanes side by side are a step apart by what is not looked up: element t % c of a row that is.
bool stepsByLane(const Value *V) {
  if (auto *Call = dyn_cast<IntrinsicInst>(V))
    return Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_x;
  if (auto *GEP = dyn_cast<GEPOperator>(V))
    return any_of(GEP->operands(), [](const Use &U) { return stepsByLane(U); });
  auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return false;
  switch (I->getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
    return stepsByLane(I->getOperand(0)) || stepsByLane(I->getOperand(1));
  case Instruction::Shl:
  case Instruction::URem:
  case Instruction::SRem:
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::Trunc:
    return stepsByLane(I->getOperand(0));
  default:
    return false;
  }
}

class Comparison {
public:
  Comparison(Function &F, const Meetings &Meet, const LoopInfo &LI) : F(F), Meet(Meet), LI(LI), Given(F) {}

  void run() {
    SmallVector<LaneGroup> Groups = laneGroups(F, Meet, [&](const AtomicRMWInst &A) { return isLookedUp(A); });
    SmallPtrSet<const Value *, 4> OfRecords;
    for (const LaneGroup &G : Groups)
      if (G.Members.size() * F.getDataLayout().getTypeStoreSize(G.type()) >= RecordBytes)
        OfRecords.insert(getUnderlyingObject(G.Base));
    SmallPtrSet<const BasicBlock *, 4> OfPairs;
    for (const LaneGroup &G : Groups)
      if (isSecond(*G.Base))
        OfPairs.insert(G.In);
    erase_if(Groups, [&](const LaneGroup &G) {
      return OfRecords.contains(getUnderlyingObject(G.Base)) || OfPairs.contains(G.In);
    });
    DenseMap<const BasicBlock *, size_t> Additions;
    for (const LaneGroup &G : Groups)
      Additions[G.In] += G.Members.size();
    erase_if(Groups, [&](const LaneGroup &G) { return !repays(*G.In, Additions.lookup(G.In)); });
    stable_sort(Groups, [](const LaneGroup &A, const LaneGroup &B) {
      return A.In == B.In && A.Members.back()->comesBefore(B.Members.back());
    });
    auto IsInTable = [](const LaneGroup &G) { return isa<GlobalVariable>(getUnderlyingObject(G.Base)); };
    if (Groups.size() - count_if(Groups, IsInTable) <= MostGroups) // beside its own table a block has the shadow
      for (const LaneGroup &G : Groups)
        replace(G);
  }

private:
  bool repays(const BasicBlock &Block, size_t Additions) const {
    unsigned Depth = LI.getLoopDepth(&Block);
    return Depth == 0 || (Depth == 1 && Additions >= FewestInLoop);
  }

  bool isLookedUp(const AtomicRMWInst &Atomic) {
    bool IsDone = Atomic.hasMetadata(LanesMark) || Atomic.hasMetadata(SeldomMark) || Atomic.hasMetadata(TableMark);
    const Value *Pointer = Atomic.getPointerOperand();
    return !IsDone && (Given.contain(*Pointer) || isShared(*Pointer)) && From.make(Pointer) && !stepsByLane(Pointer);
  }

  // Where each of several lanes that add to one element tries again until it is the only one.
  bool isShared(const Value &Pointer) const {
    const Value *Object = getUnderlyingObject(&Pointer);
    auto *A = dyn_cast<Argument>(Object);
    auto *Own = dyn_cast<GlobalVariable>(Object);
    return (A && F.hasParamAttribute(A->getArgNo(), SharedShadowAttribute)) ||
           (Own && Own->getAddressSpace() == SharedSpace);
  }

  // One of two features of an element, the index of which is (2 * i) | 1: both are added to by one instruction.
  static bool isSecond(const Value &Place) {
    auto *GEP = dyn_cast<GetElementPtrInst>(&Place);
    const Value *Index = GEP && GEP->getNumIndices() == 1 ? GEP->getOperand(1) : nullptr;
    if (Index && isa<ZExtInst, SExtInst>(Index))
      Index = cast<CastInst>(Index)->getOperand(0);
    return Index && match(Index, m_DisjointOr(m_Value(), m_One()));
  }

  // Where the last of them was. The question of the block's first group is that of the others.
  void replace(const LaneGroup &G) {
    ADGEN_COUNT(NumGroups, *G.Members.back());
    Instruction &Last = *G.Members.back();
    IRBuilder<> B(&Last);
    Value *Place = B.CreatePtrToInt(G.Members.front()->getPointerOperand(), B.getInt64Ty());
    Value *&Meets = Asked[G.In];
    if (!Meets)
      Meets = callTogether(B, "adgen_meet_by_chance", B.getInt1Ty(), {activeLanes(B), Place});
    Instruction *Ask = nullptr, *Alone = nullptr;
    SplitBlockAndInsertIfThenElse(Meets, Last.getIterator(), &Ask, &Alone);
    for (AtomicRMWInst *Member : G.Members)
      Member->clone()->insertBefore(Alone->getIterator());
    B.SetInsertPoint(Ask);
    Value *Active = activeLanes(B);
    Value *Alike = callTogether(B, "adgen_alike_by_chance", B.getInt32Ty(), {Active, Place});
    BasicBlock *Behind = Ask->getSuccessor(0), *Together = BasicBlock::Create(F.getContext(), "", &F, Behind);
    B.CreateCondBr(B.CreateIsNotNull(Alike), Together, Alone->getParent());
    Ask->eraseFromParent();
    B.SetInsertPoint(BranchInst::Create(Behind, Together));
    handOver(B, "warp", G.Members, Active, Alike, [&](ArrayRef<AtomicRMWInst *>) { return B.getFalse(); });
  }

  Function &F;
  const Meetings &Meet;
  const LoopInfo &LI;
  Lookups From;
  DenseMap<const BasicBlock *, Value *> Asked;
  GivenShadows Given;
};

} // namespace

ADGEN_DECLARE_PASS(CompareLanes);

PreservedAnalyses CompareLanes::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Comparison(F, Meetings(F, FAM.getResult<AAManager>(F)), FAM.getResult<LoopAnalysis>(F)).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
