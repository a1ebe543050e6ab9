// Forward mode by dual numbers in place of Enzyme's: every call of __enzyme_fwddiff_adgen_body_SYMBOL, which
// MakeTangents has made, becomes a call of a function that carries tangents through the body (ShadowModule.h). It is
// the witness against which gradients are verified, and takes the primal as clang wrote it. With sets of inputs in
// place of tangents it finds out what depends on what.
#include "Oracle/DualNumbers.h"
#include "Oracle/InputSets.h"
#include "Oracle/ShadowModule.h"
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {

ADGEN_DECLARE_PASS(KeepFormulas);
ADGEN_DECLARE_PASS(CarryDuals);
ADGEN_DECLARE_PASS_WITH_OPTION(CarrySets);

namespace {

SmallVector<CallInst *> tangentCalls(Module &M) {
  SmallVector<CallInst *> Calls;
  for (Function &F : M)
    if (F.getName().starts_with(TangentPrefix))
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallInst>(&I);
            Call && Call->getCalledFunction() && Call->getCalledFunction()->getName().starts_with(ForwardPrefix))
          Calls.push_back(Call);
  return Calls;
}

// The body's arguments, then their shadows. A pointer without one (null, or constant) is its own.
SmallVector<Value *> argumentsOf(IRBuilder<> &B, CallInst &Call) {
  SmallVector<Value *> Arguments, Shadows;
  StringRef Word;
  for (unsigned I = 1; I < Call.arg_size(); ++I) {
    if (auto *Said = dyn_cast<MetadataAsValue>(Call.getArgOperand(I))) {
      Word = cast<MDString>(Said->getMetadata())->getString();
      continue;
    }
    Value *Primal = Call.getArgOperand(I);
    Arguments.push_back(Primal);
    if (!Word.starts_with("enzyme_dup")) {
      Shadows.push_back(inactive(B, Primal));
      continue;
    }
    Value *Shadow = Call.getArgOperand(++I);
    Shadows.push_back(Primal->getType()->isPointerTy() ? B.CreateSelect(B.CreateIsNull(Shadow), Primal, Shadow)
                                                       : Shadow);
  }
  append_range(Arguments, Shadows);
  return Arguments;
}

Function *carry(ShadowModule &Module, CallInst &Call) {
  auto *Body = cast<Function>(Call.getArgOperand(0));
  Function *Carrying = Module.carrying(*Body);
  IRBuilder<> B(&Call);
  CallInst *New = B.CreateCall(Carrying, argumentsOf(B, Call));
  New->setDebugLoc(Call.getDebugLoc());
  Call.eraseFromParent();
  return New->getFunction();
}

} // namespace

// The body of a sine and a cosine computed together is assembly in parts, which only a GPU has.
static void splitSinCos(CallInst &Call, StringRef Prefix, StringRef Suffix) {
  IRBuilder<> B(&Call);
  Value *X = Call.getArgOperand(0);
  for (auto [At, Name] : {std::pair(1u, "sin"), std::pair(2u, "cos")}) {
    FunctionCallee Single =
        Call.getModule()->getOrInsertFunction((Prefix + Name + Suffix).str(), X->getType(), X->getType());
    B.CreateStore(B.CreateCall(Single, {X}), Call.getArgOperand(At));
  }
  Call.eraseFromParent();
}

static void splitSinCos(Function &F) {
  StringRef Suffix = F.getName(), Prefix = Suffix.starts_with("__nv_fast_") ? "__nv_fast_" : "__nv_";
  if (!Suffix.consume_front(Prefix) || !Suffix.consume_front("sincos"))
    return;
  for (User *U : make_early_inc_range(F.users()))
    if (auto *Call = dyn_cast<CallInst>(U); Call && Call->getCalledFunction() == &F)
      splitSinCos(*Call, Prefix, Suffix);
}

PreservedAnalyses KeepFormulas::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : make_early_inc_range(M))
    splitSinCos(F);
  for (Function &F : M)
    if (!F.isDeclaration() && F.getName().starts_with("__nv_") && !dualFormula(F).empty()) {
      F.deleteBody();
      F.removeFnAttr(Attribute::AlwaysInline);
    }
  return PreservedAnalyses::none();
}

static void carryAll(Module &M, NumberType &Numbers, StringRef What, StringRef Hint) {
  ShadowModule Module(M, Numbers);
  SmallVector<Function *> Tangents;
  for (CallInst *Call : tangentCalls(M))
    Tangents.push_back(carry(Module, *Call));
  Module.notes(); // which a caller reads, also where none is ever made
  Module.finish();
  for (Function *Tangent : Tangents) {
    IRBuilder<> B(&*Tangent->getEntryBlock().getFirstInsertionPt());
    for (GlobalVariable *Own : Module.ownShadows())
      B.CreateMemSet(Own, B.getInt8(0), M.getDataLayout().getTypeAllocSize(Own->getValueType()), Own->getAlign());
    if (const ShadowModule::Refusal *Why = Module.refusalOf(*Tangent))
      refuse(Tangent, Why->Where, (What + " cannot be carried through " + Why->Reason).str(), Hint);
  }
}

PreservedAnalyses CarryDuals::run(Module &M, ModuleAnalysisManager &) {
  DualNumbers Numbers;
  carryAll(M, Numbers, "dual numbers", "check the gradient by finite differences");
  return PreservedAnalyses::none();
}

PreservedAnalyses CarrySets::run(Module &M, ModuleAnalysisManager &) {
  InputSets Numbers(M, Option == "global");
  carryAll(M, Numbers, "sets of inputs", "give the pattern of the Jacobian");
  return PreservedAnalyses::none();
}

} // namespace adgen
