// Where all threads add to elements of a small table, as to the few matrices by which each site of a lattice
// multiplies, or to the taps of a filter that each pixel chooses, the additions of the whole grid meet at a few lines
// of memory. So a block has the table for itself in shared memory: its threads add there, lanes of one place together
// (adgen-match-lanes), and when all of them have come to the end, each sum is added to the shadow once.
//
// That the table is small follows from what an index may be: a remainder, a mask, a loop's count, a condition.
#include "Accumulate/BlockElements.h"
#include "Accumulate/BlockEnd.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneOrigins.h"
#include "Accumulate/Ownership.h"
#include "Accumulate/Places.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#define DEBUG_TYPE "adgen-privatize-tables"

using namespace llvm;

STATISTIC(NumPrivate, "Number of additions into a block's own table");

namespace adgen {
namespace {

constexpr size_t EachAddition = 512; // elements, of what a thread adds: they have to be zeroed and added, too

class Privatizer {
public:
  Privatizer(Function &F, const Places &Where) : F(F), DL(F.getDataLayout()), Where(Where), Room(roomInShared(F)) {}

  void run() {
    for (Argument &A : F.args())
      if (F.hasParamAttribute(A.getArgNo(), ShadowAttribute))
        find(A);
    if (!All.empty())
      replace();
  }

private:
  void find(Argument &Shadow) {
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(Shadow);
    if (!Uses || Uses->Others || !Uses->Consumptions.empty())
      return;
    BlockElements Found{&Shadow};
    Bytes Reached;
    for (AtomicRMWInst *Atomic : Uses->Accumulations) {
      bool IsNumber = Atomic->getType()->isFloatTy() || Atomic->getType()->isDoubleTy();
      if (!IsNumber || !(Found.Additions.empty() || Atomic->getType() == Found.type()) || !differs(*Atomic))
        continue;
      if (std::optional<Bytes> At = Where.of(*Atomic)) {
        Reached.widen(*At);
        Found.Additions.push_back(Atomic);
      }
    }
    if (!Found.Additions.empty() && Reached.size() <= std::min<uint64_t>(Places::MostBytes, Room) &&
        countOf(Found, Reached) <= EachAddition * Found.Additions.size()) {
      Found.Begin = Reached.Begin;
      Found.Own = createExchange(F, ArrayType::get(Found.type(), countOf(Found, Reached)), ".table");
      Room -= Reached.size();
      All.push_back(std::move(Found));
    }
  }

  // Not what all lanes have in common.
  bool differs(const AtomicRMWInst &Atomic) {
    if (Atomic.hasMetadata(SeldomMark) || Atomic.hasMetadata(LanesMark))
      return false;
    const LaneOrigin &From = Origins.of(const_cast<Value *>(Atomic.getPointerOperand()));
    return From.X || From.OtherAxes || From.Unknown;
  }

  void replace() {
    const BlockEnds Ends(F);
    zeroOwn(Ends.first(), All, countAll);
    waitForBlock(Ends.first());
    for (const BlockElements &E : All) {
      IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      Value *Own = B.CreateAddrSpaceCast(E.Own, B.getPtrTy());
      Elsewhere Table(*E.Shadow, *B.CreatePtrAdd(Own, B.getInt64(-E.Begin), "table"));
      for (AtomicRMWInst *Atomic : E.Additions)
        redirect(*Atomic, Table);
    }
    waitForBlock(Ends.last());
    addOwnToShadows(Ends.last(), All, countAll);
  }

  void redirect(AtomicRMWInst &Atomic, Elsewhere &Table) {
    ADGEN_COUNT(NumPrivate, Atomic);
    Atomic.setOperand(0, &Table.of(*Atomic.getPointerOperand()));
    Atomic.setMetadata(TableMark, MDNode::get(F.getContext(), {}));
  }

  uint64_t countOf(const BlockElements &E, const Bytes &Reached) const {
    return Reached.size() / DL.getTypeStoreSize(E.type());
  }

  Function &F;
  const DataLayout &DL;
  const Places &Where;
  LaneOrigins Origins;
  SmallVector<BlockElements> All;
  uint64_t Room;
};

} // namespace

ADGEN_DECLARE_PASS(PrivatizeTables);

PreservedAnalyses PrivatizeTables::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration()) {
      const Places Where(F.getDataLayout(), FAM.getResult<LazyValueAnalysis>(F),
                         FAM.getResult<ScalarEvolutionAnalysis>(F));
      Privatizer(F, Where).run();
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
