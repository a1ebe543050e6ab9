// In C++: a virtual function that no call of the module can reach leaves the table of its class. Enzyme differentiates
// all that is in a table whose objects it meets, and stops at a method that prints or makes a name, which nobody calls
// there. A call can reach a function of its type, at its place in the table where that is known. Classes with a base
// that other files know (std::exception) keep theirs.
#include "Support/Pass.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"

#include <map>

using namespace llvm;

namespace adgen {
namespace {

constexpr int64_t Anywhere = -1;

// The functions that calls through pointers can reach: of which type, and where in a table.
class Reached {
public:
  explicit Reached(Module &M) : DL(M.getDataLayout()) {
    for (Function &F : M)
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->isIndirectCall())
          Places[Call->getFunctionType()].insert(placeOf(*Call->getCalledOperand()));
  }

  bool contains(const Function &F, int64_t Place) const {
    auto Found = Places.find(F.getFunctionType());
    if (Found == Places.end())
      return false;
    return Place == Anywhere || Found->second.contains(Anywhere) || Found->second.contains(Place);
  }

private:
  // In bytes behind what an object points to.
  int64_t placeOf(Value &Called) const {
    auto *Load = dyn_cast<LoadInst>(&Called);
    if (!Load)
      return Anywhere;
    int64_t Offset = 0;
    Value *Table = GetPointerBaseWithConstantOffset(Load->getPointerOperand(), Offset, DL);
    return isa<LoadInst>(Table) && Offset >= 0 ? Offset : Anywhere;
  }

  const DataLayout &DL;
  std::map<FunctionType *, SmallSet<int64_t, 4>> Places;
};

bool isTypeInfo(const Value *V) { return isa<GlobalVariable>(V) && V->getName().starts_with("_ZTI"); }

// Whether the class and all its bases are of this file alone.
bool isOwn(const GlobalVariable &TypeInfo) {
  return TypeInfo.hasInitializer() && all_of(TypeInfo.getInitializer()->operands(), [](const Use &Part) {
           return !isTypeInfo(Part) || isOwn(*cast<GlobalVariable>(Part));
         });
}

// A part of a table: what leads to bases, the type, the functions.
Constant *forgotten(ConstantArray &Part, const Reached &Calls) {
  SmallVector<Constant *> Elements;
  int64_t Next = Anywhere, Size = Part.getType()->getElementType()->isPointerTy() ? 8 : 0;
  const GlobalVariable *Type = nullptr;
  for (Use &Each : Part.operands()) {
    auto *Element = cast<Constant>(Each);
    if (isTypeInfo(Element)) {
      Type = cast<GlobalVariable>(Element);
      Next = 0;
      Elements.push_back(Element);
      continue;
    }
    auto *F = dyn_cast<Function>(Element);
    bool Forget = F && Size && Type && isOwn(*Type) && !Calls.contains(*F, Next);
    Elements.push_back(Forget ? Constant::getNullValue(Element->getType()) : Element);
    if (Next != Anywhere)
      Next += Size;
  }
  return ConstantArray::get(Part.getType(), Elements);
}

void forgetIn(GlobalVariable &Table, const Reached &Calls) {
  auto *Parts = dyn_cast<ConstantStruct>(Table.getInitializer());
  if (!Parts)
    return;
  SmallVector<Constant *> Left;
  for (Use &Part : Parts->operands())
    Left.push_back(isa<ConstantArray>(Part) ? forgotten(*cast<ConstantArray>(Part), Calls) : cast<Constant>(Part));
  Table.setInitializer(ConstantStruct::get(Parts->getType(), Left));
}

} // namespace

ADGEN_DECLARE_PASS(PruneVTables);

PreservedAnalyses PruneVTables::run(Module &M, ModuleAnalysisManager &) {
  const Reached Calls(M);
  for (GlobalVariable &Global : M.globals())
    if (Global.isConstant() && Global.hasInitializer() &&
        (Global.getName().starts_with("_ZTV") || Global.getName().starts_with("_ZTC")))
      forgetIn(Global, Calls);
  return PreservedAnalyses::none();
}

} // namespace adgen
