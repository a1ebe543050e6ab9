#include "Import/VoidPointers.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {
namespace {

// With namespaces and template arguments; from the name that linkers would know it by.
std::string writtenName(const DICompositeType &Class) {
  const std::string Whole = demangle(Class.getIdentifier());
  StringRef Name = Whole;
  return Name.consume_front("typeinfo name for ") ? Name.str() : Class.getName().str();
}

// What a function does with the memory behind a parameter, or a member of one, of type void *.
class Accesses {
public:
  static Number numberBehind(Argument &Parameter, const HalfClasses &Halves) {
    Accesses Found(Parameter, Halves);
    Found.follow(Parameter);
    return Found.result();
  }

  static Number numberBehind(Argument &Struct, int64_t Offset, const HalfClasses &Halves) {
    Accesses Found(Struct, Halves);
    Found.enter(Struct, Offset);
    return Found.result();
  }

private:
  Accesses(Argument &Parameter, const HalfClasses &Halves)
      : Layout(Parameter.getParent()->getDataLayout()), Halves(Halves) {}

  // What is only copied as words may be anything.
  Number result() const {
    const bool Words = Copied && !Found.Half && (!Found.Language || Found.Language->isIntegerTy());
    return Clear && !Words && !(Found.Language && Found.Half) ? Found : Number();
  }

  // The address of the struct, or of a part of it; the member is so many bytes behind it.
  void enter(Value &Address, int64_t Offset) {
    if (Offset < 0 || !Entered.insert(&Address).second)
      return;
    for (User *U : Address.users()) {
      auto *Step = dyn_cast<GEPOperator>(U);
      auto *Call = dyn_cast<CallBase>(U);
      auto *Copy = dyn_cast<MemCpyInst>(U);
      if (Step) {
        APInt Bytes(64, 0);
        Clear &= Step->accumulateConstantOffset(Layout, Bytes);
        enter(*U, Offset - Bytes.getSExtValue());
      } else if (isa<AddrSpaceCastInst>(U))
        enter(*U, Offset);
      else if (Copy && Copy->getRawSource() == &Address)
        enter(*Copy->getRawDest(), Offset);
      else if (auto *Load = dyn_cast<LoadInst>(U))
        Offset || !Load->getType()->isPointerTy() ? void() : follow(*Load);
      else if (Call && Call->getCalledFunction() && !Call->getCalledFunction()->isDeclaration())
        for (llvm::Use &Handed : Call->args())
          Handed.get() == &Address ? enter(*Call->getCalledFunction()->getArg(Call->getArgOperandNo(&Handed)), Offset)
                                   : void();
      else if (auto *Store = dyn_cast<StoreInst>(U); Store && Store->getValueOperand() == &Address)
        enterBy(*Store, Offset);
      else if (Store)
        Clear &= Offset != 0;
      else if (Copy)
        Clear &= Entered.contains(Copy->getRawSource());
      else if (!isa<IntrinsicInst>(U) || isa<MemIntrinsic>(U))
        Clear = false;
    }
  }

  // A local variable holds the address, such as a reference.
  void enterBy(StoreInst &Store, int64_t Offset) {
    auto *Variable = dyn_cast<AllocaInst>(Store.getPointerOperand());
    Clear &= Variable != nullptr;
    if (Variable)
      for (User *U : Variable->users())
        if (auto *Load = dyn_cast<LoadInst>(U))
          enter(*Load, Offset);
        else
          Clear &= U == &Store || isa<DbgInfoIntrinsic, LifetimeIntrinsic>(U);
  }

  void follow(Value &Pointer) {
    if (!Seen.insert(&Pointer).second)
      return;
    for (User *U : Pointer.users()) {
      auto *Store = dyn_cast<StoreInst>(U);
      auto *Call = dyn_cast<CallBase>(U);
      if (auto *Load = dyn_cast<LoadInst>(U))
        Load->getType()->isPointerTy() && Holders.contains(&Pointer) ? follow(*Load) : access(Load->getType());
      else if (Store && Store->getValueOperand() == &Pointer)
        hold(*Store->getPointerOperand());
      else if (Store && !Holders.contains(&Pointer))
        access(Store->getValueOperand()->getType());
      else if (auto *Step = dyn_cast<GetElementPtrInst>(U); Step && Halves.named(Step->getSourceElementType()))
        access(*Halves.named(Step->getSourceElementType()));
      else if (Step)
        enterElement(*Step);
      else if (isa<AddrSpaceCastInst, PHINode, SelectInst>(U))
        follow(*U);
      else if (isa<MemCpyInst>(U))
        Copied = true;
      else if (Call && Call->getCalledFunction() && !Call->getCalledFunction()->isDeclaration())
        for (llvm::Use &Handed : Call->args())
          Handed.get() == &Pointer ? follow(*Call->getCalledFunction()->getArg(Call->getArgOperandNo(&Handed)))
                                   : void();
      else if (!isa<ICmpInst, StoreInst>(U) && !(isa<IntrinsicInst>(U) && !isa<MemIntrinsic>(U)))
        Clear = false;
    }
  }

  // A local variable that holds the pointer.
  void hold(Value &Place) {
    Clear &= isa<AllocaInst>(Place);
    Holders.insert(&Place);
    follow(Place);
  }

  // Elements that are stepped over may be structs of numbers.
  void enterElement(GetElementPtrInst &Step) {
    if (Type *One = numberIn(Step.getSourceElementType()))
      access(One);
    follow(Step);
  }

  // The one number with a derivative of which a struct, or an array of such, consists.
  static Type *numberIn(Type *T) {
    if (auto *Array = dyn_cast<ArrayType>(T))
      return numberIn(Array->getElementType());
    auto *Struct = dyn_cast<StructType>(T);
    if (!Struct)
      return T->isFloatTy() || T->isDoubleTy() ? T : nullptr;
    SmallPtrSet<Type *, 2> Parts;
    for (Type *Part : Struct->elements())
      Parts.insert(numberIn(Part));
    return Parts.size() == 1 ? *Parts.begin() : nullptr;
  }

  void access(Type *T) {
    Type *One = T->getScalarType();
    Clear &= One->isFloatTy() || One->isDoubleTy() || One->isIntegerTy();
    Clear &= !Found.Language || Found.Language == One;
    Found.Language = One;
  }

  // What steps from one such number to another is the only way to them.
  void access(DICompositeType &Half) {
    Clear &= !Found.Half || Found.Half->getName() == Half.getName();
    Found.Half = &Half;
  }

  Number Found;
  bool Clear = true, Copied = false;
  const DataLayout &Layout;
  const HalfClasses &Halves;
  SmallPtrSet<Value *, 16> Seen, Holders, Entered;
};

} // namespace

HalfClasses::HalfClasses(const Module &M) {
  DebugInfoFinder Finder;
  Finder.processModule(M);
  for (DIType *Type : Finder.types())
    if (auto *Class = dyn_cast<DICompositeType>(Type);
        Class && is_contained({"__half", "__nv_bfloat16"}, Class->getName()))
      Known[writtenName(*Class)] = Class;
}

DICompositeType *HalfClasses::named(const Type *T) const {
  auto *Struct = dyn_cast<StructType>(T);
  if (!Struct || !Struct->hasName())
    return nullptr;
  StringRef Name = Struct->getName();
  Name.consume_front("struct.") || Name.consume_front("class.");
  return Known.lookup(Name);
}

Number numberBehind(Argument &Parameter, const HalfClasses &Halves) {
  return Accesses::numberBehind(Parameter, Halves);
}

Number numberBehind(Argument &Struct, int64_t Offset, const HalfClasses &Halves) {
  return Accesses::numberBehind(Struct, Offset, Halves);
}

} // namespace adgen
