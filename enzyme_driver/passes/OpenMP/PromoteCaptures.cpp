// A parallel region gets the address of every variable that it uses. Where that variable is a pointer that is set once
// and only read by the regions, the region gets the pointer itself. Enzyme then knows for each region which arrays are
// const: behind a variable it takes all for active, and would add the derivative of an array that is const to the array
// itself. A pointer that is set in several ways, such as that to the elements of a std::vector, is read before the
// fork, where nothing but the forking function itself can change it.
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned FirstCaptured =
    ForkCaptured - RegionCaptured; // an argument of what is started is so much later in the fork

// As what the variable is read, where nothing else is done with its address; null otherwise.
Type *onlyReadAs(const Argument &Address) {
  Type *As = nullptr;
  for (const User *U : Address.users()) {
    auto *Load = dyn_cast<LoadInst>(U);
    if (!Load || !Load->isSimple() || (As && As != Load->getType()))
      return nullptr;
    As = Load->getType();
  }
  return As;
}

// A captured variable, in all forks of one region.
struct Captured {
  Argument *Started, *Region;
  Type *As;                // what it holds
  SmallVector<Use *> Uses; // in the forks
};

class Capturing {
public:
  explicit Capturing(Module &M) {
    MapVector<Function *, SmallVector<CallInst *>> Forks;
    for (CallInst *Fork : callsOf(M, ForkName))
      if (Function *Started = startedBy(*Fork))
        Forks[Started].push_back(Fork);
    for (auto &[Started, Calls] : Forks)
      for (Argument &A : drop_begin(Started->args(), RegionCaptured))
        if (Argument *Region = A.getType()->isPointerTy() ? inRegion(A) : nullptr)
          if (Type *As = onlyReadAs(*Region))
            collect({&A, Region, As, {}}, Calls);
  }

  void replace() {
    for (Captured &C : All)
      if (C.As->isPointerTy() && all_of(C.Uses, [&](Use *U) { return onlyValue(*U) || staysInFork(*U); }))
        handOver(C);
  }

private:
  void handOver(const Captured &C) {
    for (Use *U : C.Uses) {
      auto *Fork = cast<CallInst>(U->getUser());
      unsigned Operand = Fork->getArgOperandNo(U);
      StoreInst *Only = onlyValue(*U);
      Fork->setArgOperand(Operand,
                          Only ? Only->getValueOperand() : IRBuilder<>(Fork).CreateLoad(U->get()->getType(), U->get()));
      forgetAttributes(*Fork, Operand);
    }
    auto *Call = cast<CallInst>(C.Started->user_back());
    forgetAttributes(*Call, C.Region->getArgNo());
    for (Argument *A : {C.Started, C.Region}) // they spoke of the variable
      A->getParent()->removeParamAttrs(A->getArgNo(),
                                       AttributeMask(A->getParent()->getAttributes().getParamAttrs(A->getArgNo())));
    for (User *U : make_early_inc_range(C.Region->users())) {
      U->replaceAllUsesWith(C.Region);
      cast<Instruction>(U)->eraseFromParent();
    }
  }

  void collect(Captured C, ArrayRef<CallInst *> Forks) {
    for (CallInst *Fork : Forks) {
      C.Uses.push_back(&Fork->getArgOperandUse(C.Started->getArgNo() + FirstCaptured));
      Reading.insert(C.Uses.back());
    }
    All.push_back(std::move(C));
  }

  static void forgetAttributes(CallInst &Call, unsigned Operand) {
    Call.removeParamAttrs(Operand, AttributeMask(Call.getAttributes().getParamAttrs(Operand)));
  }

  // What sets the variable, where that happens once and before the fork.
  StoreInst *onlyValue(Use &Handed) {
    auto *Variable = dyn_cast<AllocaInst>(Handed.get());
    if (!Variable || !Variable->getAllocatedType()->isPointerTy())
      return nullptr;
    StoreInst *Only = nullptr;
    for (Use &U : Variable->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      auto *Store = dyn_cast<StoreInst>(I);
      if (Store && Store->isSimple() && U.getOperandNo() == StoreInst::getPointerOperandIndex() && !Only)
        Only = Store;
      else if (!isa<LoadInst>(I) && !I->isLifetimeStartOrEnd() && !Reading.contains(&U))
        return nullptr;
    }
    if (!Only || !Only->getValueOperand()->getType()->isPointerTy())
      return nullptr;
    const DominatorTree DT(*Variable->getFunction());
    return DT.dominates(Only, cast<Instruction>(Handed.getUser())) ? Only : nullptr;
  }

  // Whether the variable is nobody's but the function's, and no region changes it.
  bool staysInFork(const Use &Handed) const {
    auto *Variable = dyn_cast<AllocaInst>(Handed.get());
    return Variable && !isLeaked(*Variable);
  }

  bool isLeaked(const Instruction &Address) const {
    return any_of(Address.uses(), [&](const Use &U) {
      auto *I = cast<Instruction>(U.getUser());
      if (isa<GetElementPtrInst>(I))
        return isLeaked(*I);
      if (auto *Call = dyn_cast<CallBase>(I))
        return !Reading.contains(&U) && !isa<MemIntrinsic>(Call) && !I->isLifetimeStartOrEnd() &&
               !(Call->isArgOperand(&U) && Call->doesNotCapture(Call->getArgOperandNo(&U)));
      return !isa<LoadInst>(I) && !(isa<StoreInst>(I) && U.getOperandNo() == StoreInst::getPointerOperandIndex());
    });
  }

  std::vector<Captured> All;
  SmallPtrSet<const Use *, 16> Reading; // handed to regions that only read what they are handed
};

} // namespace

ADGEN_DECLARE_PASS(PromoteCaptures);

PreservedAnalyses PromoteCaptures::run(Module &M, ModuleAnalysisManager &) {
  Capturing(M).replace();
  return PreservedAnalyses::none();
}

} // namespace adgen
