// Adds a whole record at once. Where a thread adds to many neighbouring elements of a shadow, as of a struct in an
// array that it has looked up, it leaves what it adds in shared memory, from where one bulk reduction (sm_90) takes it
// to the second-level cache: one message instead of one for each element. Threads beyond those that have room there add
// with atomics. Nothing else may be done with the shadow: the reductions end some time before the function does.
#include "Analysis/Accumulation.h"
#include "Analysis/ArrayRoots.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <map>

#define DEBUG_TYPE "adgen-bulk-reduce-atomics"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumRecords, "Number of runs of additions that became a bulk reduction");
STATISTIC(NumVectors, "Number of runs of additions that became one of 16, 8 or 4 bytes");

namespace adgen {
namespace {

constexpr uint64_t FewestBytes = 96;       // of a record; with 64 a gradient took 1.2 times as long as with atomics
constexpr uint64_t Alignment = 16;         // of what is reduced
constexpr uint64_t MostShared = 32 * 1024; // of a block
constexpr uint64_t Threads = 256;          // of a block that have room
constexpr StringLiteral RecordsSuffix = ".records"; // then a thread's bytes, for variants with less room (variants.py)

// Accumulations into neighbouring elements, in the order of these, and which of them comes last.
struct Record {
  SmallVector<AtomicRMWInst *> Elements;
  AtomicRMWInst *Last = nullptr;

  Type *type() const { return Elements.front()->getType(); }
  uint64_t bytes() const { return Elements.size() * type()->getPrimitiveSizeInBits() / 8; }
};

class Records {
public:
  explicit Records(Function &F) : F(F), M(*F.getParent()), DL(M.getDataLayout()), Shadows(F) {}

  void run() {
    uint64_t Room = std::min(MostShared, roomInShared(F));
    for (BasicBlock &Block : F)
      findIn(Block);
    if (Found.empty())
      return;
    for (const Record &R : Found)
      Stride = std::max(Stride, alignTo(R.bytes(), Alignment) + Alignment); // a record begins in it as in memory
    Room = std::min(Room, Threads * Stride);
    if (Room < Stride)
      return;
    auto *Bytes = ArrayType::get(Type::getInt8Ty(M.getContext()), Room);
    Slots = createExchange(F, Bytes, RecordsSuffix + Twine(Stride));
    Slots->setAlignment(Align(Alignment));
    for (const Record &R : Found)
      replace(R);
    for (BasicBlock &Block : F)
      if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator()))
        call(*Return, "adgen_end_records", Type::getVoidTy(M.getContext()), {});
  }

private:
  void findIn(BasicBlock &Block) {
    MapVector<std::pair<const Value *, Type *>, std::map<int64_t, AtomicRMWInst *>> ByPlace;
    for (Instruction &I : Block)
      if (AtomicRMWInst *Atomic = asAccumulation(I); Atomic && Shadows.contain(*Atomic->getPointerOperand())) {
        int64_t Offset = 0;
        const Value *Base = GetPointerBaseWithConstantOffset(Atomic->getPointerOperand(), Offset, DL);
        ByPlace[{Base, Atomic->getType()}].try_emplace(Offset, Atomic);
      }
    for (auto &[Place, Elements] : ByPlace) {
      int64_t Size = DL.getTypeStoreSize(Place.second), Next = 0;
      Record R;
      for (auto [Offset, Atomic] : Elements) {
        if (!R.Elements.empty() && Offset != Next)
          keep(std::exchange(R, Record()));
        R.Elements.push_back(Atomic);
        Next = Offset + Size;
      }
      keep(std::move(R));
    }
  }

  void keep(Record R) {
    if (R.Elements.empty() || R.bytes() < FewestBytes)
      return;
    R.Last = *max_element(R.Elements, [](const AtomicRMWInst *A, const AtomicRMWInst *B) { return A->comesBefore(B); });
    Found.push_back(std::move(R));
  }

  // Where the last of the additions was; they go where threads without room come by.
  void replace(const Record &R) {
    ADGEN_COUNT(NumRecords, *R.Last);
    AtomicRMWInst &Last = *R.Last;
    IRBuilder<> B(&Last);
    Value *Bytes = B.getInt32(Stride), *To = R.Elements.front()->getPointerOperand();
    Value *Room = B.getInt32(DL.getTypeAllocSize(Slots->getValueType()));
    Value *Has = call(Last, "adgen_has_slot", B.getInt1Ty(), {Bytes, Room});
    Instruction *Then = nullptr, *Else = nullptr;
    SplitBlockAndInsertIfThenElse(Has, Last.getIterator(), &Then, &Else);
    Value *Mine = call(*Then, "adgen_begin_record", Slots->getType(), {To, Slots, Bytes});
    B.SetInsertPoint(Then);
    for (auto [Index, Atomic] : enumerate(R.Elements))
      B.CreateStore(Atomic->getValOperand(), B.CreateConstInBoundsGEP1_64(R.type(), Mine, Index));
    StringRef End = R.type()->isFloatTy() ? "adgen_end_record_f32" : "adgen_end_record_f64";
    call(*Then, End, B.getVoidTy(), {To, Mine, B.getInt32(R.Elements.size())});
    for (AtomicRMWInst *Atomic : R.Elements)
      Atomic->moveBefore(Else->getIterator());
  }

  static CallInst *call(Instruction &Before, StringRef Name, Type *Result, ArrayRef<Value *> Arguments) {
    IRBuilder<> B(&Before);
    return callRule(B, Name, Result, Arguments);
  }

  Function &F;
  Module &M;
  const DataLayout &DL;
  SmallVector<Record> Found;
  AccumulatedShadows Shadows;
  GlobalVariable *Slots = nullptr;
  uint64_t Stride = 0;
};

// Neighbouring numbers are added by one instruction where they fill one piece of 16 bytes, as where the primal reads
// vectors or copies packs: lanes that add to vectors side by side would else add to every fourth float, four times.
// Three of a vector's four floats are added so, too, with zero for the other one. So
// are two numbers whose indices say that they fill one piece of 8 bytes, or of 4, if the array begins with one, as
// those of a feature: where some lanes have such a piece and others do not, all would take longer.
class Vectors {
public:
  explicit Vectors(Function &F) : DL(F.getDataLayout()), F(F), Roots(F), Shadows(F) {}

  void run() {
    SmallVector<Vector> Found;
    for (BasicBlock &Block : F)
      findIn(Block, Found);
    for (const Vector &Each : Found)
      replace(Each.Elements, *Each.Last);
  }

private:
  struct Vector {
    SmallVector<AtomicRMWInst *, 8> Elements;
    AtomicRMWInst *Last = nullptr; // of them in their block, which replacing others may split
  };
  static constexpr unsigned Bytes = 16, GlobalSpace = 1;

  static bool hasInstruction(const Type &T) { return T.isFloatTy() || T.isHalfTy() || T.isBFloatTy(); }

  // Then it is in global memory.
  bool isOfShadow(const Value &Pointer) const {
    auto Led = Roots.of(Pointer);
    return Led && all_of(*Led, [&](const ArrayRoot &Root) { return Roots.isShadow(Root); });
  }

  // Where an element is but for a constant: behind an address, or at an index, before it is widened, of an array.
  struct Place {
    const Value *Base, *Index = nullptr;
    unsigned Widening = 0;
    Type *T;

    bool operator==(const Place &Other) const {
      return std::tie(Base, Index, Widening, T) == std::tie(Other.Base, Other.Index, Other.Widening, Other.T);
    }
  };
  using Places = SmallVector<std::pair<Place, std::map<int64_t, AtomicRMWInst *>>>;

  // The index of the second of two features is (2 * i) | 1, as 32 bits.
  Place placeOf(const Value *Base, Type *T, int64_t &Offset) const {
    auto *GEP = dyn_cast<GetElementPtrInst>(Base);
    if (!GEP || GEP->getNumIndices() != 1 ||
        DL.getTypeAllocSize(GEP->getSourceElementType()) != DL.getTypeStoreSize(T)) // __half is a struct
      return {.Base = Base, .T = T};
    const Value *Index = GEP->getOperand(1), *Even = nullptr;
    unsigned Widening = isa<ZExtInst, SExtInst>(Index) ? cast<CastInst>(Index)->getOpcode() : 0;
    if (Widening)
      Index = cast<CastInst>(Index)->getOperand(0);
    const APInt *Odd = nullptr;
    if (match(Index, m_DisjointOr(m_Value(Even), m_APInt(Odd))) && Odd->isNonNegative()) {
      Offset += Odd->getZExtValue() * DL.getTypeStoreSize(T);
      Index = Even;
    }
    return {GEP->getPointerOperand(), Index, Widening, T};
  }

  static std::map<int64_t, AtomicRMWInst *> &at(Places &Known, const Place &Where) {
    auto *Found = find_if(Known, [&](const auto &Each) { return Each.first == Where; });
    return Found == Known.end() ? Known.emplace_back(Where, std::map<int64_t, AtomicRMWInst *>()).second
                                : Found->second;
  }

  // What was kept for the reverse sweep is not defined where the forward sweep did not come by.
  unsigned trailingZeros(const Value *V) const {
    while (isa<ZExtInst, SExtInst>(V))
      V = cast<CastInst>(V)->getOperand(0);
    auto *Kept = dyn_cast<PHINode>(V);
    if (!Kept)
      return computeKnownBits(V, DL).countMinTrailingZeros();
    unsigned Least = V->getType()->getIntegerBitWidth();
    for (const Value *Way : Kept->incoming_values())
      if (!isa<UndefValue>(Way))
        Least = std::min(Least, computeKnownBits(Way, DL).countMinTrailingZeros());
    return Least;
  }

  // Whether the address is a multiple of a pair's bytes behind where the array begins.
  bool beginsPair(const Value *Pointer, uint64_t PairBytes) const {
    for (; auto *GEP = dyn_cast<GEPOperator>(Pointer); Pointer = GEP->getPointerOperand()) {
      SmallMapVector<Value *, APInt, 4> Indices;
      APInt Constant(64, 0);
      if (!GEP->collectOffset(DL, 64, Indices, Constant) || Constant.urem(PairBytes))
        return false;
      for (auto &[Index, Size] : Indices)
        if (trailingZeros(Index) + Size.countr_zero() < Log2_32(PairBytes))
          return false;
    }
    return true;
  }

  // A shadow that is also read, or added to by a call, is not while the additions come.
  void findIn(BasicBlock &Block, SmallVectorImpl<Vector> &Found) {
    Places Alone, Others;
    for (Instruction &I : Block) {
      AtomicRMWInst *Atomic = asAccumulation(I);
      if (!Atomic && mayMeetShadows(I))
        take(std::exchange(Others, {}), Found);
      if (!Atomic || !hasInstruction(*Atomic->getType()) || Atomic->getPointerAddressSpace() ||
          !isOfShadow(*Atomic->getPointerOperand()))
        continue;
      int64_t Offset = 0;
      const Value *Base = GetPointerBaseWithConstantOffset(Atomic->getPointerOperand(), Offset, DL);
      Places &Known = Shadows.contain(*Base) ? Alone : Others;
      const Place Where = placeOf(Base, Atomic->getType(), Offset);
      at(Known, Where).try_emplace(Offset, Atomic);
    }
    take(Others, Found);
    take(Alone, Found);
  }

  bool mayMeetShadows(const Instruction &I) const {
    if (!I.mayReadOrWriteMemory())
      return false;
    auto *Load = dyn_cast<LoadInst>(&I);
    auto Led = Load ? Roots.of(*Load->getPointerOperand()) : std::nullopt;
    return !Led || any_of(*Led, [&](const ArrayRoot &Root) { return Roots.isShadow(Root); });
  }

  void take(const Places &Known, SmallVectorImpl<Vector> &Found) const {
    for (auto &[Where, Atomics] : Known) {
      int64_t Size = DL.getTypeStoreSize(Where.T), Next = 0;
      Vector Run;
      for (auto [Offset, Atomic] : Atomics) {
        if (Offset != Next)
          takePairs(std::exchange(Run, {}), Found);
        add(Run, Atomic);
        Next = Offset + Size;
        if (Run.Elements.size() * Size == Bytes)
          Found.push_back(std::exchange(Run, {}));
      }
      takePairs(Run, Found);
    }
  }

  // Without the last float of a vector, which is there: nothing that begins at 16 bytes is shorter.
  static bool isMostOfVector(const Vector &Run) {
    constexpr size_t Floats = 3;
    const AtomicRMWInst *First = Run.Elements.size() == Floats ? Run.Elements.front() : nullptr;
    return First && First->getType()->isFloatTy() && First->getAlign().value() >= Bytes;
  }

  static void add(Vector &Run, AtomicRMWInst *Atomic) {
    Run.Elements.push_back(Atomic);
    if (!Run.Last || Run.Last->comesBefore(Atomic))
      Run.Last = Atomic;
  }

  void takePairs(const Vector &Run, SmallVectorImpl<Vector> &Found) const {
    if (isMostOfVector(Run))
      return Found.push_back(Run);
    for (size_t First = 0; First + 1 < Run.Elements.size();) {
      AtomicRMWInst *Atomic = Run.Elements[First];
      if (!beginsPair(Atomic->getPointerOperand(), 2 * DL.getTypeStoreSize(Atomic->getType()))) {
        ++First;
        continue;
      }
      Vector Pair;
      add(Pair, Atomic);
      add(Pair, Run.Elements[First + 1]);
      Found.push_back(Pair);
      First += 2;
    }
  }

  // Where the last of them was. Zeros are not added, as of an input that has no part in the result.
  void replace(ArrayRef<AtomicRMWInst *> Elements, AtomicRMWInst &Last) {
    ADGEN_COUNT(NumVectors, Last);
    IRBuilder<> B(&Last);
    Value *Any = B.getFalse();
    for (AtomicRMWInst *Atomic : Elements)
      Any = B.CreateOr(Any, B.CreateFCmpUNE(Atomic->getValOperand(), Constant::getNullValue(Atomic->getType())));
    Instruction *Adds = SplitBlockAndInsertIfThen(Any, Last.getIterator(), false);
    B.SetInsertPoint(Adds);
    Value *To = Elements.front()->getPointerOperand(), *Address = B.CreatePtrToInt(To, B.getInt64Ty());
    const uint64_t InAll = PowerOf2Ceil(Elements.size()) * DL.getTypeStoreSize(Elements.front()->getType());
    Value *IsWhole = B.CreateICmpEQ(B.CreateAnd(Address, InAll - 1), B.getInt64(0));
    Instruction *Then = nullptr, *Else = nullptr;
    SplitBlockAndInsertIfThenElse(IsWhole, Adds->getIterator(), &Then, &Else);
    B.SetInsertPoint(Then);
    addTogether(B, To, Elements);
    for (AtomicRMWInst *Atomic : Elements)
      Atomic->moveBefore(Else->getIterator());
  }

  // red.global.add.v4.f32 or v2, or red.global.add.noftz.v8 or v2 of 16 bits.
  static void addTogether(IRBuilder<> &B, Value *To, ArrayRef<AtomicRMWInst *> Elements) {
    Type *T = Elements.front()->getType(), *Register = T->isFloatTy() ? T : B.getInt16Ty();
    SmallVector<Value *> Operands{B.CreateAddrSpaceCast(To, B.getPtrTy(GlobalSpace))};
    SmallVector<Type *> Types{Operands[0]->getType()};
    const StringRef Kind = T->isFloatTy() ? "f32" : T->isHalfTy() ? "f16" : "bf16";
    std::string Text = ("red.global.add." + Twine(T->isFloatTy() ? "v" : "noftz.v") +
                        Twine(PowerOf2Ceil(Elements.size())) + "." + Kind)
                           .str();
    std::string Constraints = "l";
    for (size_t Index = 0; Index < PowerOf2Ceil(Elements.size()); ++Index) {
      Value *Number = Index < Elements.size() ? Elements[Index]->getValOperand() : Constant::getNullValue(T);
      Operands.push_back(B.CreateBitCast(Number, Register));
      Types.push_back(Register);
      Text += ((Index ? ", $" : " [$0], {$") + Twine(Index + 1)).str();
      Constraints += T->isFloatTy() ? ",f" : ",h";
    }
    auto *Form = FunctionType::get(B.getVoidTy(), Types, false);
    B.CreateCall(InlineAsm::get(Form, Text + "};", Constraints + ",~{memory}", true), Operands);
  }

  const DataLayout &DL;
  Function &F;
  ArrayRoots Roots;
  AccumulatedShadows Shadows;
};

} // namespace

ADGEN_DECLARE_PASS(BulkReduceAtomics);

PreservedAnalyses BulkReduceAtomics::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration()) {
      Records(F).run();
      Vectors(F).run();
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
