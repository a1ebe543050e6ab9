// Turns accumulations into shared shadows round. Where every thread of a row of the block adds to all elements of a row
// of the array, as the gradient of a tiled product does, each thread computes what all of them add to one element, and
// adds it once: element k is left to the thread with index k. What it needs of the other threads is read from the
// shared arrays by their indices, or handed over in shared memory, before the loop where it stays the same throughout;
// what such an array held before it was filled again is put into a copy of it. The same for columns.
//
// The block has to be as wide and as high as there are elements, which is found out when the kernel runs; otherwise the
// accumulations stay as they are. All threads of the block have to come there, and barriers stand around what they do
// for each other; those that are there already count.
#include "Accumulate/AccumulationGroups.h"
#include "Accumulate/Exchange.h"
#include "Accumulate/ShowGroups.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#define DEBUG_TYPE "adgen-gather-accumulations"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumClusters, "Number of clusters of accumulations gathered");

namespace adgen {
namespace {

constexpr unsigned MostExchanged = 8; // values of a thread that others need
// Of large blocks. Barriers stand all along, and only other blocks have something to do meanwhile: with more registers
// there is no room for them.
constexpr StringLiteral MostRegisters = "64";
constexpr unsigned Unrolled = 4;
constexpr uint64_t BankBytes = 128; // what lies side by side in shared memory

// Writes one cluster.
class Gatherer {
public:
  Gatherer(Function &F, const GroupFinder &Known, LoopInfo &Loops, GroupCluster &C, Exchange &Shared)
      : F(F), M(*F.getParent()), Known(Known), Loops(Loops), C(C), Shared(Shared), B(F.getContext()) {
    for (const AccumulationGroup &G : C.Groups)
      findExchanged(*G.Added);
  }

  // Finds room for what threads hand over.
  bool fits() {
    if (Exchanged.size() > MostExchanged)
      return false;
    for (auto [Number, V] : enumerate(Exchanged))
      Places[V] = Shared.place(V->getType(), C.count() * C.count(), Number, isKeptOutside(V));
    SmallPtrSet<const Value *, 4> Arrays; // of which there is one copy each
    for (StoreInst *Store : PutBack)
      Copies[Store] = Arrays.insert(getUnderlyingObject(Store->getPointerOperand())).second ? copyFor(*Store) : nullptr;
    return Shared.isKnown() && all_of(Exchanged, [&](Value *V) { return Places.lookup(V); }) &&
           all_of(PutBack, [&](StoreInst *Store) { return Copies.lookup(Store); });
  }

  void run() {
    readRegisters();
    for (StringRef Name : sharedNames(F))
      if (GlobalVariable *Array = M.getNamedGlobal(Name); Array->getAlign().valueOrOne() < Exchange::VectorBytes)
        Array->setAlignment(Align(Exchange::VectorBytes));
    for (Value *V : Exchanged)
      if (isKeptOutside(V))
        exchangeOutside(V);
    Instruction *Last = lastMember();
    bool Closed = isClosed(*Last);
    BasicBlock *Head = Last->getParent(),
               *Tail = SplitBlock(Head, std::next(Last->getIterator()), static_cast<DomTreeUpdater *>(nullptr), &Loops);
    auto *Gather = BasicBlock::Create(F.getContext(), "gather", &F, Tail),
         *Scatter = BasicBlock::Create(F.getContext(), "scatter", &F, Tail);
    Head->getTerminator()->eraseFromParent();
    B.SetInsertPoint(Head);
    B.CreateCondBr(Square, Gather, Scatter);
    B.SetInsertPoint(Gather);
    gather(Closed);
    B.CreateBr(Tail);
    B.SetInsertPoint(Scatter);
    if (!PutBack.empty()) {
      barrier();
      putBack();
      barrier();
    }
    for (const AccumulationGroup &G : C.Groups)
      scatter(G);
    B.CreateBr(Tail);
    for (const AccumulationGroup &G : C.Groups)
      for (AtomicRMWInst *Member : G.Members)
        Member->eraseFromParent();
  }

private:
  void findExchanged(const AddedPattern &P) {
    if (P.Kind == AddedPattern::Same && !isa<Constant>(P.First) && !Known.isUniform(P.First))
      Exchanged.insert(P.First);
    if (P.PutBack)
      PutBack.insert(P.PutBack);
    for (const auto &Operand : P.Operands)
      findExchanged(*Operand);
  }

  // What an array of a kernel's own held is put back into a copy of it: it may hold something else now that is needed.
  GlobalVariable *copyFor(const StoreInst &Store) const {
    auto *A = cast<Argument>(getUnderlyingObject(Store.getPointerOperand()));
    auto Names = sharedNames(F);
    unsigned Behind = F.hasFnAttribute(TapeAttribute) ? TapeArguments : 0;
    unsigned Number = A->getArgNo() - (F.arg_size() - 2 * Names.size() - Behind);
    GlobalVariable *Array = M.getNamedGlobal(Names[Number]);
    Type *T = Store.getValueOperand()->getType();
    if (!Array || Array->isDeclaration())
      return nullptr;
    uint64_t Bytes = M.getDataLayout().getTypeAllocSize(Array->getValueType());
    return Shared.place(T, divideCeil(Bytes, M.getDataLayout().getTypeAllocSize(T)), MostExchanged + Number, false);
  }

  void putBack() {
    for (StoreInst *Store : PutBack)
      B.CreateStore(Store->getValueOperand(), inCopy(*Store, Store->getPointerOperand()));
  }

  Value *inCopy(const StoreInst &Store, Value *At) {
    Value *Array = const_cast<Value *>(getUnderlyingObject(Store.getPointerOperand()));
    Value *Bytes = B.CreateSub(B.CreatePtrToInt(At, B.getInt64Ty()), B.CreatePtrToInt(Array, B.getInt64Ty()));
    return B.CreateGEP(B.getInt8Ty(), Copies.lookup(&Store), Bytes);
  }

  // Where an element lies that a thread reads.
  Value *readAt(const AddedPattern &P, Value *AtX, Value *AtY, Value *Element) {
    Value *At = element(inThread(P.Begin.Base, AtX, AtY), P.Begin.Offset, P.Stride, Element);
    return P.PutBack ? inCopy(*P.PutBack, At) : At;
  }

  void readRegisters() {
    B.SetInsertPoint(F.getEntryBlock().getFirstInsertionPt());
    X = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_tid_x);
    Y = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_tid_y);
    Value *Count = B.getInt32(C.count());
    Value *Wide = B.CreateICmpEQ(readRegister(B, Intrinsic::nvvm_read_ptx_sreg_ntid_x), Count);
    Value *High = B.CreateICmpEQ(readRegister(B, Intrinsic::nvvm_read_ptx_sreg_ntid_y), Count);
    Value *Flat = B.CreateICmpEQ(readRegister(B, Intrinsic::nvvm_read_ptx_sreg_ntid_z), B.getInt32(1));
    Square = B.CreateAnd(B.CreateAnd(Wide, High), Flat, "square");
  }

  void barrier() { B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, {}, {B.getInt32(0)}); }

  bool isKeptOutside(const Value *V) const {
    auto *I = dyn_cast<Instruction>(V);
    return C.Outside && !(I && C.Around->contains(I));
  }

  // Handed over before the loop.
  void exchangeOutside(Value *V) {
    B.SetInsertPoint(SplitBlockAndInsertIfThen(Square, C.Outside->getIterator(), false, nullptr,
                                               static_cast<DomTreeUpdater *>(nullptr), &Loops));
    barrier();
    handOver(V);
    barrier();
  }

  // Every thread's value, by y and x.
  void handOver(Value *V) { B.CreateStore(V, exchangedAt(V, X, Y)); }

  Value *exchangedAt(Value *V, Value *AtX, Value *AtY) {
    Value *Index = B.CreateAdd(B.CreateMul(AtY, B.getInt32(C.count())), AtX);
    return B.CreateInBoundsGEP(V->getType(), Places.lookup(V), Index);
  }

  Instruction *lastMember() const {
    auto Reversed = reverse(C.Where.Instructions);
    return *find_if(Reversed, [&](Instruction *I) {
      return any_of(C.Groups, [&](const AccumulationGroup &G) { return is_contained(G.Members, I); });
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
    bool HandsOver = false;
    for (Value *V : Exchanged)
      if (!isKeptOutside(V)) {
        handOver(V);
        HandsOver = true;
      }
    putBack();
    if (HandsOver || !PutBack.empty())
      barrier();
    SmallVector<Value *> Sums(map_range(C.Groups, [&](const AccumulationGroup &G) { return sumOf(G); }));
    for (auto [G, Sum] : zip_equal(C.Groups, Sums))
      addTo(G, Sum);
    if (!Closed)
      barrier();
  }

  Value *sumOf(const AccumulationGroup &G) { return G.Direction == Along::Row ? sumOfRow(G) : sumOfColumn(G); }

  Value *sumOfColumn(const AccumulationGroup &G) {
    return sumOver(G, C.count(), [&](Value *Step, Value *Sum) { return sum(Sum, valueIn(*G.Added, X, Step, Y)); });
  }

  // What is read of neighbours in a row lies in vectors. Threads whose rows lie in the same banks begin with different
  // ones.
  Value *sumOfRow(const AccumulationGroup &G) {
    uint64_t Size = M.getDataLayout().getTypeAllocSize(G.type()),
             Wide = std::gcd<uint64_t>(Exchange::VectorBytes / Size, C.count());
    uint64_t Turns = C.count() / Wide;
    return sumOver(G, Turns, [&](Value *Step, Value *Sum) {
      Value *First = B.CreateMul(inTurn(Step, Turns, C.count() * Size), B.getInt32(Wide), "", true, true);
      if (Wide > 1)
        readVectors(*G.Added, First, Wide);
      for (uint64_t I = 0; I < Wide; ++I) {
        InVector = I;
        Sum = sum(Sum, valueIn(*G.Added, B.CreateAdd(First, B.getInt32(I), "", true, true), Y, X));
      }
      Vectors.clear();
      return Sum;
    });
  }

  Value *inTurn(Value *Step, uint64_t Turns, uint64_t RowBytes) {
    if (!isPowerOf2_64(Turns) || !isPowerOf2_64(RowBytes))
      return Step; // such rows do not begin in the same bank
    Value *Turn = B.CreateAdd(Step, B.CreateLShr(X, Log2_64(std::max<uint64_t>(BankBytes / RowBytes, 1))));
    return B.CreateAnd(Turn, B.getInt32(Turns - 1));
  }

  // Reads at once what threads from `First` on have, where that lies side by side and begins at a multiple of the
  // vector's size.
  void readVectors(const AddedPattern &P, Value *First, uint64_t Wide) {
    for (const auto &Operand : P.Operands)
      readVectors(*Operand, First, Wide);
    Value *At = nullptr;
    if (P.Kind == AddedPattern::Same && Exchanged.contains(P.First))
      At = exchangedAt(P.First, First, Y);
    else if (P.Kind == AddedPattern::Loaded && isInVectors(P))
      At = readAt(P, First, Y, X);
    uint64_t Bytes = Wide * M.getDataLayout().getTypeAllocSize(P.First->getType());
    if (At && Bytes <= Exchange::VectorBytes)
      Vectors[&P] = B.CreateAlignedLoad(FixedVectorType::get(P.First->getType(), Wide), At, Align(Bytes));
  }

  // Arrays begin at multiples of a vector's size.
  bool isInVectors(const AddedPattern &P) const {
    bool Aligned = isa<Argument>(P.Begin.Object) && P.Begin.Constant % Exchange::VectorBytes == 0 &&
                   P.Stride % int64_t(Exchange::VectorBytes) == 0,
         AlongX = false;
    for (auto &[Index, Scale] : P.Begin.Scales) {
      bool IsX = isRegister(Index, Intrinsic::nvvm_read_ptx_sreg_tid_x) &&
                 Scale == int64_t(M.getDataLayout().getTypeAllocSize(P.First->getType()));
      AlongX |= IsX;
      Aligned &= IsX || Scale % int64_t(Exchange::VectorBytes) == 0;
    }
    return Aligned && AlongX;
  }

  static bool isRegister(const Value *Index, Intrinsic::ID Register) {
    if (auto *Cast = dyn_cast<CastInst>(Index); Cast && isa<ZExtInst, SExtInst>(Cast))
      Index = Cast->getOperand(0);
    return intrinsicOf(Index) == Register;
  }

  // A loop that adds up, or the same in one go.
  Value *sumOver(const AccumulationGroup &G, uint64_t Steps, function_ref<Value *(Value *, Value *)> Add) {
    Value *Total = ConstantFP::get(G.type(), 0.0);
    if (C.isShort()) {
      for (uint64_t Step = 0; Step < Steps; ++Step)
        Total = Add(B.getInt32(Step), Total);
      return Total;
    }
    unsigned Unroll = G.Direction == Along::Row ? 1 : Unrolled;
    loop("gather.add", Steps, Unroll, [&](BasicBlock *Before, Value *Step) {
      PHINode *Sum = PHINode::Create(G.type(), 2, "", B.GetInsertBlock()->begin());
      Total = Add(Step, Sum);
      Sum->addIncoming(ConstantFP::get(G.type(), 0.0), Before);
      Sum->addIncoming(Total, B.GetInsertBlock());
    });
    return Total;
  }

  // What the members have done, one after the other.
  void scatter(const AccumulationGroup &G) {
    auto addOne = [&](Value *Step) {
      add(G, element(G.Begin.Base, G.Begin.Offset, G.Stride, Step), valueIn(*G.Added, X, Y, Step));
    };
    if (!C.isShort())
      return loop("scatter.add", C.count(), 1, [&](BasicBlock *, Value *Step) { addOne(Step); });
    for (int64_t Step = 0; Step < C.count(); ++Step)
      addOne(B.getInt32(Step));
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
    auto *Count = MDNode::get(
        Context, {MDString::get(Context, "llvm.loop.unroll.count"), ConstantAsMetadata::get(B.getInt32(Times))});
    auto *Hints = MDNode::getDistinct(Context, {nullptr, Count});
    Hints->replaceOperandWith(0, Hints);
    Branch.setMetadata(LLVMContext::MD_loop, Hints);
  }

  Value *sum(Value *Sum, Value *Next) {
    if (match(Sum, m_PosZeroFP()))
      return Next;
    IRBuilder<>::FastMathFlagGuard Guard(B);
    FastMathFlags Flags;
    if (auto *Made = dyn_cast<FPMathOperator>(Next))
      Flags.setAllowContract(Made->hasAllowContract());
    B.setFastMathFlags(Flags);
    return B.CreateFAdd(Sum, Next);
  }

  Value *elementIndex(Along Direction) const { return Direction == Along::Row ? X : Y; }

  // What the thread with these indices adds to an element.
  Value *valueIn(const AddedPattern &P, Value *AtX, Value *AtY, Value *Element) {
    bool IsOwn = AtX == X && AtY == Y;
    if (Value *Vector = Vectors.lookup(&P))
      return B.CreateExtractElement(Vector, InVector);
    if (P.Kind == AddedPattern::Same)
      return Exchanged.contains(P.First) && !IsOwn ? B.CreateLoad(P.First->getType(), exchangedAt(P.First, AtX, AtY))
                                                   : P.First;
    if (P.Kind == AddedPattern::Loaded)
      return B.CreateLoad(P.First->getType(), readAt(P, AtX, AtY, Element));
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
    if (intrinsicOf(V) == Intrinsic::nvvm_read_ptx_sreg_tid_x)
      return AtX;
    if (intrinsicOf(V) == Intrinsic::nvvm_read_ptx_sreg_tid_y)
      return AtY;
    if (Known.isUniform(V) || intrinsicOf(V) != Intrinsic::not_intrinsic)
      return V;
    Instruction *Made = cast<Instruction>(V)->clone();
    for (Use &U : Made->operands())
      U.set(inThread(U.get(), AtX, AtY));
    return B.Insert(Made);
  }

  Value *element(Value *Base, int64_t Offset, int64_t Stride, Value *Index) {
    Value *Bytes =
        B.CreateAdd(B.CreateMul(B.CreateZExt(Index, B.getInt64Ty()), B.getInt64(Stride)), B.getInt64(Offset));
    return B.CreateGEP(B.getInt8Ty(), Base, Bytes);
  }

  void addTo(const AccumulationGroup &G, Value *Sum) {
    Value *At = element(G.Begin.Base, G.Begin.Offset, G.Stride, elementIndex(G.Direction));
    if (isOwned(G)) {
      B.CreateStore(sum(B.CreateLoad(Sum->getType(), At), Sum), At);
      return;
    }
    add(G, At, Sum);
  }

  void add(const AccumulationGroup &G, Value *At, Value *Number) {
    auto *Atomic = cast<AtomicRMWInst>(B.Insert(G.Members.front()->clone()));
    Atomic->setOperand(0, At);
    Atomic->setOperand(1, Number);
  }

  // Whether no other thread adds to the element: no two threads have one element, and what else is added to this array
  // there is added to the elements of groups that lie elsewhere.
  bool isOwned(const AccumulationGroup &G) const {
    std::optional<int64_t> Other = strideOfOtherAxis(G);
    int64_t Stride = std::abs(G.Stride), Count = C.count();
    if (!Other || (*Other < Count * Stride && Stride < Count * *Other))
      return false;
    int64_t Bytes = (Count - 1) * (Stride + *Other) + M.getDataLayout().getTypeAllocSize(G.type());
    return all_of(C.Where.Instructions, [&](Instruction *I) {
      AtomicRMWInst *A = asAccumulation(*I);
      return !A || getUnderlyingObject(A->getPointerOperand()) != G.Begin.Object || is_contained(G.Members, A) ||
             isElsewhere(*A, G, Bytes);
    });
  }

  // Whether the accumulation is one of a group that is like this one, and as many bytes away as the elements of all
  // threads take.
  bool isElsewhere(const AtomicRMWInst &A, const AccumulationGroup &G, int64_t Bytes) const {
    return any_of(C.Groups, [&](const AccumulationGroup &Other) {
      return is_contained(Other.Members, &A) && Other.Begin.isNear(G.Begin) && Other.Stride == G.Stride &&
             Other.type() == G.type() && std::abs(Other.Begin.Constant - G.Begin.Constant) >= Bytes;
    });
  }

  // How far what neighbours across the group begin with is apart, where the place is a multiple of one index.
  std::optional<int64_t> strideOfOtherAxis(const AccumulationGroup &G) const {
    if (!isa<Argument>(G.Begin.Object) || G.Begin.Scales.size() != 1)
      return {};
    auto [Index, Scale] = G.Begin.Scales.front();
    bool IsAxis = isRegister(Index, G.Direction == Along::Row ? Intrinsic::nvvm_read_ptx_sreg_tid_y
                                                              : Intrinsic::nvvm_read_ptx_sreg_tid_x);
    return IsAxis && Scale > 0 ? std::optional(Scale) : std::nullopt;
  }

  Function &F;
  Module &M;
  const GroupFinder &Known;
  LoopInfo &Loops;
  GroupCluster &C;
  Exchange &Shared;
  IRBuilder<> B;
  SmallSetVector<Value *, MostExchanged> Exchanged;
  SmallSetVector<StoreInst *, 4> PutBack;
  DenseMap<Value *, GlobalVariable *> Places;
  DenseMap<const StoreInst *, GlobalVariable *> Copies;
  DenseMap<const AddedPattern *, Value *> Vectors; // read at once, and which element is meant
  uint64_t InVector = 0;
  Value *X = nullptr, *Y = nullptr, *Square = nullptr;
};

void gatherAccumulations(Function &F, FunctionAnalysisManager &FAM) {
  if (sharedNames(F).empty())
    return;
  showGroups(F, FAM);
  Meetings Meet(F, FAM.getResult<AAManager>(F));
  LoopInfo &Loops = FAM.getResult<LoopAnalysis>(F);
  GroupFinder Known(F, Meet, Loops);
  Exchange Shared(F);
  for (GroupCluster &C : Known.find()) {
    Gatherer Write(F, Known, Loops, C, Shared);
    if (!Write.fits())
      continue;
    ADGEN_COUNT(NumClusters, *C.Groups.front().Members.front());
    Write.run();
    if (!C.isShort() && !F.getParent()->getFunction(symbolOf(F))->hasFnAttribute("nvvm.maxntid"))
      F.addFnAttr(RegistersAttribute, MostRegisters);
  }
}

} // namespace

ADGEN_DECLARE_PASS(GatherAccumulations);

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
