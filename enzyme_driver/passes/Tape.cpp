// Keeps the values of the forward sweep on a tape that the runtime allocates, instead of the device's malloc heap. For every gradient
// that has such values and can be measured beforehand, this makes
//   void adgen_tape_SYMBOL(arguments of the gradient..., need)   the forward sweep without its effects: the bytes a thread needs
// and gives adgen_gradient_SYMBOL (then marked adgen-tape) seven more arguments: where the thread's tape begins, and the indices
// of the block and the extents of the grid, because the kernel walks over the caller's grid with as many blocks as fit.
//
// A place on the tape is a number of bytes from the thread's beginning. Byte b lies at (b / 8) * 256 + b % 8, so that the 32 lanes of a
// warp, whose tapes begin 8 bytes apart, use neighbouring words. Gradients of which something is not understood keep the heap.
#include "Iterations.h"
#include "Passes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr uint64_t Granule = 8;
constexpr uint64_t WarpSize = 32;

bool isCall(const Instruction &I, StringRef Name) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == Name;
}

// Everything in a gradient that holds, or is reached through, a place on the tape.
class TapeUse {
public:
  SmallVector<CallInst *> Releases;
  SmallVector<MemIntrinsic *> Blocks;
  SetVector<Value *> Places;
  SmallVector<Instruction *> Accesses;

  // False where the values are not all understood; then nothing may be changed.
  bool collect(Function &F) {
    for (BasicBlock &Block : F)
      for (Instruction &I : Block)
        if (isCall(I, "malloc"))
          Places.insert(&I);
        else if (isCall(I, "realloc"))
          return false;
    return !Places.empty() && follow() && sourcesAreKnown();
  }

private:
  bool follow() {
    for (unsigned I = 0; I < Places.size(); ++I)
      for (User *U : Places[I]->users())
        if (!visit(*cast<Instruction>(U), Places[I]))
          return false;
    if (!Nested)
      return true;
    // Places are kept on the tape: then every pointer kept there is one.
    unsigned Known = Places.size();
    for (Instruction *I : Accesses) {
      if (isa<LoadInst>(I) && I->getType()->isPointerTy())
        Places.insert(I);
      if (auto *Store = dyn_cast<StoreInst>(I);
          Store && Store->getValueOperand()->getType()->isPointerTy() && !Places.contains(Store->getValueOperand()))
        return false;
    }
    return Known == Places.size() || follow();
  }

  bool visit(Instruction &I, Value *Place) {
    if (isa<GetElementPtrInst, PHINode, SelectInst>(I)) {
      Places.insert(&I);
      return true;
    }
    if (isCall(I, "free")) {
      if (!is_contained(Releases, &I))
        Releases.push_back(cast<CallInst>(&I));
      return true;
    }
    if (auto *Block = dyn_cast<MemIntrinsic>(&I)) {
      if (!is_contained(Blocks, Block))
        Blocks.push_back(Block);
      return isa<MemSetInst, MemCpyInst>(Block);
    }
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return access(I, Load->getType());
    if (auto *Store = dyn_cast<StoreInst>(&I)) {
      if (Store->getValueOperand() == Place) {
        Nested = true;
        Keepers.insert(Store->getPointerOperand()); // may be found to be a place later
      }
      return access(I, Store->getValueOperand()->getType());
    }
    return false;
  }

  bool access(Instruction &I, Type *T) {
    if (!T->isSingleValueType())
      return false;
    uint64_t Size = I.getDataLayout().getTypeStoreSize(T);
    if (Size > Granule || Granule % Size)
      return false;
    if (!is_contained(Accesses, &I))
      Accesses.push_back(&I);
    return true;
  }

  // What meets a place in a phi must be one too, or nothing at all.
  bool sourcesAreKnown() {
    auto Known = [&](Value *V) { return Places.contains(V) || isa<UndefValue, ConstantPointerNull>(V); };
    if (!all_of(Keepers, [&](Value *Keeper) { return Places.contains(Keeper); }))
      return false;
    if (!all_of(Blocks, [&](MemIntrinsic *Block) { return Places.contains(Block->getRawDest()); }))
      return false;
    return all_of(Places, [&](Value *V) {
      if (auto *Phi = dyn_cast<PHINode>(V))
        return all_of(Phi->incoming_values(), Known);
      if (auto *Select = dyn_cast<SelectInst>(V))
        return Known(Select->getTrueValue()) && Known(Select->getFalseValue());
      return true;
    });
  }

  bool Nested = false;
  SmallPtrSet<Value *, 8> Keepers; // where places are kept
};

Value *roundedUp(IRBuilder<> &B, Value *Bytes) {
  return B.CreateAnd(B.CreateAdd(Bytes, B.getInt64(Granule - 1)), B.getInt64(~(Granule - 1)));
}

// Advances the cursor; where the new values begin.
Value *take(IRBuilder<> &B, AllocaInst *Cursor, Value *Bytes) {
  Value *Begin = B.CreateLoad(B.getInt64Ty(), Cursor);
  B.CreateStore(B.CreateAdd(Begin, roundedUp(B, Bytes)), Cursor);
  return Begin;
}

AllocaInst *createCursor(Function &F) {
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  AllocaInst *Cursor = B.CreateAlloca(B.getInt64Ty(), nullptr, "tape.cursor");
  B.CreateStore(B.getInt64(0), Cursor);
  return Cursor;
}

// The forward sweep of a gradient, reduced to what decides how much is kept.
class Measure {
public:
  Measure(Function &Gradient, TapeUse &Use, FunctionAnalysisManager &FAM) : Gradient(Gradient), Use(Use), FAM(FAM) {}

  // Null where the size depends on memory that the sweep itself writes.
  Function *make() {
    StringRef Symbol = Gradient.getName().drop_front(GradientPrefix.size());
    SmallVector<Type *> Types(Gradient.getFunctionType()->params());
    Types.push_back(PointerType::getUnqual(Gradient.getContext()));
    F = Function::Create(FunctionType::get(Gradient.getReturnType(), Types, false), GlobalValue::ExternalLinkage,
                         TapePrefix + Symbol, Gradient.getParent());
    for (Argument &A : Gradient.args())
      Map[&A] = F->getArg(A.getArgNo());
    SmallVector<ReturnInst *> Returns;
    CloneFunctionInto(F, &Gradient, Map, CloneFunctionChangeType::LocalChangesOnly, Returns);
    F->addFnAttr(Attribute::AlwaysInline);
    cut();
    if (reduce())
      return F;
    F->eraseFromParent();
    return nullptr;
  }

private:
  // Ends every path where the reverse sweep begins; from the same block others may go on forward.
  void cut() {
    BasicBlock *End = BasicBlock::Create(F->getContext(), "end", F);
    ReturnInst::Create(F->getContext(), End);
    for (BasicBlock &Block : *F) {
      if (isReverse(Block))
        continue;
      Instruction *Last = Block.getTerminator();
      for (unsigned I = 0; I < Last->getNumSuccessors(); ++I)
        if (BasicBlock *Successor = Last->getSuccessor(I); isReverse(*Successor)) {
          Successor->removePredecessor(&Block);
          Last->setSuccessor(I, End);
        }
    }
    EliminateUnreachableBlocks(*F);
  }

  bool reduce() {
    AllocaInst *Cursor = createCursor(*F);
    SmallPtrSet<const Value *, 16> Places;
    for (Value *Place : Use.Places)
      if (Value *Copy = Map.lookup(Place))
        Places.insert(Copy);
    SmallPtrSet<const Value *, 8> Written;
    for (BasicBlock &Block : *F)
      for (Instruction &I : make_early_inc_range(Block))
        if (!reduce(I, Cursor, Places, Written))
          return false;
    report(Cursor);
    SROAPass(SROAOptions::PreserveCFG).run(*F, FAM); // what goes through variables in memory decides about nothing
    FAM.clear(*F, F->getName());
    ADCEPass().run(*F, FAM);
    FAM.clear(*F, F->getName());
    bool AskedForUnknown = any_of(Unknown, [](const WeakVH &Left) { return Left != nullptr; });
    return !AskedForUnknown && readsOnlyInputs(Written);
  }

  bool reduce(Instruction &I, AllocaInst *Cursor, SmallPtrSetImpl<const Value *> &Places,
              SmallPtrSetImpl<const Value *> &Written) {
    if (isCall(I, "malloc")) {
      IRBuilder<> B(&I);
      take(B, Cursor, cast<CallInst>(I).getArgOperand(0));
      I.replaceAllUsesWith(PoisonValue::get(I.getType()));
      I.eraseFromParent();
      return true;
    }
    if (isCall(I, "free")) { // of the reverse sweep, where it has no block of its own
      I.eraseFromParent();
      return true;
    }
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
      if (Places.contains(Load->getPointerOperand()))
        Places.insert(forget(I));
      return true;
    }
    if (auto *Store = dyn_cast<StoreInst>(&I))
      return write(I, Store->getPointerOperand(), Places, Written);
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      return I.use_empty() && write(I, Atomic->getPointerOperand(), Places, Written);
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || !I.mayHaveSideEffects() || isa<DbgInfoIntrinsic>(I) || I.isLifetimeStartOrEnd())
      return true;
    if (auto *Copy = dyn_cast<MemIntrinsic>(&I))
      return write(I, Copy->getRawDest(), Places, Written);
    // What threads do together may write through any of its pointers.
    for (Value *Argument : Call->args())
      if (Argument->getType()->isPointerTy())
        Written.insert(getUnderlyingObject(Argument));
    if (I.use_empty())
      I.eraseFromParent();
    else
      forget(I);
    return true;
  }

  // Takes away what has no value here. It may not matter: nothing that decides about the size uses what stands for it.
  Value *forget(Instruction &I) {
    auto *StandIn = new FreezeInst(PoisonValue::get(I.getType()), "unknown", I.getIterator());
    Unknown.push_back(StandIn);
    I.replaceAllUsesWith(StandIn);
    I.eraseFromParent();
    return StandIn;
  }

  // Writes to local variables stay, those to memory are left out and remembered.
  bool write(Instruction &I, Value *Pointer, const SmallPtrSetImpl<const Value *> &Places,
             SmallPtrSetImpl<const Value *> &Written) {
    const Value *Object = getUnderlyingObject(Pointer);
    if (isa<AllocaInst>(Object))
      return true;
    if (!Places.contains(Pointer) && !isa<PoisonValue>(Object))
      Written.insert(Object);
    I.eraseFromParent();
    return true;
  }

  bool readsOnlyInputs(const SmallPtrSetImpl<const Value *> &Written) {
    bool WroteUnknown = any_of(Written, [](const Value *V) { return !isa<Argument, GlobalVariable, AllocaInst>(V); });
    for (BasicBlock &Block : *F)
      for (Instruction &I : Block) {
        auto *Load = dyn_cast<LoadInst>(&I);
        if (!Load)
          continue;
        const Value *Object = getUnderlyingObject(Load->getPointerOperand());
        if (Written.contains(Object) || !isa<Argument, GlobalVariable, AllocaInst>(Object))
          return false;
        if (WroteUnknown && !isa<AllocaInst>(Object))
          return false;
      }
    return true;
  }

  // need = max(need, cursor), with an atomic only where it would grow.
  void report(AllocaInst *Cursor) {
    Value *Need = F->getArg(F->arg_size() - 1);
    SmallVector<ReturnInst *> Ends;
    for (BasicBlock &Block : *F)
      if (auto *End = dyn_cast<ReturnInst>(Block.getTerminator()))
        Ends.push_back(End);
    for (ReturnInst *End : Ends) {
      IRBuilder<> B(End);
      Value *Mine = B.CreateLoad(B.getInt64Ty(), Cursor);
      Value *Grows = B.CreateICmpUGT(Mine, B.CreateLoad(B.getInt64Ty(), Need, /*isVolatile=*/true));
      B.SetInsertPoint(SplitBlockAndInsertIfThen(Grows, End->getIterator(), false));
      B.CreateAtomicRMW(AtomicRMWInst::UMax, Need, Mine, MaybeAlign(), AtomicOrdering::Monotonic);
    }
  }

  Function &Gradient;
  TapeUse &Use;
  FunctionAnalysisManager &FAM;
  Function *F = nullptr;
  SmallVector<WeakVH> Unknown;
  ValueToValueMapTy Map;
};

// Rewrites places as numbers and accesses as accesses of the tape.
class Rewriter {
public:
  Rewriter(Function &Gradient, TapeUse &Use, Value *Begin)
      : Use(Use), Begin(Begin), Cursor(createCursor(Gradient)), Int64(Type::getInt64Ty(Gradient.getContext())) {}

  void run() {
    for (Value *Place : Use.Places)
      if (auto *Phi = dyn_cast<PHINode>(Place))
        Numbers[Phi] = PHINode::Create(Int64, Phi->getNumIncomingValues(), "place", Phi->getIterator());
    for (Value *Place : Use.Places)
      if (auto *Phi = dyn_cast<PHINode>(Place))
        for (unsigned I = 0; I < Phi->getNumIncomingValues(); ++I)
          cast<PHINode>(Numbers[Phi])->addIncoming(number(Phi->getIncomingValue(I)), Phi->getIncomingBlock(I));
    for (Instruction *I : Use.Accesses)
      access(*I);
    for (MemIntrinsic *Block : Use.Blocks)
      moveBlock(*Block);
    for (CallInst *Release : Use.Releases)
      Release->eraseFromParent();
    for (Value *Place : Use.Places) { // nothing refers to them but each other
      auto *I = cast<Instruction>(Place);
      I->replaceAllUsesWith(PoisonValue::get(I->getType()));
      I->eraseFromParent();
    }
  }

private:
  Value *number(Value *Place) {
    if (!Use.Places.contains(Place))
      return ConstantInt::get(Int64, 0);
    if (Value *Known = Numbers.lookup(Place))
      return Known;
    auto *I = cast<Instruction>(Place);
    IRBuilder<> B(I);
    Value *Number = nullptr;
    if (auto *Allocation = dyn_cast<CallInst>(I))
      Number = take(B, Cursor, Allocation->getArgOperand(0));
    else if (auto *Step = dyn_cast<GetElementPtrInst>(I)) {
      Value *Base = number(Step->getPointerOperand());
      Number = B.CreateAdd(Base, emitGEPOffset(&B, I->getDataLayout(), Step, /*NoAssumptions=*/true));
    } else if (auto *Choice = dyn_cast<SelectInst>(I)) {
      Value *True = number(Choice->getTrueValue()), *False = number(Choice->getFalseValue());
      Number = B.CreateSelect(Choice->getCondition(), True, False);
    } else
      Number = B.CreateLoad(Int64, address(B, cast<LoadInst>(I)->getPointerOperand()));
    return Numbers[Place] = Number;
  }

  Value *address(IRBuilder<> &B, Value *Place) {
    Value *Number = number(Place);
    Value *Word = B.CreateMul(B.CreateLShr(Number, Log2_64(Granule)), B.getInt64(Granule * WarpSize));
    Value *Offset = B.CreateOr(Word, B.CreateAnd(Number, Granule - 1));
    return B.CreateGEP(B.getInt8Ty(), Begin, Offset);
  }

  void access(Instruction &I) {
    if (Use.Places.contains(&I)) { // a place that was kept on the tape
      number(&I);
      return;
    }
    IRBuilder<> B(&I);
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
      Load->setOperand(0, address(B, Load->getPointerOperand()));
      return;
    }
    auto *Store = cast<StoreInst>(&I);
    Value *Address = address(B, Store->getPointerOperand());
    if (Use.Places.contains(Store->getValueOperand()))
      Store->setOperand(0, number(Store->getValueOperand()));
    Store->setOperand(1, Address);
  }

  // Filling and copying are functions of rules/tape.cu.
  void moveBlock(MemIntrinsic &Block) {
    IRBuilder<> B(&Block);
    Value *To = number(Block.getRawDest()), *Count = B.CreateZExtOrTrunc(Block.getLength(), Int64);
    if (auto *Fill = dyn_cast<MemSetInst>(&Block))
      call(B, "adgen_tape_fill", {Begin, To, Fill->getValue(), Count});
    else if (Value *From = cast<MemCpyInst>(Block).getRawSource(); Use.Places.contains(From))
      call(B, "adgen_tape_copy", {Begin, To, number(From), Count});
    else
      call(B, "adgen_tape_record", {Begin, To, From, Count});
    Block.eraseFromParent();
  }

  void call(IRBuilder<> &B, StringRef Name, ArrayRef<Value *> Arguments) {
    SmallVector<Type *> Types;
    for (Value *Argument : Arguments)
      Types.push_back(Argument->getType());
    Module &M = *B.GetInsertBlock()->getModule();
    B.CreateCall(M.getOrInsertFunction(Name, FunctionType::get(B.getVoidTy(), Types, false)), Arguments);
  }

  TapeUse &Use;
  Value *Begin;
  AllocaInst *Cursor;
  Type *Int64;
  DenseMap<Value *, Value *> Numbers;
};

constexpr StringLiteral GridRegisters[] = {"ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z"};
constexpr StringLiteral RegisterPrefix = "llvm.nvvm.read.ptx.sreg.";

// The gradient with its further arguments: the tape's beginning, and six numbers for the registers above.
Function *withGridArguments(Function &Old) {
  LLVMContext &Context = Old.getContext();
  SmallVector<Type *> Types(Old.getFunctionType()->params());
  Types.push_back(PointerType::getUnqual(Context));
  Types.append(std::size(GridRegisters), Type::getInt32Ty(Context));
  auto *New = Function::Create(FunctionType::get(Old.getReturnType(), Types, false), GlobalValue::ExternalLinkage, "",
                               Old.getParent());
  New->takeName(&Old);
  New->copyAttributesFrom(&Old);
  New->setSubprogram(Old.getSubprogram());
  New->splice(New->begin(), &Old);
  for (auto [From, To] : zip(Old.args(), New->args())) {
    To.takeName(&From);
    From.replaceAllUsesWith(&To);
  }
  Old.eraseFromParent();
  for (BasicBlock &Block : *New)
    for (Instruction &I : make_early_inc_range(Block))
      for (auto [Index, Register] : enumerate(GridRegisters))
        if (isCall(I, (RegisterPrefix + Register).str())) {
          I.replaceAllUsesWith(New->getArg(New->arg_size() - std::size(GridRegisters) + Index));
          I.eraseFromParent();
          break;
        }
  return New;
}

// Whether a function that is not inlined reads the block's index from its register.
bool othersReadTheGrid(Module &M) {
  for (StringRef Register : GridRegisters)
    if (Function *Read = M.getFunction((RegisterPrefix + Register).str()))
      for (User *U : Read->users()) {
        const Function *Reader = cast<Instruction>(U)->getFunction();
        StringRef Name = Reader->getName();
        bool Known = isKernel(*Reader) || Name.starts_with(BodyPrefix) || isDerivative(*Reader);
        if (!Known && !Reader->use_empty())
          return true;
      }
  return false;
}

// Memory that the user's own code allocates stays on the heap, and cannot be told from Enzyme's.
bool primalAllocates(const Function &Gradient) {
  StringRef Symbol = Gradient.getName().drop_front(GradientPrefix.size());
  const Function *Body = Gradient.getParent()->getFunction((BodyPrefix + Symbol).str());
  return !Body || any_of(instructions(*Body), [](const Instruction &I) { return isCall(I, "malloc"); });
}

bool readsArrays(const Function &Measuring) {
  const Value *Need = Measuring.getArg(Measuring.arg_size() - 1);
  return any_of(instructions(Measuring), [&](const Instruction &I) {
    auto *Load = dyn_cast<LoadInst>(&I);
    return Load && Load->getPointerOperand() != Need && !isa<AllocaInst>(getUnderlyingObject(Load->getPointerOperand()));
  });
}

void useTape(Function &Gradient, FunctionAnalysisManager &FAM) {
  if (primalAllocates(Gradient))
    return;
  TapeUse Use;
  if (!Use.collect(Gradient))
    return;
  Function *Measuring = Measure(Gradient, Use, FAM).make();
  if (!Measuring)
    return;
  Function *New = withGridArguments(Gradient);
  Rewriter(*New, Use, New->getArg(New->arg_size() - std::size(GridRegisters) - 1)).run();
  New->addFnAttr(TapeAttribute, readsArrays(*Measuring) ? "" : TapeByScalars);
}

} // namespace

PreservedAnalyses Tape::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  if (othersReadTheGrid(M))
    return PreservedAnalyses::none();
  SmallVector<Function *> Gradients;
  for (Function &F : M)
    if (F.getName().starts_with(GradientPrefix) && !F.isDeclaration())
      Gradients.push_back(&F);
  for (Function *Gradient : Gradients)
    useTape(*Gradient, FAM);
  return PreservedAnalyses::none();
}

} // namespace adgen
