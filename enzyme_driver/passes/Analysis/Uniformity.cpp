#include "Analysis/Uniformity.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/GenericDomTreeConstruction.h"

using namespace llvm;

namespace adgen {

bool waitsForBlock(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  StringRef Name = Callee ? Callee->getName() : "";
  return Name.starts_with("llvm.nvvm.barrier.cta.") || Name == "adgen_barrier" || Name.starts_with("adgen_barrier_");
}

Uniformity::Kind kindOnDevice(const Value &V, const Function &F) {
  using Kind = Uniformity::Kind;
  if (auto *A = dyn_cast<Argument>(&V)) { // a thread has a tape and copies of structs of its own
    bool OfTape = F.hasFnAttribute(TapeAttribute) && A->getArgNo() + TapeArguments - 1 == F.arg_size();
    return OfTape || structBytes(F, A->getArgNo()) ? Kind::Differs : Kind::Same;
  }
  auto *I = dyn_cast<Instruction>(&V);
  if (!I || waitsForBlock(*I))
    return Kind::Same;
  auto *Call = cast<CallBase>(I);
  StringRef Name = Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
  if (Name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return Name.starts_with("ctaid.") || Name.starts_with("ntid.") || Name.starts_with("nctaid.") ||
                   Name == "dynamic_smem_size"
               ? Kind::Same
               : Kind::Differs;
  return Call->isConvergent() ? Kind::Differs : Kind::Derived;
}

Uniformity::Kind kindInBody(const Value &V) {
  auto *Call = dyn_cast<CallBase>(&V);
  if (!Call)
    return Uniformity::Kind::Same;
  StringRef Name = Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
  if (Name.starts_with("llvm.nvvm.read.ptx.sreg.tid.") || Name == "llvm.nvvm.read.ptx.sreg.laneid")
    return Uniformity::Kind::Differs;
  return waitsForBlock(*Call) ? Uniformity::Kind::Same : Uniformity::Kind::Derived;
}

// Whether since the last barrier nothing before the load in its block may have written to memory.
static bool readsFirst(const LoadInst &Load) {
  bool Written = false;
  for (const Instruction &I : *Load.getParent()) {
    if (&I == &Load)
      break;
    auto *Known = dyn_cast<IntrinsicInst>(&I); // which says something of memory, such as where scopes begin
    Written = !waitsForBlock(I) && (Written || (I.mayWriteToMemory() && !(Known && Known->isAssumeLikeIntrinsic())));
  }
  return !Written;
}

// No thread takes a way that begins with what cannot be reached, such as the default of a switch that has all cases: it
// is no end at which others do not arrive.
static SmallVector<cfg::Update<BasicBlock *>> withoutWaysOfNobody(Function &F) {
  SmallVector<cfg::Update<BasicBlock *>> Ways;
  for (BasicBlock &Block : F)
    if (isa<UnreachableInst>(Block.getFirstNonPHIOrDbg()))
      for (BasicBlock *From : SmallSetVector<BasicBlock *, 4>(pred_begin(&Block), pred_end(&Block)))
        if (isa<SwitchInst>(From->getTerminator()))
          Ways.push_back({cfg::UpdateKind::Delete, From, &Block});
  return Ways;
}

Uniformity::Uniformity(Function &F, function_ref<Kind(const Value &)> Classify) : Tree(F) {
  using Builder = DomTreeBuilder::SemiNCAInfo<PostDomTreeBase<BasicBlock>>;
  GraphDiff<BasicBlock *, /*InverseGraph=*/true> View(withoutWaysOfNobody(F));
  Builder::BatchUpdateInfo Info(View, &View);
  Builder::CalculateFromScratch(Tree, &Info);
  for (const Argument &A : F.args())
    if (Classify(A) == Kind::Differs)
      mark(&A);
  for (const Instruction &I : instructions(F))
    if (differs(I, Classify))
      mark(&I);
  while (!Work.empty())
    for (const User *U : Work.pop_back_val()->users()) {
      auto *I = cast<Instruction>(U);
      auto *Call = dyn_cast<CallBase>(I);
      if (I->isTerminator())
        markBranch(I->getParent());
      else if (!Call || Classify(*Call) == Kind::Derived)
        mark(I);
    }
}

bool Uniformity::differs(const Instruction &I, function_ref<Kind(const Value &)> Classify) const {
  if (I.getType()->isVoidTy())
    return false;
  if (auto *Call = dyn_cast<CallBase>(&I)) {
    Kind Known = Classify(*Call);
    return Known == Kind::Differs || (Known == Kind::Derived && !Call->doesNotAccessMemory());
  }
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return !Load->isSimple() || !readsFirst(*Load);
  return isa<AllocaInst>(I) || I.mayWriteToMemory() || I.isAtomic();
}

void Uniformity::mark(const Value *V) {
  if (Divergent.insert(V).second)
    Work.push_back(V);
}

BasicBlock *Uniformity::meetingPoint(const BasicBlock *Block) const {
  auto *Node = Tree.getNode(Block);
  return Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
}

// Whether the value depends on the way from which one comes. All ways that bring the same value bring one from before
// they part.
static bool tellsWays(const PHINode &Phi, const SmallPtrSetImpl<const BasicBlock *> &Ways) {
  const Value *Brought = nullptr;
  for (const BasicBlock *From : Phi.blocks()) {
    const Value *V = Ways.contains(From) ? Phi.getIncomingValueForBlock(From) : nullptr;
    if (V && Brought && V != Brought)
      return true;
    Brought = V ? V : Brought;
  }
  return false;
}

void Uniformity::markBranch(const BasicBlock *Block) {
  const BasicBlock *Meeting = meetingPoint(Block);
  SmallPtrSet<const BasicBlock *, 16> Between;
  SmallVector<const BasicBlock *> Ways(successors(Block));
  while (!Ways.empty()) {
    const BasicBlock *Next = Ways.pop_back_val();
    if (Next == Meeting || !Between.insert(Next).second)
      continue;
    if (Blocks.insert(Next).second)
      markBlock(Next);
    append_range(Ways, successors(Next));
  }
  Between.insert(Block);
  if (Meeting)
    for (const PHINode &Phi : Meeting->phis())
      if (tellsWays(Phi, Between))
        mark(&Phi);
}

void Uniformity::markBlock(const BasicBlock *Block) {
  for (const Instruction &I : *Block)
    if (!I.getType()->isVoidTy())
      mark(&I);
}

} // namespace adgen
