// In C++: arrays that a program overwrites from step to step, such as the state of a simulation. A parallel region that reads an array and does not
// write it would keep all that it reads. Instead, what overwrites the array keeps what was there,
//   x[i] = value;   becomes   adgen_rule_overwrite_TYPE(x, &x[i]); x[i] = value;
// and its reverse sweep puts that back. Then every array holds in the reverse sweep what it held at that place of the forward sweep, and the
// region reads it again: its loads are marked as invariant until Enzyme has run. LowerOverwrites writes the rule out; what the gradient is to leave in
// the arrays is saved before anything is put back, and the runtime restores it at the end (host_runtime/overwritten.h).
#include "Derivative.h"
#include "Iterations.h"
#include "OpenMP.h"
#include "Origins.h"
#include "Passes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned ThreadArguments = 2;     // which the OpenMP runtime hands to what it starts
constexpr unsigned Deepest = 8, Often = 10; // how often a loop is taken to run, to compare reads with writes
constexpr unsigned MostParameters = 64;     // that the runtime can be told about, a bit each

bool isRegion(const Function &F) { return F.getName().starts_with(RegionPrefix) && !F.isDeclaration(); }

// The pointer that an address is an offset from.
Value *baseOf(Value *Address) {
  while (auto *Offset = dyn_cast<GEPOperator>(Address))
    Address = Offset->getPointerOperand();
  return Address;
}

// Whether a number only scales others and has no derivative itself: constants, and variables that hold an argument.
bool isScale(const Value *Number) {
  if (isa<Constant, Argument>(Number))
    return true;
  if (auto *Cast = dyn_cast<CastInst>(Number))
    return Cast->getSrcTy()->isIntegerTy();
  return false;
}

// Whether the derivative of something needs what was loaded, and not only the places where it was.
bool isNeeded(const LoadInst &Load) {
  SmallVector<const Value *> Numbers{&Load};
  SmallPtrSet<const Value *, 16> Seen{&Load};
  while (!Numbers.empty())
    for (const Use &U : Numbers.pop_back_val()->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      unsigned Code = I->getOpcode();
      if (isa<StoreInst>(I))
        continue;
      bool IsSum = isa<PHINode>(I) || Code == Instruction::FAdd || Code == Instruction::FSub || Code == Instruction::FNeg ||
                   (isa<SelectInst>(I) && U.getOperandNo() > 0);
      bool IsScaled = (Code == Instruction::FMul && isScale(I->getOperand(1 - U.getOperandNo()))) ||
                      (Code == Instruction::FDiv && U.getOperandNo() == 0 && isScale(I->getOperand(1)));
      if (!IsSum && !IsScaled)
        return true;
      if (Seen.insert(I).second)
        Numbers.push_back(I);
    }
  return false;
}

// What is read and written of one array.
struct Array {
  SmallVector<StoreInst *> Stores;
  SmallVector<LoadInst *> Loads; // in regions that do not write it
  uint64_t Read = 0, Written = 0; // how often, by how deep in loops that is
};

class Overwriting {
public:
  explicit Overwriting(Module &M) : M(M), Memory(M) {}

  bool run() {
    if (Memory.written().contains(nullptr) || !findArrays())
      return false;
    for (Function &F : M)
      for (Instruction &I : instructions(F))
        see(I);
    for (Function &F : M)
      if (isRegion(F) && callsNothingOfOurs(F))
        findLoads(F);
    bool Any = false;
    for (auto &[Parameter, Of] : Arrays)
      if (!Of.Stores.empty() && Of.Read > Of.Written) {
        keep(Of);
        remember(*Parameter);
        Any = true;
      }
    if (Any)
      forgetWriteOnly();
    return Any;
  }

private:
  // The parameters that could be such arrays.
  bool findArrays() {
    for (CallInst *Call : gradientCalls(M))
      for (const Said &Of : saidOfParameters(*Call))
        if (Of.Word == "enzyme_dup" && !structBytes(*Of.Parameter->getParent(), Of.Parameter->getArgNo())) {
          auto *InGradient = dyn_cast<Argument>(Call->getArgOperand(Of.At + 1));
          if (InGradient && InGradient->getArgNo() < MostParameters) {
            Arrays[Of.Parameter];
            Gradients[Of.Parameter].push_back(InGradient);
          }
        }
    return !Arrays.empty();
  }

  // An array that is written in any other way than by single numbers in a region stays as it is.
  void see(Instruction &I) {
    for (const Value *Object : Memory.writtenBy(I)) {
      auto *Parameter = dyn_cast<Argument>(Object);
      auto Found = Parameter ? Arrays.find(Parameter) : Arrays.end();
      if (Found == Arrays.end())
        continue;
      auto *Store = dyn_cast<StoreInst>(&I);
      bool IsPlain = Store && Store->isSimple() && isRegion(*I.getFunction()) && !I.hasMetadata(EffectMark) &&
                     (Store->getValueOperand()->getType()->isDoubleTy() || Store->getValueOperand()->getType()->isFloatTy());
      auto *Base = IsPlain ? dyn_cast<Argument>(baseOf(Store->getPointerOperand())) : nullptr;
      if (!Base || standsFor(*Base) != Parameter) {
        Arrays.erase(Found);
        continue;
      }
      Found->second.Stores.push_back(Store);
      Found->second.Written += timesOf(I);
      Writers[I.getFunction()].insert(Parameter);
    }
  }

  // The parameter of a body that an argument always is; null where there is none.
  const Argument *standsFor(const Argument &A) {
    const Function &F = *A.getParent();
    if (F.getName().starts_with(BodyPrefix))
      return &A;
    const Argument *Only = nullptr;
    for (const Use &U : F.uses()) {
      auto *Call = dyn_cast<CallBase>(U.getUser());
      const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      bool Starts = Callee && Callee->getName() == ForkName && Call->getArgOperandNo(&U) == ForkFunction;
      if (!Call || (!Starts && !Call->isCallee(&U)) || (Starts && A.getArgNo() < ThreadArguments))
        return nullptr;
      auto *Handed = dyn_cast<Argument>(Call->getArgOperand(A.getArgNo() + (Starts ? ForkCaptured - ThreadArguments : 0)));
      const Argument *Here = Handed ? standsFor(*Handed) : nullptr;
      if (!Here || (Only && Only != Here))
        return nullptr;
      Only = Here;
    }
    return Only;
  }

  // Iterations that are functions of their own (OutlineIterations) write to none of these arrays.
  static bool callsNothingOfOurs(Function &F) {
    return all_of(instructions(F), [](const Instruction &I) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call)
        return true;
      const Function *Callee = Call->getCalledFunction();
      return Callee && Callee->getName() != ForkName && (Callee->isDeclaration() || Callee->getName().starts_with(IterationPrefix));
    });
  }

  void findLoads(Function &F) {
    for (Instruction &I : instructions(F)) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || !Load->isSimple() || !Load->getType()->isFloatingPointTy() || !isNeeded(*Load))
        continue;
      const Origins::Set &From = Memory.of(Load->getPointerOperand());
      auto *Parameter = From.size() == 1 ? dyn_cast_or_null<Argument>(From[0]) : nullptr;
      auto Found = Parameter ? Arrays.find(Parameter) : Arrays.end();
      if (Found == Arrays.end() || Writers[&F].contains(Parameter))
        continue;
      Found->second.Loads.push_back(Load);
      Found->second.Read += timesOf(I);
    }
  }

  uint64_t timesOf(Instruction &I) {
    Function &F = *I.getFunction();
    if (!Loops.contains(&F))
      Loops[&F] = std::make_unique<LoopInfo>(DominatorTree(F));
    uint64_t Times = 1;
    for (unsigned Depth = std::min(Loops[&F]->getLoopDepth(I.getParent()), Deepest); Depth; --Depth)
      Times *= Often;
    return Times;
  }

  void keep(Array &Of) {
    MDNode *Mark = MDNode::get(M.getContext(), {});
    for (StoreInst *Store : Of.Stores) {
      IRBuilder<> B(Store);
      Type *T = Store->getValueOperand()->getType();
      StringRef Name = T->isDoubleTy() ? "overwrite_f64" : "overwrite_f32";
      Function *Rule = declareRule(M, Name, 2, {}, T);
      Rule->setMemoryEffects(MemoryEffects::argMemOnly());
      Rule->setDoesNotThrow();
      Rule->setWillReturn();
      Rule->setDoesNotFreeMemory();
      Value *Address = Store->getPointerOperand();
      CallInst *Call = B.CreateCall(Rule, {baseOf(Address), Address});
      Call->setMetadata(LLVMContext::MD_tbaa, Store->getMetadata(LLVMContext::MD_tbaa));
    }
    for (LoadInst *Load : Of.Loads) {
      Load->setMetadata(LLVMContext::MD_invariant_load, Mark);
      Load->setMetadata(RestoredMark, Mark);
    }
  }

  void remember(const Argument &Parameter) {
    for (Argument *InGradient : Gradients[&Parameter])
      InGradient->getParent()->addParamAttr(InGradient->getArgNo(), Attribute::get(M.getContext(), RestoredAttribute));
  }

  // What was only written is read now.
  void forgetWriteOnly() {
    AttributeMask Wrong;
    Wrong.addAttribute(Attribute::WriteOnly);
    Wrong.addAttribute(Attribute::Initializes);
    for (Function &F : M) {
      if (F.isDeclaration())
        continue;
      if (!F.getMemoryEffects().doesNotAccessMemory())
        F.removeFnAttr(Attribute::Memory);
      for (Argument &A : F.args())
        F.removeParamAttrs(A.getArgNo(), Wrong);
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallBase>(&I); Call && isOurs(*Call)) {
          Call->removeFnAttr(Attribute::Memory);
          for (unsigned Operand = 0; Operand < Call->arg_size(); ++Operand)
            Call->removeParamAttrs(Operand, Wrong);
        }
    }
  }

  static bool isOurs(const CallBase &Call) {
    const Function *Callee = Call.getCalledFunction();
    return Callee && (!Callee->isDeclaration() || Callee->getName() == ForkName);
  }

  Module &M;
  const Origins Memory;
  MapVector<const Argument *, Array> Arrays; // by the parameter of the body
  DenseMap<const Argument *, SmallVector<Argument *, 1>> Gradients;
  DenseMap<const Function *, SmallPtrSet<const Argument *, 4>> Writers; // what regions write
  DenseMap<const Function *, std::unique_ptr<LoopInfo>> Loops;
};

// The calls of one rule's derivative in one function.
struct Sweeps {
  SmallVector<CallInst *> Forward, Reverse;
};

// What a function overwrites of one array: the offsets of the first number and of the end of the last.
struct Extent {
  AllocaInst *First, *End;
};

class Lowering {
public:
  Lowering(Function &F, Sweeps &Of) : F(F), M(*F.getParent()), Of(Of) {}

  // In a function with both sweeps, what is overwritten has to be known before the reverse sweep begins.
  void run() {
    const bool Both = !Of.Forward.empty() && !Of.Reverse.empty();
    for (CallInst *Call : Of.Forward)
      lowerForward(*Call, Both);
    for (CallInst *Call : Of.Reverse)
      lowerReverse(*Call, Both);
  }

private:
  void lowerForward(CallInst &Call, bool AtOnce) {
    IRBuilder<> B(&Call);
    Value *Base = Call.getArgOperand(0), *Address = Call.getArgOperand(2);
    Value *Offset = B.CreateSub(B.CreatePtrToInt(Address, B.getInt64Ty()), B.CreatePtrToInt(Base, B.getInt64Ty()));
    Value *End = B.CreateAdd(Offset, B.getInt64(M.getDataLayout().getTypeStoreSize(Call.getType())));
    if (AtOnce || !isa<Argument>(Base)) {
      note(B, Base, Offset, End);
    } else {
      Extent &Seen = extentOf(*Base);
      B.CreateStore(B.CreateBinaryIntrinsic(Intrinsic::smin, B.CreateLoad(B.getInt64Ty(), Seen.First), Offset), Seen.First);
      B.CreateStore(B.CreateBinaryIntrinsic(Intrinsic::smax, B.CreateLoad(B.getInt64Ty(), Seen.End), End), Seen.End);
    }
    Call.replaceAllUsesWith(B.CreateLoad(Call.getType(), Address));
    Call.eraseFromParent();
  }

  Extent &extentOf(Value &Base) {
    auto [Place, IsNew] = Extents.try_emplace(&Base);
    if (IsNew) {
      IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
      Place->second = {B.CreateAlloca(B.getInt64Ty()), B.CreateAlloca(B.getInt64Ty())};
      B.CreateStore(B.getInt64(INT64_MAX), Place->second.First);
      B.CreateStore(B.getInt64(INT64_MIN), Place->second.End);
      for (BasicBlock &Block : F)
        if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator())) {
          B.SetInsertPoint(Return);
          note(B, &Base, B.CreateLoad(B.getInt64Ty(), Place->second.First), B.CreateLoad(B.getInt64Ty(), Place->second.End));
        }
    }
    return Place->second;
  }

  void note(IRBuilder<> &B, Value *Base, Value *First, Value *End) {
    Type *Int64 = B.getInt64Ty();
    B.CreateCall(M.getOrInsertFunction("adgen_note_overwritten", B.getVoidTy(), B.getPtrTy(), Int64, Int64), {Base, First, End});
  }

  void lowerReverse(CallInst &Call, bool EachTime) {
    IRBuilder<> B(&Call);
    Value *Base = Call.getArgOperand(0);
    if (EachTime || !isa<Argument>(Base)) {
      save(B, Base);
    } else if (Saved.insert(Base).second) {
      IRBuilder<> First(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      save(First, Base);
    }
    B.CreateStore(Call.getArgOperand(4), Call.getArgOperand(2));
    Call.eraseFromParent();
  }

  void save(IRBuilder<> &B, Value *Base) {
    B.CreateCall(M.getOrInsertFunction("adgen_save_overwritten", B.getVoidTy(), B.getPtrTy()), Base);
  }

  Function &F;
  Module &M;
  Sweeps &Of;
  MapVector<Value *, Extent> Extents;
  SmallPtrSet<Value *, 4> Saved;
};

} // namespace

PreservedAnalyses RestoreOverwritten::run(Module &M, ModuleAnalysisManager &) {
  return Overwriting(M).run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

PreservedAnalyses LowerOverwrites::run(Module &M, ModuleAnalysisManager &) {
  MapVector<Function *, Sweeps> Sweeping;
  for (StringRef Type : {"f64", "f32"}) {
    const std::string Rule = (OverwriteRule + Type).str();
    for (CallInst *Call : callsOf(M, Rule))
      Call->eraseFromParent();
    for (CallInst *Call : callsOf(M, Rule + "_augmented"))
      Sweeping[Call->getFunction()].Forward.push_back(Call);
    for (CallInst *Call : callsOf(M, Rule + "_reverse"))
      Sweeping[Call->getFunction()].Reverse.push_back(Call);
  }
  for (auto &[F, Of] : Sweeping)
    Lowering(*F, Of).run();
  removeFromUsedLists(M, [](Constant *C) { return C->getName().starts_with(OverwriteRule); });
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (I.hasMetadata(RestoredMark)) {
        I.setMetadata(LLVMContext::MD_invariant_load, nullptr);
        I.setMetadata(RestoredMark, nullptr);
      }
  return PreservedAnalyses::none();
}

} // namespace adgen
