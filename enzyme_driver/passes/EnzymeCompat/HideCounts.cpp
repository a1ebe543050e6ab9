// A std::map, a std::set and a std::list hold the end of their nodes as a member, and behind it the number of elements,
// where nodes have their data. Enzyme has one type for both, and stops where the data are numbers or pointers. So it
// does where a class has an integer at a place at which another with the same virtual functions has something else.
// Such integers become what is read and written by functions at which Enzyme does not look.
#include "EnzymeCompat/OutlineAccess.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#define DEBUG_TYPE "adgen-hide-counts"

using namespace llvm;

STATISTIC(NumAccesses, "Number of accesses to counts of elements that were hidden");
STATISTIC(NumMembers, "Number of accesses to members of classes that were hidden");

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

// As clang calls it: what it calls anything else may be a number's bits on their way.
bool isInteger(const Instruction &I) {
  if (!isa<LoadInst, StoreInst>(I) || !getLoadStoreType(&I)->isIntegerTy())
    return false;
  const MDNode *Tag = I.getMetadata(LLVMContext::MD_tbaa);
  auto *Access = Tag && Tag->getNumOperands() > 2 ? dyn_cast<MDNode>(Tag->getOperand(1)) : nullptr;
  auto *Name = Access && Access->getNumOperands() ? dyn_cast<MDString>(Access->getOperand(0)) : nullptr;
  return Name && is_contained({"bool", "short", "int", "long", "long long"}, Name->getString());
}

// Whether clang says that the access is to a number of elements, wherever the container lies: its type is described as
// its name and its members, each with an offset.
bool isNamedCount(const Instruction &I) {
  const MDNode *Tag = I.getMetadata(LLVMContext::MD_tbaa);
  const MDNode *Struct = Tag && Tag->getNumOperands() > 2 ? dyn_cast<MDNode>(Tag->getOperand(0)) : nullptr;
  auto *At = Struct ? mdconst::dyn_extract<ConstantInt>(Tag->getOperand(2)) : nullptr;
  uint64_t Offset = At ? At->getZExtValue() : 0;
  while (At && Struct) {
    auto *Name = Struct->getNumOperands() ? dyn_cast<MDString>(Struct->getOperand(0)) : nullptr;
    if (Name && is_contained({"_ZTSNSt8__detail17_List_node_headerE", "_ZTSSt15_Rb_tree_header"}, Name->getString()))
      return true;
    const MDNode *Member = nullptr;
    uint64_t Begin = 0;
    for (unsigned Each = 1; Each + 1 < Struct->getNumOperands(); Each += 2)
      if (auto *From = mdconst::dyn_extract<ConstantInt>(Struct->getOperand(Each + 1));
          From && From->getZExtValue() <= Offset) {
        Member = dyn_cast<MDNode>(Struct->getOperand(Each));
        Begin = From->getZExtValue();
      }
    Struct = Member;
    Offset -= Begin;
  }
  return false;
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
    if (!isInteger(I) || !getLoadStoreType(&I)->isIntegerTy(64))
      return false;
    if (isNamedCount(I))
      return true;
    Placed At = placed(getLoadStorePointerOperand(&I), DL);
    auto Found = Ends.find(At.Base);
    return Found != Ends.end() && At.Offset > Found->second && At.Offset <= Found->second + LongestNode;
  }

  const DataLayout &DL;
  MapVector<Value *, int64_t> Ends; // where in the memory that begins there
};

// Objects with virtual functions: what a table's address is written into, and what the functions of tables are given.
class Objects {
public:
  explicit Objects(Module &M) : DL(M.getDataLayout()) {
    for (Function &F : M) {
      if (Argument *This = F.isDeclaration() || !isInTable(F) ? nullptr : thisOf(F))
        Known.insert(This);
      for (Instruction &I : instructions(F))
        if (auto *Store = dyn_cast<StoreInst>(&I); Store && isTable(*Store->getValueOperand()))
          Known.insert(placed(Store->getPointerOperand(), DL).Base);
    }
    for (Function &F : M)
      for (Instruction &I : instructions(F))
        note(I);
  }

  void hideIntegers() const {
    for (const auto &[I, Offset] : Integers)
      if (isOtherwiseUsed(Offset, Offset + bytesOf(*I))) {
        outlineAccess(*I, "adgen_integer_member");
        ++NumMembers;
      }
  }

private:
  static bool isTable(const Value &V) {
    auto *Table = dyn_cast<GlobalVariable>(getUnderlyingObject(&V));
    return Table && Table->getName().starts_with("_ZTV");
  }

  static bool isInTable(const Function &F) {
    SmallVector<const User *> Work(F.users());
    while (!Work.empty()) {
      const User *U = Work.pop_back_val();
      if (auto *Table = dyn_cast<GlobalVariable>(U); Table && Table->getName().starts_with("_ZTV"))
        return true;
      if (isa<Constant>(U) && !isa<GlobalValue>(U))
        append_range(Work, U->users());
    }
    return false;
  }

  static Argument *thisOf(Function &F) {
    for (Argument &A : F.args())
      if (!A.hasStructRetAttr())
        return A.getType()->isPointerTy() ? &A : nullptr;
    return nullptr;
  }

  int64_t bytesOf(const Instruction &I) const { return DL.getTypeStoreSize(getLoadStoreType(&I)).getFixedValue(); }

  void note(Instruction &I) {
    if (!isa<LoadInst, StoreInst>(I))
      return;
    Placed At = placed(getLoadStorePointerOperand(&I), DL);
    if (!Known.contains(At.Base))
      return;
    if (isInteger(I))
      Integers.push_back({&I, At.Offset});
    else
      Others.push_back({At.Offset, At.Offset + bytesOf(I)});
  }

  bool isOtherwiseUsed(int64_t First, int64_t Last) const {
    return any_of(Others, [&](auto &Other) { return Other.first < Last && First < Other.second; });
  }

  const DataLayout &DL;
  SmallPtrSet<Value *, 16> Known;
  SmallVector<std::pair<Instruction *, int64_t>> Integers;
  SmallVector<std::pair<int64_t, int64_t>> Others; // from and to where in an object
};

} // namespace

ADGEN_DECLARE_PASS(HideCounts);

PreservedAnalyses HideCounts::run(Module &M, ModuleAnalysisManager &) {
  Containers(M).hideCounts(M);
  Objects(M).hideIntegers();
  return PreservedAnalyses::none();
}

} // namespace adgen
