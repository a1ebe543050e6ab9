// A std::map, a std::set and a std::list hold the end of their nodes as a member, and behind it the number of elements,
// where nodes have their data. Enzyme has one type for both, and stops where the data are numbers or pointers. The
// number of elements becomes what is read and written by functions at which Enzyme does not look.
#include "EnzymeCompat/OutlineAccess.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#define DEBUG_TYPE "adgen-hide-counts"

using namespace llvm;

STATISTIC(NumAccesses, "Number of accesses to counts of elements that were hidden");

namespace adgen {
namespace {

constexpr int64_t LongestNode = 64; // of one without data

struct Placed {
  Value *Base;
  int64_t Offset;
};

Placed placed(Value *Pointer, const DataLayout &DL) {
  APInt Offset(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
  Value *Base = Pointer->stripAndAccumulateConstantOffsets(DL, Offset, true);
  return {Base, Offset.getSExtValue()};
}

class Containers {
public:
  explicit Containers(Module &M) : DL(M.getDataLayout()) {
    for (Function &F : M)
      for (Instruction &I : instructions(F))
        if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->getValueOperand()->getType()->isPointerTy())
          find(*Store);
    for (unsigned I = 0; I < Ends.size(); ++I) // functions that are given one
      follow(*Ends.begin()[I].first, Ends.begin()[I].second);
  }

  void hideCounts(Module &M) const {
    SmallVector<Instruction *> Counts;
    for (Function &F : M)
      for (Instruction &I : instructions(F))
        if (isCount(I))
          Counts.push_back(&I);
    for (Instruction *Count : Counts)
      outlineAccess(*Count, "adgen_count_of_elements");
    NumAccesses += Counts.size();
  }

private:
  // An empty container's end leads to itself.
  void find(StoreInst &Store) {
    Placed Into = placed(Store.getPointerOperand(), DL), What = placed(Store.getValueOperand(), DL);
    if (Into.Base == What.Base && Into.Offset >= What.Offset && Into.Offset < What.Offset + LongestNode)
      Ends.insert({What.Base, What.Offset});
  }

  void follow(Value &Base, int64_t End) {
    SmallVector<std::pair<Value *, int64_t>> Work{{&Base, 0}};
    while (!Work.empty()) {
      auto [Pointer, At] = Work.pop_back_val();
      for (Use &U : Pointer->uses()) {
        auto *Call = dyn_cast<CallBase>(U.getUser());
        Function *Callee = Call && Call->isArgOperand(&U) ? Call->getCalledFunction() : nullptr;
        if (Callee && !Callee->isDeclaration() && !Callee->isVarArg())
          Ends.insert({Callee->getArg(Call->getArgOperandNo(&U)), End - At});
        APInt Step(DL.getIndexTypeSizeInBits(Pointer->getType()), 0);
        if (auto *Member = dyn_cast<GetElementPtrInst>(U.getUser());
            Member && Member->getPointerOperand() == Pointer && Member->accumulateConstantOffset(DL, Step))
          Work.push_back({Member, At + Step.getSExtValue()});
      }
    }
  }

  bool isCount(Instruction &I) const {
    if (!isa<LoadInst, StoreInst>(I) || !getLoadStoreType(&I)->isIntegerTy(64))
      return false;
    Placed At = placed(getLoadStorePointerOperand(&I), DL);
    auto Found = Ends.find(At.Base);
    return Found != Ends.end() && At.Offset > Found->second && At.Offset <= Found->second + LongestNode;
  }

  const DataLayout &DL;
  MapVector<Value *, int64_t> Ends; // where in the memory that begins there
};

} // namespace

ADGEN_DECLARE_PASS(HideCounts);

PreservedAnalyses HideCounts::run(Module &M, ModuleAnalysisManager &) {
  Containers(M).hideCounts(M);
  return PreservedAnalyses::none();
}

} // namespace adgen
