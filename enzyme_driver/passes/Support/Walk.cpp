#include "Support/Walk.h"
#include "Support/Adgen.h"
#include "Support/Threads.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

static constexpr uint64_t ThreadsThatFit = 1024; // on a multiprocessor, if each has 64 registers
static constexpr uint64_t FewestTurns = 4;       // of a block

bool walks(const Function &Gradient) {
  return Gradient.hasFnAttribute(TapeAttribute) || Gradient.hasFnAttribute(WalkAttribute);
}

Value *stepOfWalk(IRBuilder<> &B) {
  Value *Processors = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_nsmid),
        *X = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_nctaid_x),
        *Y = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_nctaid_y),
        *Z = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_nctaid_z);
  Value *Each = B.CreateUDiv(B.getInt32(ThreadsThatFit), threadsOfBlock(B));
  Value *Fit = B.CreateUDiv(B.CreateMul(Processors, Each), B.CreateMul(Y, Z));
  Value *Some = B.CreateBinaryIntrinsic(Intrinsic::umax, Fit, B.getInt32(1));
  return B.CreateSelect(B.CreateICmpULT(X, B.CreateMul(Some, B.getInt32(FewestTurns))), X, Some);
}

} // namespace adgen
