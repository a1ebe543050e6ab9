// In bodies, a permutation of bytes (__byte_perm) that moves two numbers of 16 bits whole, of the four that it is
// given, is one of the numbers, which has a derivative. Where the order is computed, or parts of numbers move, it
// stays, and is refused if these have a derivative (adgen-refuse-unsupported).
#include "Support/Pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

// A vector of two numbers of 16 bits that a word is, or is made of; null where that is not seen.
Type *numbersOf(Value &Word) {
  auto Numbers = [](Type *T) {
    auto *Vector = dyn_cast<FixedVectorType>(T);
    Type *Part = Vector && Vector->getNumElements() == 2 ? Vector->getElementType() : nullptr;
    return Part && (Part->isHalfTy() || Part->isBFloatTy()) ? T : nullptr;
  };
  if (auto *Cast = dyn_cast<BitCastInst>(&Word))
    if (Type *T = Numbers(Cast->getSrcTy()))
      return T;
  if (isa<Constant>(Word)) // constants know no users
    return nullptr;
  for (User *U : Word.users())
    if (auto *Cast = dyn_cast<BitCastInst>(U))
      if (Type *T = Numbers(Cast->getDestTy()))
        return T;
  return nullptr;
}

// Whether each pair of bytes, two digits of the order each, is one of the four numbers.
bool movesNumbers(const ConstantInt &Order) {
  for (unsigned Shift : {0u, 8u})
    if (unsigned Pair = Order.getZExtValue() >> Shift & 0xff; !is_contained({0x10u, 0x32u, 0x54u, 0x76u}, Pair))
      return false;
  return true;
}

Value *raised(CallInst &Call, const ConstantInt &Order, Type *Numbers) {
  IRBuilder<> B(&Call);
  int Places[2];
  for (unsigned Place : {0u, 1u})
    Places[Place] = int(((Order.getZExtValue() >> 8 * Place & 0xff) - 0x10) / 0x22);
  Value *Moved = B.CreateShuffleVector(B.CreateBitCast(Call.getArgOperand(0), Numbers),
                                       B.CreateBitCast(Call.getArgOperand(1), Numbers), Places);
  return B.CreateBitCast(Moved, Call.getType());
}

} // namespace

ADGEN_DECLARE_PASS(RaisePermutations);

PreservedAnalyses RaisePermutations::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<CallInst *> Calls;
  for (Function &F : M)
    if (!F.isDeclaration() && F.getName().starts_with(BodyPrefix))
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->getIntrinsicID() == Intrinsic::nvvm_prmt)
          Calls.push_back(Call);
  bool Changed = false;
  for (CallInst *Call : Calls) {
    auto *Order = dyn_cast<ConstantInt>(Call->getArgOperand(2));
    Type *Numbers = numbersOf(*Call);
    for (unsigned Operand : {0u, 1u})
      Numbers = Numbers ? Numbers : numbersOf(*Call->getArgOperand(Operand));
    if (!Numbers || !Order || !movesNumbers(*Order))
      continue;
    Call->replaceAllUsesWith(raised(*Call, *Order, Numbers));
    Call->eraseFromParent();
    Changed = true;
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
