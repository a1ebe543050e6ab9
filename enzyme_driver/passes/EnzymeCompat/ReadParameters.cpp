// A struct that a kernel takes by value and hands on by value is copied for each function that it goes through. Where
// a member is an array that is indexed by what only the thread knows, an array of pointers say, the copy stays in
// memory after inlining, and Enzyme cannot tell what it consists of. It is read where the kernel has it:
//   memcpy(copy, &p.textures, 128); copy[level]   becomes   p.textures[level]
// as nobody writes either.
#include "Support/Adgen.h"
#include "Support/Pass.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-read-parameters"

using namespace llvm;

STATISTIC(NumCopies, "Number of copies of structs by value that are read where the kernel has them");

namespace adgen {
namespace {

struct Reads {
  MemCpyInst *Copy = nullptr;
  SmallVector<Instruction *> Marks;
  SmallVector<StoreInst *> Members;
  Align Most;
};

// What is done with the memory: one copy writes it from its beginning on, others some members, and it is read.
bool findReads(Value &Pointer, AllocaInst &Local, Reads &Found) {
  return all_of(Pointer.uses(), [&](Use &U) {
    auto *I = cast<Instruction>(U.getUser());
    if (isa<GetElementPtrInst>(I))
      return findReads(*I, Local, Found);
    if (auto *Load = dyn_cast<LoadInst>(I)) {
      Found.Most = std::max(Found.Most, Load->getAlign());
      return Load->isSimple();
    }
    if (auto *Store = dyn_cast<StoreInst>(I)) {
      Found.Members.push_back(Store);
      return Store->isSimple() && U.getOperandNo() == StoreInst::getPointerOperandIndex();
    }
    if (I->isLifetimeStartOrEnd()) {
      Found.Marks.push_back(I);
      return true;
    }
    auto *Copy = dyn_cast<MemCpyInst>(I);
    if (!Copy || Copy->isVolatile())
      return false;
    if (U.getOperandNo() == 1) { // handed on once more
      Found.Most = std::max(Found.Most, Copy->getSourceAlign().valueOrOne());
      return true;
    }
    if (Found.Copy || &Pointer != &Local || U.getOperandNo() != 0)
      return false;
    Found.Copy = Copy;
    return true;
  });
}

// Behind the end of what was copied nothing is read that anybody knows: the kernel's struct has as many bytes at least.
bool hasAsMuch(const Argument &Given, uint64_t Offset, const AllocaInst &Local) {
  std::optional<TypeSize> Size = Local.getAllocationSize(Local.getDataLayout());
  return Size && Offset + Size->getFixedValue() <= structBytes(*Given.getParent(), Given.getArgNo());
}

// A member that was copied by itself, from the same place of the struct.
bool isCopied(const StoreInst &Member, const AllocaInst &Local, const Argument &Given, const APInt &Offset) {
  auto *Load = dyn_cast<LoadInst>(Member.getValueOperand());
  APInt To(Offset.getBitWidth(), 0), From(Offset.getBitWidth(), 0);
  const DataLayout &Layout = Local.getDataLayout();
  return Load && Load->isSimple() &&
         Member.getPointerOperand()->stripAndAccumulateConstantOffsets(Layout, To, true) == &Local &&
         Load->getPointerOperand()->stripAndAccumulateConstantOffsets(Layout, From, true) == &Given &&
         From == To + Offset;
}

bool readInPlace(AllocaInst &Local) {
  Reads Found;
  if (!Local.isStaticAlloca() || !findReads(Local, Local, Found) || !Found.Copy ||
      Found.Copy->getSourceAlign().valueOrOne() < Found.Most)
    return false;
  const DataLayout &Layout = Local.getDataLayout();
  APInt Offset(Layout.getIndexTypeSizeInBits(Local.getType()), 0);
  auto *Given = dyn_cast<Argument>(Found.Copy->getRawSource()->stripAndAccumulateConstantOffsets(Layout, Offset, true));
  if (!Given || Given->getType() != Local.getType() || !isStructByValue(*Given) || !Given->onlyReadsMemory() ||
      !hasAsMuch(*Given, Offset.getZExtValue(), Local) ||
      !all_of(Found.Members, [&](StoreInst *Each) { return isCopied(*Each, Local, *Given, Offset); }))
    return false;
  ADGEN_COUNT(NumCopies, *Found.Copy);
  IRBuilder<> B(&Local);
  Value *Place = Offset.isZero() ? Given : B.CreatePtrAdd(Given, B.getInt(Offset));
  Found.Copy->eraseFromParent();
  for (Instruction *Mark : Found.Marks)
    Mark->eraseFromParent();
  for (StoreInst *Member : Found.Members)
    Member->eraseFromParent();
  Local.replaceAllUsesWith(Place);
  Local.eraseFromParent();
  return true;
}

} // namespace

ADGEN_DECLARE_PASS(ReadParameters);

PreservedAnalyses ReadParameters::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M) {
    SmallVector<AllocaInst *> Locals;
    for (Instruction &I : instructions(F))
      if (auto *Local = dyn_cast<AllocaInst>(&I))
        Locals.push_back(Local);
    const size_t Before = Locals.size();
    bool Again = true;
    while (std::exchange(Again, false))
      erase_if(Locals, [&](AllocaInst *Local) {
        bool Read = readInPlace(*Local);
        Again |= Read;
        return Read;
      });
    Changed |= Locals.size() != Before;
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
