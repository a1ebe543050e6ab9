// Keeps the values of the forward sweep on a tape that the runtime allocates, instead of the device's malloc heap. For
// every gradient that has such values and can be measured beforehand, this makes
//   void adgen_tape_SYMBOL(arguments of the gradient..., need)   the forward sweep without its effects: the bytes a
//   thread needs
// and gives adgen_gradient_SYMBOL (then marked adgen-tape) eight more arguments: how many bytes a thread has and where
// they begin, and the indices of the block and the extents of the grid, because the kernel walks over the caller's grid
// with as many blocks as fit.
//
// Where the size follows from what the sweep itself writes, the measuring function is the sweep with these effects: it
// fills shared arrays, and writes to arrays that the runtime puts back. As threads may then race for it, the gradient
// looks whether its tape suffices.
//
// A place on the tape is a number of bytes from the thread's beginning. Byte b lies at (b / 8) * 256 + b % 8, so that
// the 32 lanes of a warp, whose tapes begin 8 bytes apart, use neighbouring words. Gradients of which something is not
// understood keep the heap.
#include "Analysis/Accumulation.h"
#include "Cache/PromoteSlots.h"
#include "Cache/RecordCaches.h"
#include "Cache/TapeUse.h"
#include "Support/Extended.h"
#include "Support/Pass.h"

#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "adgen-lower-caches"

using namespace llvm;

STATISTIC(NumTapes, "Number of gradients that keep what they need on a tape");

namespace adgen {
namespace {

constexpr uint64_t WarpSize = 32;
constexpr StringLiteral GuardName = "adgen_tape_guard";

// void(end, room): raises the flag and ends the thread where the tape does not suffice.
Function *createGuard(Module &M) {
  LLVMContext &Context = M.getContext();
  Type *Int64 = Type::getInt64Ty(Context);
  auto *F = Function::Create(FunctionType::get(Type::getVoidTy(Context), {Int64, Int64}, false),
                             GlobalValue::InternalLinkage, GuardName, &M);
  F->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
  F->addFnAttr(Attribute::NoUnwind);
  auto *Start = BasicBlock::Create(Context, "start", F), *Exceeded = BasicBlock::Create(Context, "exceeded", F),
       *Enough = BasicBlock::Create(Context, "enough", F);
  IRBuilder<> B(Start);
  B.CreateCondBr(B.CreateICmpUGT(F->getArg(0), F->getArg(1)), Exceeded, Enough);
  B.SetInsertPoint(Exceeded);
  endThread(B, "adgen_tape_exceeded");
  B.SetInsertPoint(Enough);
  B.CreateRetVoid();
  return F;
}

// Rewrites places as numbers and accesses as accesses of the tape.
class Rewriter {
public:
  // Looks whether the bytes suffice where there is a guard.
  Rewriter(Function &Gradient, TapeUse &Use, Value *Room, Value *Begin, Function *Guard)
      : Use(Use), Room(Room), Begin(Begin), Guard(Guard), Cursor(createTapeCursor(Gradient)),
        Int64(Type::getInt64Ty(Gradient.getContext())) {
    collectUnaligned();
  }

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
    for (MemIntrinsic *Block : Use.Copies)
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
    if (auto *Allocation = dyn_cast<CallInst>(I)) {
      if (MemCpyInst *Copy = copyOf(*Allocation))
        Number = extend(B, *Copy, Allocation->getArgOperand(0));
      else
        Number = take(B, Allocation->getArgOperand(0));
    } else if (auto *Step = dyn_cast<GetElementPtrInst>(I)) {
      Value *Base = number(Step->getPointerOperand());
      Number = B.CreateAdd(Base, emitGEPOffset(&B, I->getDataLayout(), Step, /*NoAssumptions=*/true));
    } else if (auto *Choice = dyn_cast<SelectInst>(I)) {
      Value *True = number(Choice->getTrueValue()), *False = number(Choice->getFalseValue());
      Number = B.CreateSelect(Choice->getCondition(), True, False);
    } else
      Number = B.CreateLoad(Int64, address(B, cast<LoadInst>(I)->getPointerOperand()).first);
    return Numbers[Place] = Number;
  }

  Value *take(IRBuilder<> &B, Value *Bytes) {
    auto [Number, End] = takeOfTape(B, Cursor, Bytes);
    if (Guard)
      B.CreateCall(Guard, {End, Room});
    return Number;
  }

  // Of a block that takes the place of a smaller one, what fills it with what that one held.
  MemCpyInst *copyOf(CallInst &Allocation) const {
    auto Fills = [&](MemIntrinsic *Block) {
      auto *Copy = dyn_cast<MemCpyInst>(Block);
      auto *From = Copy ? dyn_cast<Instruction>(Copy->getRawSource()) : nullptr;
      return From && Copy->getRawDest() == &Allocation && Copy->getParent() == Allocation.getParent() &&
             Use.Places.contains(From) && isBefore(From, Allocation) && isBefore(Copy->getLength(), Allocation);
    };
    auto Found = find_if(Use.Copies, Fills);
    return Found == Use.Copies.end() ? nullptr : cast<MemCpyInst>(*Found);
  }

  static bool isBefore(const Value *V, const Instruction &Place) {
    auto *I = dyn_cast<Instruction>(V);
    return !I || I->getParent() != Place.getParent() || I->comesBefore(&Place);
  }

  // The last block of the tape grows where it is, and nothing is copied.
  Value *extend(IRBuilder<> &B, MemCpyInst &Copy, Value *Bytes) {
    Value *Old = number(Copy.getRawSource()), *Length = B.CreateZExtOrTrunc(Copy.getLength(), Int64);
    Value *Filled = B.CreateAnd(B.CreateAdd(B.CreateAdd(Old, Length), B.getInt64(TapeGranule - 1)),
                                B.getInt64(-int64_t(TapeGranule)));
    Value *IsLast = B.CreateICmpEQ(Filled, B.CreateLoad(Int64, Cursor), "is.last");
    B.CreateStore(B.CreateSelect(IsLast, Old, B.CreateLoad(Int64, Cursor)), Cursor);
    Copy.setLength(B.CreateSelect(IsLast, B.getInt64(0), Length));
    return take(B, Bytes);
  }

  // Places that may lie within a granule.
  void collectUnaligned() {
    bool Changed = true, Loads = false;
    auto IsUnaligned = [&](Value *Place) {
      if (isa<LoadInst>(Place))
        return Loads;
      if (auto *Step = dyn_cast<GetElementPtrInst>(Place))
        return Unaligned.contains(Step->getPointerOperand()) || !stepsByGranules(*Step);
      return any_of(cast<Instruction>(Place)->operands(), [&](Value *From) { return Unaligned.contains(From); });
    };
    while (std::exchange(Changed, false)) {
      for (Value *Place : Use.Places)
        if (!Unaligned.contains(Place) && IsUnaligned(Place))
          Changed = Unaligned.insert(Place).second;
      for (Instruction *I : Use.Accesses)
        if (auto *Store = dyn_cast<StoreInst>(I); Store && !Loads && Unaligned.contains(Store->getValueOperand()))
          Changed = Loads = true;
    }
  }

  static bool stepsByGranules(const GetElementPtrInst &Step) {
    const DataLayout &DL = Step.getDataLayout();
    unsigned Width = DL.getIndexTypeSizeInBits(Step.getType());
    SmallMapVector<Value *, APInt, 4> Scales;
    APInt Fixed(Width, 0);
    return Step.collectOffset(DL, Width, Scales, Fixed) && Fixed.urem(TapeGranule) == 0 &&
           all_of(Scales, [](const auto &Each) { return Each.second.urem(TapeGranule) == 0; });
  }

  // The place, and how it is aligned. From a granule on, what lies at a fixed distance does so on the tape.
  std::pair<Value *, Align> address(IRBuilder<> &B, Value *Place) {
    APInt Fixed(64, 0);
    Value *Granule = Place;
    while (auto *Step = dyn_cast<GetElementPtrInst>(Granule)) {
      APInt Further(64, 0); // some of it is summed up even where another index varies
      if (!Use.Places.contains(Granule) || !Step->accumulateConstantOffset(Step->getDataLayout(), Further))
        break;
      Fixed += Further;
      Granule = Step->getPointerOperand();
    }
    if (Unaligned.contains(Granule) || Fixed.isNegative())
      return {fromGranule(B, Place), Align(1)};
    uint64_t Bytes = Fixed.getZExtValue();
    Value *First = B.CreateGEP(B.getInt8Ty(), Begin, B.CreateMul(number(Granule), B.getInt64(WarpSize)));
    uint64_t Distance = Bytes / TapeGranule * TapeGranule * WarpSize + Bytes % TapeGranule;
    return {B.CreateConstGEP1_64(B.getInt8Ty(), First, Distance), commonAlignment(Align(TapeGranule), Bytes)};
  }

  // Where a block begins stays the same while a loop goes through it.
  Value *fromGranule(IRBuilder<> &B, Value *Place) {
    auto *Step = dyn_cast<GetElementPtrInst>(Place);
    Value *Base = Step ? Step->getPointerOperand() : nullptr;
    if (!Step || !Use.Places.contains(Step) || !Use.Places.contains(Base) || Unaligned.contains(Base))
      return addressOf(B, number(Place));
    Value *First = B.CreateGEP(B.getInt8Ty(), Begin, B.CreateMul(number(Base), B.getInt64(WarpSize)));
    return behind(B, First, emitGEPOffset(&B, Step->getDataLayout(), Step, /*NoAssumptions=*/true));
  }

  Value *addressOf(IRBuilder<> &B, Value *Number) { return behind(B, Begin, Number); }

  static Value *behind(IRBuilder<> &B, Value *First, Value *Number) {
    Value *Word = B.CreateMul(B.CreateAShr(Number, Log2_64(TapeGranule)), B.getInt64(TapeGranule * WarpSize));
    Value *Offset = B.CreateOr(Word, B.CreateAnd(Number, TapeGranule - 1));
    return B.CreateGEP(B.getInt8Ty(), First, Offset);
  }

  void access(Instruction &I) {
    if (Use.Places.contains(&I)) { // a place that was kept on the tape
      number(&I);
      return;
    }
    IRBuilder<> B(&I);
    uint64_t Size = I.getDataLayout().getTypeStoreSize(getLoadStoreType(&I));
    if (Size > TapeGranule) {
      accessPieces(B, I, Size / TapeGranule);
      return;
    }
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
      auto [Address, Alignment] = address(B, Load->getPointerOperand());
      Load->setOperand(0, Address);
      Load->setAlignment(std::min(std::max(Load->getAlign(), Alignment), Align(TapeGranule)));
      return;
    }
    auto *Store = cast<StoreInst>(&I);
    auto [Address, Alignment] = address(B, Store->getPointerOperand());
    if (Use.Places.contains(Store->getValueOperand()))
      Store->setOperand(0, number(Store->getValueOperand()));
    Store->setOperand(1, Address);
    Store->setAlignment(std::min(std::max(Store->getAlign(), Alignment), Align(TapeGranule)));
  }

  // What is wider than a granule does not lie in one piece.
  void accessPieces(IRBuilder<> &B, Instruction &I, unsigned Count) {
    auto *Store = dyn_cast<StoreInst>(&I);
    Value *Number = number(getLoadStorePointerOperand(&I));
    auto *Pieces = FixedVectorType::get(Int64, Count);
    Value *Whole = Store ? B.CreateBitCast(Store->getValueOperand(), Pieces) : PoisonValue::get(Pieces);
    for (unsigned Piece = 0; Piece < Count; ++Piece) {
      Value *Address = addressOf(B, B.CreateAdd(Number, B.getInt64(Piece * TapeGranule)));
      if (Store)
        B.CreateStore(B.CreateExtractElement(Whole, Piece), Address);
      else
        Whole = B.CreateInsertElement(Whole, B.CreateLoad(Int64, Address), Piece);
    }
    if (!Store)
      I.replaceAllUsesWith(B.CreateBitCast(Whole, I.getType()));
    I.eraseFromParent();
  }

  // Filling and copying are functions of rules/tape.cu.
  void moveBlock(MemIntrinsic &Block) {
    IRBuilder<> B(&Block);
    Value *To = number(Block.getRawDest()), *Count = B.CreateZExtOrTrunc(Block.getLength(), Int64);
    if (auto *Fill = dyn_cast<MemSetInst>(&Block))
      callRule(B, "adgen_tape_fill", B.getVoidTy(), {Begin, To, Fill->getValue(), Count});
    else if (Value *From = cast<MemCpyInst>(Block).getRawSource(); Use.Places.contains(From))
      callRule(B, "adgen_tape_copy", B.getVoidTy(), {Begin, To, number(From), Count});
    else
      callRule(B, "adgen_tape_record", B.getVoidTy(), {Begin, To, From, Count});
    Block.eraseFromParent();
  }

  TapeUse &Use;
  Value *Room, *Begin;
  Function *Guard;
  AllocaInst *Cursor;
  Type *Int64;
  DenseMap<Value *, Value *> Numbers;
  SmallPtrSet<Value *, 16> Unaligned;
};

constexpr StringLiteral GridRegisters[] = {"ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z"};
constexpr StringLiteral RegisterPrefix = "llvm.nvvm.read.ptx.sreg.";

// The gradient with its further arguments: the bytes of a thread's tape, its beginning, and six numbers for the
// registers above.
Function *withGridArguments(Function &Old) {
  LLVMContext &Context = Old.getContext();
  SmallVector<Type *> Types{Type::getInt64Ty(Context), PointerType::getUnqual(Context)};
  Types.append(std::size(GridRegisters), Type::getInt32Ty(Context));
  Function *New = extended(Old, Types, Old.getParent()->end());
  New->setLinkage(GlobalValue::ExternalLinkage);
  Old.eraseFromParent();
  for (BasicBlock &Block : *New)
    for (Instruction &I : make_early_inc_range(Block))
      for (auto [Index, Register] : enumerate(GridRegisters))
        if (isCallOf(I, (RegisterPrefix + Register).str())) {
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
  return !Body || any_of(instructions(*Body), [](const Instruction &I) { return isCallOf(I, "malloc"); });
}

void useTape(Function &Gradient, FunctionAnalysisManager &FAM) {
  if (primalAllocates(Gradient))
    return;
  TapeUse Use;
  if (!Use.collect(Gradient))
    return;
  std::optional<TapeMeasure> Measure = measureTape(Gradient, Use, FAM);
  if (!Measure)
    return;
  if (recordCaches(Gradient, FAM.getResult<LoopAnalysis>(Gradient), Use)) { // takes no more room than was measured
    Use = TapeUse();
    if (!Use.collect(Gradient))
      reportFatalInternalError("adgen-lower-caches: the records of " + Gradient.getName() + " are not understood");
  }
  Module &M = *Gradient.getParent();
  bool Varies = Measure->SizeFrom == TapeByRunning || Measure->SizeFrom == TapeInPlace;
  Function *Guard = !Varies ? nullptr : M.getFunction(GuardName) ? M.getFunction(GuardName) : createGuard(M);
  ADGEN_COUNT(NumTapes, Gradient.getName());
  Function *New = withGridArguments(Gradient);
  unsigned First = New->arg_size() - TapeArguments;
  Rewriter(*New, Use, New->getArg(First), New->getArg(First + 1), Guard).run();
  New->addFnAttr(TapeAttribute, Measure->SizeFrom);
}

} // namespace

ADGEN_DECLARE_PASS(LowerCaches);

PreservedAnalyses LowerCaches::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  if (othersReadTheGrid(M))
    return PreservedAnalyses::none();
  SmallVector<Function *> Gradients;
  for (Function &F : M)
    if (F.getName().starts_with(GradientPrefix) && !F.isDeclaration())
      Gradients.push_back(&F);
  for (Function *Gradient : Gradients) {
    promoteFlags(*Gradient, FAM);
    promoteSmall(*Gradient, FAM);
    useTape(*Gradient, FAM);
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
