// In C++: what a std::function holds is copied and destroyed by a function that also tells its type and where it lies, and leaves these addresses in the place of
// a copy. Where nothing asks for either (`target`, `target_type`), that function holds numbers or addresses of captured variables there, and not addresses of another kind.
#include "Passes.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr uint64_t TypeAsked = 0, PlaceAsked = 1; // libstdc++'s std::_Manager_operation

bool isManager(const Function &F) { return !F.isDeclaration() && F.getName().contains("_M_managerERSt9_Any_dataRKS") && F.arg_size() == 3; }

// A call that hands on what its own function was asked for asks nothing itself.
bool asks(const CallBase &Call) {
  const Value *Asked = Call.getArgOperand(2);
  if (const auto *Constant = dyn_cast<ConstantInt>(Asked))
    return Constant->getZExtValue() == TypeAsked || Constant->getZExtValue() == PlaceAsked;
  return !isManager(*Call.getFunction());
}

bool isAsked(const Module &M, const FunctionType &Signature) {
  for (const Function &F : M)
    for (const Instruction &I : instructions(F))
      if (const auto *Call = dyn_cast<CallBase>(&I); Call && Call->getFunctionType() == &Signature && asks(*Call))
        return true;
  return false;
}

void forgetIn(Function &Manager) {
  auto *Never = BasicBlock::Create(Manager.getContext(), "never", &Manager);
  new UnreachableInst(Manager.getContext(), Never);
  for (Instruction &I : make_early_inc_range(instructions(Manager)))
    if (auto *Switch = dyn_cast<SwitchInst>(&I); Switch && Switch->getCondition() == Manager.getArg(2))
      for (auto Case : Switch->cases())
        if (uint64_t Asked = Case.getCaseValue()->getZExtValue(); Asked == TypeAsked || Asked == PlaceAsked) {
          Case.getCaseSuccessor()->removePredecessor(Switch->getParent());
          Case.setSuccessor(Never);
        }
  removeUnreachableBlocks(Manager);
}

} // namespace

PreservedAnalyses ForgetQuestions::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (isManager(F) && !isAsked(M, *F.getFunctionType()))
      forgetIn(F);
  return PreservedAnalyses::none();
}

} // namespace adgen
