// Loads of shared memory go back into the loop that LLVM has taken them out of, where more of them stay the same in it
// than a thread has registers for: hundreds of a network's weights. ptxas would store each in local memory before the
// loop and load it from there where it is used; and the derivative by each would be summed up in local memory.
#include "Checkpointing/SharedArrays.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <map>

#define DEBUG_TYPE "adgen-sink-shared-loads"

using namespace llvm;

STATISTIC(NumSunk, "Number of loads that are in a loop again");

namespace adgen {
namespace {

constexpr unsigned Enough = 64; // words that may stay in registers throughout a loop

// Whether only kernels access the variable, and nothing else knows its address: no function that they call does.
bool isOnlyAccessed(const Value &Address) {
  return all_of(Address.uses(), [](const Use &Each) {
    const User *By = Each.getUser();
    if (isa<GEPOperator, AddrSpaceCastOperator>(By))
      return isOnlyAccessed(*By);
    if (auto *I = dyn_cast<Instruction>(By); !I || !isKernel(*I->getFunction()))
      return false;
    if (auto *Store = dyn_cast<StoreInst>(By))
      return Each.getOperandNo() == Store->getPointerOperandIndex();
    return isa<LoadInst, AtomicRMWInst>(By);
  });
}

bool isBarrier(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return isBlockBarrier(I) || (Call && Call->getIntrinsicID() == Intrinsic::nvvm_barrier_cta_sync_aligned_all);
}

class Sinker {
public:
  Sinker(Function &F, LoopInfo &LI) : F(F), LI(LI), Arrays(F) {}

  void run() {
    for (Loop *L : LI) // what an inner loop needs, all around it have in registers
      run(*L);
    if (isKernel(F))
      for (Loop *L : LI.getLoopsInPreorder())
        repeat(*L);
  }

private:
  void run(Loop &L) {
    SmallVector<LoadInst *> Loads;
    uint64_t Bits = 0;
    for (Instruction &I : instructions(F))
      if (auto *Load = dyn_cast<LoadInst>(&I); Load && canBeSunk(*Load, L)) {
        Loads.push_back(Load);
        Bits += F.getDataLayout().getTypeSizeInBits(Load->getType());
      }
    if (Bits > 32 * Enough) {
      for (LoadInst *Load : Loads)
        sink(*Load, L);
      return;
    }
    for (Loop *Inner : L)
      run(*Inner);
  }

  // What later blocks of an iteration need is read again there.
  void repeat(const Loop &L) {
    SmallVector<LoadInst *> Loads;
    uint64_t Bits = 0;
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        if (auto *Load = dyn_cast<LoadInst>(&I); Load && LI.getLoopFor(Block) == &L && canBeRepeated(*Load, L)) {
          Loads.push_back(Load);
          Bits += F.getDataLayout().getTypeSizeInBits(Load->getType());
        }
    if (Bits > 32 * Enough)
      for (LoadInst *Load : Loads)
        sink(*Load, L);
  }

  bool canBeRepeated(LoadInst &Load, const Loop &L) {
    const Value *Memory = Load.isSimple() ? arrayOf(Load) : nullptr;
    if (!Memory || none_of(Load.uses(), [&](const Use &Each) { return isElsewhere(Each, L); }))
      return false;
    auto [Found, IsNew] = Known.try_emplace({Memory, nullptr, &L}, false);
    if (IsNew)
      Found->second = isLeftAlone(*Memory, L) && isTheSameBehind(*Memory, L);
    return Found->second;
  }

  // In another block of the loop, but in no loop inside it.
  bool isElsewhere(const Use &Each, const Loop &L) const {
    const BasicBlock *Block = blockOf(Each);
    return LI.getLoopFor(Block) == &L && Block != cast<Instruction>(Each.get())->getParent();
  }

  static BasicBlock *blockOf(const Use &Each) {
    auto *By = cast<Instruction>(Each.getUser());
    auto *Phi = dyn_cast<PHINode>(By);
    return Phi ? Phi->getIncomingBlock(Each) : By->getParent();
  }

  // The shared array that it reads; null where something else may know it.
  const Value *arrayOf(const LoadInst &Load) {
    int64_t Offset = 0;
    const Value *Array = GetPointerBaseWithConstantOffset(Load.getPointerOperand(), Offset, F.getDataLayout());
    const Argument *Given = Arrays.find(Load.getPointerOperand());
    if (Given)
      return Array->stripPointerCasts() == Given ? Given : nullptr;
    auto *Variable = dyn_cast<GlobalVariable>(Array->stripPointerCasts());
    return Variable && Variable->getAddressSpace() == SharedSpace && isOnlyAccessed(*Variable) ? Variable : nullptr;
  }

  bool canBeSunk(LoadInst &Load, const Loop &L) {
    if (L.contains(&Load) || !Load.isSimple() ||
        none_of(Load.users(), [&](User *By) { return L.contains(cast<Instruction>(By)); }))
      return false;
    const Value *Memory = arrayOf(Load);
    if (!Memory)
      return false;
    auto [Found, IsNew] = Known.try_emplace({Memory, Load.getParent(), &L}, false);
    if (IsNew)
      Found->second = isTheSameThere(*Memory, Load, L);
    return Found->second;
  }

  // Nothing writes to the array between the load and the loop or in it, nor behind it before all threads meet.
  bool isTheSameThere(const Value &Array, const LoadInst &Load, const Loop &L) const {
    BasicBlock *From = const_cast<BasicBlock *>(Load.getParent());
    SmallPtrSet<const BasicBlock *, 32> Between{From, L.getHeader()};
    SmallVector<const BasicBlock *> Work{L.getHeader()};
    while (!Work.empty())
      for (const BasicBlock *Before : predecessors(Work.pop_back_val()))
        if (Between.insert(Before).second)
          Work.push_back(Before);
    for (const BasicBlock *Block : Between)
      for (const Instruction &I : *Block)
        if (mayWrite(I, Array) && (Block != From || Load.comesBefore(&I)))
          return false;
    return isTheSameBehind(Array, L);
  }

  bool isLeftAlone(const Value &Array, const Loop &L) const {
    return none_of(L.blocks(), [&](const BasicBlock *Block) {
      return any_of(*Block, [&](const Instruction &I) { return mayWrite(I, Array); });
    });
  }

  bool isTheSameBehind(const Value &Array, const Loop &L) const {
    SmallVector<BasicBlock *> Exits;
    L.getUniqueExitBlocks(Exits);
    SmallPtrSet<const BasicBlock *, 32> Behind(Exits.begin(), Exits.end());
    SmallVector<const BasicBlock *> Work(Exits.begin(), Exits.end());
    while (!Work.empty()) {
      const BasicBlock *Block = Work.pop_back_val();
      bool Met = false;
      for (const Instruction &I : *Block) {
        Met = isBarrier(I);
        if (Met)
          break;
        if (mayWrite(I, Array))
          return false;
      }
      if (!Met)
        for (const BasicBlock *Next : successors(Block))
          if (Behind.insert(Next).second)
            Work.push_back(Next);
    }
    return true;
  }

  bool mayWrite(const Instruction &I, const Value &Array) const {
    if (auto *Given = dyn_cast<Argument>(&Array))
      return Arrays.mayWrite(I, Given);
    if (!isa<StoreInst, AtomicRMWInst>(I))
      return false;
    const Value *To = getUnderlyingObject(I.getOperand(isa<StoreInst>(I) ? 1 : 0));
    return To == &Array || isa<PHINode, SelectInst>(To);
  }

  void sink(LoadInst &Load, const Loop &L) {
    DenseMap<BasicBlock *, Instruction *> Again;
    for (Use &Each : make_early_inc_range(Load.uses())) {
      BasicBlock *Block = blockOf(Each);
      if (L.contains(&Load) ? !isElsewhere(Each, L)
                            : !L.contains(cast<Instruction>(Each.getUser())) || !L.contains(Block))
        continue;
      Instruction *&Copy = Again[Block];
      if (!Copy) {
        ADGEN_COUNT(NumSunk, Load);
        Copy = Load.clone();
        Copy->insertInto(Block, Block->getFirstInsertionPt());
      }
      Each.set(Copy);
    }
    for (auto &[Block, Copy] : Again)
      Copy->moveBefore(firstUser(*Block, *Copy).getIterator());
    if (Load.use_empty())
      Load.eraseFromParent();
  }

  static Instruction &firstUser(BasicBlock &Block, const Instruction &Copy) {
    for (Instruction &I : Block)
      if (!isa<PHINode>(I) && is_contained(I.operand_values(), &Copy))
        return I;
    return *Block.getTerminator();
  }

  Function &F;
  LoopInfo &LI;
  SharedArrays Arrays;
  std::map<std::tuple<const Value *, const BasicBlock *, const Loop *>, bool> Known;
};

} // namespace

ADGEN_DECLARE_PASS(SinkSharedLoads);

PreservedAnalyses SinkSharedLoads::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration() && (isKernel(F) || F.hasFnAttribute(SharedAttribute)))
      Sinker(F, FAM.getResult<LoopAnalysis>(F)).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
