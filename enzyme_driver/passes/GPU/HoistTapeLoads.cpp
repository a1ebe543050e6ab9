// In loops in which threads or lanes meet, or that add to shared memory, an iteration begins with what it reads of the
// tape and of inputs that nobody writes. No compiler moves a load past a barrier, past an atomic addition, or out of a
// branch: each group of numbers was waited for where it was used, one after the other, and a warp waited for memory as
// often as it added something up. At the beginning all of them are asked for at once.
//
// Nobody else reaches a thread's tape. What a loop also writes to its tape stays, and so do loads that an iteration may
// leave out, and those for which there are no registers. With many in flight a warp uses memory as several would that
// have fewer registers each.
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-hoist-tape-loads"

using namespace llvm;

STATISTIC(NumLoads, "Number of loads moved to the beginning of an iteration");

namespace adgen {
namespace {

constexpr unsigned MostWords = 72; // of a thread's registers, beside what a loop carries
constexpr unsigned MostOfInputs = 8;
constexpr unsigned MostBeforeExchange = 8;
constexpr unsigned Deepest = 16;
constexpr unsigned Many = 48; // words, for which a thread gets all registers that it can have
constexpr StringLiteral MostRegisters = "255";

bool isMeeting(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return isa<AtomicRMWInst, AtomicCmpXchgInst>(I) || (Call && Call->isConvergent());
}

class Hoisting {
public:
  Hoisting(Function &F, DominatorTree &Dominators, LoopInfo &Loops)
      : F(F), Dominators(Dominators), Loops(Loops), HasTape(F.hasFnAttribute(TapeAttribute)) {}

  void run() {
    for (Loop *L : Loops.getLoopsInPreorder())
      if (L->getExitingBlock() && meets(*L))
        hoist(*L);
    for (BasicBlock &Block : F)
      loadBeforeExchanges(Block);
  }

private:
  // ptxas holds up loads of memory behind an exchange with it until that is back, even if they are of other memory.
  void loadBeforeExchanges(BasicBlock &Block) const {
    Instruction *Exchange = nullptr;
    unsigned Words = 0;
    for (Instruction &I : make_early_inc_range(Block)) {
      if (isExchange(I) && !Exchange) {
        Exchange = &I;
        Words = 0;
      }
      if (Exchange && mayWriteTape(I))
        Exchange = nullptr;
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Exchange || !Load || !Load->isSimple() || !isOfTape(*Load->getPointerOperand()))
        continue;
      SmallSetVector<Instruction *, 8> Needed;
      if ((Words += words(*Load)) <= MostBeforeExchange && gather(*Load->getPointerOperand(), *Exchange, Needed)) {
        ADGEN_COUNT(NumLoads, *Load);
        for (Instruction *Each : Needed)
          Each->moveBefore(Exchange->getIterator());
        Load->moveBefore(Exchange->getIterator());
      }
    }
  }

  static bool isExchange(const Instruction &I) {
    auto *Update = dyn_cast<AtomicRMWInst>(&I);
    return Update && Update->getOperation() == AtomicRMWInst::Xchg && Update->getPointerAddressSpace() != SharedSpace;
  }

  unsigned words(const LoadInst &Load) const {
    return divideCeil(F.getDataLayout().getTypeSizeInBits(Load.getType()).getFixedValue(), 32);
  }

  // What an address needs of the instructions behind another one, in order; false where that is more than arithmetic.
  static bool gather(Value &V, const Instruction &Place, SmallSetVector<Instruction *, 8> &Needed) {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || I->getParent() != Place.getParent() || I->comesBefore(&Place) || Needed.contains(I))
      return true;
    if (!isArithmetic(*I) || !all_of(I->operands(), [&](Use &U) { return gather(*U.get(), Place, Needed); }))
      return false;
    Needed.insert(I);
    return Needed.size() <= Deepest;
  }

  static bool isArithmetic(const Instruction &I) {
    return isa<GetElementPtrInst, CastInst, BinaryOperator>(I) && isSafeToSpeculativelyExecute(&I);
  }

  static bool meets(const Loop &L) {
    return any_of(L.blocks(), [](const BasicBlock *Block) { return any_of(*Block, isMeeting); });
  }

  void hoist(Loop &L) {
    bool KeepsTape = none_of(L.blocks(), [&](BasicBlock *Block) {
      return any_of(*Block, [&](const Instruction &I) { return mayWriteTape(I); });
    });
    unsigned Words = 0, OfInputs = 0;
    SmallVector<LoadInst *> Found;
    for (BasicBlock *Block = L.getHeader(); Block; Block = nextInEach(L, *Block)) {
      if (Loops.getLoopFor(Block) != &L)
        continue;
      for (Instruction &I : *Block) {
        auto *Load = dyn_cast<LoadInst>(&I);
        if (!Load || !Load->isSimple() || !canBeComputed(*Load->getPointerOperand(), L))
          continue;
        unsigned Its = words(*Load);
        bool OfInput = Load->hasMetadata(LLVMContext::MD_invariant_load);
        if (OfInput && (Block == L.getHeader()) != HasTape)
          continue;
        bool Fits = OfInput ? OfInputs + Its <= MostOfInputs : Words + Its <= MostWords;
        if (!Fits || !(OfInput || (KeepsTape && isOfTape(*Load->getPointerOperand()))))
          continue;
        (OfInput ? OfInputs : Words) += Its;
        Found.push_back(Load);
      }
    }
    move(Found, L);
    if (Words >= Many && !F.hasFnAttribute(RegistersAttribute) && !F.hasFnAttribute("nvvm.maxntid"))
      F.addFnAttr(RegistersAttribute, MostRegisters);
  }

  // The next block that every iteration runs through: none leaves the loop before.
  BasicBlock *nextInEach(const Loop &L, const BasicBlock &Block) const {
    BasicBlock *Next = nullptr;
    for (BasicBlock *Each = L.getExitingBlock(); Each != &Block; Each = Dominators.getNode(Each)->getIDom()->getBlock())
      Next = Each;
    return Next;
  }

  bool isTape(const Value *Object) const {
    auto *A = dyn_cast<Argument>(Object);
    return A && A->hasAttribute(TapeMemoryAttribute);
  }

  bool isOfTape(const Value &Pointer) const { return isTape(getUnderlyingObject(&Pointer, 0)); }

  bool mayWriteTape(const Instruction &I) const {
    if (!I.mayWriteToMemory())
      return false;
    const Value *Written = nullptr;
    if (auto *Store = dyn_cast<StoreInst>(&I))
      Written = Store->getPointerOperand();
    else if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      Written = Atomic->getPointerOperand();
    else if (auto *Call = dyn_cast<IntrinsicInst>(&I))
      return isa<MemIntrinsic>(Call); // what threads do together leaves a thread's own memory as it is
    if (!Written)
      return true;
    if (Written->getType()->getPointerAddressSpace() == SharedSpace)
      return false;
    const Value *Object = getUnderlyingObject(Written, 0);
    return isTape(Object) || !isa<Argument, GlobalVariable, AllocaInst>(Object);
  }

  // Whether it follows from what is there when an iteration begins.
  static bool canBeComputed(const Value &V, const Loop &L, unsigned Depth = 0) {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I || !L.contains(I) || (isa<PHINode>(I) && I->getParent() == L.getHeader()))
      return true;
    return isArithmetic(*I) && Depth < Deepest &&
           all_of(I->operands(), [&](const Use &U) { return canBeComputed(*U.get(), L, Depth + 1); });
  }

  void move(ArrayRef<LoadInst *> Found, Loop &L) {
    BasicBlock &Header = *L.getHeader();
    SmallSetVector<Instruction *, 32> Moved;
    for (LoadInst *Load : Found)
      collect(*Load, L, Moved);
    auto First = Header.getFirstNonPHIOrDbg();
    for (Instruction *I : Moved) {
      if (isa<LoadInst>(I))
        ADGEN_COUNT(NumLoads, *I);
      if (I == &*First)
        ++First;
      else
        I->moveBefore(First);
    }
  }

  // Behind what it needs.
  static void collect(Instruction &I, const Loop &L, SmallSetVector<Instruction *, 32> &Moved) {
    for (Value *Operand : I.operands())
      if (auto *Needed = dyn_cast<Instruction>(Operand);
          Needed && L.contains(Needed) && !(isa<PHINode>(Needed) && Needed->getParent() == L.getHeader()))
        collect(*Needed, L, Moved);
    Moved.insert(&I);
  }

  Function &F;
  DominatorTree &Dominators;
  LoopInfo &Loops;
  bool HasTape;
};

} // namespace

ADGEN_DECLARE_PASS(HoistTapeLoads);

PreservedAnalyses HoistTapeLoads::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (isKernel(F) && (F.hasFnAttribute(TapeAttribute) || F.getName().ends_with(GradientSuffix)))
      Hoisting(F, FAM.getResult<DominatorTreeAnalysis>(F), FAM.getResult<LoopAnalysis>(F)).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
