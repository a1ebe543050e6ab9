#include "Analysis/StoredOnce.h"

#include "Analysis/Accumulation.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

constexpr unsigned MostGroups = 8;

// A part of an index, `Factor` times a number from 0 to below one of `Ranges`; without ranges it may be any integer.
struct StoredOnce::Group {
  Polynomial Factor;
  SmallVector<Polynomial, 2> Ranges;
  uint32_t Covers = 0; // axes along which the block's place follows from the number
};

static Polynomial extent(Source::Kind Of, unsigned Axis) { return Polynomial::source(onAxis(Of, Axis)); }

static Polynomial minus(Polynomial A, const Polynomial &B) { return A += B * Polynomial::constant(-1), A; }

static bool isNegative(const Polynomial &P) {
  return !P.Terms.empty() && all_of(P.Terms, [](const auto &Term) { return Term.second < 0; });
}

// Whether a number is at least another, for extents and arguments that are not negative. A constant is compared with a
// multiple of the block's width by a limit of that.
static bool isAtLeast(const Polynomial &A, const Polynomial &B, LaunchLimits &Limits) {
  Polynomial Rest = minus(A, B);
  if (all_of(Rest.Terms, [](const auto &Term) { return Term.second >= 0; }))
    return true;
  int64_t Constant = Rest.take({});
  if (Constant <= 0 || Rest.Terms.size() != 1)
    return false;
  const auto &[Sources, Factor] = *Rest.Terms.begin();
  if (Sources.size() != 1 || Sources[0].Of != Source::BlockSize || Constant / -Factor < 1)
    return false;
  int64_t &Most = Limits.MostThreads[reinterpret_cast<uintptr_t>(Sources[0].What)];
  Most = std::min(Most, Constant / -Factor);
  return true;
}

StoredOnce::StoredOnce(Function &F, LoopInfo &LI, const DominatorTree &DT) : F(F), DT(DT), Index(F, LI) {
  for (const Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<IntrinsicInst>(&I)) {
      StringRef Name = Call->getCalledFunction()->getName();
      if (Name.consume_front("llvm.nvvm.read.ptx.sreg.ctaid.") && !I.use_empty())
        BlocksRead |= 1u << (Name.back() - 'x');
    }
}

void StoredOnce::addGuard(Value &Condition, bool Holds, SmallVectorImpl<Guard> &Found) {
  Value *A, *B;
  if (match(&Condition, m_Not(m_Value(A))))
    return addGuard(*A, !Holds, Found);
  if (Holds ? match(&Condition, m_LogicalAnd(m_Value(A), m_Value(B)))
            : match(&Condition, m_LogicalOr(m_Value(A), m_Value(B)))) {
    addGuard(*A, Holds, Found);
    addGuard(*B, Holds, Found);
    return;
  }
  auto *Compare = dyn_cast<ICmpInst>(&Condition);
  if (!Compare || !Compare->getOperand(0)->getType()->isIntegerTy())
    return;
  CmpInst::Predicate How = Holds ? Compare->getPredicate() : Compare->getInversePredicate();
  A = Compare->getOperand(0), B = Compare->getOperand(1);
  if (How == CmpInst::ICMP_SGT || How == CmpInst::ICMP_UGT || How == CmpInst::ICMP_SGE || How == CmpInst::ICMP_UGE) {
    std::swap(A, B);
    How = CmpInst::getSwappedPredicate(How);
  }
  std::optional<Polynomial> Left = Index.of(A), Right = Index.of(B);
  bool IsEqual = How == CmpInst::ICMP_EQ, OrEqual = How == CmpInst::ICMP_SLE || How == CmpInst::ICMP_ULE;
  if (!Left || !Right || !(IsEqual || OrEqual || How == CmpInst::ICMP_SLT || How == CmpInst::ICMP_ULT))
    return;
  if (OrEqual)
    *Right += Polynomial::constant(1);
  Found.push_back({*Left, *Right, IsEqual});
}

// What holds wherever the block is reached.
SmallVector<StoredOnce::Guard> StoredOnce::guardsOf(const BasicBlock &Block) {
  SmallVector<Guard> Found;
  for (auto *Node = DT.getNode(&Block)->getIDom(); Node; Node = Node->getIDom()) {
    auto *Way = dyn_cast<BranchInst>(Node->getBlock()->getTerminator());
    if (!Way || !Way->isConditional() || Way->getSuccessor(0) == Way->getSuccessor(1))
      continue;
    for (unsigned Side : {0u, 1u})
      if (DT.dominates(BasicBlockEdge(Node->getBlock(), Way->getSuccessor(Side)), &Block))
        addGuard(*Way->getCondition(), Side == 0, Found);
  }
  return Found;
}

// The axes that no index tells apart have one block, if nothing else asks for its place.
bool StoredOnce::ends(uint32_t Covered, LaunchLimits &Limits) const {
  uint32_t Missing = ~Covered & ((1u << LaunchLimits::Axes) - 1);
  Limits.OneBlockAlong |= Missing;
  return !(Missing & BlocksRead);
}

// Digits of a number with several bases: each group's factor has to be no less than what those before it come to.
bool StoredOnce::peel(SmallVectorImpl<Group> &Left, const Polynomial &Extent, uint32_t Covered,
                      LaunchLimits &Limits) const {
  if (Left.empty())
    return ends(Covered, Limits);
  for (unsigned Next = 0; Next < Left.size(); ++Next) {
    LaunchLimits Tried = Limits;
    Group G = Left[Next];
    if (!isAtLeast(G.Factor, Extent, Tried))
      continue;
    SmallVector<Group> Rest(Left.begin(), Left.end());
    Rest.erase(Rest.begin() + Next);
    if (Rest.empty() && ends(Covered | G.Covers, Tried)) {
      Limits = Tried;
      return true;
    }
    for (const Polynomial &Range : G.Ranges) {
      LaunchLimits Further = Tried;
      if (!Rest.empty() && peel(Rest, G.Factor * Range, Covered | G.Covers, Further)) {
        Limits = Further;
        return true;
      }
    }
  }
  return false;
}

bool StoredOnce::differInBlocks(Polynomial Offset, int64_t Spread, ArrayRef<Guard> Guards, LaunchLimits &Limits) const {
  uint32_t Covered = 0;
  Polynomial Threads[LaunchLimits::Axes], Blocks[LaunchLimits::Axes];
  SmallVector<Group> Groups;
  std::map<Polynomial::Product, Polynomial, Polynomial::Order> Counters;
  for (const auto &[Sources, Factor] : Offset.Terms) {
    Polynomial Rest = Polynomial::constant(Factor);
    Polynomial::Product Varying;
    for (const Source &S : Sources)
      if (S.Of == Source::Thread || S.Of == Source::Block || S.Of == Source::Counter)
        Varying.push_back(S);
      else
        Rest = Rest * Polynomial::source(S);
    if (Varying.size() > 1)
      return false;
    if (Varying.empty())
      continue;
    unsigned Axis = reinterpret_cast<uintptr_t>(Varying[0].What);
    (Varying[0].Of == Source::Thread  ? Threads[Axis]
     : Varying[0].Of == Source::Block ? Blocks[Axis]
                                      : Counters[Varying]) += Rest;
  }
  auto Add = [&](Polynomial Factor, const Polynomial &Number, const Polynomial &Range, uint32_t Covers) {
    if (isNegative(Factor))
      Factor = Factor * Polynomial::constant(-1);
    Group G{Factor, {Range}, Covers};
    for (const Guard &Each : Guards)
      if (Each.IsEqual ? Each.Left == Number || Each.Right == Number : Each.Left == Number) {
        if (Each.IsEqual)
          Covered |= Covers;
        else
          G.Ranges.push_back(Each.Right);
      }
    Groups.push_back(G);
  };
  for (unsigned Axis = 0; Axis < LaunchLimits::Axes; ++Axis) {
    Polynomial Thread = extent(Source::Thread, Axis), Block = extent(Source::Block, Axis),
               Width = extent(Source::BlockSize, Axis);
    Polynomial Grid = extent(Source::GridSize, Axis), Both = Block * Width;
    Both += Thread;
    for (const Guard &Each : Guards) // one block alone comes here
      if (Each.IsEqual && (Each.Left == Block || Each.Left == Both))
        Covered |= 1u << Axis;
    if (!Threads[Axis].Terms.empty() && Blocks[Axis] == Threads[Axis] * Width) {
      Add(Threads[Axis], Both, Grid * Width, 1u << Axis);
      continue;
    }
    if (!Threads[Axis].Terms.empty())
      Add(Threads[Axis], Thread, Width, 0);
    if (!Blocks[Axis].Terms.empty())
      Add(Blocks[Axis], Block, Grid, 1u << Axis);
  }
  for (auto &[Counter, Factor] : Counters)
    Groups.push_back({isNegative(Factor) ? Factor * Polynomial::constant(-1) : Factor, {}, 0});
  return Groups.size() <= MostGroups && peel(Groups, Polynomial::constant(Spread), Covered, Limits);
}

// Whether lanes of a row are so many bytes apart, or one of them alone comes to the place.
static bool differInRows(const Polynomial &Offset, int64_t Spread, bool IsOneThread) {
  int64_t Step = 0;
  for (const auto &[Sources, Factor] : Offset.Terms) {
    bool Differs = is_contained(Sources, onAxis(Source::Thread, 0));
    if (Differs && Sources.size() > 1)
      return IsOneThread;
    Step = Differs ? Factor : Step;
  }
  return IsOneThread || std::abs(Step) >= Spread;
}

Owners StoredOnce::ownersOf(const Value &Array, ArrayRef<Consumption> All, LaunchLimits &Limits) {
  struct Place {
    Polynomial Variable;
    int64_t First, Last;
    const BasicBlock *Block;
  };
  SmallVector<Place> Places; // those that differ by constants alone are one
  for (const Consumption &Each : All) {
    std::optional<Polynomial> Offset = Index.offsetFrom(&Array, Each.Read->getPointerOperand());
    if (!Offset)
      return {};
    int64_t First = Offset->take({}), Last = First + F.getDataLayout().getTypeStoreSize(Each.Read->getType());
    auto Known = find_if(Places, [&](const Place &P) { return P.Variable == *Offset; });
    if (Known == Places.end()) {
      Places.push_back({*Offset, First, Last, Each.Read->getParent()});
      continue;
    }
    Known->First = std::min(Known->First, First);
    Known->Last = std::max(Known->Last, Last);
    Known->Block = DT.findNearestCommonDominator(Known->Block, Each.Read->getParent());
  }
  Owners Found{true, true};
  for (const Place &P : Places) {
    SmallVector<Guard> Guards = guardsOf(*P.Block);
    Polynomial Thread = extent(Source::Thread, 0), Both = extent(Source::Block, 0) * extent(Source::BlockSize, 0);
    Both += Thread;
    bool IsOneThread =
        any_of(Guards, [&](const Guard &G) { return G.IsEqual && (G.Left == Thread || G.Left == Both); });
    Found.Rows &= differInRows(P.Variable, P.Last - P.First, IsOneThread);
    Found.Blocks = Found.Blocks && differInBlocks(P.Variable, P.Last - P.First, Guards, Limits);
  }
  return Found;
}

} // namespace adgen
