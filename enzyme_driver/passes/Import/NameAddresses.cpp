// Shared memory that assembly reaches by a number (ld.shared, st.shared) is reached by the pointer that the number was
// made of, in bodies: of a number, nobody knows which array it leads to.
#include "Import/Addresses.h"
#include "Support/Adgen.h"
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace adgen {

ADGEN_DECLARE_PASS(NameAddresses);

PreservedAnalyses NameAddresses::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<IntToPtrInst *> Numbers;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix))
      for (Instruction &I : instructions(F))
        if (auto *Number = dyn_cast<IntToPtrInst>(&I); Number && Number->getAddressSpace() == SharedSpace)
          Numbers.push_back(Number);
  for (IntToPtrInst *Number : Numbers) {
    IRBuilder<> B(Number);
    Value *Pointer = pointerBehind(B, Number);
    if (!Pointer)
      continue; // refused later
    Number->replaceAllUsesWith(B.CreateAddrSpaceCast(withoutSpace(B, Pointer), Number->getType()));
    Number->eraseFromParent();
  }
  return Numbers.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace adgen
