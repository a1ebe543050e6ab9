#include "Accumulate/LaunchNumbers.h"
#include "Support/Threads.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

Value *LaunchNumbers::threads(unsigned Axis) {
  constexpr Intrinsic::ID Registers[] = {Intrinsic::nvvm_read_ptx_sreg_ntid_x, Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                                         Intrinsic::nvvm_read_ptx_sreg_ntid_z};
  return readRegister(B, Registers[Axis]);
}

// A gradient with a tape has them as its last arguments.
Value *LaunchNumbers::blocks(unsigned Axis) {
  constexpr Intrinsic::ID Registers[] = {Intrinsic::nvvm_read_ptx_sreg_nctaid_x, Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                                         Intrinsic::nvvm_read_ptx_sreg_nctaid_z};
  return F.hasFnAttribute(TapeAttribute) ? F.getArg(F.arg_size() - LaunchAxes + Axis)
                                         : readRegister(B, Registers[Axis]);
}

Value *LaunchNumbers::of(const Source &Extent) {
  unsigned Axis = reinterpret_cast<uintptr_t>(Extent.What);
  return B.CreateZExt(Extent.Of == Source::BlockSize ? threads(Axis) : blocks(Axis), B.getInt64Ty());
}

Value *LaunchNumbers::of(const Polynomial &P) {
  Value *Sum = B.getInt64(0);
  for (const auto &[Sources, Factor] : P.Terms) {
    Value *Product = B.getInt64(Factor);
    for (const Source &S : Sources)
      Product = B.CreateMul(of(S), Product);
    Sum = B.CreateAdd(Sum, Product);
  }
  return Sum;
}

} // namespace adgen
