// A loop that keeps a block of memory in each iteration, such as what a shared array holds, has Enzyme keep the
// pointers to the blocks as well, which takes more room and traffic than small blocks themselves. Where all blocks have
// one size, which does not depend on the iteration, the cache of the pointers becomes the blocks: that of iteration i
// begins at i times the size.
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral Allocation = "enzyme_cache_alloc";
constexpr uint64_t Word = 8; // what a tape is laid out in, and the size of a pointer

bool calls(const Value *V, StringRef Name) {
  auto *Call = dyn_cast<CallInst>(V);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == Name;
}

// An element of a cache of pointers.
struct Element {
  Value *Cache = nullptr, *Index = nullptr;

  static Element of(Value *Pointer) {
    auto *Address = dyn_cast<GetElementPtrInst>(Pointer);
    if (!Address || Address->getNumIndices() != 1 || !Address->getSourceElementType()->isPointerTy())
      return {};
    return {Address->getPointerOperand(), Address->getOperand(1)};
  }
};

// All that is done with a cache, if that is nothing but storing and loading its elements; a way past the loop leaves no
// cache.
struct Accesses {
  SmallVector<StoreInst *, 2> Stores;
  SmallVector<LoadInst *, 4> Loads;

  bool collect(const CallInst &Cache) {
    SmallVector<const Value *> Places{&Cache};
    while (!Places.empty()) {
      const Value *Place = Places.pop_back_val();
      for (const User *U : Place->users()) {
        bool Leads = isa<GetElementPtrInst>(U) ? Element::of(const_cast<User *>(U)).Cache == Place && collectFrom(*U)
                                               : isa<PHINode>(U) && isOnly(*U, Cache);
        if (!Leads && !calls(U, "free"))
          return false;
        if (isa<PHINode>(U))
          Places.push_back(U);
      }
    }
    return Stores.size() == 1;
  }

private:
  static bool isOnly(const User &Phi, const CallInst &Cache) {
    return all_of(Phi.operands(), [&](const Use &In) { return In.get() == &Cache || isa<UndefValue>(In.get()); });
  }

  bool collectFrom(const User &Address) {
    for (const User *U : Address.users()) {
      auto *Load = dyn_cast<LoadInst>(U);
      auto *Store = dyn_cast<StoreInst>(U);
      if (Load && Load->getType()->isPointerTy())
        Loads.push_back(const_cast<LoadInst *>(Load));
      else if (Store && Store->getPointerOperand() == &Address)
        Stores.push_back(const_cast<StoreInst *>(Store));
      else
        return false;
    }
    return true;
  }
};

class Joiner {
public:
  Joiner(Function &F, LoopInfo &Loops, DominatorTree &Tree) : F(F), Loops(Loops), Tree(Tree) {}

  void run() {
    SmallVector<CallInst *> Caches;
    for (Instruction &I : instructions(F))
      if (I.hasMetadata(Allocation) && calls(&I, "malloc"))
        Caches.push_back(cast<CallInst>(&I));
    for (CallInst *Cache : Caches)
      if (Accesses Found; Found.collect(*Cache) && isOfBlocks(*Cache, *Found.Stores.front()))
        join(*Cache, *Found.Stores.front(), Found.Loads);
  }

private:
  // The store is what each iteration does once with a block that it has allocated, and the cache was allocated right
  // before the loop.
  bool isOfBlocks(const CallInst &Cache, StoreInst &Store) const {
    auto *Block = dyn_cast<CallInst>(Store.getValueOperand());
    auto *Index = dyn_cast<PHINode>(Element::of(Store.getPointerOperand()).Index);
    Loop *L = Loops.getLoopFor(Store.getParent());
    if (!Block || !calls(Block, "malloc") || !Index || !L || !L->getLoopLatch() ||
        Loops.getLoopFor(Block->getParent()) != L)
      return false;
    return Index->getParent() == L->getHeader() && Cache.getParent() == L->getLoopPreheader() &&
           Tree.dominates(Block->getParent(), L->getLoopLatch()) && isKnownAtStart(Block->getArgOperand(0));
  }

  // Computed from arguments and the block's registers, without anything that may fail.
  bool isKnownAtStart(const Value *V) const {
    if (isa<Constant, Argument>(V))
      return true;
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !(isa<BinaryOperator, CastInst, IntrinsicInst>(I)) || I->mayReadOrWriteMemory())
      return false;
    if (I->isIntDivRem() && !isKnownNonZero(I->getOperand(1), SimplifyQuery(F.getDataLayout(), I)))
      return false;
    return all_of(I->operands(), [&](const Use &U) { return isa<Function>(U) || isKnownAtStart(U.get()); });
  }

  void join(CallInst &Cache, StoreInst &Store, ArrayRef<LoadInst *> Loads) {
    auto *Block = cast<CallInst>(Store.getValueOperand());
    IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
    Value *Size = B.CreateAnd(B.CreateAdd(copied(Block->getArgOperand(0), B), B.getInt64(Word - 1)),
                              B.getInt64(~(Word - 1)), "block.bytes");
    B.SetInsertPoint(&Cache);
    Cache.setArgOperand(0, B.CreateMul(B.CreateLShr(Cache.getArgOperand(0), Log2_64(Word)), Size));
    replace(*Block, Element::of(Store.getPointerOperand()), Size);
    for (LoadInst *Load : Loads) {
      for (User *U : make_early_inc_range(Load->users()))
        if (calls(U, "free"))
          cast<Instruction>(U)->eraseFromParent();
      replace(*Load, Element::of(Load->getPointerOperand()), Size);
    }
    Store.eraseFromParent();
    Block->eraseFromParent();
    for (LoadInst *Load : Loads)
      Load->eraseFromParent();
  }

  static void replace(Instruction &Pointer, Element At, Value *Size) {
    IRBuilder<> B(&Pointer);
    Value *Offset = B.CreateMul(B.CreateZExtOrTrunc(At.Index, Size->getType()), Size);
    Pointer.replaceAllUsesWith(B.CreateGEP(B.getInt8Ty(), At.Cache, Offset));
  }

  static Value *copied(Value *V, IRBuilder<> &B) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I)
      return V;
    SmallVector<Value *> Operands;
    for (Use &U : I->operands())
      Operands.push_back(copied(U.get(), B));
    Instruction *Copy = I->clone();
    for (auto [Index, Operand] : enumerate(Operands))
      Copy->setOperand(Index, Operand);
    return B.Insert(Copy);
  }

  Function &F;
  LoopInfo &Loops;
  DominatorTree &Tree;
};

} // namespace

ADGEN_DECLARE_PASS(MergeCacheBlocks);

PreservedAnalyses MergeCacheBlocks::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Joiner(F, FAM.getResult<LoopAnalysis>(F), FAM.getResult<DominatorTreeAnalysis>(F)).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
