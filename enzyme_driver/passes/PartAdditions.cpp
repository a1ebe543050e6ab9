// What the threads of a row add to several places of one array, of which each thread has its own,
//   for (i = 0; i < n; ++i) { a[i - 1] += x(i); a[i + 1] += y(i); }
// is added place after place, from what some threads have computed before:
//   for (i = 0; i < n; ++i) { xs[i] = x(i); ys[i] = y(i); }
//   for (i = 0; i < n; ++i) a[i - 1] += xs[i];
//   for (i = 0; i < n; ++i) a[i + 1] += ys[i];
// although the places may be the same: additions may change places with each other. Nothing else in the loop may see the array. Each of the
// loops can be vectorised, which the first one cannot.
#include "Additions.h"
#include "Passes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned AtATime = 256; // threads: what they have computed stays in the nearest cache

// A loop of one block that counts, and nothing in it is seen behind it.
bool isRow(const Loop &L) {
  BasicBlock *Block = L.getHeader(), *Exit = L.getUniqueExitBlock();
  return L.getNumBlocks() == 1 && L.getLoopPreheader() && Exit && Exit->getSinglePredecessor() && Exit->phis().empty() &&
         hasSingleElement(Block->phis()) &&
         all_of(*Block, [&](const Instruction &I) { return all_of(I.users(), [&](const User *U) { return cast<Instruction>(U)->getParent() == Block; }); });
}

// Scopes that tell memory apart for one call of a function of the user, in one iteration. The arguments of the function of a thread are the
// same in all iterations.
SmallPtrSet<const Metadata *, 4> passingScopes(const BasicBlock &Block) {
  SmallPtrSet<const Metadata *, 4> Found;
  for (const Instruction &I : Block)
    if (auto *Begin = dyn_cast<NoAliasScopeDeclInst>(&I))
      for (const MDOperand &Scope : Begin->getScopeList()->operands()) {
        const MDNode *Domain = AliasScopeNode(cast<MDNode>(Scope)).getDomain();
        auto *Of = Domain && Domain->getNumOperands() > 1 ? dyn_cast<MDString>(Domain->getOperand(1)) : nullptr;
        if (!Of || !Of->getString().starts_with("adgen_"))
          Found.insert(Scope);
      }
  return Found;
}

class Row {
public:
  Row(Loop &L, AAResults &AA, ScalarEvolution &SE, const DominatorTree &DT)
      : L(L), AA(AA), SE(SE), Block(*L.getHeader()), Before(*L.getLoopPreheader()), Passing(passingScopes(Block)), Found(L, DT), Expander(SE, "row") {}

  bool make() {
    auto *Index = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&*Block.phis().begin()));
    const SCEV *Count = SE.getBackedgeTakenCount(&L);
    if (!Index || !Index->getStepRecurrence(SE)->isOne() || isa<SCEVCouldNotCompute>(Count) || !Expander.isSafeToExpand(Count))
      return false;
    SmallVector<Addition> Parted = toBePartedFrom();
    if (!Parted.empty())
      part(Parted, SE.getTripCountFromExitCount(Count, Type::getInt64Ty(Block.getContext()), &L));
    return !Parted.empty();
  }

private:
  const SCEV *startOf(const Addition &Each) {
    auto *Place = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Each.New->getPointerOperand()));
    TypeSize Bytes = Block.getDataLayout().getTypeStoreSize(Each.Sum->getType());
    bool Follows = Place && Place->getLoop() == &L && Place->isAffine() && !Each.Sum->getType()->isVectorTy() &&
                   Place->getStepRecurrence(SE) == SE.getConstant(Place->getStepRecurrence(SE)->getType(), Bytes.getFixedValue());
    return Follows && Expander.isSafeToExpand(Place->getStart()) ? Place->getStart() : nullptr;
  }

  SmallVector<Addition> toBePartedFrom() {
    MapVector<const Value *, SmallVector<Addition>> Arrays;
    for (const Addition &Each : Found)
      Arrays[getUnderlyingObject(Each.New->getPointerOperand(), 0)].push_back(Each);
    SmallVector<Addition> All;
    for (const auto &[Array, Theirs] : Arrays)
      if (Theirs.size() > 1 && all_of(Theirs, [&](const Addition &Each) { return startOf(Each); }) && !isSeen(Theirs))
        append_range(All, Theirs);
    return All;
  }

  // By another instruction, in any iteration.
  bool isSeen(ArrayRef<Addition> Theirs) const {
    SmallPtrSet<const Instruction *, 16> Own;
    for (const Addition &Each : Theirs)
      Own.insert({Each.Old, Each.New});
    MemoryLocation Array = arrayOf(*Theirs.front().New);
    return any_of(Block, [&](const Instruction &I) {
      if (Own.contains(&I) || I.hasMetadata(LLVMContext::MD_invariant_load) || !I.mayReadOrWriteMemory() || isa<NoAliasScopeDeclInst>(I))
        return false;
      return isa<LoadInst, StoreInst>(I) ? !AA.isNoAlias(arrayOf(I), Array) : isModOrRefSet(AA.getModRefInfo(&I, Array.getWithoutAATags()));
    });
  }

  // All that a pointer may lead to, told apart from other memory as far as that holds for all iterations.
  MemoryLocation arrayOf(const Instruction &I) const {
    AAMDNodes Tags = I.getAAMetadata();
    Tags.Scope = withoutPassing(Tags.Scope);
    Tags.NoAlias = withoutPassing(Tags.NoAlias);
    return MemoryLocation::getBeforeOrAfter(getLoadStorePointerOperand(&I), Tags);
  }

  MDNode *withoutPassing(MDNode *Scopes) const {
    SmallVector<Metadata *> Left;
    for (unsigned I = 0; Scopes && I < Scopes->getNumOperands(); ++I)
      if (!Passing.contains(Scopes->getOperand(I)))
        Left.push_back(Scopes->getOperand(I));
    return Left.empty() ? nullptr : MDNode::get(Block.getContext(), Left);
  }

  BasicBlock *create(const Twine &Name, BasicBlock *Follower) const {
    return BasicBlock::Create(Block.getContext(), Name, Block.getParent(), Follower);
  }

  // The loop becomes one over some threads at a time, and after these come the loops that add.
  void part(ArrayRef<Addition> Parted, const SCEV *Count) {
    BasicBlock *Exit = L.getUniqueExitBlock(), *Some = create("some", &Block);
    IRBuilder<> B(Before.getTerminator());
    Value *Threads = Expander.expandCodeFor(Count, B.getInt64Ty(), Before.getTerminator()->getIterator());
    SmallVector<Value *> Starts;
    for (const Addition &Each : Parted)
      Starts.push_back(Expander.expandCodeFor(startOf(Each), B.getPtrTy(), Before.getTerminator()->getIterator()));
    Before.getTerminator()->replaceSuccessorWith(&Block, Some);
    B.SetInsertPoint(Some);
    PHINode *First = B.CreatePHI(B.getInt64Ty(), 2, "first");
    First->addIncoming(B.getInt64(0), &Before);
    Value *These = B.CreateBinaryIntrinsic(Intrinsic::umin, B.CreateNUWSub(Threads, First), B.getInt64(AtATime));
    BasicBlock *Added = create("added", Exit);
    DenseMap<Value *, AllocaInst *> Terms;
    count(*Some, *Added, First, These, [&](Value *Thread) {
      for (const Addition &Each : Parted)
        keep(Each, Terms, Thread);
    });
    BasicBlock *Last = Added;
    for (auto [Each, Start] : zip(Parted, Starts))
      Last = add(*Last, Each, Start, Terms.at(Each.term()), First, These);
    for (const Addition &Each : Parted)
      erase(Each);
    B.SetInsertPoint(Last);
    Value *Next = B.CreateNUWAdd(First, These);
    First->addIncoming(Next, Last);
    B.CreateCondBr(B.CreateICmpULT(Next, Threads), Some, Exit);
    SE.forgetAllLoops();
  }

  // The old loop does so many iterations from `First` on.
  void count(BasicBlock &Some, BasicBlock &Behind, Value *First, Value *These, function_ref<void(Value *)> WithEach) const {
    PHINode &Index = *Block.phis().begin();
    IRBuilder<> B(&Some);
    int Entry = Index.getBasicBlockIndex(&Before);
    Index.setIncomingValue(Entry, B.CreateAdd(Index.getIncomingValue(Entry), B.CreateTruncOrBitCast(First, Index.getType())));
    Index.setIncomingBlock(Entry, &Some);
    B.CreateBr(&Block);
    B.SetInsertPoint(&Block, Block.begin());
    PHINode *Thread = B.CreatePHI(B.getInt64Ty(), 2, "thread");
    Thread->addIncoming(B.getInt64(0), &Some);
    WithEach(Thread);
    Instruction *End = Block.getTerminator();
    B.SetInsertPoint(End);
    Value *Next = B.CreateNUWAdd(Thread, B.getInt64(1));
    Thread->addIncoming(Next, &Block);
    B.CreateCondBr(B.CreateICmpULT(Next, These), &Block, &Behind);
    End->eraseFromParent();
  }

  // The term, where the loops that add find it.
  void keep(const Addition &Each, DenseMap<Value *, AllocaInst *> &Terms, Value *Thread) const {
    AllocaInst *&Kept = Terms[Each.term()];
    if (Kept)
      return;
    BasicBlock &Entry = Block.getParent()->getEntryBlock();
    Type *T = Each.Sum->getType();
    Kept = IRBuilder<>(&Entry, Entry.getFirstInsertionPt()).CreateAlloca(ArrayType::get(T, AtATime), nullptr, "terms");
    Kept->setAlignment(Align(64));
    IRBuilder<> B(Each.Sum);
    B.CreateStore(Each.term(), B.CreateInBoundsGEP(T, Kept, Thread));
  }

  // Adds the terms of these threads to the places from `Start` on; where the code goes on.
  BasicBlock *add(BasicBlock &Last, const Addition &Each, Value *Start, Value *Terms, Value *First, Value *These) const {
    Type *T = Each.Sum->getType();
    BasicBlock *Repeat = create("add", Last.getNextNode()), *Behind = create("added", Repeat->getNextNode());
    IRBuilder<> B(&Last);
    Value *From = B.CreateGEP(T, Start, First);
    B.CreateBr(Repeat);
    B.SetInsertPoint(Repeat);
    PHINode *Thread = B.CreatePHI(B.getInt64Ty(), 2, "thread");
    Thread->addIncoming(B.getInt64(0), &Last);
    Value *To = B.CreateGEP(T, From, Thread);
    auto *Old = cast<LoadInst>(B.Insert(Each.Old->clone()));
    Old->setOperand(0, To);
    Value *Sum = B.CreateFAddFMF(Old, B.CreateLoad(T, B.CreateInBoundsGEP(T, Terms, Thread)), Each.Sum);
    auto *New = cast<StoreInst>(B.Insert(Each.New->clone()));
    New->setOperand(0, Sum);
    New->setOperand(1, To);
    Value *Next = B.CreateNUWAdd(Thread, B.getInt64(1));
    Thread->addIncoming(Next, Repeat);
    B.CreateCondBr(B.CreateICmpULT(Next, These), Repeat, Behind);
    return Behind;
  }

  void erase(const Addition &Each) {
    BinaryOperator *Sum = Each.Sum;
    Sum->replaceUsesOfWith(Each.Old, PoisonValue::get(Sum->getType()));
    Found.erase(Each);
    Sum->eraseFromParent();
  }

  Loop &L;
  AAResults &AA;
  ScalarEvolution &SE;
  BasicBlock &Block, &Before;
  const SmallPtrSet<const Metadata *, 4> Passing;
  Additions Found;
  SCEVExpander Expander;
};

} // namespace

PreservedAnalyses PartAdditions::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    auto &AA = FAM.getResult<AAManager>(F);
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      if (isRow(*L))
        Changed |= Row(*L, AA, SE, DT).make();
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
