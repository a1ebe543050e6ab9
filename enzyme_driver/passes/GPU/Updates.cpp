#include "GPU/Updates.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

static constexpr unsigned MostSteps = 8; // from an address to what it is computed from
static constexpr unsigned WarpSize = 32;

bool isPlainWrite(const Instruction &I) {
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return Store->isSimple();
  auto *Update = dyn_cast<AtomicRMWInst>(&I);
  return Update && !Update->isVolatile() && !isStrongerThanMonotonic(Update->getOrdering());
}

bool isGlobal(const Value &Pointer) {
  return Pointer.getType()->getPointerAddressSpace() < 2 &&
         !isa<AllocaInst, GlobalVariable>(getUnderlyingObject(&Pointer, 0));
}

bool isWholeElement(const LoadInst &Load) {
  return Load.getType()->isFloatingPointTy() &&
         Load.getAlign() >= Load.getDataLayout().getTypeStoreSize(Load.getType()).getFixedValue();
}

// Whether a number depends on how many threads a block has.
static bool countsThreads(const Value *Number, unsigned Depth = 0) {
  auto *I = dyn_cast<Instruction>(Number);
  if (!I || isa<PHINode>(I) || Depth > MostSteps)
    return false;
  if (auto *Register = dyn_cast<IntrinsicInst>(I))
    return is_contained({Intrinsic::nvvm_read_ptx_sreg_ntid_x, Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                         Intrinsic::nvvm_read_ptx_sreg_ntid_z},
                        Register->getIntrinsicID());
  return any_of(I->operands(), [&](const Value *Operand) { return countsThreads(Operand, Depth + 1); });
}

bool stridesByThreads(const Value *Address, const Loop &L, unsigned Depth) {
  auto *I = dyn_cast<Instruction>(Address);
  if (!I || L.isLoopInvariant(I) || Depth > MostSteps)
    return false;
  const Value *By = nullptr;
  if (auto *Phi = dyn_cast<PHINode>(I)) {
    bool IsCarried = L.getLoopLatch() && Phi->getParent() == L.getHeader();
    auto *Next = IsCarried ? dyn_cast<BinaryOperator>(Phi->getIncomingValueForBlock(L.getLoopLatch())) : nullptr;
    By = Next && Next->getOpcode() == Instruction::Add && Next->getOperand(0) == Phi ? Next->getOperand(1) : nullptr;
  } else if (I->getOpcode() == Instruction::Mul) {
    By = I->getOperand(L.isLoopInvariant(I->getOperand(1)) ? 1 : 0);
  } else if (I->getOpcode() == Instruction::Shl) {
    auto *Bits = dyn_cast<ConstantInt>(I->getOperand(1));
    return Bits && Bits->getZExtValue() >= Log2_64(WarpSize);
  }
  if (auto *Count = dyn_cast_if_present<ConstantInt>(By))
    return Count->getValue().abs().uge(WarpSize);
  if (By && L.isLoopInvariant(By) && countsThreads(By))
    return true;
  return !isa<PHINode>(I) &&
         any_of(I->operands(), [&](const Value *Operand) { return stridesByThreads(Operand, L, Depth + 1); });
}

StoreInst *storeOver(LoadInst &Load, AAResults &AA) {
  for (Instruction *I = Load.getNextNode(); I; I = I->getNextNode()) {
    auto *Store = dyn_cast<StoreInst>(I);
    if (Store && Store->isSimple() && Store->getPointerOperand() == Load.getPointerOperand())
      return Store->getValueOperand()->getType() == Load.getType() ? Store : nullptr;
    if (I->mayWriteToMemory() && (!isPlainWrite(*I) || isModSet(AA.getModRefInfo(I, MemoryLocation::get(&Load)))))
      return nullptr;
  }
  return nullptr;
}

} // namespace adgen
