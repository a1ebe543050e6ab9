// Turns the device's IR, or what C++ takes of it, into IR of the host, whose triple and data layout the option names
// ("triple;layout"): drops the kernels (their bodies stay), address spaces, attributes of the GPU, and calls the host's
// math library instead of libdevice.
#include "Support/Pass.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

namespace adgen {
namespace {

// The C library's name of a libdevice function; empty where it has none (then libdevice's own body is compiled).
std::string libraryName(StringRef Name) {
  constexpr StringLiteral Known[] = {"sin",   "cos",    "tan",       "asin",      "acos",  "atan",  "atan2",  "sinh",
                                     "cosh",  "tanh",   "asinh",     "acosh",     "atanh", "exp",   "exp2",   "exp10",
                                     "expm1", "log",    "log2",      "log10",     "log1p", "pow",   "cbrt",   "hypot",
                                     "erf",   "erfc",   "lgamma",    "tgamma",    "j0",    "j1",    "y0",     "y1",
                                     "jn",    "yn",     "fmod",      "remainder", "sqrt",  "ldexp", "scalbn", "frexp",
                                     "modf",  "remquo", "nextafter", "logb",      "ilogb", "fdim"};
  if (!Name.consume_front("__nv_"))
    return "";
  if (Name.consume_front("fast_") && Name.ends_with("f"))
    return Name.str();
  StringRef Base = Name;
  if (is_contained(Known, Base) || (Base.consume_back("f") && is_contained(Known, Base)))
    return Name.str();
  return "";
}

// What host_runtime/device_arithmetic.cpp has for an intrinsic; empty where it has nothing.
std::string runtimeName(StringRef Name) {
  if (!Name.consume_front("llvm.nvvm."))
    return "";
  std::string Plain = Name.str();
  if (size_t At = Plain.find(".ftz"); At != std::string::npos)
    Plain.erase(At, 4);
  StringRef Operation = StringRef(Plain).split('.').first;
  bool Directed =
      StringRef(Plain).contains(".rz") || StringRef(Plain).contains(".rm") || StringRef(Plain).contains(".rp");
  bool Arithmetic = is_contained({"add", "mul", "div", "rcp", "sqrt", "fma"}, Operation);
  bool Conversion = is_contained({"d2f", "i2f", "ui2f", "ll2f", "ull2f", "ll2d", "ull2d"}, Operation);
  bool Bytes = StringRef(Plain).contains("e4m3x2") || StringRef(Plain).contains("e5m2x2");
  if (!(Directed && (Arithmetic || Conversion)) && !Bytes &&
      !is_contained({"prmt", "sad", "fns", "idp4a", "idp2a"}, Operation))
    return "";
  std::replace(Plain.begin(), Plain.end(), '.', '_');
  return "adgen_nvvm_" + Plain;
}

// C++ hands over a pair of halves as a word, LLVM in a register of vectors.
class PairsAsWords {
public:
  explicit PairsAsWords(FunctionType &Asked)
      : Asked(Asked), Word(Type::getInt32Ty(Asked.getContext())),
        Pair(FixedVectorType::get(Type::getHalfTy(Asked.getContext()), 2)) {}

  bool areThere() const { return Asked.getReturnType() == Pair || is_contained(Asked.params(), Pair); }

  FunctionType *type() const {
    SmallVector<Type *> Parameters;
    for (Type *T : Asked.params())
      Parameters.push_back(T == Pair ? Word : T);
    return FunctionType::get(Asked.getReturnType() == Pair ? Word : Asked.getReturnType(), Parameters, false);
  }

  void replace(CallInst &Call, Function &Host) const {
    IRBuilder<> B(&Call);
    SmallVector<Value *> Given;
    for (Value *A : Call.args())
      Given.push_back(A->getType() == Pair ? B.CreateBitCast(A, Word) : A);
    Value *Result = B.CreateCall(&Host, Given);
    Call.replaceAllUsesWith(B.CreateBitCast(Result, Call.getType()));
    Call.eraseFromParent();
  }

private:
  FunctionType &Asked;
  Type *Word, *Pair;
};

void useHostMath(Module &M) {
  for (Function &F : make_early_inc_range(M)) {
    std::string Name = F.isIntrinsic() ? runtimeName(F.getName()) : libraryName(F.getName());
    if (Name.empty())
      continue;
    PairsAsWords Pairs(*F.getFunctionType());
    FunctionType *Type = Pairs.type();
    auto *Host = cast<Function>(M.getOrInsertFunction(Name, Type).getCallee());
    Host->setDoesNotThrow();
    Host->setWillReturn();
    if (none_of(Type->params(), [](llvm::Type *T) { return T->isPointerTy(); }))
      Host->setDoesNotAccessMemory();
    if (Pairs.areThere())
      for (User *U : make_early_inc_range(F.users()))
        Pairs.replace(*cast<CallInst>(U), *Host);
    else
      F.replaceAllUsesWith(Host);
    F.eraseFromParent();
  }
}

// libdevice asks for switches of the GPU's compiler, which it has answered already where the primal is device code.
void answerReflection(Module &M) {
  Function *Reflect = M.getFunction("__nvvm_reflect");
  if (!Reflect)
    return;
  for (User *U : make_early_inc_range(Reflect->users()))
    if (auto *Call = dyn_cast<CallInst>(U)) {
      Call->replaceAllUsesWith(ConstantInt::get(Call->getType(), 0));
      Call->eraseFromParent();
    }
}

// Which space an address is in: the host has one, and takes the ways for global memory, which are there for all memory.
void answerSpaces(Module &M) {
  for (Intrinsic::ID Id : {Intrinsic::nvvm_isspacep_global, Intrinsic::nvvm_isspacep_shared,
                           Intrinsic::nvvm_isspacep_local, Intrinsic::nvvm_isspacep_const})
    if (Function *Asks = Intrinsic::getDeclarationIfExists(&M, Id)) {
      for (User *U : make_early_inc_range(Asks->users())) {
        U->replaceAllUsesWith(ConstantInt::getBool(M.getContext(), Id == Intrinsic::nvvm_isspacep_global));
        cast<CallInst>(U)->eraseFromParent();
      }
      Asks->eraseFromParent();
    }
}

// What is copied with memcpy has no alignment; an atomic addition to it would become a call of a library that is not
// there.
void alignAtomics(Function &F) {
  for (Instruction &I : instructions(F))
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      Atomic->setAlignment(
          std::max(Atomic->getAlign(), Align(PowerOf2Ceil(F.getDataLayout().getTypeStoreSize(Atomic->getType())))));
}

// An approximation pays on the device. The host's would be no better than the exact instruction, and NaN at the edges.
void dropApproximation(Function &F) {
  for (Instruction &I : instructions(F))
    if (isa<FPMathOperator>(I) && !I.isFast()) {
      I.setHasApproxFunc(false);
      I.setHasAllowReciprocal(false);
    }
}

void dropKernels(Module &M) {
  for (Function &F : make_early_inc_range(M))
    if (isKernel(F)) {
      F.replaceAllUsesWith(PoisonValue::get(F.getType()));
      F.eraseFromParent();
    }
}

void dropGpuAttributes(Function &F) {
  for (StringRef Name : {"target-cpu", "target-features", "uniform-work-group-size", "nvvm.maxntid", "nvvm.minctasm"})
    F.removeFnAttr(Name);
  F.removeFnAttr(Attribute::Convergent);
  F.addFnAttr("frame-pointer", "none");
  for (BasicBlock &Block : F)
    for (Instruction &I : Block)
      if (auto *Call = dyn_cast<CallBase>(&I))
        Call->removeFnAttr(Attribute::Convergent);
}

class Flattener {
public:
  explicit Flattener(Module &M) : M(M), Plain(PointerType::getUnqual(M.getContext())) {}

  void run() {
    for (GlobalVariable &Global : make_early_inc_range(M.globals()))
      if (Global.getAddressSpace())
        flattenGlobal(Global);
    for (Function &F : M)
      flattenFunction(F);
    remangleIntrinsics();
  }

private:
  void flattenGlobal(GlobalVariable &Old) {
    convertUsersOfConstantsToInstructions({&Old});
    auto *New = new GlobalVariable(M, Old.getValueType(), Old.isConstant(), Old.getLinkage(),
                                   Old.hasInitializer() ? Old.getInitializer() : nullptr, "", &Old);
    New->copyAttributesFrom(&Old);
    New->setConstant(Old.isConstant() && !Old.isExternallyInitialized()); // what the runtime may set can be written
    New->copyMetadata(&Old, 0);
    New->takeName(&Old);
    // What still refers to it by its old type are instructions, which are retyped, and used-lists.
    Constant *Stand = ConstantExpr::getAddrSpaceCast(New, Old.getType());
    Old.replaceAllUsesWith(Stand);
    Old.eraseFromParent();
  }

  // What stands for a constant of another space of addresses; null where it is none.
  Value *flat(Value *V) const {
    if (auto *Cast = dyn_cast<ConstantExpr>(V); Cast && Cast->getOpcode() == Instruction::AddrSpaceCast)
      return Cast->getOperand(0);
    auto *Pointer = dyn_cast<PointerType>(V->getType());
    if (!Pointer || !Pointer->getAddressSpace())
      return nullptr;
    return isa<PoisonValue>(V)           ? PoisonValue::get(Plain)
           : isa<UndefValue>(V)          ? UndefValue::get(Plain)
           : isa<ConstantPointerNull>(V) ? static_cast<Value *>(ConstantPointerNull::get(Plain))
                                         : nullptr;
  }

  void flattenFunction(Function &F) {
    for (BasicBlock &Block : F)
      for (Instruction &I : make_early_inc_range(Block)) {
        for (Use &U : I.operands())
          if (Value *Flat = flat(U.get()))
            U.set(Flat);
        if (auto *Pointer = dyn_cast<PointerType>(I.getType()); Pointer && Pointer->getAddressSpace())
          I.mutateType(Plain);
      }
    for (BasicBlock &Block : F)
      for (Instruction &I : make_early_inc_range(Block))
        if (auto *Cast = dyn_cast<AddrSpaceCastInst>(&I)) {
          Cast->replaceAllUsesWith(Cast->getOperand(0));
          Cast->eraseFromParent();
        }
  }

  void remangleIntrinsics() {
    for (Function &F : make_early_inc_range(M)) {
      if (!F.isIntrinsic())
        continue;
      for (User *U : make_early_inc_range(F.users())) {
        auto *Call = dyn_cast<CallInst>(U);
        if (!Call)
          continue;
        SmallVector<Type *> Types;
        for (Value *Argument : Call->args())
          Types.push_back(Argument->getType());
        SmallVector<Type *> Overloads;
        auto *Type = FunctionType::get(Call->getType(), Types, false);
        if (Type == F.getFunctionType() || !Intrinsic::getIntrinsicSignature(F.getIntrinsicID(), Type, Overloads))
          continue;
        Call->setCalledFunction(Intrinsic::getOrInsertDeclaration(&M, F.getIntrinsicID(), Overloads));
      }
    }
  }

  Module &M;
  PointerType *Plain;
};

} // namespace

ADGEN_DECLARE_PASS_WITH_OPTION(RetargetHost);

PreservedAnalyses RetargetHost::run(Module &M, ModuleAnalysisManager &) {
  auto [Triple, Layout] = StringRef(Option).split(';');
  dropKernels(M);
  useHostMath(M);
  answerReflection(M);
  answerSpaces(M);
  if (Function *Print = M.getFunction("vprintf"); Print && M.getTargetTriple().isNVPTX())
    Print->setName("vprintf_device"); // the C library's function of that name takes its arguments in another form
  Flattener(M).run();
  for (Function &F : M) {
    dropGpuAttributes(F);
    dropApproximation(F);
    alignAtomics(F);
  }
  M.setTargetTriple(llvm::Triple(Triple));
  M.setDataLayout(Layout);
  if (NamedMDNode *Annotations = M.getNamedMetadata("nvvm.annotations"))
    Annotations->eraseFromParent();
  return PreservedAnalyses::none();
}

} // namespace adgen
