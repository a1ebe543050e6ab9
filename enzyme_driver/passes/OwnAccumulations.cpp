// Accumulates without atomics into elements that only one thread accumulates into. Either the user says so of an array (adgen-owned),
// or the index proves it: every accumulation into the shadow is at
//   stride * (blockIdx.x * width + threadIdx.x + any loop counter * gridDim.x * width) + what is the same in all threads,
// with the block's size, a multiple of it, or a constant as the width, and those of one thread stay within one stride, or within the strides
// of a few rounds of the block's threads, which together are no wider. That holds for grids of one dimension whose blocks are no wider, which
// no index shows: the gradient is there twice, with atomics and without, and the launch decides. Loads and stores of the shadow do not matter: another thread that writes or reads an element there would be a race
// of the primal with itself. The load of an addition moves up as far as it can: on a GPU loads come first.
#include "Accumulation.h"
#include "Indices.h"
#include "Passes.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <optional>

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned Axes = 3;
constexpr unsigned MostPlaces = 64; // of a thread
constexpr int64_t MostElements = INT32_MAX; // with more, an index of 32 bits would come back to elements of others

// What the launch has to keep to.
struct Limits {
  int64_t Threads = MostElements, Blocks = MostElements, BlockSize = MostElements;
};

// Where an accumulation is among those of its thread: so many bytes, and so many rounds of all threads of the block, behind a common base.
struct Spot {
  int64_t Rounds = 0, Bytes = 0, Width = 0;
  Polynomial Counted; // by loops
};

// Whether every accumulation into a shadow is to elements of the thread's own: within one stride, in a few rounds.
class Ownership {
public:
  Ownership(Function &F, LoopInfo &LI, ScalarEvolution &SE) : Index(F, LI), SE(SE) {}

  // The accumulations into the shadow, if they are all there is besides loads and stores.
  static std::optional<SmallVector<AtomicRMWInst *>> accumulations(Argument &Shadow) {
    SmallVector<AtomicRMWInst *> Found;
    SmallVector<Value *> Pointers{&Shadow};
    while (!Pointers.empty()) {
      Value *Pointer = Pointers.pop_back_val();
      for (User *U : Pointer->users()) {
        auto *I = cast<Instruction>(U);
        AtomicRMWInst *Atomic = asAccumulation(*I);
        if (isa<GetElementPtrInst>(I))
          Pointers.push_back(I);
        else if (Atomic)
          Found.push_back(Atomic);
        else if (!isa<LoadInst>(I) && !(isa<StoreInst>(I) && getLoadStorePointerOperand(I) == Pointer))
          return std::nullopt;
      }
    }
    return Found;
  }

  // Lowers the limits where it is proved.
  bool isProved(const Argument &Shadow, ArrayRef<AtomicRMWInst *> Accumulations, Limits &Launch) {
    Steps Common;
    Polynomial Base;
    SmallVector<Spot> Elements;
    for (const AtomicRMWInst *Atomic : Accumulations) {
      std::optional<Polynomial> P = Index.offsetFrom(&Shadow, Atomic->getPointerOperand());
      Steps Mine = P ? takeThread(*P) : Steps();
      bool IsFirst = !Common.Thread;
      if (!Mine.Thread || !(IsFirst || Mine == Common))
        return false;
      std::optional<Spot> Where = takePlace(*P, Mine);
      if (!Where)
        return false;
      Where->Width = Atomic->getDataLayout().getTypeStoreSize(Atomic->getType());
      if (!(IsFirst || *P == Base) || !addElements(*Where, Elements, Mine))
        return false;
      Common = Mine;
      Base = *P;
    }
    return Common.Thread && (Common.BlockSize ? areOwnInBlocksOf(Common, Elements, Launch) : areOwn(Common, Elements, Launch));
  }

private:
  // From thread to thread in bytes; from block to block in threads, where that is a constant, else in rounds of the block's threads.
  struct Steps {
    int64_t Thread = 0, BlockSize = 0, Rounds = 0;
    bool operator==(const Steps &Other) const {
      return Thread == Other.Thread && BlockSize == Other.BlockSize && Rounds == Other.Rounds;
    }
  };

  // Takes what depends on the thread out of an offset; no steps where that is not a stride times the thread's number, or times
  // that in the block and a multiple of that of the block.
  static Steps takeThread(Polynomial &P) {
    Source Thread = onAxis(Source::Thread, 0), Block = onAxis(Source::Block, 0), Size = onAxis(Source::BlockSize, 0);
    Steps Found{P.take({Thread})};
    if (!Found.Thread)
      return {};
    int64_t Constant = P.take({Block}), BySize = P.take({Block, Size}), Step = Constant ? Constant : BySize;
    if ((Constant && BySize) || Step % Found.Thread || Step / Found.Thread < 1)
      return {};
    (Constant ? Found.BlockSize : Found.Rounds) = Step / Found.Thread;
    for (auto It = P.Terms.begin(); It != P.Terms.end();) {
      auto Is = [&](Source::Kind Of) { return any_of(It->first, [=](const Source &L) { return L.Of == Of; }); };
      if (Is(Source::Thread) || Is(Source::Block))
        return {};
      It = Is(Source::Counter) && isOverTheGrid(It->first, It->second, Found) ? P.Terms.erase(It) : std::next(It);
    }
    return Found;
  }

  // Whether a loop counter leads from one round of all threads of the grid to another.
  static bool isOverTheGrid(const Polynomial::Product &Sources, int64_t Factor, const Steps &By) {
    bool Grid = is_contained(Sources, onAxis(Source::GridSize, 0)), Size = is_contained(Sources, onAxis(Source::BlockSize, 0));
    return Grid && (By.BlockSize ? Factor % (By.BlockSize * By.Thread) == 0 : Size && Factor % (By.Rounds * By.Thread) == 0);
  }

  // Takes out of an offset what tells a thread's own elements apart.
  static std::optional<Spot> takePlace(Polynomial &P, const Steps &By) {
    Spot Found;
    Found.Bytes = P.take({});
    int64_t BySize = By.Rounds ? P.take({onAxis(Source::BlockSize, 0)}) : 0;
    if (BySize % By.Thread)
      return std::nullopt;
    Found.Rounds = BySize / By.Thread;
    for (auto It = P.Terms.begin(); It != P.Terms.end();) {
      if (none_of(It->first, [](const Source &L) { return L.Of == Source::Counter; })) {
        ++It;
        continue;
      }
      Found.Counted.Terms.insert(*It);
      It = P.Terms.erase(It);
    }
    return Found;
  }

  // The elements that an accumulation in loops with few iterations is to.
  bool addElements(const Spot &Where, SmallVectorImpl<Spot> &Elements, const Steps &By) {
    SmallVector<Spot> Own{Where};
    for (const auto &[Sources, Factor] : Where.Counted.Terms) {
      auto Counter = find_if(Sources, [](const Source &L) { return L.Of == Source::Counter; });
      bool InRounds = Sources.size() == 2 && By.Rounds && is_contained(Sources, onAxis(Source::BlockSize, 0));
      std::optional<uint64_t> Most = Index.lastIteration(*Counter, SE);
      if (!Most || *Most >= MostPlaces || !(InRounds || Sources.size() == 1) || (InRounds && Factor % By.Thread))
        return false;
      SmallVector<Spot> Before = std::move(Own);
      Own.clear();
      for (Spot P : Before)
        for (uint64_t Iteration = 0; Iteration <= *Most; ++Iteration) {
          Own.push_back(P);
          (InRounds ? P.Rounds : P.Bytes) += InRounds ? Factor / By.Thread : Factor;
        }
      if (Own.size() > MostPlaces)
        return false;
    }
    append_range(Elements, Own);
    return Elements.size() <= MostPlaces;
  }

  // A block's elements are in as many rounds as lie between it and the next.
  static bool areOwn(const Steps &By, ArrayRef<Spot> Elements, Limits &Launch) {
    int64_t First = INT64_MAX, Last = INT64_MIN, FirstRound = INT64_MAX, LastRound = INT64_MIN, Width = 1;
    for (const Spot &P : Elements) {
      First = std::min(First, P.Bytes);
      Last = std::max(Last, P.Bytes + P.Width);
      FirstRound = std::min(FirstRound, P.Rounds);
      LastRound = std::max(LastRound, P.Rounds);
      Width = P.Width;
    }
    int64_t Stride = std::abs(By.Thread);
    if (Last - First > Stride || LastRound - FirstRound >= By.Rounds)
      return false;
    Launch.Threads = std::min(Launch.Threads, MostElements / (std::max<int64_t>(1, Stride / Width) * By.Rounds));
    return true;
  }

  // The threads of a block that is no wider than the limit fill the strides up to the next of their rounds, and the last ones those
  // up to the next block.
  static bool areOwnInBlocksOf(const Steps &By, ArrayRef<Spot> Elements, Limits &Launch) {
    SmallVector<Spot> Sorted(Elements);
    llvm::sort(Sorted, [](const Spot &A, const Spot &B) { return A.Bytes < B.Bytes; });
    int64_t Stride = std::abs(By.Thread), BlockSize = By.BlockSize, Round = Sorted.front().Bytes;
    for (const Spot &P : Sorted) {
      if (P.Bytes + P.Width - Round <= Stride)
        continue;
      BlockSize = std::min(BlockSize, (P.Bytes - Round) / Stride);
      Round = P.Bytes;
      if (P.Width > Stride)
        return false;
    }
    BlockSize = std::min(BlockSize, By.BlockSize - (Round - Sorted.front().Bytes) / Stride);
    if (BlockSize < 1)
      return false;
    Launch.BlockSize = std::min(Launch.BlockSize, BlockSize);
    Launch.Blocks = std::min(Launch.Blocks, MostElements / (std::max<int64_t>(1, Stride / Sorted.front().Width) * By.BlockSize));
    return true;
  }

  Indices Index;
  ScalarEvolution &SE;
};

// The load and what its address needs of its block from a place on; nothing where that cannot move.
SmallVector<Instruction *> neededFrom(Instruction &Spot, LoadInst &Load) {
  SmallVector<Instruction *> Needed{&Load};
  for (unsigned I = 0; I < Needed.size(); ++I)
    for (Value *Operand : Needed[I]->operands()) {
      auto *Made = dyn_cast<Instruction>(Operand);
      if (!Made || Made->getParent() != Load.getParent() || Made->comesBefore(&Spot))
        continue;
      if (!isSafeToSpeculativelyExecute(Made))
        return {};
      Needed.push_back(Made);
    }
  return Needed;
}

// Makes accumulations plain.
class Plain {
public:
  Plain(Function &F, FunctionAnalysisManager &FAM)
      : Meet(F, FAM.getResult<AAManager>(F)), Index(F, FAM.getResult<LoopAnalysis>(F)) {}

  void make(AtomicRMWInst &Atomic) {
    IRBuilder<> B(&Atomic);
    LoadInst *Old = B.CreateAlignedLoad(Atomic.getType(), Atomic.getPointerOperand(), Atomic.getAlign());
    Value *New = B.CreateFAdd(Old, Atomic.getValOperand());
    StoreInst *Store = B.CreateAlignedStore(New, Atomic.getPointerOperand(), Atomic.getAlign());
    Old->setAAMetadata(Atomic.getAAMetadata());
    Store->setAAMetadata(Atomic.getAAMetadata());
    Atomic.eraseFromParent();
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
    SmallVector<Instruction *> Needed = neededFrom(*First, Load);
    while (First != &Load && is_contained(Needed, First)) { // what is needed stays where it is
      First = First->getNextNode();
      Needed = neededFrom(*First, Load);
    }
    if (First == &Load)
      return;
    SmallPtrSet<Instruction *, 8> Moved;
    for (Instruction *I : reverse(Needed)) // what something needs was found after it
      if (Moved.insert(I).second)
        I->moveBefore(First->getIterator());
  }

  bool mayTouch(const Instruction &I, const LoadInst &Load) {
    return Meet.mayTouch(I, Load.getPointerOperand(), Load.getType()) && !Index.areApart(I, Load);
  }

  Meetings Meet;
  Indices Index;
};

bool readsOtherAxes(Function &F) {
  constexpr Intrinsic::ID Registers[] = {
      Intrinsic::nvvm_read_ptx_sreg_tid_y,  Intrinsic::nvvm_read_ptx_sreg_tid_z,   Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
      Intrinsic::nvvm_read_ptx_sreg_ctaid_z, Intrinsic::nvvm_read_ptx_sreg_laneid};
  bool Reads = any_of(instructions(F), [&](const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && is_contained(Registers, Call->getIntrinsicID());
  });
  unsigned First = F.arg_size() - 2 * Axes;
  return Reads || (F.hasFnAttribute(TapeAttribute) && !(F.getArg(First + 1)->use_empty() && F.getArg(First + 2)->use_empty()));
}

// The gradient in two versions, of which the launch chooses one.
class Versions {
public:
  Versions(Function &F, Limits Launch) : Shared(F), Launch(Launch) {}

  void make(ArrayRef<AtomicRMWInst *> Owned, FunctionAnalysisManager &FAM) {
    Module &M = *Shared.getParent();
    DISubprogram *Program = Shared.getSubprogram();
    Shared.setSubprogram(nullptr); // what is inlined below keeps its places
    ValueToValueMapTy Map;
    Function *Own = CloneFunction(&Shared, Map);
    {
      Plain Maker(*Own, FAM);
      for (AtomicRMWInst *Atomic : Owned)
        Maker.make(*cast<AtomicRMWInst>(Map[Atomic]));
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
        report_fatal_error("adgen-own-accumulations: a version could not be inlined");
      FAM.clear(*Version, Version->getName());
      Version->eraseFromParent();
    }
    Both->setSubprogram(Program);
  }

private:
  Value *keepsToLimits(IRBuilder<> &B, Function &F) const {
    auto Register = [&](Intrinsic::ID Id) -> Value * { return B.CreateIntrinsic(Id, ArrayRef<Type *>(), ArrayRef<Value *>()); };
    Value *Grid[Axes], *Block[Axes] = {Register(Intrinsic::nvvm_read_ptx_sreg_ntid_x), Register(Intrinsic::nvvm_read_ptx_sreg_ntid_y),
                                       Register(Intrinsic::nvvm_read_ptx_sreg_ntid_z)};
    constexpr Intrinsic::ID Extents[] = {Intrinsic::nvvm_read_ptx_sreg_nctaid_x, Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                                         Intrinsic::nvvm_read_ptx_sreg_nctaid_z};
    for (unsigned Axis = 0; Axis < Axes; ++Axis)
      Grid[Axis] = F.hasFnAttribute(TapeAttribute) ? F.getArg(F.arg_size() - Axes + Axis) : Register(Extents[Axis]);
    Type *Int64 = B.getInt64Ty();
    Value *Threads = B.CreateMul(B.CreateZExt(Grid[0], Int64), B.CreateZExt(Block[0], Int64));
    Value *Holds = B.CreateICmpULE(Threads, B.getInt64(Launch.Threads));
    if (Launch.Blocks < MostElements)
      Holds = B.CreateAnd(Holds, B.CreateICmpULE(Grid[0], B.getInt32(Launch.Blocks)));
    if (Launch.BlockSize < MostElements)
      Holds = B.CreateAnd(Holds, B.CreateICmpULE(Block[0], B.getInt32(Launch.BlockSize)));
    for (Value *Extent : {Block[1], Block[2], Grid[1], Grid[2]})
      Holds = B.CreateAnd(Holds, B.CreateICmpEQ(Extent, B.getInt32(1)));
    return Holds;
  }

  Function &Shared;
  Limits Launch;
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
  Limits Launch;
  for (Argument &A : F.args()) {
    if (!F.hasParamAttribute(A.getArgNo(), ShadowAttribute))
      continue;
    std::optional<SmallVector<AtomicRMWInst *>> Found = Ownership::accumulations(A);
    if (Found && MayProve && Owner.isProved(A, *Found, Launch))
      append_range(Proved, *Found);
  }
  if (!Proved.empty())
    Versions(F, Launch).make(Proved, FAM);
}

} // namespace

PreservedAnalyses OwnAccumulations::run(Module &M, ModuleAnalysisManager &MAM) {
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
