// On a GPU, in gradients: two neighbouring numbers of 16 bits that lie in one word of shared memory are taken by one
// exchange of the word, or added to by one addition of a pair. Both of 16 bits are loops of compare-and-swaps on the
// word. It comes late, when it shows what is a multiple of four bytes. Shadows in global memory need not be aligned as
// what they are shadows of: there a number is added to with the pair in whose word it lies, to the other one of which
// comes the zero that changes nothing. A number that is taken alone is the half of its word that a mask sets to zero.
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

#include <map>

#define DEBUG_TYPE "adgen-pack-half-atomics"

using namespace llvm;

STATISTIC(NumExchanges, "Number of pairs taken by one exchange");
STATISTIC(NumAdditions, "Number of pairs added at once");
STATISTIC(NumTaken, "Number of numbers taken by a mask of their word");
STATISTIC(NumAdded, "Number of numbers added with their neighbour");

namespace adgen {
namespace {

constexpr int64_t Bytes = 2; // of a number
constexpr unsigned GlobalSpace = 1;

// Exchanges behind one pointer, or additions of one type, with nothing between them but arithmetic.
struct Run {
  const Value *Base = nullptr; // of exchanges
  Type *Of = nullptr;
  SmallVector<AtomicRMWInst *> Members;
};

// PTX adds pairs of bfloat from sm_90 on.
bool addsPairsOf(const Type &T, const Function &F) { return T.isHalfTy() || (T.isBFloatTy() && gpuOf(F) >= 90); }

bool isGlobal(const Value &Pointer) {
  if (Pointer.getType()->getPointerAddressSpace())
    return Pointer.getType()->getPointerAddressSpace() == GlobalSpace;
  auto *Member = dyn_cast<LoadInst>(getUnderlyingObject(&Pointer)); // of a struct that the caller gives
  auto *Given = Member ? dyn_cast<Argument>(getUnderlyingObject(Member->getPointerOperand())) : nullptr;
  return Given && Given->hasByValAttr() && Given->getParent()->getCallingConv() == CallingConv::PTX_Kernel;
}

class Packing {
public:
  explicit Packing(Function &F) : F(F), IsGradient(F.hasFnAttribute(ActivityAttribute)), DL(F.getDataLayout()) {}

  void run() {
    SmallVector<Run> Found;
    for (BasicBlock &Block : F)
      findIn(Block, Found);
    for (const Run &Each : Found)
      pair(Each);
    if (!IsGradient)
      return;
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
        widen(*Atomic);
  }

private:
  // What was not paired.
  void widen(AtomicRMWInst &Atomic) {
    bool IsSum = asAccumulation(Atomic) && isGlobal(*Atomic.getPointerOperand());
    if (takesHalf(Atomic))
      take(Atomic);
    else if (IsSum && addsPairsOf(*Atomic.getType(), F))
      addAlone(Atomic);
  }

  std::pair<const Value *, int64_t> placeOf(const AtomicRMWInst &Atomic) const {
    int64_t Offset = 0;
    const Value *Base = GetPointerBaseWithConstantOffset(Atomic.getPointerOperand(), Offset, DL);
    return {Base, Offset};
  }

  static bool takesHalf(const Instruction &I) {
    auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
    auto *Given = Atomic ? dyn_cast<Constant>(Atomic->getValOperand()) : nullptr;
    return Given && isConsumption(I) && Given->isNullValue() && Given->getType()->getPrimitiveSizeInBits() == 16;
  }

  static bool isShared(const AtomicRMWInst &Atomic) { return Atomic.getPointerAddressSpace() == SharedSpace; }

  static bool isExchange(const Instruction &I) { return takesHalf(I) && isShared(cast<AtomicRMWInst>(I)); }

  void findIn(BasicBlock &Block, SmallVectorImpl<Run> &Found) {
    Run Now;
    auto Close = [&] {
      if (Now.Members.size() > 1)
        Found.push_back(Now);
      Now = Run();
    };
    for (Instruction &I : Block) {
      AtomicRMWInst *Sum = asAccumulation(I);
      bool IsSum = Sum && (isShared(*Sum) || isGlobal(*Sum->getPointerOperand())) && addsPairsOf(*Sum->getType(), F);
      if (!IsSum && !isExchange(I)) {
        if (I.mayReadOrWriteMemory() || I.mayHaveSideEffects())
          Close();
        continue;
      }
      auto &Atomic = cast<AtomicRMWInst>(I);
      const Value *Base = IsSum ? nullptr : placeOf(Atomic).first;
      if (Now.Base != Base || Now.Of != Atomic.getType())
        Close();
      Now.Base = Base, Now.Of = Atomic.getType();
      Now.Members.push_back(&Atomic);
    }
    Close();
  }

  void pair(const Run &Each) {
    MapVector<const Value *, std::map<int64_t, AtomicRMWInst *>> Places;
    for (AtomicRMWInst *Atomic : Each.Members) {
      auto [Base, Offset] = placeOf(*Atomic);
      Places[Base].try_emplace(Offset, Atomic);
    }
    for (auto &[Base, Members] : Places)
      for (auto Low = Members.begin(); Low != Members.end(); ++Low) {
        auto High = std::next(Low);
        if (High == Members.end() || High->first != Low->first + Bytes || !beginsWord(*Low->second))
          continue;
        Each.Base ? exchange(*Low->second, *High->second) : add(*Low->second, *High->second);
        Low = High;
      }
  }

  bool beginsWord(AtomicRMWInst &Atomic) const {
    if (!isShared(Atomic))
      return Atomic.hasMetadata(BeginsWordMark);
    return std::max(Atomic.getAlign(), getKnownAlignment(Atomic.getPointerOperand(), DL, &Atomic)) >= 2 * Bytes;
  }

  // Where the first of them was.
  void exchange(AtomicRMWInst &Low, AtomicRMWInst &High) {
    ADGEN_COUNT(NumExchanges, Low);
    bool LowIsFirst = Low.comesBefore(&High);
    AtomicRMWInst &First = LowIsFirst ? Low : High;
    IRBuilder<> B(&First);
    Value *At = First.getPointerOperand();
    if (!LowIsFirst)
      At = B.CreateGEP(B.getInt8Ty(), At, B.getInt64(-Bytes));
    Value *Word = B.CreateAtomicRMW(AtomicRMWInst::Xchg, At, B.getInt32(0), Align(2 * Bytes), First.getOrdering(),
                                    First.getSyncScopeID());
    Value *Upper = B.CreateLShr(Word, 16);
    for (auto [Atomic, Bits] : {std::pair(&Low, Word), std::pair(&High, Upper)})
      Atomic->replaceAllUsesWith(B.CreateBitCast(B.CreateTrunc(Bits, B.getInt16Ty()), Atomic->getType()));
    Low.eraseFromParent();
    High.eraseFromParent();
  }

  // Where the last of them was.
  void add(AtomicRMWInst &Low, AtomicRMWInst &High) {
    ADGEN_COUNT(NumAdditions, Low);
    IRBuilder<> B(Low.comesBefore(&High) ? &High : &Low);
    Type *T = Low.getType();
    Value *Pair = PoisonValue::get(FixedVectorType::get(T, 2));
    Pair = B.CreateInsertElement(Pair, Low.getValOperand(), uint64_t(0));
    Pair = B.CreateInsertElement(Pair, High.getValOperand(), uint64_t(1));
    addPair(B, *T, Low.getPointerOperand(), B.CreateBitCast(Pair, B.getInt32Ty()));
    Low.eraseFromParent();
    High.eraseFromParent();
  }

  static void addPair(IRBuilder<> &B, const Type &T, Value *At, Value *Pair) {
    bool InShared = At->getType()->getPointerAddressSpace() == SharedSpace;
    if (!InShared)
      At = B.CreateAddrSpaceCast(At, B.getPtrTy(GlobalSpace));
    StringRef Space = InShared ? "shared" : "global";
    std::string Text = ("red." + Space + ".add.noftz." + (T.isHalfTy() ? "f16x2" : "bf16x2") + " [$0], $1;").str();
    auto *Form = FunctionType::get(B.getVoidTy(), {At->getType(), B.getInt32Ty()}, false);
    B.CreateCall(InlineAsm::get(Form, Text, "l,r,~{memory}", true), {At, Pair});
  }

  // The word that a number lies in, and by how many bits it is moved there.
  static std::pair<Value *, Value *> wordOf(IRBuilder<> &B, AtomicRMWInst &Atomic) {
    Value *At = Atomic.getPointerOperand(), *Address = B.CreatePtrToInt(At, B.getInt64Ty());
    Value *Behind = B.CreateAnd(Address, B.getInt64(Bytes));
    Value *Word = B.CreateGEP(B.getInt8Ty(), At, B.CreateNeg(Behind));
    return {Word, B.CreateTrunc(B.CreateShl(Behind, Log2_32(8)), B.getInt32Ty())};
  }

  static void take(AtomicRMWInst &Atomic) {
    ADGEN_COUNT(NumTaken, Atomic);
    IRBuilder<> B(&Atomic);
    auto [Word, Moved] = wordOf(B, Atomic);
    Value *Others = B.CreateNot(B.CreateShl(B.getInt32(0xffff), Moved));
    Value *Both = B.CreateAtomicRMW(AtomicRMWInst::And, Word, Others, Align(2 * Bytes), Atomic.getOrdering(),
                                    Atomic.getSyncScopeID());
    Value *Bits = B.CreateTrunc(B.CreateLShr(Both, Moved), B.getInt16Ty());
    Atomic.replaceAllUsesWith(B.CreateBitCast(Bits, Atomic.getType()));
    Atomic.eraseFromParent();
  }

  // A loop of compare-and-swaps otherwise. Negative zero changes no number, nor does it make one of what is none.
  static void addAlone(AtomicRMWInst &Atomic) {
    ADGEN_COUNT(NumAdded, Atomic);
    IRBuilder<> B(&Atomic);
    auto [Word, Moved] = wordOf(B, Atomic);
    Value *Bits = B.CreateZExt(B.CreateBitCast(Atomic.getValOperand(), B.getInt16Ty()), B.getInt32Ty());
    Value *Zero = B.CreateLShr(B.getInt32(0x80000000), Moved); // in the other half
    addPair(B, *Atomic.getType(), Word, B.CreateOr(B.CreateShl(Bits, Moved), Zero));
    Atomic.eraseFromParent();
  }

  Function &F;
  bool IsGradient; // of the primal are only pairs what they were in the source
  const DataLayout &DL;
};

} // namespace

ADGEN_DECLARE_PASS(PackHalfAtomics);

PreservedAnalyses PackHalfAtomics::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (!F.isDeclaration())
      Packing(F).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
