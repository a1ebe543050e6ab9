// Memory of floating point is often moved as integers: a struct of two floats as one i64, sixteen bytes as an int4, a
// __half as the short inside it. Enzyme takes such a copy for one of integers, which carries no derivative, and says
// nothing. Where it is known what the memory holds (Layout.h), loads and stores of integers become those of the numbers
// that are there, and copies by llvm.memcpy become copies of each number, one by one or in a loop. What takes a number
// apart cannot be followed and is refused.
#include "EnzymeCompat/CopyTyper.h"
#include "EnzymeCompat/MixedCopies.h"
#include "EnzymeCompat/NameNumbers.h"
#include "Support/Pass.h"

#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

void CopyTyper::run() {
  for (StringRef Name : sharedNames(Body))
    typeShared(*sharedArray(Name));
  for (MemTransferInst *Copy : all<MemTransferInst>())
    typeCopy(*Copy);
  for (LoadInst *Load : all<LoadInst>()) // first: what is loaded only to be stored never becomes an integer
    if (isInteger(Load->getType()))
      typeLoad(*Load);
  for (StoreInst *Store : all<StoreInst>())
    if (isInteger(Store->getValueOperand()->getType()))
      typeStore(*Store);
  for (TruncInst *Taken : all<TruncInst>())
    takeMember(*Taken);
  for (BitCastInst *Vector : all<BitCastInst>())
    takeTogether(*Vector);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (PHINode *Phi : all<PHINode>())
      Changed |= retype(*Phi);
    for (SelectInst *Select : all<SelectInst>())
      Changed |= retype(*Select);
  }
  for (BitCastInst *Cast : all<BitCastInst>()) // there and back
    if (auto *Inner = dyn_cast<BitCastInst>(Cast->getOperand(0)); Inner && Inner->getSrcTy() == Cast->getDestTy()) {
      Cast->replaceAllUsesWith(Inner->getOperand(0));
      Cast->eraseFromParent();
    }
  for (StoreInst *Store : all<StoreInst>())
    storeNumber(*Store);
  for (BitCastInst *Cast : all<BitCastInst>()) // of what is a number now
    if (Cast->use_empty())
      Cast->eraseFromParent();
  for (MemSetInst *Set : all<MemSetInst>())
    typeZeros(*Set);
  for (PHINode *Phi : all<PHINode>())
    showHalf(*Phi);
  for (SelectInst *Select : all<SelectInst>())
    showHalf(*Select);
  for (BinaryOperator *Masked : all<BinaryOperator>())
    changeSign(*Masked);
  for (BinaryOperator *Turned : all<BinaryOperator>())
    turnSign(*Turned);
  for (BinaryOperator *Joined : all<BinaryOperator>())
    takeSign(*Joined);
  for (Instruction &I : instructions(Body)) {
    if (Type *T = accessedType(I); T && T->isFPOrFPVectorTy())
      correct(I, DL.getTypeStoreSize(T));
    if (isa<CallBase>(I) && !isa<IntrinsicInst>(I)) // at mathematics clang's tag is that of errno, not of the result
      I.setMetadata(LLVMContext::MD_tbaa, nullptr);
  }
  if (Body.getParent()->getTargetTriple().isNVPTX()) { // in C++ adgen-annotate-types does, which knows more
    for_each(instructions(Body), nameNumber);
    for (LoadInst *Load : all<LoadInst>())
      nameInteger(*Load);
  }
  for (MemTransferInst *Copy : all<MemTransferInst>())
    if (Body.getName().starts_with(BodyPrefix) && copiesMixedStructs(*Copy))
      refuse(&Body, Copy->getDebugLoc(),
             "cannot differentiate a copy of many structs that hold floating point behind an integer, beside "
             "pointers, or of several sizes",
             "copy one struct after another (a[i] = b[i]), or keep the numbers in an array of their own");
}

Type *CopyTyper::accessedType(const Instruction &I) {
  if (auto *Load = dyn_cast<LoadInst>(&I))
    return Load->getType();
  auto *Store = dyn_cast<StoreInst>(&I);
  return Store ? Store->getValueOperand()->getType() : nullptr;
}

void CopyTyper::correct(Instruction &I, uint64_t Bytes) {
  if (saysOther(I.getMetadata(LLVMContext::MD_tbaa), accessedType(I)->getScalarType()))
    I.setMetadata(LLVMContext::MD_tbaa, nullptr);
  std::optional<Leaves> Numbers = floatsAt(getLoadStorePointerOperand(&I), Bytes);
  if (!Numbers)
    return;
  if (auto *Load = dyn_cast<LoadInst>(&I))
    Load->setAlignment(alignmentOf(*Numbers, Load->getAlign()));
  else
    cast<StoreInst>(I).setAlignment(alignmentOf(*Numbers, cast<StoreInst>(I).getAlign()));
}

bool CopyTyper::saysOther(const MDNode *Tag, const Type *Number) {
  auto *Access = Tag && Tag->getNumOperands() > 1 ? dyn_cast<MDNode>(Tag->getOperand(1)) : nullptr;
  auto *Name = Access && Access->getNumOperands() ? dyn_cast<MDString>(Access->getOperand(0)) : nullptr;
  StringRef Right = Number->isFloatTy()      ? "float"
                    : Number->isDoubleTy()   ? "double"
                    : Number->isX86_FP80Ty() ? "long double"
                                             : "";
  return Name && Name->getString() != Right && Name->getString() != "omnipotent char";
}

std::optional<Leaves> CopyTyper::floatsMoved(Value *Pointer, uint64_t Bytes) {
  std::optional<Place> At = placeOf(Pointer, DL);
  if (!At && Bytes == 8 && !Body.getParent()->getTargetTriple().isNVPTX())
    At = placeOfMixed(Pointer, DL);
  return floatsIn(At, Bytes);
}

std::optional<Leaves> CopyTyper::floatsIn(const std::optional<Place> &At, uint64_t Bytes) {
  if (!At || !At->Memory->holdsFloats())
    return std::nullopt;
  std::optional<Leaves> Found = At->Memory->cover(At->Offset, Bytes);
  bool Any = Found && any_of(*Found, [](const Leaf &L) { return L.isFloat(); });
  return Any ? Found : std::nullopt;
}

void CopyTyper::storeNumber(StoreInst &Store) {
  auto *Cast = dyn_cast<BitCastInst>(Store.getValueOperand());
  if (!Cast || !Cast->getSrcTy()->isFloatingPointTy() || !(Store.isSimple() || Store.isVolatile()))
    return;
  std::optional<Place> At = placeOf(Store.getPointerOperand(), DL);
  if (At && At->Memory->Stride != 1)
    return;
  IRBuilder<> B(&Store);
  B.CreateAlignedStore(Cast->getOperand(0), Store.getPointerOperand(), Store.getAlign(), Store.isVolatile());
  Store.eraseFromParent();
}

bool CopyTyper::takesApart(Value *Pointer, uint64_t Bytes) {
  std::optional<Place> At = placeOf(Pointer, DL);
  return At && At->Memory->holdsFloats() && !At->Memory->cover(At->Offset, Bytes);
}

Type *CopyTyper::uniform(const Leaves &Numbers, uint64_t Bytes) {
  for (auto [Index, L] : enumerate(Numbers))
    if (!L.isFloat() || L.Kind != Numbers[0].Kind || L.Bytes != Numbers[0].Bytes || L.Offset != Index * L.Bytes)
      return nullptr;
  if (Numbers.size() * Numbers[0].Bytes != Bytes)
    return nullptr;
  Type *One = Numbers[0].type(Context);
  return Numbers.size() == 1 ? One : FixedVectorType::get(One, Numbers.size());
}

Value *CopyTyper::address(IRBuilder<> &B, Value *Pointer, uint64_t Offset) {
  return Offset ? B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Pointer, Offset) : Pointer;
}

static Align alignmentAt(const Leaf &L, Align OfAll) { return std::max(L.Alignment, commonAlignment(OfAll, L.Offset)); }

SmallVector<Value *> CopyTyper::loadEach(IRBuilder<> &B, Value *Pointer, const Leaves &Numbers, bool Volatile,
                                         Align OfAll) {
  SmallVector<Value *> Values;
  for (const Leaf &L : Numbers)
    Values.push_back(
        B.CreateAlignedLoad(L.type(Context), address(B, Pointer, L.Offset), alignmentAt(L, OfAll), Volatile));
  return Values;
}

void CopyTyper::storeEach(IRBuilder<> &B, Value *Pointer, const Leaves &Numbers, ArrayRef<Value *> Values,
                          bool Volatile, Align OfAll) {
  for (auto [L, Each] : zip(Numbers, Values))
    B.CreateAlignedStore(Each, address(B, Pointer, L.Offset), alignmentAt(L, OfAll), Volatile);
}

void CopyTyper::typeLoad(LoadInst &Load) {
  uint64_t Bytes = DL.getTypeStoreSize(Load.getType());
  std::optional<Leaves> Numbers = floatsMoved(Load.getPointerOperand(), Bytes);
  if (!Numbers)
    Numbers = destinationOf(Load, Bytes);
  if (!Numbers || !Load.isSimple() && !Load.isVolatile())
    return;
  IRBuilder<> B(&Load);
  Type *One = uniform(*Numbers, Bytes);
  if (!onlyStored(Load) && isCountedWith(Load))
    return;
  if (onlyStored(Load)) {
    auto Values = One ? SmallVector<Value *>{B.CreateAlignedLoad(
                            One, Load.getPointerOperand(), alignmentOf(*Numbers, Load.getAlign()), Load.isVolatile())}
                      : loadEach(B, Load.getPointerOperand(), *Numbers, Load.isVolatile());
    for (User *U : make_early_inc_range(Load.users())) {
      auto *Store = cast<StoreInst>(U);
      IRBuilder<> At(Store);
      if (One)
        At.CreateAlignedStore(Values[0], Store->getPointerOperand(), alignmentOf(*Numbers, Store->getAlign()),
                              Store->isVolatile());
      else
        storeEach(At, Store->getPointerOperand(), *Numbers, Values, Store->isVolatile());
      Store->eraseFromParent();
    }
    Load.eraseFromParent();
    return;
  }
  Value *Whole = One ? B.CreateAlignedLoad(One, Load.getPointerOperand(), alignmentOf(*Numbers, Load.getAlign()),
                                           Load.isVolatile())
                     : nullptr;
  Whole = One ? B.CreateBitCast(Whole, Load.getType())
              : joined(B, Load.getType(), *Numbers, loadEach(B, Load.getPointerOperand(), *Numbers, Load.isVolatile()));
  Whole->takeName(&Load);
  Load.replaceAllUsesWith(Whole);
  Load.eraseFromParent();
}

bool CopyTyper::onlyStored(const LoadInst &Load) {
  return !Load.use_empty() && all_of(Load.users(), [&](const User *U) {
    auto *Store = dyn_cast<StoreInst>(U);
    return Store && Store->getValueOperand() == &Load && (Store->isSimple() || Store->isVolatile());
  });
}

bool CopyTyper::rotatesWhole(const User &U) {
  const APInt *By = nullptr;
  return (match(&U, m_FShl(m_Value(), m_Value(), m_APInt(By))) ||
          match(&U, m_FShr(m_Value(), m_Value(), m_APInt(By)))) &&
         By->urem(16) == 0;
}

bool CopyTyper::isCountedWith(const LoadInst &Load) {
  SmallVector<const Value *> Work{&Load};
  SmallPtrSet<const Value *, 16> Seen;
  while (!Work.empty()) {
    const Value *V = Work.pop_back_val();
    if (!Seen.insert(V).second)
      continue;
    for (const User *U : V->users()) {
      if (isa<StoreInst, BitCastInst, ICmpInst>(U))
        continue;
      unsigned Code = cast<Instruction>(U)->getOpcode();
      if (!rotatesWhole(*U) &&
          !isa<PHINode, SelectInst, FreezeInst, TruncInst, ZExtInst, ExtractElementInst, InsertElementInst,
               ShuffleVectorInst>(U) &&
          !is_contained({Instruction::And, Instruction::Or, Instruction::Xor, Instruction::Shl, Instruction::LShr},
                        Code))
        return true;
      Work.push_back(U);
    }
  }
  return false;
}

std::optional<Leaves> CopyTyper::destinationOf(LoadInst &Load, uint64_t Bytes) {
  if (!onlyStored(Load))
    return std::nullopt;
  return floatsMoved(cast<StoreInst>(*Load.user_begin())->getPointerOperand(), Bytes);
}

Value *CopyTyper::asInteger(IRBuilder<> &B, Value *V, const Leaf &L) {
  Type *Bits = B.getIntNTy(8 * L.Bytes);
  return V->getType()->isPointerTy() ? B.CreatePtrToInt(V, Bits) : B.CreateBitCast(V, Bits);
}

Value *CopyTyper::joined(IRBuilder<> &B, Type *T, const Leaves &Numbers, ArrayRef<Value *> Values) {
  Type *Bits = B.getIntNTy(T->getPrimitiveSizeInBits());
  Value *Whole = ConstantInt::get(Bits, 0);
  for (auto [L, Each] : zip(Numbers, Values))
    Whole = B.CreateOr(Whole, B.CreateShl(B.CreateZExt(asInteger(B, Each, L), Bits), 8 * L.Offset));
  return B.CreateBitCast(Whole, T);
}

void CopyTyper::typeStore(StoreInst &Store) {
  Value *Stored = Store.getValueOperand();
  uint64_t Bytes = DL.getTypeStoreSize(Stored->getType());
  if (takesApart(Store.getPointerOperand(), Bytes) && !isa<Constant>(Stored)) {
    refuse(&Body, Store.getDebugLoc(), "cannot differentiate a store of other bytes into memory of floating point",
           "write whole numbers, copy with memcpy, or give integers memory of their own");
    return;
  }
  std::optional<Leaves> Numbers = floatsMoved(Store.getPointerOperand(), Bytes);
  if (!Numbers || !Store.isSimple() && !Store.isVolatile())
    return;
  IRBuilder<> B(&Store);
  if (Type *One = uniform(*Numbers, Bytes)) {
    auto *Cast = dyn_cast<BitCastInst>(Stored);
    Value *Whole = Cast && Cast->getOperand(0)->getType() == One ? Cast->getOperand(0) : B.CreateBitCast(Stored, One);
    B.CreateAlignedStore(Whole, Store.getPointerOperand(), alignmentOf(*Numbers, Store.getAlign()), Store.isVolatile());
  } else {
    Value *Bits = B.CreateBitCast(Stored, B.getIntNTy(8 * Bytes));
    SmallVector<Value *> Values;
    for (const Leaf &L : *Numbers) {
      Value *Part = B.CreateTrunc(B.CreateLShr(Bits, 8 * L.Offset), B.getIntNTy(8 * L.Bytes));
      Values.push_back(L.Kind == 'p' ? B.CreateIntToPtr(Part, L.type(Context))
                                     : B.CreateBitCast(Part, L.type(Context)));
    }
    storeEach(B, Store.getPointerOperand(), *Numbers, Values, Store.isVolatile());
  }
  Store.eraseFromParent();
}

bool CopyTyper::isInteger(Type *T) { return T->isIntOrIntVectorTy() && T->getScalarSizeInBits() >= 8; }

ADGEN_DECLARE_PASS(TypeCopies);

PreservedAnalyses TypeCopies::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (!F.isDeclaration() &&
        (F.getName().starts_with(BodyPrefix) || F.hasLocalLinkage())) // what calls itself is a function still
      CopyTyper(F).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
