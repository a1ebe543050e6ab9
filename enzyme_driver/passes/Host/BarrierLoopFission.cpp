// Where all threads of a block come to every barrier alike, the block needs no switching between threads: it is cut at
// the barriers into regions, each a loop over the threads, and what all threads do alike (branches, counters, loads of
// one place) is done once, around the loops. What a thread keeps from region to region lies in arrays with one element
// a thread, or is computed again where that is cheap. An inner loop whose count is the same for all threads runs around
// the loop over threads, which can then be vectorised.
//
// Works on the function of one thread that adgen-make-host-entries has made, SYMBOL_each, and adds to its description
// (adgen_cooperative in host_runtime/launch.h) the function of a whole block:
//   void SYMBOL_split(launch, args, shared memory, scratch memory, block x, y, z)
// once with atomic additions outside of shared memory, and once without any. What it can't do keeps its threads on
// stacks of their own.
#include "Analysis/Cooperates.h"
#include "Host/BlockFunction.h"
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"

#define DEBUG_TYPE "adgen-barrier-loop-fission"

using namespace llvm;

STATISTIC(NumBlocks, "Number of functions of blocks made");

namespace adgen {

// Instructions of a function that is cut: each region brings loops and copies of its own, and larger ones take minutes
// to compile.
static constexpr unsigned Most = 3000;

static bool isZero(const Value *V) {
  auto *Constant = dyn_cast<ConstantInt>(V);
  return Constant && Constant->isZero();
}

// Whether loops over the threads can do what the instruction does.
static bool canBeSplit(const Instruction &I) {
  StringRef Name = calleeName(I);
  if (waitsForBlock(I))
    return Name != "adgen_barrier_arrive" && isZero(I.getOperand(1)) && isZero(I.getOperand(2));
  if (Name.starts_with("adgen_warp_") || Name == "adgen_pause" || I.getType()->isTokenTy())
    return false;
  if (auto *Alloca = dyn_cast<AllocaInst>(&I))
    return Alloca->isStaticAlloca();
  if (auto *Call = dyn_cast<CallInst>(&I)) // a function that calls itself may need a stack of any size
    return Call->getCalledFunction() && Call->getCalledFunction()->isDeclaration();
  return !I.isTerminator() || isa<BranchInst, SwitchInst, ReturnInst, UnreachableInst>(I);
}

// The function of a block, or null. `ScratchBytes` is what it needs for each thread, at least.
static Function *blockFunction(Function &Each, bool IsGradient, bool Alone, std::string Name, uint64_t &ScratchBytes) {
  ValueToValueMapTy Map;
  Function *Work = CloneFunction(&Each, Map);
  Function *Made = nullptr;
  ThreadRegions Cut(*Work);
  if (Work->getInstructionCount() <= Most && all_of(instructions(*Work), canBeSplit) && Cut.prepare()) {
    BlockFunction Block(Cut, IsGradient, Alone, std::move(Name));
    Made = Block.make();
    ADGEN_COUNT(NumBlocks, Each.getName());
    ScratchBytes = std::max(ScratchBytes, Block.scratchBytes());
  }
  Work->eraseFromParent();
  return Made;
}

// The members of adgen_cooperative.
enum { Each, EachAlone, Split, SplitAlone, ScratchBytes, StaticBytes, WithShadows };

static void split(GlobalVariable &Description) {
  auto *Old = cast<ConstantStruct>(Description.getInitializer());
  SmallVector<Constant *> Members;
  for (Use &U : Old->operands())
    Members.push_back(cast<Constant>(U.get()));
  auto *Thread = cast<Function>(Members[Each]);
  StringRef Symbol = Thread->getName();
  Symbol.consume_back(EachSuffix);
  bool IsGradient = !cast<Constant>(Members[WithShadows])->isNullValue();
  uint64_t Scratch = 0;
  Function *Block = blockFunction(*Thread, IsGradient, false, (Symbol + "_split").str(), Scratch);
  if (!Block)
    return;
  Members[Split] = Block;
  Members[SplitAlone] = blockFunction(*Thread, IsGradient, true, (Symbol + "_split_alone").str(), Scratch);
  Members[ScratchBytes] = ConstantInt::get(Members[ScratchBytes]->getType(), Scratch);
  Description.setInitializer(ConstantStruct::get(Old->getType(), Members));
}

ADGEN_DECLARE_PASS(BarrierLoopFission);

PreservedAnalyses BarrierLoopFission::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<GlobalVariable *> Descriptions;
  for (GlobalVariable &Global : M.globals())
    if (Global.getName().ends_with(CooperativeSuffix))
      Descriptions.push_back(&Global);
  for (GlobalVariable *Description : Descriptions)
    split(*Description);
  return PreservedAnalyses::none();
}

} // namespace adgen
