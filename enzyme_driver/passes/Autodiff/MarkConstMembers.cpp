// A struct of arrays may have some without a derivative, said by the attribute that MakeGradients gives the body's
// parameter. Enzyme knows activities of whole parameters only: the loads of these pointers are marked as inactive, and
// with them all that is read behind them. Late, as optimisations drop such marks where they join loads. Where the
// struct's address goes where no load of the pointer can be told from others, the entry is refused.
#include "Support/Adgen.h"
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

#define DEBUG_TYPE "adgen-mark-const-members"

using namespace llvm;

STATISTIC(NumLoads, "Number of loads marked");

namespace adgen {
namespace {

constexpr StringLiteral Hint =
    "say const of the whole struct, or of none of its members, or hand the array over as a parameter of its own";

class Members {
public:
  Members(Argument &Struct, ArrayRef<uint64_t> Offsets)
      : Struct(Struct), Layout(Struct.getParent()->getParent()->getDataLayout()), Offsets(Offsets) {}

  // The first use after which it is not known what leads to the member's array; null once all loads are marked.
  const Instruction *mark() {
    SmallVector<std::pair<Value *, uint64_t>> Work{{&Struct, 0}};
    while (!Work.empty()) {
      auto [Pointer, At] = Work.pop_back_val();
      for (User *U : Pointer->users()) {
        APInt Step(Layout.getIndexTypeSizeInBits(Pointer->getType()), At);
        if (auto *Offset = dyn_cast<GEPOperator>(U); Offset && Offset->accumulateConstantOffset(Layout, Step))
          Work.push_back({U, Step.getZExtValue()});
        else if (auto *I = dyn_cast<Instruction>(U); I && !follows(*I, Pointer, At))
          return I;
      }
    }
    return nullptr;
  }

private:
  bool follows(Instruction &I, const Value *Pointer, uint64_t At) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return !touches(Load->getType(), At) || markLoad(*Load, At);
    if (auto *Store = dyn_cast<StoreInst>(&I))
      return Store->getValueOperand() != Pointer && !touches(Store->getValueOperand()->getType(), At);
    return I.isLifetimeStartOrEnd() || isa<ICmpInst, AssumeInst>(I);
  }

  bool touches(Type *T, uint64_t At) const {
    uint64_t End = At + Layout.getTypeStoreSize(T).getFixedValue();
    return any_of(Offsets, [&](uint64_t Offset) { return At < Offset + sizeof(void *) && Offset < End; });
  }

  bool markLoad(LoadInst &Load, uint64_t At) {
    if (!Load.getType()->isPointerTy() || !is_contained(Offsets, At))
      return false;
    ADGEN_COUNT(NumLoads, Load);
    Load.setMetadata(InactiveMark, MDNode::get(Load.getContext(), {}));
    return true;
  }

  Argument &Struct;
  const DataLayout &Layout;
  ArrayRef<uint64_t> Offsets;
};

} // namespace

ADGEN_DECLARE_PASS(MarkConstMembers);

PreservedAnalyses MarkConstMembers::run(Module &M, ModuleAnalysisManager &) {
  for (Function &Body : M)
    for (Argument &Struct : Body.args()) {
      Attribute Said = Body.getAttributeAtIndex(Struct.getArgNo() + 1, ConstMembersAttribute);
      SmallVector<uint64_t> Offsets;
      if (!Said.isValid() || !readNumbers(Said.getValueAsString(), Offsets))
        continue;
      if (const Instruction *Lost = Members(Struct, Offsets).mark())
        refuse(&Body, Lost->getDebugLoc(),
               ("'" + Struct.getName() + "' cannot have members that are const: its address is handed on here").str(),
               Hint);
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
