// In C++: arrays that a program overwrites from step to step, such as the state of a simulation. A parallel region that
// reads an array and does not write it would keep all that it reads. Instead, what overwrites the array keeps what was
// there,
//   x[i] = value;   becomes   adgen_rule_overwrite_TYPE(x, &x[i]); x[i] = value;       (of an array of the function's
//   own adgen_rule_overwrite_own_TYPE(&x[i]))
// and its reverse sweep puts that back. Then every array holds in the reverse sweep what it held at that place of the
// forward sweep, and the region reads it again: its loads are marked as invariant until Enzyme has run. LowerUndoLog
// writes the rule out; what the gradient is to leave in the arrays is saved before anything is put back, and the
// runtime restores it at the end (host_runtime/overwritten.h).
#include "Analysis/Reachability.h"
#include "Analysis/Roots.h"
#include "Analysis/SharedConstants.h"
#include "Analysis/UnderlyingObjects.h"
#include "Support/Derivative.h"
#include "Support/Iterations.h"
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#define DEBUG_TYPE "adgen-undo-log"

using namespace llvm;

STATISTIC(NumStores, "Number of stores before which is kept what they overwrite");

namespace adgen {
namespace {

constexpr unsigned Deepest = 8, Often = 10; // how often a loop is taken to run, to compare reads with writes
constexpr unsigned MostParameters = 64;     // that the runtime can be told about, a bit each

bool isRegion(const Function &F) { return F.getName().starts_with(RegionPrefix) && !F.isDeclaration(); }

// The pointer that an address is an offset from.
Value *baseOf(Value *Address) {
  while (auto *Offset = dyn_cast<GEPOperator>(Address))
    Address = Offset->getPointerOperand();
  return Address;
}

// Whether a number only scales others and has no derivative itself: it is made of constants and of variables that hold
// an argument.
bool isScale(const Value *Number) {
  return isMadeOf(Number, [](const Value &V) {
    auto *Load = dyn_cast<LoadInst>(&V);
    return isa<Argument>(V) || (Load && Load->hasMetadata(InactiveMark));
  });
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
      bool IsSum = isa<PHINode>(I) || Code == Instruction::FAdd || Code == Instruction::FSub ||
                   Code == Instruction::FNeg || (isa<SelectInst>(I) && U.getOperandNo() > 0);
      auto *Known = dyn_cast<IntrinsicInst>(I);
      bool IsProductAndSum = Known && is_contained({Intrinsic::fmuladd, Intrinsic::fma}, Known->getIntrinsicID());
      bool IsAdded = IsProductAndSum && U.getOperandNo() == 2;
      bool IsScaled = ((Code == Instruction::FMul || (IsProductAndSum && !IsAdded)) &&
                       isScale(I->getOperand(1 - U.getOperandNo()))) ||
                      (Code == Instruction::FDiv && U.getOperandNo() == 0 && isScale(I->getOperand(1)));
      if (!IsSum && !IsAdded && !IsScaled)
        return true;
      if (Seen.insert(I).second)
        Numbers.push_back(I);
    }
  return false;
}

// What is read and written of one array.
struct Array {
  SmallVector<StoreInst *> Stores;       // of single numbers
  SmallVector<const Instruction *> Else; // what writes to it in other ways
};

// A read in a region that could be repeated in the reverse sweep.
struct Read {
  LoadInst *Load;
  UnderlyingObjects::Set From;
};

class Overwriting {
public:
  Overwriting(Module &M, ArrayRef<const Function *> Part) : M(M), Memory(M, Part) {
    for (Function &F : M)
      if (is_contained(Part, &F))
        Functions.push_back(&F);
  }

  bool run() {
    if (Memory.written().contains(nullptr))
      return false;
    findArrays();
    for (Function *F : Functions)
      for (Instruction &I : instructions(*F))
        see(I);
    for (Function *F : Functions)
      if (isRegion(*F) && callsNothingOfOurs(*F))
        findReads(*F);
    bool Any = false;
    for (auto &[Leader, Of] : connected())
      Any |= keep(Of);
    if (Any)
      forgetWriteOnly();
    return Any;
  }

private:
  using Group = SmallVector<const Read *>; // of arrays that may change places

  // Parameters with shadows, and what the function itself allocates.
  void findArrays() {
    for (CallInst *Call : gradientCalls(M)) {
      if (!is_contained(Functions, Call->getFunction()))
        continue;
      auto &Body = *cast<Function>(Call->getArgOperand(0));
      for (const Said &Of : saidOfParameters(*Call))
        if (Of.Word == "enzyme_dup" && !structBytes(Body, Of.Parameter->getArgNo())) {
          auto *InGradient = dyn_cast<Argument>(Call->getArgOperand(Of.At + 1));
          if (InGradient && InGradient->getArgNo() < MostParameters) {
            Arrays[Of.Parameter];
            Gradients[Of.Parameter].push_back(InGradient);
          }
        }
      for (Instruction &I : instructions(Body))
        if (isNoAliasCall(&I))
          Arrays[&I];
    }
  }

  void see(Instruction &I) {
    const UnderlyingObjects::Set Objects = Memory.writtenBy(I);
    if (none_of(Objects, [&](const Value *Object) { return Arrays.contains(Object); }))
      return;
    bool IsPlain = isPlainStore(I, Objects);
    for (const Value *Object : Objects)
      if (auto Found = Arrays.find(Object); Found != Arrays.end()) {
        if (IsPlain)
          Found->second.Stores.push_back(cast<StoreInst>(&I));
        else
          Found->second.Else.push_back(&I);
      }
    if (isRegion(*I.getFunction()))
      Writers[I.getFunction()].push_back(&I);
  }

  // Of a single number, where the runtime knows by the pointer which of the caller's arrays that is.
  bool isPlainStore(Instruction &I, const UnderlyingObjects::Set &Objects) {
    auto *Store = dyn_cast<StoreInst>(&I);
    const Function &F = *I.getFunction();
    if (!Store || !Store->isSimple() || I.hasMetadata(EffectMark) ||
        !(isRegion(F) || F.getName().starts_with(BodyPrefix)))
      return false;
    const Type *T = Store->getValueOperand()->getType();
    if ((!T->isDoubleTy() && !T->isFloatTy()) ||
        !all_of(Objects, [&](const Value *Object) { return Arrays.contains(Object); }))
      return false;
    if (none_of(Objects, [](const Value *Object) { return isa<Argument>(Object); }))
      return true;
    const bool IsRare =
        isRegion(F) || loopsAround(I) <= Often; // the runtime is told of each, where a function has both sweeps
    return IsRare && rootsOf(baseOf(Store->getPointerOperand()));
  }

  // Iterations that are functions of their own (OutlineIterations) write to none of these arrays.
  static bool callsNothingOfOurs(Function &F) {
    return all_of(instructions(F), [](const Instruction &I) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call)
        return true;
      const Function *Callee = Call->getCalledFunction();
      return Callee && Callee->getName() != ForkName &&
             (Callee->isDeclaration() || Callee->getName().starts_with(IterationPrefix));
    });
  }

  void findReads(Function &F) {
    for (Instruction &I : instructions(F)) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || !Load->isSimple() || !Load->getType()->isFloatingPointTy() || !isNeeded(*Load))
        continue;
      const UnderlyingObjects::Set &From = Memory.of(Load->getPointerOperand());
      bool AreKnown = !From.empty() && all_of(From, [&](const Value *Object) { return Arrays.contains(Object); });
      if (AreKnown && isWrittenBefore(*Load, From) && isNotWrittenMeanwhile(*Load, From))
        Reads.push_back({Load, From});
    }
  }

  // What is no plain store cannot be put back.
  bool isWrittenBefore(const LoadInst &Load, const UnderlyingObjects::Set &From) {
    return all_of(From, [&](const Value *Object) {
      return none_of(Arrays[Object].Else, [&](const Instruction *Writer) { return follows(Load, *Writer, Object); });
    });
  }

  // Whether something may be written to memory that was read from: what is allocated anew is other memory.
  static bool follows(const Instruction &Load, const Instruction &Writer, const Value *Object) {
    return mayFollow(Load, Writer, dyn_cast<Instruction>(Object));
  }

  // By the region that reads it.
  bool isNotWrittenMeanwhile(LoadInst &Load, const UnderlyingObjects::Set &From) {
    auto *Here = dyn_cast<Argument>(baseOf(Load.getPointerOperand()));
    return all_of(Writers[Load.getFunction()], [&](Instruction *Writer) {
      if (none_of(Memory.writtenBy(*Writer), [&](const Value *Object) { return From.contains(Object); }))
        return true;
      auto *Store = dyn_cast<StoreInst>(Writer);
      auto *There = Store ? dyn_cast<Argument>(baseOf(Store->getPointerOperand())) : nullptr;
      return Here && There && areDistinct(*Here, *There);
    });
  }

  // The reads of arrays that are read or written by the same instructions.
  MapVector<const Value *, Group> connected() {
    EquivalenceClasses<const Value *> Classes;
    for (const auto &[Object, Of] : Arrays) {
      Classes.insert(Object);
      for (const StoreInst *Store : Of.Stores)
        for (const Value *Other : Memory.writtenBy(*Store))
          Classes.unionSets(Object, Other);
    }
    for (const Read &Each : Reads)
      for (const Value *Other : Each.From)
        Classes.unionSets(Each.From[0], Other);
    MapVector<const Value *, Group> Groups;
    for (const Read &Each : Reads)
      Groups[Classes.getLeaderValue(Each.From[0])].push_back(&Each);
    return Groups;
  }

  // Of what a region does, as often as it is forked.
  uint64_t timesOf(Instruction &I) {
    uint64_t Forked = 0;
    if (isRegion(*I.getFunction()))
      for (User *Call : I.getFunction()->users())
        for (User *Fork : cast<Instruction>(Call)->getFunction()->users())
          Forked += loopsAround(*cast<Instruction>(Fork));
    return std::max<uint64_t>(Forked, 1) * loopsAround(I);
  }

  uint64_t loopsAround(Instruction &I) {
    Function &F = *I.getFunction();
    if (!Loops.contains(&F))
      Loops[&F] = std::make_unique<LoopInfo>(DominatorTree(F));
    uint64_t Times = 1;
    for (unsigned Depth = std::min(Loops[&F]->getLoopDepth(I.getParent()), Deepest); Depth; --Depth)
      Times *= Often;
    return Times;
  }

  // Whether anything changed.
  bool keep(const Group &Of) {
    SmallSetVector<StoreInst *, 8> Overwrites;
    SmallSetVector<const Value *, 8> Objects;
    uint64_t OftenRead = 0, OftenWritten = 0;
    for (const Read *Each : Of) {
      OftenRead += timesOf(*Each->Load);
      for (const Value *Object : Each->From) {
        Objects.insert(Object);
        for (StoreInst *Store : Arrays[Object].Stores)
          if (follows(*Each->Load, *Store, Object))
            Overwrites.insert(Store);
      }
    }
    for (StoreInst *Store : Overwrites)
      OftenWritten += timesOf(*Store);
    bool OnlyRead = Overwrites.empty() && all_of(Objects, [](const Value *Object) { return isa<Argument>(Object); });
    if (OnlyRead || OftenRead <= OftenWritten) // what only is read is MarkInvariantLoads's
      return false;
    for (StoreInst *Store : Overwrites) {
      keepWhatWasThere(*Store);
      for (const Value *Object : Memory.writtenBy(*Store))
        if (auto *Parameter = dyn_cast<Argument>(Object))
          remember(*Parameter);
    }
    MDNode *Mark = MDNode::get(M.getContext(), {});
    for (const Read *Each : Of) {
      Each->Load->setMetadata(LLVMContext::MD_invariant_load, Mark);
      Each->Load->setMetadata(RestoredMark, Mark);
    }
    return true;
  }

  void keepWhatWasThere(StoreInst &Store) {
    IRBuilder<> B(&Store);
    Type *T = Store.getValueOperand()->getType();
    const bool IsOwn = none_of(Memory.writtenBy(Store), [](const Value *Object) { return isa<Argument>(Object); });
    const std::string Name = std::string(IsOwn ? "overwrite_own_" : "overwrite_") + (T->isDoubleTy() ? "f64" : "f32");
    Function *Rule = declareRule(M, Name, IsOwn ? 1 : 2, {}, T);
    Rule->setMemoryEffects(MemoryEffects::argMemOnly());
    Rule->setDoesNotThrow();
    Rule->setWillReturn();
    Rule->setDoesNotFreeMemory();
    Value *Address = Store.getPointerOperand();
    SmallVector<Value *> Pointers{Address};
    if (!IsOwn)
      Pointers.insert(Pointers.begin(), baseOf(Address));
    ADGEN_COUNT(NumStores, Store);
    CallInst *Call = B.CreateCall(Rule, Pointers);
    Call->setMetadata(LLVMContext::MD_tbaa, Store.getMetadata(LLVMContext::MD_tbaa));
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
    for (Function *F : Functions) {
      if (!F->getMemoryEffects().doesNotAccessMemory())
        F->removeFnAttr(Attribute::Memory);
      for (Argument &A : F->args())
        F->removeParamAttrs(A.getArgNo(), Wrong);
      for (Instruction &I : instructions(*F))
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
  const UnderlyingObjects Memory;
  SmallVector<Function *> Functions; // of one entry, or of several that have some in common
  MapVector<const Value *, Array> Arrays;
  SmallVector<Read> Reads;
  DenseMap<const Argument *, SmallVector<Argument *, 1>> Gradients;
  DenseMap<const Function *, SmallVector<Instruction *>> Writers; // of such arrays, in regions
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
    const bool IsOwn = Call.arg_size() == 2; // pointers, each with its shadow
    Value *Address = Call.getArgOperand(IsOwn ? 0 : 2);
    if (!IsOwn)
      tell(B, Call.getArgOperand(0), Address, Call.getType(), AtOnce);
    Call.replaceAllUsesWith(B.CreateLoad(Call.getType(), Address));
    Call.eraseFromParent();
  }

  // The runtime of what is overwritten of one of the caller's arrays.
  void tell(IRBuilder<> &B, Value *Base, Value *Address, Type *Number, bool AtOnce) {
    Value *Offset = B.CreateSub(B.CreatePtrToInt(Address, B.getInt64Ty()), B.CreatePtrToInt(Base, B.getInt64Ty()));
    Value *End = B.CreateAdd(Offset, B.getInt64(M.getDataLayout().getTypeStoreSize(Number)));
    if (AtOnce || !isa<Argument>(Base)) {
      note(B, Base, Offset, End);
    } else {
      Extent &Seen = extentOf(*Base);
      B.CreateStore(B.CreateBinaryIntrinsic(Intrinsic::smin, B.CreateLoad(B.getInt64Ty(), Seen.First), Offset),
                    Seen.First);
      B.CreateStore(B.CreateBinaryIntrinsic(Intrinsic::smax, B.CreateLoad(B.getInt64Ty(), Seen.End), End), Seen.End);
    }
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
          note(B, &Base, B.CreateLoad(B.getInt64Ty(), Place->second.First),
               B.CreateLoad(B.getInt64Ty(), Place->second.End));
        }
    }
    return Place->second;
  }

  void note(IRBuilder<> &B, Value *Base, Value *First, Value *End) {
    Type *Int64 = B.getInt64Ty();
    B.CreateCall(M.getOrInsertFunction("adgen_note_overwritten", B.getVoidTy(), B.getPtrTy(), Int64, Int64),
                 {Base, First, End});
  }

  void lowerReverse(CallInst &Call, bool EachTime) {
    IRBuilder<> B(&Call);
    const bool IsOwn = Call.arg_size() == 3; // with what was there
    if (!IsOwn)
      saveFirst(B, Call.getArgOperand(0), EachTime);
    B.CreateStore(Call.getArgOperand(Call.arg_size() - 1), Call.getArgOperand(IsOwn ? 0 : 2));
    Call.eraseFromParent();
  }

  // What the forward sweep has left in one of the caller's arrays, before anything is put back.
  void saveFirst(IRBuilder<> &B, Value *Base, bool EachTime) {
    if (EachTime || !isa<Argument>(Base)) {
      save(B, Base);
    } else if (Saved.insert(Base).second) {
      IRBuilder<> First(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      save(First, Base);
    }
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

ADGEN_DECLARE_PASS(UndoLog);

PreservedAnalyses UndoLog::run(Module &M, ModuleAnalysisManager &) {
  bool Any = false;
  for (const std::vector<const Function *> &Part : connectedFunctions(M))
    Any |= Overwriting(M, Part).run();
  return Any ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

ADGEN_DECLARE_PASS(LowerUndoLog);

PreservedAnalyses LowerUndoLog::run(Module &M, ModuleAnalysisManager &) {
  MapVector<Function *, Sweeps> Sweeping;
  for (StringRef Type : {"f64", "f32", "own_f64", "own_f32"}) {
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
