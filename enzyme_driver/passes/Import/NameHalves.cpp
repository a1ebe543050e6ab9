// Numbers of 16 bits that people keep in a class of their own, with an integer in it: what converts it to and from
// floats says which number it is. The class then has the name of CUDA's own, by which all that follows knows it.
#include "Analysis/Halves.h"
#include "Import/PtxTranslation.h"
#include "Support/Pass.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostCalls = 32, MostSteps = 500;

// A class of 16 bits that are one integer, of its own or of its base.
bool isWord(DIType *Declared) {
  auto *Class = dyn_cast_or_null<DICompositeType>(stripQualifiers(Declared));
  if (!Class || Class->getSizeInBits() != 16 ||
      !is_contained({dwarf::DW_TAG_structure_type, dwarf::DW_TAG_class_type}, Class->getTag()))
    return false;
  unsigned Members = 0;
  for (DINode *Node : Class->getElements()) {
    auto *Member = dyn_cast<DIDerivedType>(Node);
    if (!Member || !is_contained({dwarf::DW_TAG_member, dwarf::DW_TAG_inheritance}, Member->getTag()) ||
        Member->isStaticMember())
      continue;
    DIType *Type = stripQualifiers(Member->getBaseType());
    auto *Number = dyn_cast_or_null<DIBasicType>(Type);
    bool IsInteger = Number && Number->getSizeInBits() == 16 &&
                     is_contained({dwarf::DW_ATE_signed, dwarf::DW_ATE_unsigned}, Number->getEncoding());
    if (Member->isBitField() || !(IsInteger || isWord(Type)))
      return false;
    ++Members;
  }
  return Members == 1;
}

bool isKnown(StringRef Name) {
  return is_contained({"__half", "__half_raw", "__nv_bfloat16", "__nv_bfloat16_raw"}, Name);
}

bool isFloat(DIType *Declared) {
  auto *Number = dyn_cast_or_null<DIBasicType>(stripQualifiers(Declared));
  return Number && Number->getEncoding() == dwarf::DW_ATE_float && Number->getSizeInBits() == 32;
}

// The class of a parameter or a result, also behind a pointer or reference; null where it is none.
DICompositeType *wordOf(DIType *Declared) {
  DIType *Type = stripQualifiers(Declared);
  if (auto *Pointer = dyn_cast_or_null<DIDerivedType>(Type); Pointer && isPointerOrReference(*Pointer))
    Type = stripQualifiers(Pointer->getBaseType());
  return isWord(Type) && !isKnown(cast<DICompositeType>(Type)->getName()) ? cast<DICompositeType>(Type) : nullptr;
}

// A conversion between a class and float.
struct Conversion {
  DICompositeType *Class;
  bool Widens;
};

std::optional<Conversion> conversionOf(const Function &F) {
  const DISubprogram *Said = F.isDeclaration() ? nullptr : F.getSubprogram();
  if (!Said || !Said->getType() || isKernel(F))
    return std::nullopt;
  auto Types = Said->getType()->getTypeArray();
  DIType *Result = Types.size() ? Types[0] : nullptr;
  if (Types.size() == 2 && isFloat(Result) && wordOf(Types[1]))
    return Conversion{wordOf(Types[1]), true};
  if (Types.size() == 2 && isFloat(Types[1]) && Result && wordOf(Result))
    return Conversion{wordOf(Result), false};
  if (Types.size() == 3 && !Result && isFloat(Types[2]) && wordOf(Types[1])) // a constructor
    return Conversion{wordOf(Types[1]), false};
  return std::nullopt;
}

// A function that converts, computed with constants.
class Trial {
public:
  Trial(Function &Original, FunctionAnalysisManager &FAM) : FAM(FAM) {
    ValueToValueMapTy Map;
    F = CloneFunction(&Original, Map);
    takeIn();
    showBits();
    FunctionPassManager Passes;
    Passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    Passes.addPass(EarlyCSEPass());
    Passes.addPass(InstCombinePass());
    Passes.addPass(SimplifyCFGPass());
    Passes.run(*F, FAM);
  }

  ~Trial() {
    FAM.clear(*F, F->getName());
    F->eraseFromParent();
  }

  // What the function returns or leaves behind its first argument.
  Constant *operator()(Constant *Given) {
    Known.clear();
    Memory = Given->getType()->isFloatTy() ? nullptr : Given;
    for (Argument &A : F->args())
      if (A.getType() == Given->getType())
        Known[&A] = Given;
    const BasicBlock *Block = &F->getEntryBlock(), *From = nullptr;
    for (unsigned Steps = 0; Block && Steps < MostSteps;) {
      const BasicBlock *Next = nullptr;
      for (const Instruction &I : *Block) {
        ++Steps;
        if (auto *End = dyn_cast<ReturnInst>(&I))
          return result(End->getReturnValue());
        if (!(I.isTerminator() ? (Next = nextOf(I)) != nullptr : compute(I, From)))
          return nullptr;
      }
      From = std::exchange(Block, Next);
    }
    return nullptr;
  }

private:
  // Everything that is called.
  void takeIn() {
    for (unsigned Calls = 0; Calls < MostCalls; ++Calls) {
      CallBase *Found = nullptr;
      for (Instruction &I : instructions(*F))
        if (auto *Call = dyn_cast<CallBase>(&I);
            Call && Call->getCalledFunction() && !Call->getCalledFunction()->isDeclaration())
          Found = Call;
      InlineFunctionInfo Info;
      if (!Found || !InlineFunction(*Found, Info).isSuccess())
        return;
    }
  }

  // What libdevice calls a conversion of bits, and what CUDA's headers write as assembly.
  void showBits() {
    for (Instruction &I : make_early_inc_range(instructions(*F))) {
      auto *Call = dyn_cast<CallInst>(&I);
      if (!Call)
        continue;
      const Function *Callee = Call->getCalledFunction();
      StringRef Name = Callee ? Callee->getName() : "";
      if (Call->isInlineAsm())
        PtxTranslation(*Call).run();
      else if (Name.starts_with("__nv_") && Name.contains("_as_")) {
        Call->replaceAllUsesWith(IRBuilder<>(Call).CreateBitCast(Call->getArgOperand(0), Call->getType()));
        Call->eraseFromParent();
      }
    }
  }

  Constant *valueOf(const Value *V) const {
    if (auto *C = dyn_cast<Constant>(V))
      return const_cast<Constant *>(C);
    return Known.lookup(V);
  }

  static Constant *as(Constant *C, Type *T) {
    if (auto *Struct = dyn_cast<StructType>(C->getType()); Struct && Struct->getNumElements() == 1)
      return as(C->getAggregateElement(0u), T);
    bool Fits = C->getType()->getPrimitiveSizeInBits() == T->getPrimitiveSizeInBits() && !C->getType()->isStructTy();
    return Fits ? ConstantFoldCastOperand(Instruction::BitCast, C, T, DataLayout()) : nullptr;
  }

  Constant *result(const Value *Returned) const {
    if (Returned && Returned->getType()->isFloatTy())
      return valueOf(Returned);
    Constant *Left = Returned ? valueOf(Returned) : Memory;
    return Left ? as(Left, Type::getInt16Ty(F->getContext())) : nullptr;
  }

  bool compute(const Instruction &I, const BasicBlock *From) {
    if (I.isDebugOrPseudoInst() || I.isLifetimeStartOrEnd())
      return true;
    if (auto *Store = dyn_cast<StoreInst>(&I))
      return isa<Argument>(Store->getPointerOperand()) && (Memory = valueOf(Store->getValueOperand()));
    Constant *Made = nullptr;
    if (auto *Phi = dyn_cast<PHINode>(&I))
      Made = valueOf(Phi->getIncomingValueForBlock(From));
    else if (auto *Load = dyn_cast<LoadInst>(&I))
      Made = isa<Argument>(Load->getPointerOperand()) && Memory ? as(Memory, Load->getType()) : nullptr;
    else {
      SmallVector<Constant *> Operands;
      for (const Value *V : I.operands())
        if (Constant *C = valueOf(V))
          Operands.push_back(C);
        else
          return false;
      Made = ConstantFoldInstOperands(const_cast<Instruction *>(&I), Operands, F->getDataLayout());
    }
    Known[&I] = Made;
    return Made && !isa<UndefValue>(Made);
  }

  const BasicBlock *nextOf(const Instruction &I) const {
    auto *Branch = dyn_cast<BranchInst>(&I);
    if (!Branch || Branch->isUnconditional())
      return Branch ? Branch->getSuccessor(0) : nullptr;
    auto *Decided = dyn_cast_or_null<ConstantInt>(valueOf(Branch->getCondition()));
    return Decided ? Branch->getSuccessor(Decided->isZero()) : nullptr;
  }

  FunctionAnalysisManager &FAM;
  Function *F;
  Constant *Memory = nullptr; // behind the pointer to the class
  DenseMap<const Value *, Constant *> Known;
};

char kindOf(Function &F, bool Widens, FunctionAnalysisManager &FAM) {
  Trial Try(F, FAM);
  auto Compute = [&](Constant *Given) { return Try(Given); };
  if (Widens)
    return kindWidened(F.getContext(), Compute);
  for (char Kind : HalfKinds)
    if (roundingTo(F.getContext(), Kind, Compute) != Rounding::None)
      return Kind;
  return 0;
}

// PyTorch's own, which a file that only copies them never converts.
char kindNamed(const DICompositeType &Class) {
  auto *Space = dyn_cast_or_null<DINamespace>(Class.getScope());
  if (!Space || Space->getName() != "c10")
    return 0;
  return Class.getName() == "Half" ? 'f' : Class.getName() == "BFloat16" ? 'b' : 0;
}

} // namespace

ADGEN_DECLARE_PASS(NameHalves);

PreservedAnalyses NameHalves::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  MapVector<DICompositeType *, char> Kinds;
  SmallVector<std::pair<Function *, Conversion>> Found;
  for (Function &F : M)
    if (auto Conversion = conversionOf(F))
      Found.emplace_back(&F, *Conversion);
  for (auto &[F, Conversion] : Found)
    if (char &Kind = Kinds[Conversion.Class]; !Kind)
      Kind = kindOf(*F, Conversion.Widens, FAM);
  DebugInfoFinder All;
  All.processModule(M);
  for (DIType *Type : All.types())
    if (auto *Class = dyn_cast<DICompositeType>(Type); Class && isWord(Class) && kindNamed(*Class))
      Kinds[Class] = kindNamed(*Class);
  for (auto [Class, Kind] : Kinds)
    if (Kind) // the name
      Class->replaceOperandWith(2, MDString::get(M.getContext(), Kind == 'b' ? "__nv_bfloat16" : "__half"));
  return Kinds.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace adgen
