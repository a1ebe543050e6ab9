// The forward sweep of a gradient, reduced to what decides how much is kept.
//
// Where nothing but inputs decides, everything that it writes is left out: at first local arrays too, such as lists of
// the nearest, by which all that fills them goes. Where they decide they stay, and where what else it writes decides, a
// last attempt keeps the effects, but for outputs that it does not read again: it fills shared arrays, waits at
// barriers, and may write to arrays that the runtime has to put back. That one alone asks which lanes take part;
// before, the sweep is measured as if all did, and as if some did not.
#include "Analysis/Accumulation.h"
#include "Cache/TapeUse.h"
#include "Support/Iterations.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace adgen {

AllocaInst *createTapeCursor(Function &F) {
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  AllocaInst *Cursor = B.CreateAlloca(B.getInt64Ty(), nullptr, "tape.cursor");
  B.CreateStore(B.getInt64(0), Cursor);
  return Cursor;
}

std::pair<Value *, Value *> takeOfTape(IRBuilder<> &B, AllocaInst *Cursor, Value *Bytes) {
  Value *Begin = B.CreateLoad(B.getInt64Ty(), Cursor);
  Value *Whole = B.CreateAnd(B.CreateAdd(Bytes, B.getInt64(TapeGranule - 1)), B.getInt64(~(TapeGranule - 1)));
  Value *End = B.CreateAdd(Begin, Whole);
  B.CreateStore(End, Cursor);
  return {Begin, End};
}

namespace {

// What a pointer leads to: an argument, a variable, or what a pointer in a struct by value points to, by its place
// there. None of them overlap where one is written to, which the runtime checks.
struct Object {
  const Value *Root; // may be gone by now where it is not known
  int64_t Member = -1;
  bool Known = Member >= 0 || isa<Argument, GlobalVariable, AllocaInst>(Root);
  bool operator==(const Object &Other) const { return Root == Other.Root && Member == Other.Member; }
};

// Of what the sweep writes, what stays.
enum class Writes { None, ToLocals, All };

bool asksForParticipants(const Instruction &I) { return isCallOf(I, (LanesPrefix + "participants").str()); }

// Where lanes of a mask ask whether all of it take part.
bool asksForAll(const User &U, const Value &Participants) {
  auto *Asked = dyn_cast<ICmpInst>(&U);
  const Value *Mask = cast<CallInst>(Participants).getArgOperand(0);
  return Asked && Asked->isEquality() && is_contained(Asked->operands(), Mask);
}

class Measure {
public:
  Measure(Function &Gradient, const TapeUse &Use, FunctionAnalysisManager &FAM, Writes Left, bool AllTakePart)
      : Gradient(Gradient), Use(Use), FAM(FAM), Effects(Left == Writes::All), Locals(Left != Writes::None),
        AllTakePart(AllTakePart) {}

  std::optional<TapeMeasure> make() {
    clone();
    cut();
    if (reduce())
      if (std::optional<StringRef> Source = sizeFrom())
        return TapeMeasure{F, *Source};
    F->eraseFromParent();
    return std::nullopt;
  }

private:
  void clone() {
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
    F->addFnAttr(Attribute::MustProgress); // a loop that decides about nothing ends, as it has in the primal
  }

  // Ends every path where the reverse sweep begins; from the same block others may go on forward.
  void cut() {
    BasicBlock *End = BasicBlock::Create(F->getContext(), "end", F);
    ReturnInst::Create(F->getContext(), End);
    for (BasicBlock &Block : *F)
      if (!isReverse(Block))
        endBefore(Block, *End, isReverse);
    if (!Effects) // else others may wait for what a thread does later
      endBehindCaches(*End);
    EliminateUnreachableBlocks(*F);
  }

  static void endBefore(BasicBlock &Block, BasicBlock &End, function_ref<bool(BasicBlock &)> IsBehind) {
    Instruction *Last = Block.getTerminator();
    for (unsigned I = 0; I < Last->getNumSuccessors(); ++I)
      if (BasicBlock *Successor = Last->getSuccessor(I); Successor != &End && IsBehind(*Successor)) {
        Successor->removePredecessor(&Block);
        Last->setSuccessor(I, &End);
      }
  }

  // Where nothing is taken any more, the path ends as well.
  void endBehindCaches(BasicBlock &End) {
    SetVector<BasicBlock *> Leading; // to where something is taken
    for (BasicBlock &Block : *F)
      if (any_of(Block, [](const Instruction &I) { return isCallOf(I, "malloc"); }))
        Leading.insert(&Block);
    for (unsigned I = 0; I < Leading.size(); ++I)
      Leading.insert_range(predecessors(Leading[I]));
    for (BasicBlock *Block : Leading)
      endBefore(*Block, End, [&](BasicBlock &Next) { return !Leading.contains(&Next); });
  }

  bool reduce() {
    SROAPass(SROAOptions::PreserveCFG).run(*F, FAM); // what a pointer leads to is known then
    FAM.clear(*F, F->getName());
    AllocaInst *Cursor = createTapeCursor(*F);
    for (Value *Place : Use.Places)
      if (Value *Copy = Map.lookup(Place))
        Places.insert(Copy);
    for (BasicBlock &Block : *F)
      for (Instruction &I : make_early_inc_range(Block))
        if (!(dropsLocal(I, *Cursor) || reduce(I, Cursor)))
          return false;
    report(Cursor);
    SROAPass(SROAOptions::PreserveCFG).run(*F, FAM); // what goes through variables in memory decides about nothing
    removeDead();
    if (Effects && removeOutputs())
      removeDead();
    return none_of(Unknown,
                   [](const WeakVH &Left) { return Left != nullptr; }); // else something asks for what is not known
  }

  // With loops that decide about nothing, which ADCE alone leaves with all that is in them.
  void removeDead() {
    FAM.clear(*F, F->getName());
    ADCEPass().run(*F, FAM);
    FAM.clear(*F, F->getName());
    FunctionPassManager Loops;
    Loops.addPass(createFunctionToLoopPassAdaptor(LoopDeletionPass()));
    Loops.run(*F, FAM);
    FAM.clear(*F, F->getName());
    ADCEPass().run(*F, FAM);
    FAM.clear(*F, F->getName());
  }

  // Takes away an access of a local variable where those are left out.
  bool dropsLocal(Instruction &I, const AllocaInst &Cursor) {
    const Value *Pointer = Locals ? nullptr : getLoadStorePointerOperand(&I);
    const Value *Variable = Pointer ? getUnderlyingObject(Pointer) : nullptr;
    if (!Variable || !isa<AllocaInst>(Variable) || Variable == &Cursor)
      return false;
    if (isa<LoadInst>(I))
      forget(I);
    else
      I.eraseFromParent();
    return true;
  }

  bool reduce(Instruction &I, AllocaInst *Cursor) {
    if (leaveLanes(I))
      return true;
    if (isCallOf(I, "malloc")) {
      IRBuilder<> B(&I);
      takeOfTape(B, Cursor, cast<CallInst>(I).getArgOperand(0));
      I.replaceAllUsesWith(PoisonValue::get(I.getType()));
      I.eraseFromParent();
      return true;
    }
    if (isCallOf(I, "free") || isCallOf(I, "vprintf")) { // of the reverse sweep, where it has no block of its own
      if (!I.use_empty())
        forget(I);
      else
        I.eraseFromParent();
      return true;
    }
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
      if (Places.contains(Load->getPointerOperand()))
        Places.insert(forget(I));
      else if (Load->isVolatile() && !Effects) // of what other threads write, which nothing takes out
        forget(I);
      return true;
    }
    if (auto *Store = dyn_cast<StoreInst>(&I))
      return write(I, Store->getPointerOperand());
    if (auto *Copy = dyn_cast<MemTransferInst>(&I); Copy && isOfTape(Copy->getRawSource()))
      return isOfTape(Copy->getRawDest()) && write(I, Copy->getRawDest());
    if (auto *Block = dyn_cast<MemIntrinsic>(&I))
      return write(I, Block->getRawDest());
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
        Atomic && (I.use_empty() || Effects || isShadow(Atomic->getPointerOperand())))
      return write(I, Atomic->getPointerOperand());
    return Effects || reduceCall(I);
  }

  bool reduceCall(Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || !I.mayHaveSideEffects() || isa<DbgInfoIntrinsic>(I) || I.isLifetimeStartOrEnd())
      return !isa<AtomicRMWInst>(I);
    // What threads do together may write through any of its pointers.
    for (Value *Argument : Call->args())
      if (Argument->getType()->isPointerTy())
        append_range(Written, objectsOf(Argument));
    if (I.use_empty())
      I.eraseFromParent();
    else
      forget(I);
    return true;
  }

  // Lanes that have come to the end are gone here, as in the primal, and nobody waits for them. Where effects are left,
  // they say so as in the gradient.
  bool leaveLanes(Instruction &I) const {
    auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (Effects || !Callee || !Callee->getName().starts_with(LanesPrefix) || Callee->getName() == TallyName)
      return false;
    if (asksForParticipants(I)) {
      for (User *U : make_early_inc_range(Call->users()))
        if (asksForAll(*U, *Call)) {
          bool Equal = cast<ICmpInst>(U)->getPredicate() == ICmpInst::ICMP_EQ;
          U->replaceAllUsesWith(ConstantInt::getBool(U->getContext(), Equal == AllTakePart));
        }
      Call->replaceAllUsesWith(Call->getArgOperand(0));
    }
    Call->eraseFromParent();
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

  bool isOfTape(const Value *Pointer) const {
    return Places.contains(Pointer) || isa<PoisonValue>(getUnderlyingObject(Pointer));
  }

  // Writes to local variables stay, those to memory are left out and remembered. What belongs to the reverse sweep
  // goes.
  bool write(Instruction &I, Value *Pointer) {
    bool Forward = !isOfTape(Pointer) && !isShadow(Pointer);
    if (Forward && (Effects || isa<AllocaInst>(getUnderlyingObject(Pointer))))
      return true;
    if (Forward)
      append_range(Written, objectsOf(Pointer));
    if (!I.use_empty())
      forget(I);
    else
      I.eraseFromParent();
    return true;
  }

  bool isShadow(const Value *Pointer) const {
    SmallVector<const Value *> Objects;
    getUnderlyingObjects(Pointer, Objects);
    return all_of(Objects, [&](const Value *Object) {
      auto *Member = dyn_cast<LoadInst>(Object); // of a struct's shadow
      return isShadowArgument(Member ? getUnderlyingObject(Member->getPointerOperand()) : Object);
    });
  }

  // Behind the primal's arguments come their shadows, then shared arrays, then the shadows of these.
  bool isShadowArgument(const Value *Object) const {
    auto *A = dyn_cast<Argument>(Object);
    return A && A->getArgNo() >= activitiesOf(Gradient).size() && A->getArgNo() < Gradient.arg_size() && !isShared(A);
  }

  static bool isStruct(const Value *V) {
    auto *A = dyn_cast<Argument>(V);
    return A && isStructByValue(*A);
  }

  static Object objectAt(const Value *Root) {
    std::optional<MemberArray> Member = memberArray(Root);
    return Member ? Object{Member->Struct, Member->Offset} : Object{Root};
  }

  static Object objectOf(const Value *Pointer) { return objectAt(getUnderlyingObject(Pointer)); }

  // Of a pointer that is chosen among several, all of them.
  static SmallVector<Object> objectsOf(const Value *Pointer) {
    SmallVector<const Value *> Roots;
    getUnderlyingObjects(Pointer, Roots);
    return SmallVector<Object>(map_range(Roots, objectAt));
  }

  // What decides about the size, or nothing where the gradient itself changes it.
  std::optional<StringRef> sizeFrom() {
    if (Effects)
      return effectsLeft();
    if (!readsOnlyInputs())
      return std::nullopt;
    return readsArrays() ? StringRef(TapeByArrays) : StringRef(TapeByScalars);
  }

  bool readsOnlyInputs() const {
    bool WroteUnknown = any_of(Written, [](const Object &O) { return !O.Known; });
    return all_of(instructions(*F), [&](const Instruction &I) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || Load->hasMetadata(LLVMContext::MD_invariant_load))
        return true;
      return all_of(objectsOf(Load->getPointerOperand()), [&](const Object &Read) {
        return Read.Known && !is_contained(Written, Read) && (isOwn(Read) || !WroteUnknown);
      });
    });
  }

  bool readsArrays() const {
    const Value *Need = F->getArg(F->arg_size() - 1);
    return any_of(instructions(*F), [&](const Instruction &I) {
      auto *Load = dyn_cast<LoadInst>(&I);
      return Load && Load->getPointerOperand() != Need && !isOwn(objectOf(Load->getPointerOperand()));
    });
  }

  // A struct by value is the thread's own.
  bool isOwn(const Object &O) const { return O.Known && O.Member < 0 && (isa<AllocaInst>(O.Root) || isStruct(O.Root)); }

  // Outputs, behind which nothing reads memory and no thread waits for another one, decide about nothing.
  bool removeOutputs() {
    SmallVector<Instruction *> Readers, Outputs;
    for (Instruction &I : instructions(*F))
      if (mayShowWrites(I))
        Readers.push_back(&I);
      else if (isa<StoreInst, AtomicRMWInst>(I) && I.use_empty() && !isa<AllocaInst>(objectOf(accessedPointer(I)).Root))
        Outputs.push_back(&I);
    erase_if(Outputs, [&](Instruction *Output) {
      Object Target = objectOf(accessedPointer(*Output));
      return Target.Root == F->getArg(F->arg_size() - 1) || any_of(Readers, [&](Instruction *Reader) {
               return mayRead(*Reader, Target) && isPotentiallyReachable(Output, Reader);
             });
    });
    for (Instruction *Output : Outputs)
      Output->eraseFromParent();
    return !Outputs.empty();
  }

  static bool mayShowWrites(const Instruction &I) {
    if (isa<DbgInfoIntrinsic>(I) || I.isLifetimeStartOrEnd() || isa<StoreInst, MemSetInst>(I))
      return false;
    return !(isa<AtomicRMWInst>(I) && I.use_empty()) && (I.mayReadFromMemory() || I.mayHaveSideEffects());
  }

  bool mayRead(const Instruction &Reader, const Object &Target) const {
    auto *Load = dyn_cast<LoadInst>(&Reader);
    if (!Load || !Target.Known)
      return true;
    Object Read = objectOf(Load->getPointerOperand());
    return !Read.Known || Read == Target;
  }

  // Nothing where something else than shared arrays and arrays of the caller would be changed.
  std::optional<StringRef> effectsLeft() const {
    StringRef Result = TapeByRunning;
    for (const Instruction &I : instructions(*F)) {
      if (!I.mayWriteToMemory() || isa<DbgInfoIntrinsic>(I) || I.isLifetimeStartOrEnd() || isCallOf(I, "__assertfail"))
        continue;
      SmallVector<const Value *> Pointers;
      if (!pointersWritten(I, Pointers))
        return std::nullopt;
      for (const Value *Pointer : Pointers)
        if (std::optional<bool> Restored = isRestored(Pointer); !Restored)
          return std::nullopt;
        else if (*Restored)
          Result = TapeInPlace;
    }
    return Result;
  }

  static bool pointersWritten(const Instruction &I, SmallVectorImpl<const Value *> &Pointers) {
    if (auto *Call = dyn_cast<CallBase>(&I)) {
      for (const Value *Argument : Call->args())
        if (Argument->getType()->isPointerTy())
          Pointers.push_back(Argument);
      return Call->getCalledFunction() != nullptr; // inline assembly may write anywhere
    }
    const Value *Pointer = isa<AtomicCmpXchgInst>(I) ? I.getOperand(0)
                           : isa<LoadInst>(I)        ? nullptr
                                                     : accessedPointer(I);
    if (Pointer)
      Pointers.push_back(Pointer);
    return Pointer || isa<FenceInst, LoadInst>(I);
  }

  // Whether the runtime has to put back what is written there; nothing where it cannot.
  std::optional<bool> isRestored(const Value *Pointer) const {
    SmallVector<const Value *> Roots;
    getUnderlyingObjects(Pointer, Roots);
    bool Restored = false;
    for (const Value *Root : Roots) {
      if (isa<AllocaInst, ConstantPointerNull>(Root) || Root == F->getArg(F->arg_size() - 1) || isShared(Root) ||
          isOfBlock(Root))
        continue;
      auto *Member = dyn_cast<LoadInst>(Root);
      auto *A = dyn_cast<Argument>(Member ? getUnderlyingObject(Member->getPointerOperand()) : Root);
      if (!A || isShadowArgument(A) || (Member && !isStruct(A)))
        return std::nullopt;
      Restored = true;
    }
    return Restored;
  }

  // By which threads that return say so to those that go on to wait, say.
  static bool isOfBlock(const Value *Root) {
    auto *Variable = dyn_cast<GlobalVariable>(Root);
    return Variable && Variable->getAddressSpace() == SharedSpace;
  }

  // Shared arrays are the last arguments but for their shadows.
  bool isShared(const Value *Root) const {
    auto *A = dyn_cast<Argument>(Root);
    unsigned Arrays = sharedNames(Gradient).size(), First = Gradient.arg_size() - 2 * Arrays;
    return A && A->getArgNo() >= First && A->getArgNo() < First + Arrays;
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
  const TapeUse &Use;
  FunctionAnalysisManager &FAM;
  bool Effects, Locals, AllTakePart;
  Function *F = nullptr;
  SmallPtrSet<const Value *, 16> Places;
  SmallVector<Object> Written;
  SmallVector<WeakVH> Unknown;
  ValueToValueMapTy Map;
};

// What measures first what the other one does.
void measureToo(Function &First, Function &Other) {
  SmallVector<Value *> Arguments(map_range(First.args(), [](Argument &A) -> Value * { return &A; }));
  CallInst *Call = CallInst::Create(&Other, Arguments, "", First.getEntryBlock().getFirstInsertionPt());
  InlineFunctionInfo Info;
  InlineFunction(*Call, Info);
  Other.eraseFromParent();
}

std::optional<TapeMeasure> measured(Function &Gradient, const TapeUse &Use, FunctionAnalysisManager &FAM, Writes Left) {
  bool Asks = Left != Writes::All && any_of(instructions(Gradient), [](const Instruction &I) {
                return asksForParticipants(I) && any_of(I.users(), [&](const User *U) { return asksForAll(*U, I); });
              });
  std::optional<TapeMeasure> All = Measure(Gradient, Use, FAM, Left, /*AllTakePart=*/true).make();
  if (!All || !Asks)
    return All;
  std::optional<TapeMeasure> Some = Measure(Gradient, Use, FAM, Left, /*AllTakePart=*/false).make();
  if (Some) {
    measureToo(*All->F, *Some->F);
    return TapeMeasure{All->F, Some->SizeFrom == TapeByArrays ? Some->SizeFrom : All->SizeFrom};
  }
  All->F->eraseFromParent();
  return std::nullopt;
}

} // namespace

std::optional<TapeMeasure> measureTape(Function &Gradient, const TapeUse &Use, FunctionAnalysisManager &FAM) {
  bool HasLocals = any_of(instructions(Gradient), [](const Instruction &I) { return isa<AllocaInst>(I); });
  for (Writes Left : {Writes::None, Writes::ToLocals, Writes::All})
    if (Left != Writes::None || HasLocals)
      if (std::optional<TapeMeasure> Found = measured(Gradient, Use, FAM, Left))
        return Found;
  return std::nullopt;
}

} // namespace adgen
