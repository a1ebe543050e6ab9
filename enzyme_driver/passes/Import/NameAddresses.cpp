// Shared memory that assembly reaches by a number (ld.shared, st.shared) is reached by the pointer that the number was
// made of, in bodies: of a number, nobody knows which array it leads to. The pointer has no space of addresses, like
// all others of a body: what Enzyme adds through it is handed to rules, which take such pointers.
#include "Import/Addresses.h"
#include "Support/Adgen.h"
#include "Support/Pass.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace adgen {

ADGEN_DECLARE_PASS(NameAddresses);

// Where a pointer of shared memory comes from: a number, or a pointer without a space.
static bool isOrigin(const Instruction &I) {
  if (!I.getType()->isPointerTy() || I.getType()->getPointerAddressSpace() != SharedSpace)
    return false;
  auto *Cast = dyn_cast<AddrSpaceCastInst>(&I);
  return isa<IntToPtrInst>(I) || (Cast && !Cast->getSrcAddressSpace());
}

static bool isAddress(const Use &U) {
  return isa<StoreInst>(U.getUser())
             ? U.getOperandNo() == StoreInst::getPointerOperandIndex()
             : isa<LoadInst>(U.getUser()) ||
                   (isa<AtomicRMWInst, AtomicCmpXchgInst>(U.getUser()) && U.getOperandNo() == 0);
}

// Accesses through `Shared`, and through what is a step away from it, go through `Pointer`; other uses keep their
// space.
static void reach(Instruction &Shared, Value *Pointer) {
  for (Use &U : make_early_inc_range(Shared.uses())) {
    auto *Step = dyn_cast<GetElementPtrInst>(U.getUser());
    auto *Cast = dyn_cast<AddrSpaceCastInst>(U.getUser());
    if (Step && Step->getType()->isPointerTy()) {
      Instruction *Same = Step->clone();
      Same->setOperand(0, Pointer);
      Same->mutateType(Pointer->getType());
      Same->insertBefore(Step->getIterator());
      reach(*Step, Same);
    } else if (Cast && !Cast->getDestAddressSpace()) {
      Cast->replaceAllUsesWith(Pointer);
      Cast->eraseFromParent();
    } else if (isAddress(U)) {
      U.set(Pointer);
    }
  }
  if (!Shared.use_empty())
    Shared.replaceAllUsesWith(
        IRBuilder<>(Shared.getNextNode()).CreateAddrSpaceCast(Pointer, Shared.getType(), "shared"));
  Shared.eraseFromParent();
}

PreservedAnalyses NameAddresses::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Instruction *> Origins;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix))
      for (Instruction &I : instructions(F))
        if (isOrigin(I))
          Origins.push_back(&I);
  for (Instruction *Origin : Origins) {
    IRBuilder<> B(Origin);
    if (Value *Pointer = pointerBehind(B, Origin)) // else refused later
      reach(*Origin, withoutSpace(B, Pointer));
  }
  return Origins.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace adgen
