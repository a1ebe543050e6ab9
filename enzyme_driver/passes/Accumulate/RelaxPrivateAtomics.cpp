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
#include "Accumulate/GridOwnership.h"
#include "Support/AliasScopes.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"

#define DEBUG_TYPE "adgen-relax-private-atomics"

using namespace llvm;

STATISTIC(NumPlain, "Number of atomic additions made plain");
STATISTIC(NumWritten, "Number of additions that are stores");

namespace adgen {
namespace {

constexpr unsigned MostForTaking = 256; // instructions of a gradient that is there twice for its exchanges alone

// Makes accumulations plain.
class Plain {
public:
  Plain(Function &F, FunctionAnalysisManager &FAM)
      : AA(FAM.getResult<AAManager>(F)), Meet(F, AA), Index(F, FAM.getResult<LoopAnalysis>(F)),
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
    bool IsElsewhere =
        isa<LoadInst, StoreInst, AtomicRMWInst>(I) && isNoModRef(AA.getModRefInfo(&I, MemoryLocation::get(&Load)));
    return Meet.mayTouch(I, Load.getPointerOperand(), Load.getType()) && !Index.areApart(I, Load) && !IsElsewhere;
  }

  AAResults &AA;
  Meetings Meet;
  Indices Index;
  const DominatorTree &Dominators;
};

// Numbers of 16 bits, eight of which side by side one instruction adds (BulkReduceAtomics): loads and stores of them
// would be many, where nothing is known of how they are aligned.
class HalfVectors {
public:
  explicit HalfVectors(Function &F) {
    if (gpuOf(F) < FirstWithVectors)
      return;
    for (BasicBlock &Block : F)
      for (Instruction &I : Block)
        if (AtomicRMWInst *Atomic = asAccumulation(I); Atomic && Atomic->getType()->is16bitFPTy())
          add(*Atomic);
    for (auto &[Where, Members] : Places)
      keepWhole(Members);
  }
  bool contain(AtomicRMWInst *Atomic) const { return Whole.contains(Atomic); }

private:
  static constexpr unsigned FirstWithVectors = 90, InVector = 8;
  static constexpr int64_t Bytes = 2;
  using Elements = std::map<int64_t, AtomicRMWInst *>; // by their offset

  void add(AtomicRMWInst &Atomic) {
    int64_t Offset = 0;
    const Value *Base = GetPointerBaseWithConstantOffset(Atomic.getPointerOperand(), Offset, Atomic.getDataLayout());
    Places[{Atomic.getParent(), Base}].try_emplace(Offset, &Atomic);
  }

  void keepWhole(const Elements &Members) {
    SmallVector<AtomicRMWInst *, InVector> Run;
    int64_t Next = 0;
    for (auto [Offset, Atomic] : Members) {
      if (Offset != Next)
        Run.clear();
      Next = Offset + Bytes;
      Run.push_back(Atomic);
      if (Run.size() < InVector)
        continue;
      Whole.insert_range(Run);
      Run.clear();
    }
  }

  MapVector<std::pair<const BasicBlock *, const Value *>, Elements> Places;
  SmallPtrSet<AtomicRMWInst *, 16> Whole;
};

bool readsOtherAxes(Function &F) {
  constexpr Intrinsic::ID Registers[] = {Intrinsic::nvvm_read_ptx_sreg_tid_y, Intrinsic::nvvm_read_ptx_sreg_tid_z,
                                         Intrinsic::nvvm_read_ptx_sreg_ctaid_y, Intrinsic::nvvm_read_ptx_sreg_ctaid_z,
                                         Intrinsic::nvvm_read_ptx_sreg_laneid};
  bool Reads = any_of(instructions(F), [&](const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && is_contained(Registers, Call->getIntrinsicID());
  });
  unsigned First = F.arg_size() - 2 * LaunchAxes;
  return Reads ||
         (F.hasFnAttribute(TapeAttribute) && !(F.getArg(First + 1)->use_empty() && F.getArg(First + 2)->use_empty()));
}

// Accumulations that are those of one thread, and what the launch has to keep to for that.
struct Proofs {
  SmallVector<AtomicRMWInst *> Owned;
  SmallPtrSet<AtomicRMWInst *, 8> Written; // into elements that hold zero
  OwnershipLimits InARow;
  bool IsInARow = false;
  SmallVector<GridOwnership::Proof> InGrid;
};

// The gradient in two versions, of which the launch chooses one.
class Versions {
public:
  Versions(Function &F, const Proofs &Known) : Shared(F), Known(Known), Launch(Known.InARow) {}

  void make(FunctionAnalysisManager &FAM) {
    Module &M = *Shared.getParent();
    DISubprogram *Program = Shared.getSubprogram();
    Shared.setSubprogram(nullptr); // what is inlined below keeps its places
    ValueToValueMapTy Map;
    Function *Own = CloneFunction(&Shared, Map);
    for (const GridOwnership::Proof &Grid : Known.InGrid)
      tellApart(Grid.Places, *Own, Map);
    {
      Plain Maker(*Own, FAM);
      for (AtomicRMWInst *Atomic : Known.Owned) {
        auto &Mapped = *cast<AtomicRMWInst>(Map[Atomic]);
        Known.Written.contains(Atomic) ? Maker.write(Mapped) : Maker.make(Mapped);
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
  // A thread's elements in one place are none of those in another, where the version without atomics runs.
  static void tellApart(ArrayRef<GridOwnership::Place> Places, Function &Own, ValueToValueMapTy &Map) {
    if (Places.size() < 2)
      return;
    MDBuilder Names(Own.getContext());
    MDNode *Domain = Names.createAnonymousAliasScopeDomain();
    SmallVector<MDNode *> Scopes;
    for (size_t I = 0; I < Places.size(); ++I)
      Scopes.push_back(Names.createAnonymousAliasScope(Domain));
    for (auto [Here, Place] : zip(Scopes, Places)) {
      SmallVector<Metadata *> Elsewhere(
          make_filter_range(Scopes, [Here = Here](MDNode *Each) { return Each != Here; }));
      for (AtomicRMWInst *Atomic : Place.All)
        addScopes(*cast<Instruction>(Map[Atomic]), {Here}, Elsewhere);
    }
    declareScopes(Own, Scopes);
  }

  Value *keepsToLimits(IRBuilder<> &B, Function &F) const {
    LaunchNumbers Numbers(B, F);
    Value *Holds = Known.IsInARow ? isInARow(B, F, Numbers) : B.getTrue();
    for (const GridOwnership::Proof &Grid : Known.InGrid)
      Holds = B.CreateAnd(Holds, Grid.holds(B, Numbers));
    return Holds;
  }

  Value *isInARow(IRBuilder<> &B, Function &F, LaunchNumbers &Numbers) const {
    BlockExtents Block(B);
    Value *Grid[LaunchAxes];
    for (unsigned Axis = 0; Axis < LaunchAxes; ++Axis)
      Grid[Axis] = Numbers.blocks(Axis);
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
    auto [Rows, More] = First.split('*');
    auto [Scalars, Threads] = More.split('*');
    Value *InWarps = B.CreateLShr(Block, LaneBits), *Holds = B.CreateICmpEQ(B.CreateShl(InWarps, LaneBits), Block),
          *Count = B.getInt64(1);
    if (!Threads.empty())
      Holds = B.CreateAnd(Holds, B.CreateICmpULE(Block, B.getInt32(numberIn(Threads))));
    Type *Int64 = B.getInt64Ty();
    if (Rows == "warps" || Rows == "threads")
      Count = B.CreateZExt(Rows == "warps" ? InWarps : Block, Int64);
    if (!Rows.empty())
      Count = B.CreateMul(Count, B.CreateMul(B.CreateZExt(Grid, Int64), B.getInt64(numberIn(Scalars))));
    SmallVector<StringRef> Lengths;
    Rest.split(Lengths, ':', -1, /*KeepEmpty=*/false);
    for (StringRef Each : Lengths) {
      auto [Rest, Multiple] = Each.split('%');
      auto [Name, Filled] = Rest.split('<');
      Value *Length = B.CreateSExt(lengthOf(B, F, Name), Int64);
      if (!Filled.empty()) {
        Value *Most = B.CreateUDiv(Length, B.getInt64(numberIn(Filled)));
        Holds = B.CreateAnd(Holds, B.CreateICmpULE(B.CreateZExt(Block, Int64), Most));
      }
      if (!Multiple.empty()) {
        Value *Left = B.CreateURem(Length, B.getInt64(numberIn(Multiple)));
        Holds = B.CreateAnd(Holds, B.CreateICmpEQ(Left, B.getInt64(0)));
      }
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
  const Proofs &Known;
  const OwnershipLimits &Launch;
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

class Prover {
public:
  Prover(Function &F, FunctionAnalysisManager &FAM)
      : F(F), LI(FAM.getResult<LoopAnalysis>(F)), Row(F, LI, FAM.getResult<ScalarEvolutionAnalysis>(F)), Grid(F, LI),
        MayBeInARow(!readsOtherAxes(F)) {}

  void prove(Argument &Shadow) {
    bool InRows = Shadow.hasAttribute(RowsAttribute), StoredInRows = Shadow.hasAttribute(StoredRowsAttribute);
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(Shadow);
    if (!Uses)
      return;
    if (Uses->Others || !Uses->Consumptions.empty())
      InPlace.insert_range(Uses->Accumulations);
    if (InRows)
      keepTo(RowsAttribute, Shadow, Uses->Accumulations);
    if (StoredInRows)
      keepTo(StoredRowsAttribute, Shadow, Uses->Consumptions);
    TakesRows |= StoredInRows && !Uses->Consumptions.empty();
    if (!InRows && !StoredInRows && F.hasFnAttribute(SharedAttribute) && !proveInARow(Shadow, *Uses))
      proveInGrid(Shadow, *Uses);
  }

  bool areWorthTwoVersions() const {
    bool Adds = any_of(Found.Owned, [](const AtomicRMWInst *A) { return A->getOperation() != AtomicRMWInst::Xchg; });
    return Adds || TakesRows || (!Found.Owned.empty() && F.getInstructionCount() <= MostForTaking);
  }

  void leave(const HalfVectors &Vectors) {
    erase_if(Found.Owned, [&](AtomicRMWInst *Atomic) {
      return Vectors.contain(Atomic) && !Found.Written.contains(Atomic) && !InPlace.contains(Atomic);
    });
  }

  Proofs Found;

private:
  void keepTo(StringRef Attribute, const Argument &Shadow, ArrayRef<AtomicRMWInst *> Of) {
    append_range(Found.Owned, Of);
    if (Of.empty())
      return;
    Found.InARow.keepTo(F.getAttributes().getParamAttr(Shadow.getArgNo(), Attribute).getValueAsString());
    Found.IsInARow = true;
  }

  bool proveInARow(const Argument &Shadow, const Ownership::Uses &Uses) {
    std::optional<OwnElements> Own = MayBeInARow ? Row.elementsOf(Shadow, Uses, Found.InARow) : std::nullopt;
    if (!Own)
      return false;
    append_range(Found.Owned, Own->All);
    Found.IsInARow = true;
    if (mayBeWritten(Shadow, Uses))
      Found.Written.insert_range(Own->First);
    return true;
  }

  void proveInGrid(const Argument &Shadow, const Ownership::Uses &Uses) {
    std::optional<GridOwnership::Proof> Proof = Grid.proofOf(Shadow, Uses.Accumulations);
    if (!Proof)
      return;
    for (const GridOwnership::Place &Place : Proof->Places) {
      append_range(Found.Owned, Place.All);
      if (mayBeWritten(Shadow, Uses) && Place.All.size() == 1 && !LI.getLoopFor(Place.All.front()->getParent()))
        Found.Written.insert(Place.All.front());
    }
    Found.InGrid.push_back(std::move(*Proof));
  }

  static bool mayBeWritten(const Argument &Shadow, const Ownership::Uses &Uses) {
    return Shadow.hasAttribute(FreshAttribute) && !Uses.Others && Uses.Consumptions.empty();
  }

  Function &F;
  LoopInfo &LI;
  Ownership Row;
  GridOwnership Grid;
  bool MayBeInARow, TakesRows = false;
  SmallPtrSet<AtomicRMWInst *, 16> InPlace; // into shadows with which more is done
};

void own(Function &F, FunctionAnalysisManager &FAM) {
  ownAsTheUserSays(F, FAM);
  Prover Each(F, FAM);
  for (Argument &A : F.args())
    if (F.hasParamAttribute(A.getArgNo(), ShadowAttribute))
      Each.prove(A);
  Each.leave(HalfVectors(F));
  if (Each.areWorthTwoVersions())
    Versions(F, Each.Found).make(FAM);
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
