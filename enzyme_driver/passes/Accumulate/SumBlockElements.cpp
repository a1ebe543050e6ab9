// Where all threads of a block add to one element of a shadow whose place follows from the block's index, as to a
// weight of the channel that a block convolves, every warp of many blocks would add at the same few lines of memory,
// one after the other. So a block adds such numbers up in shared memory and adds the sums to the shadow when all its
// threads have come to the end.
//
// The element's address is made of parameters, of the launch's extents and of the block's index, and so it is computed
// again at the end. The warps' sums are formed by what comes behind; elements that all blocks have in common are left
// to SumInBlocks.
#include "Accumulate/BlockEnd.h"
#include "Accumulate/HandOver.h"
#include "Accumulate/Ownership.h"
#include "Accumulate/WarpRows.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Local.h"

#define DEBUG_TYPE "adgen-sum-block-elements"

using namespace llvm;

STATISTIC(NumSums, "Number of sums of a block");

namespace adgen {
namespace {

constexpr size_t MostSums = 32;         // of a shadow, which lanes of one warp add
constexpr size_t MostInstructions = 32; // of an address

// What is computed of a common element's address, operands first; nothing where it may differ between the threads of a
// block.
class CommonAddress {
public:
  static std::optional<CommonAddress> of(const Value &Address, const Argument &Shadow) {
    CommonAddress Found;
    return Found.isCommon(Address, Shadow) && Found.isOfItsOwn() ? std::optional(std::move(Found)) : std::nullopt;
  }

  // The distance from the shadow's beginning, in bytes.
  Value *computeAgain(IRBuilder<> &B, const DataLayout &Layout) const {
    DenseMap<const Value *, Value *> Again;
    Value *Bytes = B.getInt64(0);
    for (const Instruction *I : Needed) {
      Instruction *Copy = I->clone();
      for (Use &U : Copy->operands())
        if (Value *V = Again.lookup(U))
          U = V;
      if (isa<GetElementPtrInst>(I)) {
        Bytes = B.CreateAdd(Bytes, emitGEPOffset(&B, Layout, Copy));
        Copy->deleteValue();
      } else
        Again[I] = B.Insert(Copy);
    }
    return Bytes;
  }

private:
  bool isCommon(const Value &V, const Argument &Shadow) {
    auto *I = dyn_cast<Instruction>(&V);
    if (!I)
      return &V == &Shadow || (isa<Argument, Constant>(V) && V.getType()->isIntegerTy());
    if (Needed.contains(I))
      return true;
    if (!isComputed(*I) || !all_of(I->operands(), [&](const Use &U) { return isCallee(U) || isCommon(*U, Shadow); }))
      return false;
    Needed.insert(I);
    return Needed.size() <= MostInstructions;
  }

  // Whether blocks have elements of their own.
  bool isOfItsOwn() const {
    return any_of(Needed, [](const Instruction *I) {
      auto *Register = dyn_cast<IntrinsicInst>(I);
      return Register && is_contained({Intrinsic::nvvm_read_ptx_sreg_ctaid_x, Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                       Intrinsic::nvvm_read_ptx_sreg_ctaid_z},
                                      Register->getIntrinsicID());
    });
  }

  static bool isCallee(const Use &U) { return isa<Function>(U); }

  static bool isComputed(const Instruction &I) {
    if (auto *Register = dyn_cast<IntrinsicInst>(&I))
      return isOfBlock(Register->getIntrinsicID());
    return isa<GetElementPtrInst, BinaryOperator, CmpInst, SelectInst>(I) ||
           (isa<CastInst>(I) && I.getType()->isIntegerTy() && I.getOperand(0)->getType()->isIntegerTy());
  }

  static bool isOfBlock(Intrinsic::ID Id) {
    return is_contained({Intrinsic::nvvm_read_ptx_sreg_ctaid_x, Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                         Intrinsic::nvvm_read_ptx_sreg_ctaid_z, Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
                         Intrinsic::nvvm_read_ptx_sreg_nctaid_y, Intrinsic::nvvm_read_ptx_sreg_nctaid_z,
                         Intrinsic::nvvm_read_ptx_sreg_ntid_x, Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                         Intrinsic::nvvm_read_ptx_sreg_ntid_z},
                        Id);
  }

  SmallSetVector<const Instruction *, 8> Needed;
};

// A shadow and the additions to common elements of it, each of which gets a sum.
struct Sums {
  Argument *Shadow;
  SmallVector<std::pair<AtomicRMWInst *, CommonAddress>> Additions;
  GlobalVariable *Own = nullptr;

  Type *type() const { return Additions.front().first->getType(); }
};

class Summer {
public:
  explicit Summer(Function &F) : F(F) {}

  bool run() {
    for (Argument &A : F.args())
      if (F.hasParamAttribute(A.getArgNo(), ShadowAttribute))
        find(A);
    if (All.empty() || roomInShared(F) < All.size() * MostSums * sizeof(double))
      return false;
    Instruction *End = commonReturn(F); // also where one walks over the grid: blocks have other elements
    Instruction *First = &*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
    IRBuilder<> B(First);
    Value *Thread = threadInBlock(B), *Threads = threadsOfBlock(B);
    for (Sums &Each : All)
      begin(Each, *First, Thread, Threads);
    waitForBlock(*First);
    waitForBlock(*End);
    for (const Sums &Each : reverse(All))
      finish(Each, *End, Thread, Threads);
    return true;
  }

private:
  void find(Argument &Shadow) {
    std::optional<Ownership::Uses> Uses = Ownership::usesOf(Shadow);
    if (!Uses || Uses->Others || !Uses->Consumptions.empty())
      return;
    Sums Found{&Shadow, {}};
    for (AtomicRMWInst *Atomic : Uses->Accumulations)
      if ((Atomic->getType()->isFloatTy() || Atomic->getType()->isDoubleTy()) && !Atomic->hasMetadata(SeldomMark) &&
          Found.Additions.size() < MostSums && (Found.Additions.empty() || Atomic->getType() == Found.type()))
        if (auto Address = CommonAddress::of(*Atomic->getPointerOperand(), Shadow))
          Found.Additions.push_back({Atomic, std::move(*Address)});
    if (!Found.Additions.empty())
      All.push_back(std::move(Found));
  }

  // The sums of the block, which are zero; additions lead there.
  void begin(Sums &Each, Instruction &First, Value *Thread, Value *Threads) {
    auto *T = ArrayType::get(Each.type(), Each.Additions.size());
    Each.Own = createExchange(F, T, ".common");
    forStrided(First, Thread, Threads, IRBuilder<>(&First).getInt32(T->getNumElements()), "common",
               [&](IRBuilder<> &B, Value *Index) {
                 B.CreateStore(Constant::getNullValue(Each.type()), place(B, Each, Index));
               });
    for (auto [Index, Addition] : enumerate(Each.Additions)) {
      ADGEN_COUNT(NumSums, *Addition.first);
      IRBuilder<> B(Addition.first);
      Addition.first->setOperand(0, B.CreateAddrSpaceCast(place(B, Each, B.getInt32(Index)), B.getPtrTy()));
    }
  }

  // Neighbouring lanes add neighbouring sums, which are often to elements side by side.
  void finish(const Sums &Each, Instruction &Before, Value *Thread, Value *Threads) {
    Value *Count = IRBuilder<>(&Before).getInt32(Each.Additions.size());
    forStrided(Before, Thread, Threads, Count, "common", [&](IRBuilder<> &B, Value *Index) {
      Value *Sum = B.CreateLoad(Each.type(), place(B, Each, Index));
      addUnlessZero(B, Sum, [&](IRBuilder<> &Where) { return element(Where, Each, Index); });
    });
  }

  // Which of the sums' elements it is.
  Value *element(IRBuilder<> &B, const Sums &Of, Value *Index) const {
    Value *Bytes = nullptr;
    for (auto [Number, Addition] : enumerate(Of.Additions)) {
      Value *Mine = Addition.second.computeAgain(B, F.getDataLayout());
      Bytes = Bytes ? B.CreateSelect(B.CreateICmpEQ(Index, B.getInt32(Number)), Mine, Bytes) : Mine;
    }
    return B.CreatePtrAdd(Of.Shadow, Bytes);
  }

  static Value *place(IRBuilder<> &B, const Sums &Of, Value *Index) {
    return B.CreateInBoundsGEP(Of.Own->getValueType(), Of.Own, {B.getInt32(0), Index});
  }

  Function &F;
  SmallVector<Sums> All;
};

} // namespace

ADGEN_DECLARE_PASS(SumBlockElements);

PreservedAnalyses SumBlockElements::run(Module &M, ModuleAnalysisManager &MAM) {
  bool Changed = false;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Changed |= Summer(F).run();
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
