// In shared memory an atomic addition of floating point is a loop of compare-and-swap. None is needed for an element to
// which the thread also stores without an atomic, if no other thread comes in between: the primal stores there, too,
// and another thread that used the element before threads meet again would race with it. So the gradient of
//   t = s[a]; s[a] = s[b]; s[b] += t;
// as a scan goes down its tree, adds to both elements plainly.
//
// Nor is one needed where a condition leaves one thread of the block (threadIdx.x == 0), and nobody else comes to the
// array before the block waits: the gradient of a sum that a thread makes of what all have left it. Whether the other
// axes have one thread only is asked where it runs.
#include "Accumulate/HandOver.h"
#include "Analysis/Accumulation.h"
#include "Analysis/Uniformity.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-relax-shared-atomics"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumPlain, "Number of atomics on shared memory made plain");
STATISTIC(NumAlone, "Number of additions to shared memory that a thread makes alone");

namespace adgen {
namespace {

constexpr unsigned Axes = 3;
constexpr Intrinsic::ID Indices[Axes] = {Intrinsic::nvvm_read_ptx_sreg_tid_x, Intrinsic::nvvm_read_ptx_sreg_tid_y,
                                         Intrinsic::nvvm_read_ptx_sreg_tid_z};
constexpr Intrinsic::ID Extents[Axes] = {Intrinsic::nvvm_read_ptx_sreg_ntid_x, Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                                         Intrinsic::nvvm_read_ptx_sreg_ntid_z};

// Where one thread of the block is left, by an edge, and the axes along which it is the first, a bit each.
struct Alone {
  BasicBlockEdge From;
  unsigned Known;
};

// The axes whose indices are 0 where the number is.
unsigned zeroWith(Value *V) {
  Value *One, *Other;
  if (match(V, m_ZExtOrSExt(m_Value(One))))
    return zeroWith(One);
  if (match(V, m_Or(m_Value(One), m_Value(Other))))
    return zeroWith(One) | zeroWith(Other);
  auto *Call = dyn_cast<IntrinsicInst>(V);
  const auto *Found = Call ? find(Indices, Call->getIntrinsicID()) : std::end(Indices);
  return Found == std::end(Indices) ? 0 : 1u << (Found - Indices);
}

unsigned zeroWhere(Value *Condition, bool Holds) {
  Value *One, *Other;
  CmpPredicate Is;
  if (Holds ? match(Condition, m_LogicalAnd(m_Value(One), m_Value(Other)))
            : match(Condition, m_LogicalOr(m_Value(One), m_Value(Other))))
    return zeroWhere(One, Holds) | zeroWhere(Other, Holds);
  if (match(Condition, m_ICmp(Is, m_Value(One), m_Zero())) && Is == (Holds ? CmpInst::ICMP_EQ : CmpInst::ICMP_NE))
    return zeroWith(One);
  return 0;
}

class Relaxer {
public:
  Relaxer(Function &F, DominatorTree &Before) : F(F), Before(Before) {}

  // Additions of a thread that is alone; the others of a block with more threads along other axes stay atomic.
  bool relaxAlone() {
    SmallVector<std::pair<AtomicRMWInst *, unsigned>> Found;
    for (Instruction &I : instructions(F))
      if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I); Atomic && asAccumulation(I) && isOfShared(*Atomic))
        if (std::optional<Alone> Where = aloneAt(*Atomic->getParent()); Where && isLeftAlone(*Atomic, *Where))
          Found.push_back({Atomic, Where->Known});
    for (auto [Atomic, Known] : Found)
      addAlone(*Atomic, Known);
    return !Found.empty();
  }

  bool run() {
    SmallVector<AtomicRMWInst *> Found;
    for (Instruction &I : instructions(F))
      if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I); Atomic && isOfShared(*Atomic) && isStoredToo(*Atomic))
        Found.push_back(Atomic);
    for (AtomicRMWInst *Atomic : Found)
      makePlain(*Atomic);
    return !Found.empty();
  }

private:
  bool isOfShared(AtomicRMWInst &Atomic) const {
    auto *Shadow = dyn_cast<Argument>(getUnderlyingObject(Atomic.getPointerOperand(), 0));
    return Shadow && F.hasParamAttribute(Shadow->getArgNo(), SharedShadowAttribute) &&
           !Atomic.hasMetadata(SeldomMark) && (isConsumption(Atomic) || asAccumulation(Atomic));
  }

  // Whether the thread also stores to the element, and no other thread comes in between.
  static bool isStoredToo(AtomicRMWInst &Atomic) {
    auto Find = [&](auto Range) {
      for (Instruction &I : Range) {
        auto *Store = dyn_cast<StoreInst>(&I);
        if (Store && Store->isSimple() && Store->getPointerOperand() == Atomic.getPointerOperand())
          return true;
        if (!isSimpleAccess(I) && !isa<AtomicRMWInst>(I) && (I.mayReadOrWriteMemory() || isa<CallBase>(I)) &&
            !isNumber(I))
          return false;
      }
      return false;
    };
    BasicBlock &Block = *Atomic.getParent();
    return Find(make_range(std::next(Atomic.getReverseIterator()), Block.rend())) ||
           Find(make_range(std::next(Atomic.getIterator()), Block.end()));
  }

  // A call that neither waits nor sees memory.
  static bool isNumber(const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    return Call && !Call->isConvergent() && (Call->doesNotAccessMemory() || Call->isLifetimeStartOrEnd());
  }

  std::optional<Alone> aloneAt(const BasicBlock &Block) const {
    std::optional<Alone> Found;
    for (auto *Node = Before.getNode(&Block)->getIDom(); Node; Node = Node->getIDom()) {
      auto *Branch = dyn_cast<BranchInst>(Node->getBlock()->getTerminator());
      for (unsigned Way : {0, 1}) {
        if (!Branch || !Branch->isConditional())
          continue;
        BasicBlockEdge Edge(Node->getBlock(), Branch->getSuccessor(Way));
        unsigned Known = zeroWhere(Branch->getCondition(), Way == 0);
        if (Known && Edge.isSingleEdge() && Before.dominates(Edge, &Block))
          Found = Found ? Alone{Found->From, Found->Known | Known} : Alone{Edge, Known};
      }
    }
    return Found;
  }

  // Whether all that comes to the array around the addition, from where the block has waited to where it waits again,
  // is what the thread does there.
  bool isLeftAlone(const AtomicRMWInst &Atomic, const Alone &Where) const {
    const Value *Array = getUnderlyingObject(Atomic.getPointerOperand(), 0);
    SmallPtrSet<const BasicBlock *, 16> Behind, InFront;
    auto IsOthers = [&](const Instruction &I) {
      return mayComeTo(I, Array) && !Before.dominates(Where.From, I.getParent());
    };
    return !find(Atomic.getParent(), std::next(Atomic.getIterator()), Behind, IsOthers) &&
           !findInFront(Atomic.getParent(), Atomic.getReverseIterator(), InFront, IsOthers);
  }

  using Blocks = SmallPtrSetImpl<const BasicBlock *>;
  using Asked = function_ref<bool(const Instruction &)>;

  static bool find(const BasicBlock *Block, BasicBlock::const_iterator At, Blocks &Seen, Asked Is) {
    for (; At != Block->end(); ++At) {
      if (waitsForBlock(*At))
        return false;
      if (Is(*At))
        return true;
    }
    return any_of(successors(Block), [&](const BasicBlock *Next) {
      return Seen.insert(Next).second && find(Next, Next->begin(), Seen, Is);
    });
  }

  static bool findInFront(const BasicBlock *Block, BasicBlock::const_reverse_iterator At, Blocks &Seen, Asked Is) {
    for (; At != Block->rend(); ++At) {
      if (waitsForBlock(*At))
        return false;
      if (Is(*At))
        return true;
    }
    return any_of(predecessors(Block), [&](const BasicBlock *Next) {
      return Seen.insert(Next).second && findInFront(Next, Next->rbegin(), Seen, Is);
    });
  }

  static bool mayComeTo(const Instruction &I, const Value *Array) {
    if (!I.mayReadOrWriteMemory() || (isa<IntrinsicInst>(I) && cast<IntrinsicInst>(I).isAssumeLikeIntrinsic()))
      return false;
    const Value *Pointer = accessedPointer(I);
    const Value *Object = Pointer ? getUnderlyingObject(Pointer, 0) : nullptr;
    return Object == Array || !Object || !(isa<Argument>(Object) || isIdentifiedObject(Object));
  }

  void addAlone(AtomicRMWInst &Atomic, unsigned Known) {
    ADGEN_COUNT(NumAlone, Atomic);
    IRBuilder<> B(F.getContext());
    B.SetInsertPoint(F.getEntryBlock().getFirstInsertionPt());
    Value *Only = nullptr;
    for (unsigned Axis = 0; Axis < Axes; ++Axis)
      if (!(Known >> Axis & 1)) {
        Value *Is = B.CreateICmpEQ(readRegister(B, Extents[Axis]), B.getInt32(1));
        Only = Only ? B.CreateAnd(Only, Is) : Is;
      }
    if (!Only)
      return void(addPlainly(Atomic, FastMathFlags()));
    Instruction *Plain, *Shared;
    SplitBlockAndInsertIfThenElse(Only, Atomic.getIterator(), &Plain, &Shared);
    auto *Again = cast<AtomicRMWInst>(Atomic.clone());
    Again->insertBefore(Shared->getIterator());
    Again->setMetadata(SeldomMark, MDNode::get(F.getContext(), {}));
    Atomic.moveBefore(Plain->getIterator());
    addPlainly(Atomic, FastMathFlags());
  }

  static void makePlain(AtomicRMWInst &Atomic) {
    ADGEN_COUNT(NumPlain, Atomic);
    if (!isConsumption(Atomic))
      return void(addPlainly(Atomic, FastMathFlags()));
    IRBuilder<> B(&Atomic);
    LoadInst *Taken = takePlainly(B, Atomic, Atomic.getPointerOperand());
    Atomic.replaceAllUsesWith(Taken);
    Atomic.eraseFromParent();
  }

  Function &F;
  DominatorTree &Before;
};

} // namespace

ADGEN_DECLARE_PASS(RelaxSharedAtomics);

PreservedAnalyses RelaxSharedAtomics::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration() && !sharedNames(F).empty()) {
      Relaxer Relax(F, FAM.getResult<DominatorTreeAnalysis>(F));
      Changed |= Relax.run();
      Changed |= Relax.relaxAlone();
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
