#include "GPU/HoldLoads.h"
#include "Support/Threads.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

void holdLoads(ArrayRef<LoadInst *> Loads) {
  Instruction *Last = *max_element(Loads, [](LoadInst *One, LoadInst *Other) { return One->comesBefore(Other); });
  IRBuilder<> B(Last->getNextNode());
  B.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {activeLanes(B)});
}

bool isPlainWrite(const Instruction &I) {
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return Store->isSimple();
  auto *Update = dyn_cast<AtomicRMWInst>(&I);
  return Update && !Update->isVolatile() && !isStrongerThanMonotonic(Update->getOrdering());
}

} // namespace adgen
