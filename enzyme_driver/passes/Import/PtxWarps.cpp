// What the lanes of a warp do together in inline PTX: shuffles, elections, matrix loads and products of tensor cores.
#include "Import/PtxTranslation.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {

bool PtxTranslation::shuffled(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
  if (Words.size() != 4 || Words[1] != "sync" || Operands.size() != 5)
    return false;
  StringRef Mode = Words[2];
  Value *V = Registers.lookup(Operands[1]);
  if (!V || V->getType()->getPrimitiveSizeInBits() != 32)
    return false;
  if (!V->getType()->isFloatTy())
    V = as(V, B.getInt32Ty());
  Value *Other[] = {read(Operands[4], B.getInt32Ty()), read(Operands[2], B.getInt32Ty()),
                    read(Operands[3], B.getInt32Ty())};
  std::string Name = ("llvm.nvvm.shfl.sync." + Mode + (V->getType()->isFloatTy() ? ".f32" : ".i32")).str();
  Intrinsic::ID Id = Intrinsic::lookupIntrinsicID(Name);
  if (Id == Intrinsic::not_intrinsic || is_contained(Other, nullptr))
    return false;
  Function *Shuffle = Intrinsic::getOrInsertDeclaration(Call.getModule(), Id);
  auto [Result, Inside] = Operands[0].split('|');
  CallInst *Moved = B.CreateCall(Shuffle, {Other[0], V, Other[1], Other[2]});
  Moved->addFnAttr(Attribute::Convergent);
  return write(Result, Moved) && (Inside.empty() || write(Inside, isInside(Mode, Other[1], Other[2])));
}

// The first lane of the mask that has not returned.
bool PtxTranslation::elected(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
  Value *Mask = Words.size() == 2 && Words[1] == "sync" ? read(Operands[1], B.getInt32Ty()) : nullptr;
  auto [Lane, Leads] = Operands[0].split('|');
  if (!Mask || Leads.empty())
    return false;
  CallInst *There = B.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {Mask, B.getTrue()});
  There->addFnAttr(Attribute::Convergent);
  Value *First = B.CreateBinaryIntrinsic(Intrinsic::cttz, There, B.getTrue());
  return write(Lane, First) && write(Leads, B.CreateICmpEQ(special("laneid", B.getInt32Ty()), First));
}

bool PtxTranslation::ofTensorCores(ArrayRef<StringRef> Words, ArrayRef<StringRef> Operands) {
  std::string Name = Words[0] == "mma" ? nameOfProduct(Words) : nameOfMatrixLoad(Words);
  Intrinsic::ID Id = Name.empty() ? Intrinsic::not_intrinsic : Intrinsic::lookupIntrinsicID(Name);
  if (Id == Intrinsic::not_intrinsic)
    return false;
  bool Loads = Words[0] == "ldmatrix";
  Function *F = Loads ? Intrinsic::getOrInsertDeclaration(Call.getModule(), Id, {B.getPtrTy(3)})
                      : Intrinsic::getOrInsertDeclaration(Call.getModule(), Id);
  SmallVector<Value *> Given;
  for (StringRef Operand : Operands.drop_front())
    for (StringRef Part : partsOf(Operand)) {
      if (Given.size() == F->arg_size())
        return false;
      Type *T = F->getArg(Given.size())->getType();
      Given.push_back(Loads ? sharedAddress(Part) : read(Part, T));
      if (!Given.back())
        return false;
    }
  if (Given.size() != F->arg_size())
    return false;
  CallInst *Done = B.CreateCall(F, Given);
  Done->addFnAttr(Attribute::Convergent);
  SmallVector<StringRef> Results = partsOf(Operands[0]);
  auto *Struct = dyn_cast<StructType>(Done->getType());
  if (Results.size() != (Struct ? Struct->getNumElements() : 1))
    return false;
  return all_of(enumerate(Results), [&](auto Each) {
    return write(Each.value(), Struct ? B.CreateExtractValue(Done, Each.index()) : static_cast<Value *>(Done));
  });
}

std::string PtxTranslation::nameOfProduct(ArrayRef<StringRef> Words) {
  if (Words.size() != 10 || Words[1] != "sync" || Words[2] != "aligned" || Words[7] != Words[8])
    return "";
  std::string Types = Words[7] == "f16" ? (Words[6] + "." + Words[9]).str() : Words[7].str();
  return ("llvm.nvvm.mma." + Words[3] + "." + Words[4] + "." + Words[5] + "." + Types).str();
}

std::string PtxTranslation::nameOfMatrixLoad(ArrayRef<StringRef> Words) {
  bool Known = Words.size() > 5 && Words[1] == "sync" && Words[2] == "aligned" && Words[3] == "m8n8" &&
               Words.back() == "b16" && is_contained(Words, "shared");
  std::string Transposed = is_contained(Words, "trans") ? ".trans" : "";
  return Known ? ("llvm.nvvm.ldmatrix.sync.aligned.m8n8." + Words[4] + Transposed + ".b16").str() : "";
}

Value *PtxTranslation::isInside(StringRef Mode, Value *Offset, Value *Control) {
  Value *Lane = special("laneid", B.getInt32Ty()), *By = B.CreateAnd(Offset, 31), *Clamp = B.CreateAnd(Control, 31);
  Value *Segment = B.CreateAnd(B.CreateLShr(Control, 8), 31);
  Value *First = B.CreateAnd(Lane, Segment), *Last = B.CreateOr(First, B.CreateAnd(Clamp, B.CreateNot(Segment)));
  if (Mode == "up")
    return B.CreateICmpSGE(B.CreateSub(Lane, By), Last);
  Value *From = Mode == "down"   ? B.CreateAdd(Lane, By)
                : Mode == "bfly" ? B.CreateXor(Lane, By)
                                 : B.CreateOr(First, B.CreateAnd(By, B.CreateNot(Segment)));
  return B.CreateICmpSLE(From, Last);
}

} // namespace adgen
