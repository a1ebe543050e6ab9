// Turns accumulations into shared shadows round. Where every thread of a row of the block adds to all elements of a row of the array, as the
// gradient of a tiled product does, each thread computes what all of them add to one element, and adds it once: element k is left to the
// thread with index k. What it needs of the other threads is read from the shared arrays by their indices, or handed over in shared memory,
// before the loop where it stays the same throughout. The same for columns.
//
// The block has to be as wide and as high as there are elements, which is found out when the kernel runs; otherwise the accumulations
// stay as they are. All threads of the block have to come there, and barriers stand around what they do for each other; those that are there already count.
#include "Accumulation.h"
#include "Passes.h"
#include "Uniformity.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned SharedSpace = 3;
constexpr uint64_t MostStaticShared = 48 * 1024;
constexpr unsigned MostExchanged = 4; // values of a thread that others need
// Barriers stand all along, and only other blocks have something to do meanwhile: with more registers there is no room for them.
constexpr StringLiteral MostRegisters = "64";
constexpr unsigned Unrolled = 4;
constexpr uint64_t VectorBytes = 16; // what a thread reads at once
constexpr uint64_t BankBytes = 128;  // what lies side by side in shared memory
constexpr int64_t MostElements = 32, FewestElements = 4;

Intrinsic::ID registerOf(const Value *V) {
  auto *Call = dyn_cast<IntrinsicInst>(V);
  return Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic;
}

// Along a row of the block x differs, along a column y.
enum class Along { Row, Column };

// What the members of a group have in common; element k is the k-th member's.
struct Pattern {
  enum { Same, Loaded, Computed } Kind;
  Value *First;                        // the value of element 0
  Value *Base = nullptr;               // of Loaded: element k is at Base + Offset + k * Stride
  int64_t Offset = 0, Stride = 0;
  SmallVector<std::shared_ptr<Pattern>, 2> Operands; // of Computed
};

struct Group {
  Along Direction;
  Value *Base; // element k is at Base + Offset + k * Stride
  int64_t Offset, Stride;
  SmallVector<AtomicRMWInst *, 16> Members;
  std::shared_ptr<Pattern> Added;

  int64_t count() const { return Members.size(); }
  Type *type() const { return Members.front()->getType(); }
  const Value *object() const { return getUnderlyingObject(Base); }
};

// Instructions of a block that change no memory but by accumulations, between two that may.
struct Segment {
  Instruction *Before = nullptr, *Behind = nullptr;
  SmallVector<Instruction *, 64> Instructions;
};

// Groups of one segment with as many elements.
struct Cluster {
  SmallVector<Group, 2> Groups;
  Segment Where;
  Instruction *Outside = nullptr; // where the loop around it is entered, if all threads come there
  const Loop *Around = nullptr;

  int64_t count() const { return Groups.front().count(); }
};

struct Place {
  Value *Base;
  int64_t Offset;
};

Place placeOf(Value *Pointer, const DataLayout &Layout) {
  APInt Offset(Layout.getIndexTypeSizeInBits(Pointer->getType()), 0);
  Value *Base = Pointer->stripAndAccumulateConstantOffsets(Layout, Offset, true);
  return {Base, Offset.getSExtValue()};
}

// The difference between neighbours, if it is always the same and not 0.
std::optional<int64_t> strideOf(ArrayRef<int64_t> Offsets) {
  int64_t Stride = Offsets[1] - Offsets[0];
  for (unsigned I = 2; I < Offsets.size(); ++I)
    if (Offsets[I] - Offsets[I - 1] != Stride)
      return {};
  return Stride ? std::optional(Stride) : std::nullopt;
}

class Finder {
public:
  Finder(Function &F, const Meetings &Meet, LoopInfo &Loops)
      : F(F), Layout(F.getDataLayout()), Meet(Meet), Loops(Loops), Threads(F, [&](const Value &V) { return kindOnDevice(V, F); }) {}

  bool isUniform(const Value *V) const { return Threads.isUniform(V); }

  std::vector<Cluster> find() {
    std::vector<Cluster> Found;
    for (BasicBlock &Block : F)
      if (!Threads.isDivergent(&Block))
        for (Segment &S : segments(Block))
          collect(S, Found);
    return Found;
  }

  // Whether what the value is in another thread follows from that thread's indices.
  bool followsFromIndices(const Value *V) const {
    switch (registerOf(V)) {
    case Intrinsic::nvvm_read_ptx_sreg_tid_x:
    case Intrinsic::nvvm_read_ptx_sreg_tid_y:
    case Intrinsic::nvvm_read_ptx_sreg_tid_z: // 0 in a block of one layer
      return true;
    default:
      break;
    }
    if (isUniform(V))
      return true;
    auto *I = dyn_cast<Instruction>(V);
    return I && isa<BinaryOperator, CastInst, GetElementPtrInst>(I) && I->getType()->isIntOrPtrTy() &&
           all_of(I->operands(), [&](const Use &U) { return followsFromIndices(U.get()); });
  }

private:
  static std::vector<Segment> segments(BasicBlock &Block) {
    std::vector<Segment> Found(1);
    for (Instruction &I : Block) {
      if (!I.isTerminator() && (!I.mayHaveSideEffects() || asAccumulation(I))) {
        Found.back().Instructions.push_back(&I);
        continue;
      }
      Found.back().Behind = &I;
      Found.emplace_back().Before = &I;
    }
    return Found;
  }

  void collect(const Segment &S, std::vector<Cluster> &Found) {
    Cluster Made;
    for (Group &G : groups(S))
      if (Made.Groups.empty() || Made.count() == G.count())
        Made.Groups.push_back(std::move(G));
    if (Made.Groups.empty())
      return;
    Made.Where = S;
    Made.Around = Loops.getLoopFor(S.Behind->getParent());
    BasicBlock *Outside = Made.Around ? Made.Around->getLoopPreheader() : nullptr;
    if (Outside && !Threads.isDivergent(Outside))
      Made.Outside = Outside->getTerminator();
    Found.push_back(std::move(Made));
  }

  std::vector<Group> groups(const Segment &S) const {
    struct Item {
      int64_t Offset;
      AtomicRMWInst *Atomic;
    };
    MapVector<std::pair<Value *, Type *>, SmallVector<Item, 16>> ByBase;
    for (Instruction *I : S.Instructions) {
      AtomicRMWInst *Atomic = asAccumulation(*I);
      if (!Atomic || !isSharedShadow(getUnderlyingObject(Atomic->getPointerOperand())))
        continue;
      Place At = placeOf(Atomic->getPointerOperand(), Layout);
      ByBase[{At.Base, Atomic->getType()}].push_back({At.Offset, Atomic});
    }
    std::vector<Group> Found;
    for (auto &[Key, Items] : ByBase) {
      sort(Items, [](const Item &A, const Item &B) { return A.Offset < B.Offset; });
      SmallVector<int64_t> Offsets;
      Group G{{}, Key.first, 0, 0, {}, nullptr};
      for (const Item &I : Items) {
        Offsets.push_back(I.Offset);
        G.Members.push_back(I.Atomic);
      }
      if (complete(G, Offsets, S))
        Found.push_back(std::move(G));
    }
    return Found;
  }

  bool complete(Group &G, ArrayRef<int64_t> Offsets, const Segment &S) const {
    if (G.count() < FewestElements || G.count() > MostElements || !isPowerOf2_64(G.count()))
      return false;
    std::optional<int64_t> Stride = strideOf(Offsets);
    std::optional<Along> Direction = directionOf(G.Base);
    if (!Stride || !Direction || any_of(S.Instructions, [&](const Instruction *I) { return isMet(G, *I); }))
      return false;
    G.Offset = Offsets[0];
    G.Stride = *Stride;
    G.Direction = *Direction;
    SmallVector<Value *> Added(map_range(G.Members, [](AtomicRMWInst *A) { return A->getValOperand(); }));
    G.Added = common(Added, S);
    return G.Added != nullptr;
  }

  bool isMet(const Group &G, const Instruction &I) const {
    return any_of(G.Members, [&](const AtomicRMWInst *A) { return Meet.mayMeet(I, A->getPointerOperand(), A->getType()); });
  }

  // Threads of a row have the same elements where these follow from y and what is uniform.
  std::optional<Along> directionOf(const Value *Base) const {
    if (!followsFromIndices(Base))
      return {};
    bool X = readsRegister(Base, Intrinsic::nvvm_read_ptx_sreg_tid_x), Y = readsRegister(Base, Intrinsic::nvvm_read_ptx_sreg_tid_y);
    if (X == Y)
      return {};
    return X ? Along::Column : Along::Row;
  }

  bool readsRegister(const Value *V, Intrinsic::ID Register) const {
    if (registerOf(V) == Register)
      return true;
    auto *I = dyn_cast<Instruction>(V);
    return I && !isUniform(I) && any_of(I->operands(), [&](const Use &U) { return readsRegister(U.get(), Register); });
  }

  // What the values of all elements have in common; null where that is not simple enough.
  std::shared_ptr<Pattern> common(ArrayRef<Value *> Values, const Segment &S) const {
    if (all_equal(Values))
      return std::make_shared<Pattern>(Pattern{Pattern::Same, Values[0]});
    auto *First = dyn_cast<Instruction>(Values[0]);
    if (!First || !all_of(Values, [&](Value *V) { return isa<Instruction>(V) && cast<Instruction>(V)->isSameOperationAs(First); }))
      return nullptr;
    if (isa<LoadInst>(First))
      return commonLoad(Values, S);
    if (!isSum(*First))
      return nullptr;
    auto Made = std::make_shared<Pattern>(Pattern{Pattern::Computed, First});
    for (unsigned I = 0; I < First->getNumOperands(); ++I) {
      SmallVector<Value *> Operands(map_range(Values, [&](Value *V) { return cast<Instruction>(V)->getOperand(I); }));
      Made->Operands.push_back(common(Operands, S));
      if (!Made->Operands.back())
        return nullptr;
    }
    return Made;
  }

  static bool isSum(const Instruction &I) {
    constexpr unsigned Kinds[] = {Instruction::FMul, Instruction::FAdd, Instruction::FSub, Instruction::FNeg};
    return is_contained(Kinds, I.getOpcode());
  }

  std::shared_ptr<Pattern> commonLoad(ArrayRef<Value *> Values, const Segment &S) const {
    SmallVector<int64_t> Offsets;
    Value *Base = nullptr;
    for (Value *V : Values) {
      auto *Load = cast<LoadInst>(V);
      Place At = placeOf(Load->getPointerOperand(), Layout);
      if (!Load->isSimple() || !is_contained(S.Instructions, Load) || (Base && Base != At.Base))
        return nullptr;
      Base = At.Base;
      Offsets.push_back(At.Offset);
    }
    std::optional<int64_t> Stride = strideOf(Offsets);
    if (!Stride || !isSharedArray(getUnderlyingObject(Base)) || !followsFromIndices(Base))
      return nullptr;
    return std::make_shared<Pattern>(Pattern{Pattern::Loaded, Values[0], Base, Offsets[0], *Stride, {}});
  }

  bool isSharedShadow(const Value *Object) const {
    auto *A = dyn_cast<Argument>(Object);
    return A && F.hasParamAttribute(A->getArgNo(), SharedShadowAttribute);
  }

  // Arrays come before their shadows, in the same order.
  bool isSharedArray(const Value *Object) const {
    auto *A = dyn_cast<Argument>(Object);
    unsigned Shadow = A ? A->getArgNo() + sharedNames(F).size() : F.arg_size();
    return Shadow < F.arg_size() && F.hasParamAttribute(Shadow, SharedShadowAttribute) &&
           !F.hasParamAttribute(A->getArgNo(), SharedShadowAttribute);
  }

  Function &F;
  const DataLayout &Layout;
  const Meetings &Meet;
  LoopInfo &Loops;
  Uniformity Threads;
};

// Writes one cluster.
class Gatherer {
public:
  Gatherer(Function &F, const Finder &Known, LoopInfo &Loops, Cluster &C)
      : F(F), M(*F.getParent()), Known(Known), Loops(Loops), C(C), B(F.getContext()) {}

  // The shared memory that it takes.
  uint64_t bytes() {
    for (const Group &G : C.Groups)
      findExchanged(*G.Added);
    uint64_t Bytes = 0;
    for (Value *V : Exchanged)
      Bytes += C.count() * C.count() * M.getDataLayout().getTypeAllocSize(V->getType());
    return Exchanged.size() <= MostExchanged ? Bytes : MostStaticShared + 1;
  }

  void run() {
    readRegisters();
    for (StringRef Name : sharedNames(F))
      if (GlobalVariable *Array = M.getNamedGlobal(Name); Array->getAlign().valueOrOne() < VectorBytes)
        Array->setAlignment(Align(VectorBytes));
    for (Value *V : Exchanged)
      if (isKeptOutside(V))
        exchangeOutside(V);
    Instruction *Last = lastMember();
    bool Closed = isClosed(*Last);
    BasicBlock *Head = Last->getParent(), *Tail = SplitBlock(Head, std::next(Last->getIterator()), static_cast<DomTreeUpdater *>(nullptr), &Loops);
    auto *Gather = BasicBlock::Create(F.getContext(), "gather", &F, Tail), *Scatter = BasicBlock::Create(F.getContext(), "scatter", &F, Tail);
    Head->getTerminator()->eraseFromParent();
    B.SetInsertPoint(Head);
    B.CreateCondBr(Square, Gather, Scatter);
    B.SetInsertPoint(Gather);
    gather(Closed);
    B.CreateBr(Tail);
    B.SetInsertPoint(Scatter);
    for (const Group &G : C.Groups)
      scatter(G);
    B.CreateBr(Tail);
    for (const Group &G : C.Groups)
      for (AtomicRMWInst *Member : G.Members)
        Member->eraseFromParent();
  }

private:
  void findExchanged(const Pattern &P) {
    if (P.Kind == Pattern::Same && !isa<Constant>(P.First) && !Known.isUniform(P.First))
      Exchanged.insert(P.First);
    for (const auto &Operand : P.Operands)
      findExchanged(*Operand);
  }

  void readRegisters() {
    B.SetInsertPoint(F.getEntryBlock().getFirstInsertionPt());
    X = special(Intrinsic::nvvm_read_ptx_sreg_tid_x);
    Y = special(Intrinsic::nvvm_read_ptx_sreg_tid_y);
    Value *Count = B.getInt32(C.count());
    Value *Wide = B.CreateICmpEQ(special(Intrinsic::nvvm_read_ptx_sreg_ntid_x), Count);
    Value *High = B.CreateICmpEQ(special(Intrinsic::nvvm_read_ptx_sreg_ntid_y), Count);
    Value *Flat = B.CreateICmpEQ(special(Intrinsic::nvvm_read_ptx_sreg_ntid_z), B.getInt32(1));
    Square = B.CreateAnd(B.CreateAnd(Wide, High), Flat, "square");
  }

  Value *special(Intrinsic::ID Id) { return B.CreateIntrinsic(Id, ArrayRef<Type *>(), ArrayRef<Value *>()); }
  void barrier() { B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, {}, {B.getInt32(0)}); }

  bool isKeptOutside(const Value *V) const {
    auto *I = dyn_cast<Instruction>(V);
    return C.Outside && !(I && C.Around->contains(I));
  }

  // Handed over before the loop.
  void exchangeOutside(Value *V) {
    B.SetInsertPoint(SplitBlockAndInsertIfThen(Square, C.Outside->getIterator(), false, nullptr, static_cast<DomTreeUpdater *>(nullptr), &Loops));
    barrier();
    handOver(V);
  }

  // Every thread's value, by y and x.
  void handOver(Value *V) {
    GlobalVariable *&Place = Places[V];
    auto *Values = ArrayType::get(V->getType(), C.count() * C.count());
    Place = new GlobalVariable(M, Values, false, GlobalValue::InternalLinkage, UndefValue::get(Values), ExchangePrefix + symbolOf(F), nullptr,
                               GlobalValue::NotThreadLocal, SharedSpace);
    Place->setAlignment(Align(VectorBytes));
    B.CreateStore(V, exchangedAt(V, X, Y));
    barrier();
  }

  Value *exchangedAt(Value *V, Value *AtX, Value *AtY) {
    Value *Index = B.CreateAdd(B.CreateMul(AtY, B.getInt32(C.count())), AtX);
    return B.CreateInBoundsGEP(V->getType(), Places.lookup(V), Index);
  }

  Instruction *lastMember() const {
    auto Reversed = reverse(C.Where.Instructions);
    return *find_if(Reversed, [&](Instruction *I) {
      return any_of(C.Groups, [&](const Group &G) { return is_contained(G.Members, I); });
    });
  }

  // Whether a barrier follows before anything that sees memory.
  bool isClosed(const Instruction &Last) const {
    const Instruction *Next = Last.getNextNode();
    while (!Next->mayReadOrWriteMemory() && !Next->isTerminator())
      Next = Next->getNextNode();
    return waitsForBlock(*Next);
  }

  void gather(bool Closed) {
    if (!(C.Where.Before && waitsForBlock(*C.Where.Before)))
      barrier();
    for (Value *V : Exchanged)
      if (!isKeptOutside(V))
        handOver(V);
    for (const Group &G : C.Groups)
      addTo(G, sumOf(G));
    if (!Closed)
      barrier();
  }

  Value *sumOf(const Group &G) { return G.Direction == Along::Row ? sumOfRow(G) : sumOfColumn(G); }

  Value *sumOfColumn(const Group &G) {
    return sumOver(G, C.count(), Unrolled, [&](Value *Step, Value *Sum) { return sum(Sum, valueIn(*G.Added, X, Step, Y)); });
  }

  // What is read of neighbours in a row lies in one vector. Threads whose rows lie in the same banks begin with different vectors.
  Value *sumOfRow(const Group &G) {
    uint64_t Size = M.getDataLayout().getTypeAllocSize(G.type()), Wide = std::min<uint64_t>(VectorBytes / Size, C.count());
    uint64_t Turns = C.count() / Wide, RowsInBanks = std::max<uint64_t>(BankBytes / (C.count() * Size), 1);
    return sumOver(G, Turns, 1, [&](Value *Step, Value *Sum) {
      Value *Turn = B.CreateAdd(Step, B.CreateLShr(X, Log2_64(RowsInBanks)));
      Value *First = B.CreateMul(B.CreateAnd(Turn, B.getInt32(Turns - 1)), B.getInt32(Wide), "", true, true);
      readVectors(*G.Added, First, Wide);
      for (uint64_t I = 0; I < Wide; ++I) {
        InVector = I;
        Sum = sum(Sum, valueIn(*G.Added, B.CreateAdd(First, B.getInt32(I), "", true, true), Y, X));
      }
      Vectors.clear();
      return Sum;
    });
  }

  // Reads at once what threads from `First` on have, where that lies side by side and begins at a multiple of the vector's size.
  void readVectors(const Pattern &P, Value *First, uint64_t Wide) {
    for (const auto &Operand : P.Operands)
      readVectors(*Operand, First, Wide);
    Value *At = nullptr;
    if (P.Kind == Pattern::Same && Exchanged.contains(P.First))
      At = exchangedAt(P.First, First, Y);
    else if (P.Kind == Pattern::Loaded && isInVectors(P))
      At = element(inThread(P.Base, First, Y), P.Offset, P.Stride, X);
    uint64_t Bytes = Wide * M.getDataLayout().getTypeAllocSize(P.First->getType());
    if (At && Bytes <= VectorBytes)
      Vectors[&P] = B.CreateAlignedLoad(FixedVectorType::get(P.First->getType(), Wide), At, Align(Bytes));
  }

  // Arrays begin at multiples of a vector's size.
  bool isInVectors(const Pattern &P) const {
    auto *Address = dyn_cast<GEPOperator>(P.Base);
    const DataLayout &Layout = M.getDataLayout();
    unsigned Bits = Layout.getIndexTypeSizeInBits(P.Base->getType());
    SmallMapVector<Value *, APInt, 4> Scales;
    APInt Constant(Bits, P.Offset, true);
    if (!Address || !isa<Argument>(Address->getPointerOperand()) || !Address->collectOffset(Layout, Bits, Scales, Constant))
      return false;
    bool Aligned = Constant.srem(VectorBytes) == 0 && P.Stride % int64_t(VectorBytes) == 0, AlongX = false;
    for (auto &[Index, Scale] : Scales) {
      bool IsX = isRegister(Index, Intrinsic::nvvm_read_ptx_sreg_tid_x) && Scale == Layout.getTypeAllocSize(P.First->getType());
      AlongX |= IsX;
      Aligned &= IsX || Scale.srem(VectorBytes) == 0;
    }
    return Aligned && AlongX;
  }

  static bool isRegister(const Value *Index, Intrinsic::ID Register) {
    if (auto *Cast = dyn_cast<CastInst>(Index); Cast && isa<ZExtInst, SExtInst>(Cast))
      Index = Cast->getOperand(0);
    return registerOf(Index) == Register;
  }

  // A loop that adds up.
  Value *sumOver(const Group &G, uint64_t Steps, unsigned Unroll, function_ref<Value *(Value *, Value *)> Add) {
    Value *Total = nullptr;
    loop("gather.add", Steps, Unroll, [&](BasicBlock *Before, Value *Step) {
      PHINode *Sum = PHINode::Create(G.type(), 2, "", B.GetInsertBlock()->begin());
      Total = Add(Step, Sum);
      Sum->addIncoming(ConstantFP::get(G.type(), 0.0), Before);
      Sum->addIncoming(Total, B.GetInsertBlock());
    });
    return Total;
  }

  // What the members have done, one after the other.
  void scatter(const Group &G) {
    loop("scatter.add", C.count(), 1, [&](BasicBlock *, Value *Step) {
      add(G, element(G.Base, G.Offset, G.Stride, Step), valueIn(*G.Added, X, Y, Step));
    });
  }

  // For each number below `Steps`. Unrolled as a whole, loops would need too many registers for addresses.
  void loop(StringRef Name, uint64_t Steps, unsigned Unroll, function_ref<void(BasicBlock *, Value *)> Body) {
    BasicBlock *Before = B.GetInsertBlock();
    auto *Loop = BasicBlock::Create(F.getContext(), Name, &F, Before->getNextNode());
    auto *After = BasicBlock::Create(F.getContext(), Name + ".done", &F, Loop->getNextNode());
    B.CreateBr(Loop);
    B.SetInsertPoint(Loop);
    PHINode *Step = B.CreatePHI(B.getInt32Ty(), 2);
    Body(Before, Step);
    Value *Next = B.CreateAdd(Step, B.getInt32(1));
    Step->addIncoming(B.getInt32(0), Before);
    Step->addIncoming(Next, Loop);
    unrollPartly(*B.CreateCondBr(B.CreateICmpULT(Next, B.getInt32(Steps)), Loop, After), Unroll);
    B.SetInsertPoint(After);
  }

  void unrollPartly(Instruction &Branch, unsigned Times) {
    LLVMContext &Context = F.getContext();
    auto *Count = MDNode::get(Context, {MDString::get(Context, "llvm.loop.unroll.count"), ConstantAsMetadata::get(B.getInt32(Times))});
    auto *Hints = MDNode::getDistinct(Context, {nullptr, Count});
    Hints->replaceOperandWith(0, Hints);
    Branch.setMetadata(LLVMContext::MD_loop, Hints);
  }

  Value *sum(Value *Sum, Value *Next) {
    IRBuilder<>::FastMathFlagGuard Guard(B);
    FastMathFlags Flags;
    if (auto *Made = dyn_cast<FPMathOperator>(Next))
      Flags.setAllowContract(Made->hasAllowContract());
    B.setFastMathFlags(Flags);
    return B.CreateFAdd(Sum, Next);
  }

  Value *elementIndex(Along Direction) const { return Direction == Along::Row ? X : Y; }

  // What the thread with these indices adds to an element.
  Value *valueIn(const Pattern &P, Value *AtX, Value *AtY, Value *Element) {
    bool IsOwn = AtX == X && AtY == Y;
    if (Value *Vector = Vectors.lookup(&P))
      return B.CreateExtractElement(Vector, InVector);
    if (P.Kind == Pattern::Same)
      return Exchanged.contains(P.First) && !IsOwn ? B.CreateLoad(P.First->getType(), exchangedAt(P.First, AtX, AtY)) : P.First;
    if (P.Kind == Pattern::Loaded)
      return B.CreateLoad(P.First->getType(), element(inThread(P.Base, AtX, AtY), P.Offset, P.Stride, Element));
    SmallVector<Value *, 2> Operands;
    for (const auto &Operand : P.Operands)
      Operands.push_back(valueIn(*Operand, AtX, AtY, Element));
    Instruction *Made = cast<Instruction>(P.First)->clone();
    for (auto [Index, Operand] : enumerate(Operands))
      Made->setOperand(Index, Operand);
    return B.Insert(Made);
  }

  // The value in the thread with these indices.
  Value *inThread(Value *V, Value *AtX, Value *AtY) {
    if (registerOf(V) == Intrinsic::nvvm_read_ptx_sreg_tid_x)
      return AtX;
    if (registerOf(V) == Intrinsic::nvvm_read_ptx_sreg_tid_y)
      return AtY;
    if (Known.isUniform(V) || registerOf(V) != Intrinsic::not_intrinsic)
      return V;
    Instruction *Made = cast<Instruction>(V)->clone();
    for (Use &U : Made->operands())
      U.set(inThread(U.get(), AtX, AtY));
    return B.Insert(Made);
  }

  Value *element(Value *Base, int64_t Offset, int64_t Stride, Value *Index) {
    Value *Bytes = B.CreateAdd(B.CreateMul(B.CreateZExt(Index, B.getInt64Ty()), B.getInt64(Stride)), B.getInt64(Offset));
    return B.CreateGEP(B.getInt8Ty(), Base, Bytes);
  }

  void addTo(const Group &G, Value *Sum) {
    Value *At = element(G.Base, G.Offset, G.Stride, elementIndex(G.Direction));
    if (isOwned(G)) {
      B.CreateStore(sum(B.CreateLoad(Sum->getType(), At), Sum), At);
      return;
    }
    add(G, At, Sum);
  }

  void add(const Group &G, Value *At, Value *Number) {
    auto *Atomic = cast<AtomicRMWInst>(B.Insert(G.Members.front()->clone()));
    Atomic->setOperand(0, At);
    Atomic->setOperand(1, Number);
  }

  // Whether no other thread adds to the element: it is the only group of this array, no other accumulation stands there, and no two threads
  // have one element.
  bool isOwned(const Group &G) const {
    for (const Instruction *I : C.Where.Instructions)
      if (const AtomicRMWInst *A = asAccumulation(*const_cast<Instruction *>(I)))
        if (getUnderlyingObject(A->getPointerOperand()) == G.object() && !is_contained(G.Members, A))
          return false;
    std::optional<int64_t> Other = strideOfOtherAxis(G);
    int64_t Stride = std::abs(G.Stride), Count = C.count();
    return Other && (*Other >= Count * Stride || Stride >= Count * *Other);
  }

  // How far the bases of neighbours across the group are apart, where the base is a multiple of an index.
  std::optional<int64_t> strideOfOtherAxis(const Group &G) const {
    auto *Address = dyn_cast<GEPOperator>(G.Base);
    if (!Address || Address->getPointerOperand() != G.object())
      return {};
    const DataLayout &Layout = M.getDataLayout();
    unsigned Bits = Layout.getIndexTypeSizeInBits(Address->getType());
    SmallMapVector<Value *, APInt, 4> Scales;
    APInt Constant(Bits, 0);
    if (!Address->collectOffset(Layout, Bits, Scales, Constant) || Scales.size() != 1)
      return {};
    bool IsAxis = isRegister(Scales.front().first, G.Direction == Along::Row ? Intrinsic::nvvm_read_ptx_sreg_tid_y : Intrinsic::nvvm_read_ptx_sreg_tid_x);
    int64_t Scale = Scales.front().second.getSExtValue();
    return IsAxis && Scale > 0 ? std::optional(Scale) : std::nullopt;
  }

  Function &F;
  Module &M;
  const Finder &Known;
  LoopInfo &Loops;
  Cluster &C;
  IRBuilder<> B;
  SmallSetVector<Value *, MostExchanged> Exchanged;
  DenseMap<Value *, GlobalVariable *> Places;
  DenseMap<const Pattern *, Value *> Vectors; // read at once, and which element is meant
  uint64_t InVector = 0;
  Value *X = nullptr, *Y = nullptr, *Square = nullptr;
};

// With the shadows of arrays; more than the limit where the launch decides: dynamic arrays may overlap, too.
uint64_t staticShared(const Function &F) {
  const Module &M = *F.getParent();
  uint64_t Bytes = 0;
  for (StringRef Name : sharedNames(F)) {
    const GlobalVariable *Array = M.getNamedGlobal(Name);
    if (!Array || Array->isDeclaration())
      return MostStaticShared + 1;
    Bytes += 2 * M.getDataLayout().getTypeAllocSize(Array->getValueType());
  }
  return Bytes;
}

void gatherAccumulations(Function &F, FunctionAnalysisManager &FAM) {
  if (sharedNames(F).empty())
    return;
  Meetings Meet(F, FAM.getResult<AAManager>(F));
  LoopInfo &Loops = FAM.getResult<LoopAnalysis>(F);
  Finder Known(F, Meet, Loops);
  uint64_t Shared = staticShared(F);
  for (Cluster &C : Known.find()) {
    Gatherer Write(F, Known, Loops, C);
    uint64_t Bytes = Write.bytes();
    if (Shared + Bytes > MostStaticShared)
      continue;
    Shared += Bytes;
    Write.run();
    if (!F.getParent()->getFunction(symbolOf(F))->hasFnAttribute("nvvm.maxntid"))
      F.addFnAttr(RegistersAttribute, MostRegisters);
  }
}

} // namespace

PreservedAnalyses GatherAccumulations::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration()) {
      gatherAccumulations(F, FAM);
      FAM.invalidate(F, PreservedAnalyses::none());
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
