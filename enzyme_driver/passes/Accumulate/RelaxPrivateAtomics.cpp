// Accumulates without atomics into elements that only one thread accumulates into. Either the user says so of an array
// (adgen-owned), or MarkRowOwners has found that rows and columns say so, or the index proves it: every accumulation
// into the shadow is at
//   stride * (blockIdx.x * width + threadIdx.x + any loop counter * gridDim.x * width) + what is the same in all
//   threads,
// with the block's size, a multiple of it, or a constant as the width, and those of one thread stay within one stride,
// or within the strides of a few rounds of the block's threads, which together are no wider. That holds for grids of
// one dimension whose blocks are no wider, which no index shows: the gradient is there twice, with atomics and without,
// and the launch decides. Loads and stores of the shadow do not matter: another thread that writes or reads an element
// there would be a race of the primal with itself. An exchange that takes a cotangent (ConsumeOnce) is one of several
// threads' unless the index proves it to be the thread's own, too; then it becomes a load and a store. The load of an
// addition moves up as far as it can: on a GPU loads come first. An element of a shadow that holds zeros, as the user
// says of it (adgen-fresh), is written without being read by the addition that comes first.
#include "Accumulate/Ownership.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Cloning.h"

#define DEBUG_TYPE "adgen-relax-private-atomics"

using namespace llvm;

STATISTIC(NumPlain, "Number of atomic additions made plain");
STATISTIC(NumWritten, "Number of additions that are stores");

namespace adgen {
namespace {

constexpr unsigned Axes = 3;
constexpr unsigned MostForTaking = 256; // instructions of a gradient that is there twice for its exchanges alone

// Makes accumulations plain.
class Plain {
public:
  Plain(Function &F, FunctionAnalysisManager &FAM)
      : Meet(F, FAM.getResult<AAManager>(F)), Index(F, FAM.getResult<LoopAnalysis>(F)),
        Dominators(FAM.getResult<DominatorTreeAnalysis>(F)) {}

  // Into an element that holds zero, behind the loads that follow.
  void write(AtomicRMWInst &Atomic) {
    ADGEN_COUNT(NumWritten, Atomic);
    IRBuilder<> B(&Atomic);
    StoreInst *Store = B.CreateAlignedStore(Atomic.getValOperand(), Atomic.getPointerOperand(), Atomic.getAlign());
    Store->setAAMetadata(Atomic.getAAMetadata());
    Atomic.eraseFromParent();
    Instruction *Next = Store->getNextNode();
    auto IsInTheWay = [&](const Instruction &I) {
      return Meet.mayTouch(I, Store->getPointerOperand(), Store->getValueOperand()->getType()) &&
             !Index.areApart(I, *Store);
    };
    while (!Next->isTerminator() && !IsInTheWay(*Next))
      Next = Next->getNextNode();
    Store->moveBefore(Next->getIterator());
  }

  void make(AtomicRMWInst &Atomic) {
    ADGEN_COUNT(NumPlain, Atomic);
    IRBuilder<> B(&Atomic);
    LoadInst *Old;
    if (isConsumption(Atomic)) {
      Old = takePlainly(B, Atomic, Atomic.getPointerOperand());
      Atomic.replaceAllUsesWith(Old);
      Atomic.eraseFromParent();
    } else {
      Old = addPlainly(Atomic, FastMathFlags());
    }
    moveUp(*Old);
  }

private:
  // Moves a load to where its block may do it first.
  void moveUp(LoadInst &Load) {
    Instruction *First = &Load;
    while (Instruction *Before = First->getPrevNode()) {
      if (isa<PHINode>(Before) || mayTouch(*Before, Load))
        break;
      First = Before;
    }
    while (First != &Load && !moveUpTo(*First, Load, Dominators)) // what is needed stays where it is
      First = First->getNextNode();
  }

  bool mayTouch(const Instruction &I, const LoadInst &Load) {
    return Meet.mayTouch(I, Load.getPointerOperand(), Load.getType()) && !Index.areApart(I, Load);
  }

  Meetings Meet;
  Indices Index;
  const DominatorTree &Dominators;
};

bool readsOtherAxes(Function &F) {
  constexpr Intrinsic::ID Registers[] = {Intrinsic::nvvm_read_ptx_sreg_tid_y, Intrinsic::nvvm_read_ptx_sreg_tid_z,
                                         Intrinsic::nvvm_read_ptx_sreg_ctaid_y, Intrinsic::nvvm_read_ptx_sreg_ctaid_z,
                                         Intrinsic::nvvm_read_ptx_sreg_laneid};
  bool Reads = any_of(instructions(F), [&](const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && is_contained(Registers, Call->getIntrinsicID());
  });
  unsigned First = F.arg_size() - 2 * Axes;
  return Reads ||
         (F.hasFnAttribute(TapeAttribute) && !(F.getArg(First + 1)->use_empty() && F.getArg(First + 2)->use_empty()));
}

// The gradient in two versions, of which the launch chooses one.
class Versions {
public:
  Versions(Function &F, OwnershipLimits Launch) : Shared(F), Launch(Launch) {}

  void make(ArrayRef<AtomicRMWInst *> Owned, const SmallPtrSetImpl<AtomicRMWInst *> &Written,
            FunctionAnalysisManager &FAM) {
    Module &M = *Shared.getParent();
    DISubprogram *Program = Shared.getSubprogram();
    Shared.setSubprogram(nullptr); // what is inlined below keeps its places
    ValueToValueMapTy Map;
    Function *Own = CloneFunction(&Shared, Map);
    {
      Plain Maker(*Own, FAM);
      for (AtomicRMWInst *Atomic : Owned) {
        auto &Mapped = *cast<AtomicRMWInst>(Map[Atomic]);
        Written.contains(Atomic) ? Maker.write(Mapped) : Maker.make(Mapped);
      }
    }
    Function *Both = Function::Create(Shared.getFunctionType(), Shared.getLinkage(), "", &M);
    Both->takeName(&Shared);
    Both->copyAttributesFrom(&Shared);
    SmallVector<Value *> Arguments;
    for (auto [From, To] : zip(Shared.args(), Both->args())) {
      To.takeName(&From);
      Arguments.push_back(&To);
    }
    LLVMContext &Context = M.getContext();
    auto *Entry = BasicBlock::Create(Context, "entry", Both), *Yes = BasicBlock::Create(Context, "own", Both),
         *No = BasicBlock::Create(Context, "shared", Both);
    IRBuilder<> B(Entry);
    B.CreateCondBr(keepsToLimits(B, *Both), Yes, No);
    for (auto [Block, Version] : {std::pair(Yes, Own), std::pair(No, &Shared)}) {
      B.SetInsertPoint(Block);
      CallInst *Call = B.CreateCall(Version, Arguments);
      B.CreateRetVoid();
      InlineFunctionInfo Info;
      if (!InlineFunction(*Call, Info).isSuccess())
        report_fatal_error("adgen-relax-private-atomics: a version could not be inlined");
      FAM.clear(*Version, Version->getName());
      Version->eraseFromParent();
    }
    Both->setSubprogram(Program);
  }

private:
  Value *keepsToLimits(IRBuilder<> &B, Function &F) const {
    BlockExtents Block(B);
    Value *Grid[Axes];
    constexpr Intrinsic::ID Extents[] = {Intrinsic::nvvm_read_ptx_sreg_nctaid_x, Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                                         Intrinsic::nvvm_read_ptx_sreg_nctaid_z};
    for (unsigned Axis = 0; Axis < Axes; ++Axis)
      Grid[Axis] =
          F.hasFnAttribute(TapeAttribute) ? F.getArg(F.arg_size() - Axes + Axis) : readRegister(B, Extents[Axis]);
    Type *Int64 = B.getInt64Ty();
    Value *Threads = B.CreateMul(B.CreateZExt(Grid[0], Int64), B.CreateZExt(Block.X, Int64));
    Value *Holds = B.CreateICmpULE(Threads, B.getInt64(Launch.Threads));
    if (Launch.Blocks < MostElements)
      Holds = B.CreateAnd(Holds, B.CreateICmpULE(Grid[0], B.getInt32(Launch.Blocks)));
    if (Launch.BlockSize < MostElements)
      Holds = B.CreateAnd(Holds, B.CreateICmpULE(Block.X, B.getInt32(Launch.BlockSize)));
    for (Value *Extent : {Block.Y, Block.Z, Grid[1], Grid[2]})
      Holds = B.CreateAnd(Holds, B.CreateICmpEQ(Extent, B.getInt32(1)));
    for (StringRef Words : Launch.Rows)
      Holds = B.CreateAnd(Holds, keepsToRows(B, F, Words, Block.X, Grid[0]));
    return Holds;
  }

  static Value *keepsToRows(IRBuilder<> &B, Function &F, StringRef Words, Value *Block, Value *Grid) {
    auto [First, Rest] = Words.split(':');
    auto [Rows, Scalars] = First.split('*');
    Value *InWarps = B.CreateLShr(Block, LaneBits), *Holds = B.CreateICmpEQ(B.CreateShl(InWarps, LaneBits), Block),
          *Count = B.getInt64(1);
    Type *Int64 = B.getInt64Ty();
    if (Rows == "warps" || Rows == "threads")
      Count = B.CreateZExt(Rows == "warps" ? InWarps : Block, Int64);
    if (!Rows.empty())
      Count = B.CreateMul(Count, B.CreateMul(B.CreateZExt(Grid, Int64), B.getInt64(numberIn(Scalars))));
    SmallVector<StringRef> Lengths;
    Rest.split(Lengths, ':', -1, /*KeepEmpty=*/false);
    for (StringRef Name : Lengths) {
      Value *Length = B.CreateSExt(lengthOf(B, F, Name), Int64);
      Holds = B.CreateAnd(Holds, B.CreateICmpULT(Length, B.getInt64(MostInRows)));
      if (!Rows.empty()) {
        Count = B.CreateMul(Count, Length);
        Holds = B.CreateAnd(Holds, B.CreateICmpULT(Count, B.getInt64(MostElements)));
      }
    }
    return Holds;
  }

  // A parameter, or an integer in a struct by value.
  static Value *lengthOf(IRBuilder<> &B, Function &F, StringRef Name) {
    auto [Number, Place] = Name.split('+');
    Argument *A = F.getArg(numberIn(Number));
    if (Place.empty())
      return A;
    return B.CreateLoad(B.getInt32Ty(), B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), A, numberIn(Place)));
  }

  static uint64_t numberIn(StringRef Text) {
    uint64_t Number = 0;
    if (Text.getAsInteger(10, Number))
      report_fatal_error("adgen-relax-private-atomics: not a number: " + Text);
    return Number;
  }

  Function &Shared;
  OwnershipLimits Launch;
};

void ownAsTheUserSays(Function &F, FunctionAnalysisManager &FAM) {
  SmallVector<AtomicRMWInst *> Owned;
  for (Instruction &I : instructions(F))
    if (AtomicRMWInst *Atomic = asAccumulation(I))
      if (const Argument *Shadow = shadowOf(Atomic->getPointerOperand()))
        if (F.hasParamAttribute(Shadow->getArgNo(), OwnedAttribute))
          Owned.push_back(Atomic);
  Plain Maker(F, FAM);
  for (AtomicRMWInst *Atomic : Owned)
    Maker.make(*Atomic);
}

void own(Function &F, FunctionAnalysisManager &FAM) {
  ownAsTheUserSays(F, FAM);
  Ownership Owner(F, FAM.getResult<LoopAnalysis>(F), FAM.getResult<ScalarEvolutionAnalysis>(F));
  bool MayProve = F.hasFnAttribute(SharedAttribute) && !readsOtherAxes(F);
  SmallVector<AtomicRMWInst *> Proved;
  SmallPtrSet<AtomicRMWInst *, 8> Written;
  OwnershipLimits Launch;
  bool TakesRows = false;
  for (Argument &A : F.args()) {
    bool InRows = A.hasAttribute(RowsAttribute), StoredInRows = A.hasAttribute(StoredRowsAttribute);
    if (!F.hasParamAttribute(A.getArgNo(), ShadowAttribute) || !(MayProve || InRows || StoredInRows))
      continue;
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(A);
    auto KeepTo = [&](StringRef Attribute, ArrayRef<AtomicRMWInst *> Of) {
      append_range(Proved, Of);
      if (!Of.empty())
        Launch.keepTo(F.getAttributes().getParamAttr(A.getArgNo(), Attribute).getValueAsString());
    };
    if (Uses && InRows)
      KeepTo(RowsAttribute, Uses->Accumulations);
    if (Uses && StoredInRows)
      KeepTo(StoredRowsAttribute, Uses->Consumptions);
    TakesRows |= Uses && StoredInRows && !Uses->Consumptions.empty();
    if (InRows || StoredInRows)
      continue;
    std::optional<OwnElements> Own = Uses ? Owner.elementsOf(A, *Uses, Launch) : std::nullopt;
    if (!Own)
      continue;
    append_range(Proved, Own->All);
    if (A.hasAttribute(FreshAttribute) && !Uses->Others && Uses->Consumptions.empty())
      Written.insert_range(Own->First);
  }
  bool Adds = any_of(Proved, [](const AtomicRMWInst *Each) { return Each->getOperation() != AtomicRMWInst::Xchg; });
  if (Adds || TakesRows || (!Proved.empty() && F.getInstructionCount() <= MostForTaking))
    Versions(F, Launch).make(Proved, Written, FAM);
}

} // namespace

ADGEN_DECLARE_PASS(RelaxPrivateAtomics);

PreservedAnalyses RelaxPrivateAtomics::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *> Gradients;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Gradients.push_back(&F);
  for (Function *F : Gradients)
    own(*F, FAM);
  return PreservedAnalyses::none();
}

} // namespace adgen
