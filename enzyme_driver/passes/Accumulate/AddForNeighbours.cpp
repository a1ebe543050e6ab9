// A stencil reads the elements of its neighbours, and its gradient adds to them: six additions for each element of a
// grid in three dimensions, of which four lie in other rows. Where the neighbour's thread is of the same block, it adds
// to that element, too. So each thread leaves in shared memory what it would add to its neighbours' elements, and when
// all have come to the end it adds to its own element the sum of what its neighbours have left for it; only what
// belongs to threads of other blocks, or to threads that have not come by, is added to memory by itself.
//   atomic d[i] += a; atomic d[i + nx] += b;   becomes, at the end,
//   atomic d[i] += a + (b of the thread with y - 1); if (the thread with y + 1 is not there) atomic d[i + nx] += b;
// That the thread with y + 1 has d[i + nx] as its own element follows from the indices: between both lies what one more
// in y makes.
#include "Accumulate/BlockEnd.h"
#include "Accumulate/Ownership.h"
#include "Support/Pass.h"
#include "Support/Threads.h"
#include "Support/Walk.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#define DEBUG_TYPE "adgen-add-for-neighbours"

using namespace llvm;

STATISTIC(NumHanded, "Number of additions that a neighbour in the block makes");

namespace adgen {
namespace {

constexpr unsigned Axes = 3;
constexpr int Farthest = 4;             // a neighbour along an axis
constexpr size_t MostValues = 4;        // that a thread leaves for others
constexpr size_t FewestInOtherRows = 2; // along x alone, lanes hand on to each other
constexpr uint64_t MostThreads = 512;   // of a block that does so: memory for more would keep small blocks waiting

using Shift = std::array<int, Axes>;

uint64_t threadsIn(const Function &F) {
  const uint64_t Most = mostThreads(F);
  return Most ? std::min(Most, MostThreads) : MostThreads;
}

// What a thread adds to the element of the thread that is so far from it in the block.
struct Handed {
  AtomicRMWInst *Atomic;
  Shift Far;
};

struct Stencil {
  AtomicRMWInst *Own;
  SmallVector<Handed> Others;

  SmallSetVector<Value *, 4> values() const {
    SmallSetVector<Value *, 4> All;
    for (const Handed &H : Others)
      All.insert(H.Atomic->getValOperand());
    return All;
  }
  // The more additions are handed over, the better, and the shorter the way.
  bool isBetter(const Stencil &Other) const {
    return std::pair(Others.size(), -way()) > std::pair(Other.Others.size(), -Other.way());
  }
  int way() const {
    int Sum = 0;
    for (const Handed &H : Others)
      for (int Steps : H.Far)
        Sum += std::abs(Steps);
    return Sum;
  }
  size_t inOtherRows() const {
    return count_if(Others, [](const Handed &H) { return H.Far[1] || H.Far[2]; });
  }
};

// What threads leave in shared memory, of one stencil after the other.
class Left {
public:
  explicit Left(Function &F) : F(F), Threads(threadsIn(F)), Room(roomInShared(F)) {}

  // Whether there is room for so many numbers of a thread beside what there is already.
  bool reserve(Type &T, size_t Numbers) {
    uint64_t Bytes = Most.empty() ? Threads * sizeof(uint32_t) : 0; // for who is here
    const size_t Known = Most.lookup(&T);
    if (Numbers > Known)
      Bytes += Threads * F.getDataLayout().getTypeStoreSize(&T) * (Numbers - Known);
    if (Bytes > Room)
      return false;
    Room -= Bytes;
    Most[&T] = std::max(Known, Numbers);
    return true;
  }

  // One number of each thread.
  GlobalVariable &array(Type *T, unsigned Number) {
    auto [Known, IsNew] = Arrays.try_emplace({T, Number});
    if (IsNew)
      Known->second = createExchange(F, ArrayType::get(T, Threads), ".left" + Twine(Arrays.size()));
    return *Known->second;
  }

private:
  Function &F;
  uint64_t Threads, Room;
  DenseMap<Type *, size_t> Most;
  DenseMap<std::pair<Type *, unsigned>, GlobalVariable *> Arrays;
};

// Additions of one block to one shadow, as neighbours of one of them.
class Finder {
public:
  Finder(Function &F, LoopInfo &LI) : LI(LI), Index(F, LI) {}

  std::optional<Stencil> find(Argument &Shadow) {
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(Shadow);
    if (!Uses || Uses->Others || !Uses->Consumptions.empty())
      return std::nullopt;
    MapVector<BasicBlock *, SmallVector<AtomicRMWInst *>> Blocks;
    for (AtomicRMWInst *Atomic : Uses->Accumulations)
      if (!LI.getLoopFor(Atomic->getParent()) && Atomic->use_empty() && Atomic->getType()->isFloatingPointTy())
        Blocks[Atomic->getParent()].push_back(Atomic);
    std::optional<Stencil> Best;
    for (const auto &[Block, All] : Blocks)
      for (AtomicRMWInst *Own : All)
        if (Stencil S = around(*Own, All, Shadow);
            S.inOtherRows() >= FewestInOtherRows && S.values().size() <= MostValues && (!Best || S.isBetter(*Best)))
          Best = std::move(S);
    return Best;
  }

private:
  Stencil around(AtomicRMWInst &Own, ArrayRef<AtomicRMWInst *> All, const Argument &Shadow) {
    Stencil Found{&Own, {}};
    std::optional<Polynomial> Here = Index.offsetFrom(&Shadow, Own.getPointerOperand());
    if (!Here || !findSteps(*Here))
      return Found;
    for (AtomicRMWInst *Other : All) {
      std::optional<Polynomial> There = Index.offsetFrom(&Shadow, Other->getPointerOperand());
      if (Other == &Own || !There || Other->getType() != Own.getType())
        continue;
      *There += *Here * Polynomial::constant(-1);
      if (std::optional<Shift> Far = shiftOf(*There))
        Found.Others.push_back({Other, *Far});
    }
    return Found;
  }

  // How far one more along each axis of the block leads; false where anything else tells the block's threads apart.
  bool findSteps(const Polynomial &Offset) {
    auto IsThread = [](const Source &S) { return S.Of == Source::Thread; };
    auto IsCommon = [](const Source &S) {
      return is_contained({Source::Block, Source::BlockSize, Source::GridSize, Source::Shared}, S.Of);
    };
    Steps = {};
    for (const auto &[Sources, Factor] : Offset.Terms) {
      if (!all_of(Sources, [&](const Source &S) { return IsThread(S) || IsCommon(S); }) ||
          count_if(Sources, IsThread) > 1)
        return false;
      auto Along = find_if(Sources, IsThread);
      if (Along == Sources.end())
        continue;
      Polynomial Step = Polynomial::constant(Factor);
      for (const Source &S : make_filter_range(Sources, IsCommon))
        Step = Step * Polynomial::source(S);
      Steps[reinterpret_cast<uintptr_t>(Along->What)] += Step;
    }
    return true;
  }

  std::optional<Shift> shiftOf(const Polynomial &Distance) const {
    auto Range = [&](unsigned Axis) { return Steps[Axis].Terms.empty() ? 0 : Farthest; };
    for (int Z = -Range(2); Z <= Range(2); ++Z)
      for (int Y = -Range(1); Y <= Range(1); ++Y)
        for (int X = -Range(0); X <= Range(0); ++X) {
          Polynomial Left = Distance;
          for (auto [Axis, Count] : enumerate(Shift{X, Y, Z}))
            Left += Steps[Axis] * Polynomial::constant(-Count);
          if (Left.Terms.empty() && (X || Y || Z))
            return Shift{X, Y, Z};
        }
    return std::nullopt;
  }

  LoopInfo &LI;
  Indices Index;
  std::array<Polynomial, Axes> Steps;
};

// Moves the additions to the end of the gradient.
class Moved {
public:
  Moved(Function &F, Left &Memory, Stencil S)
      : F(F), Memory(Memory), Found(std::move(S)), Values(Found.values().takeVector()) {}

  // `Hands` says whether the launch's blocks do so.
  void make(Value &Hands, Instruction &End) {
    ADGEN_COUNT(NumHanded, *Found.Own);
    keep(Hands);
    IRBuilder<> B(&End);
    Value *Thread = threadInBlock(B), *IsHere = B.CreateLoad(B.getInt32Ty(), Here);
    Type *T = Found.Own->getType();
    B.CreateStore(IsHere, areHere(B, Thread));
    for (auto [Number, Slot] : enumerate(Kept))
      B.CreateStore(B.CreateLoad(T, Slot), left(B, Number, Thread));
    waitForBlock(End);
    Instruction *Then = SplitBlockAndInsertIfThen(B.CreateIsNotNull(IsHere), End.getIterator(), false);
    add(*Then, Thread);
    promote();
  }

private:
  Value *areHere(IRBuilder<> &B, Value *Thread) { return place(B, Memory.array(B.getInt32Ty(), 0), Thread); }
  Value *left(IRBuilder<> &B, unsigned Number, Value *Thread) {
    return place(B, Memory.array(Found.Own->getType(), Number), Thread);
  }
  static Value *place(IRBuilder<> &B, GlobalVariable &Array, Value *Index) {
    return B.CreateInBoundsGEP(Array.getValueType(), &Array, {B.getInt32(0), Index});
  }

  AllocaInst *slot(Type *T, Constant *Before) {
    IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
    AllocaInst *Slot = B.CreateAlloca(T);
    B.SetInsertPoint(Slot->getNextNode());
    B.CreateStore(Before, Slot);
    Slots.push_back(Slot);
    return Slot;
  }

  AllocaInst *kept(IRBuilder<> &B, Value *V, Constant *Before) {
    AllocaInst *Slot = slot(V->getType(), Before);
    B.CreateStore(V, Slot);
    return Slot;
  }

  // What is known where the additions were is asked for at the end; of a thread that does not come by, there is none.
  // Other launches add there, as before.
  void keep(Value &Hands) {
    SmallVector<AtomicRMWInst *> All{Found.Own};
    for (const Handed &H : Found.Others)
      All.push_back(H.Atomic);
    llvm::sort(All, [](AtomicRMWInst *A, AtomicRMWInst *B) { return A->comesBefore(B); });
    Instruction *Last = Found.Own->getParent()->getTerminator(); // behind those to other shadows, too
    IRBuilder<> B(Last);
    Here = kept(B, B.getInt32(1), B.getInt32(0));
    for (Value *V : Values)
      Kept.push_back(kept(B, V, Constant::getNullValue(V->getType())));
    auto Poison = [](const Value *V) { return PoisonValue::get(V->getType()); };
    OwnValue = kept(B, Found.Own->getValOperand(), Poison(Found.Own->getValOperand()));
    OwnPlace = kept(B, Found.Own->getPointerOperand(), Poison(Found.Own->getPointerOperand()));
    for (const Handed &H : Found.Others)
      Places.push_back(kept(B, H.Atomic->getPointerOperand(), Poison(H.Atomic->getPointerOperand())));
    Instruction *Then = SplitBlockAndInsertIfThen(B.CreateNot(&Hands), Last->getIterator(), false);
    for (AtomicRMWInst *Atomic : All)
      Atomic->moveBefore(Then->getIterator());
  }

  void add(Instruction &End, Value *Thread) {
    IRBuilder<> B(&End);
    Type *T = Found.Own->getType();
    Value *Sum = B.CreateLoad(T, OwnValue);
    for (auto [Number, H] : enumerate(Found.Others)) {
      B.SetInsertPoint(&End);
      const size_t Which = find(Values, H.Atomic->getValOperand()) - Values.begin();
      auto [Taker, HasTaker] = neighbour(B, Thread, H.Far, 1);
      auto [Giver, HasGiver] = neighbour(B, Thread, H.Far, -1);
      Value *Given = B.CreateLoad(T, left(B, Which, Giver));
      Sum = B.CreateFAdd(Sum, B.CreateSelect(HasGiver, Given, Constant::getNullValue(T)));
      Value *IsThere = B.CreateIsNotNull(B.CreateLoad(B.getInt32Ty(), areHere(B, Taker)));
      Value *IsLeft = B.CreateNot(B.CreateAnd(HasTaker, IsThere));
      Instruction *Then = SplitBlockAndInsertIfThen(IsLeft, End.getIterator(), false);
      B.SetInsertPoint(Then);
      addAgain(B, *H.Atomic, Places[Number], B.CreateLoad(T, Kept[Which]), *Then);
    }
    B.SetInsertPoint(&End);
    addAgain(B, *Found.Own, OwnPlace, Sum, End);
  }

  // A thread so far away, or this one where the block has none there.
  std::pair<Value *, Value *> neighbour(IRBuilder<> &B, Value *Thread, const Shift &Far, int Sign) {
    constexpr Intrinsic::ID Registers[] = {Intrinsic::nvvm_read_ptx_sreg_tid_x, Intrinsic::nvvm_read_ptx_sreg_tid_y,
                                           Intrinsic::nvvm_read_ptx_sreg_tid_z};
    BlockExtents N(B);
    Value *Extents[] = {N.X, N.Y, N.Z}, *Step = B.getInt32(1), *Distance = B.getInt32(0), *Has = B.getTrue();
    for (unsigned Axis = 0; Axis < Axes; ++Axis) {
      if (Far[Axis]) {
        Value *By = B.getInt32(Sign * Far[Axis]);
        Has = B.CreateAnd(Has, B.CreateICmpULT(B.CreateAdd(readRegister(B, Registers[Axis]), By), Extents[Axis]));
        Distance = B.CreateAdd(Distance, B.CreateMul(Step, By));
      }
      Step = B.CreateMul(Step, Extents[Axis]);
    }
    return {B.CreateSelect(Has, B.CreateAdd(Thread, Distance), Thread), Has};
  }

  static void addAgain(IRBuilder<> &B, AtomicRMWInst &Atomic, AllocaInst *Place, Value *Sum, Instruction &Before) {
    Instruction *Again = Atomic.clone();
    Again->setOperand(0, B.CreateLoad(B.getPtrTy(), Place));
    Again->setOperand(1, Sum);
    Again->insertBefore(Before.getIterator());
  }

  void promote() {
    DominatorTree DT(F);
    PromoteMemToReg(Slots, DT);
  }

  Function &F;
  Left &Memory;
  Stencil Found;
  SmallVector<Value *> Values;
  SmallVector<AllocaInst *> Slots, Kept, Places;
  AllocaInst *Here = nullptr, *OwnValue = nullptr, *OwnPlace = nullptr;
};

bool run(Function &F, LoopInfo &LI) {
  if (walks(F)) // whose blocks would wait for each other once more
    return false;
  SmallVector<Stencil> All;
  Finder Find(F, LI);
  Left Memory(F);
  for (Argument &A : F.args())
    if (F.hasParamAttribute(A.getArgNo(), ShadowAttribute))
      if (std::optional<Stencil> S = Find.find(A); S && Memory.reserve(*S->Own->getType(), S->values().size()))
        All.push_back(std::move(*S));
  if (All.empty())
    return false;
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  BlockExtents N(B);
  Value *AreMany = B.CreateICmpUGT(B.CreateMul(N.Y, N.Z), B.getInt32(1));
  Value *Fit = B.CreateICmpULE(threadsOfBlock(B), B.getInt32(MostThreads));
  Value *Hands = B.CreateAnd(AreMany, Fit, "hands");
  Instruction &End = *SplitBlockAndInsertIfThen(Hands, commonReturn(F)->getIterator(), false);
  for (auto [Number, S] : enumerate(All)) {
    if (Number) // others may still read
      waitForBlock(End);
    Moved(F, Memory, std::move(S)).make(*Hands, End);
  }
  return true;
}

} // namespace

ADGEN_DECLARE_PASS(AddForNeighbours);

PreservedAnalyses AddForNeighbours::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Changed |= adgen::run(F, FAM.getResult<LoopAnalysis>(F));
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
