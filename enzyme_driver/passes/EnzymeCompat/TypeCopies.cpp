// Memory of floating point is often moved as integers: a struct of two floats as one i64, sixteen bytes as an int4, a
// __half as the short inside it. Enzyme takes such a copy for one of integers, which carries no derivative, and says
// nothing. Where it is known what the memory holds (Layout.h), loads and stores of integers become those of the numbers
// that are there, and copies by llvm.memcpy become copies of each number, one by one or in a loop. What takes a number
// apart cannot be followed and is refused.
#include "Analysis/Layout.h"
#include "EnzymeCompat/MixedCopies.h"
#include "EnzymeCompat/NameNumbers.h"
#include "Support/Pass.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownFPClass.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

constexpr uint64_t LongestCopy = 256; // bytes that are written out one by one

using Leaves = SmallVector<Leaf>;

class Typer {
public:
  explicit Typer(Function &Body) : Body(Body), DL(Body.getDataLayout()), Context(Body.getContext()) {}

  void run() {
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
    for (BinaryOperator *Joined : all<BinaryOperator>())
      takeSign(*Joined);
    for (Instruction &I : instructions(Body))
      if (Type *T = accessedType(I); T && T->isFPOrFPVectorTy())
        correct(I, DL.getTypeStoreSize(T));
    if (Body.getParent()->getTargetTriple().isNVPTX()) // in C++ adgen-annotate-types does, which knows more
      for_each(instructions(Body), nameNumber);
    for (MemTransferInst *Copy : all<MemTransferInst>())
      if (Body.getName().starts_with(BodyPrefix) && copiesMixedStructs(*Copy))
        refuse(&Body, Copy->getDebugLoc(),
               "cannot differentiate a copy of many structs that hold floating point behind an integer, beside "
               "pointers, or of several sizes",
               "copy one struct after another (a[i] = b[i]), or keep the numbers in an array of their own");
  }

private:
  template <class Kind> SmallVector<Kind *> all() {
    SmallVector<Kind *> Found;
    for (Instruction &I : instructions(Body))
      if (auto *One = dyn_cast<Kind>(&I))
        Found.push_back(One);
    return Found;
  }

  Argument *sharedArray(StringRef Name) {
    return find_if(Body.args(), [&](Argument &A) { return A.getName() == Name; });
  }

  // An array of integers in shared memory in which nothing but the bits of numbers are kept, to be moved and compared,
  // holds numbers.
  void typeShared(Argument &Array) {
    Attribute Text = Array.getParent()->getAttributeAtIndex(Array.getArgNo() + 1, LayoutAttribute);
    std::shared_ptr<const Layout> Memory = Text.isValid() ? parseLayout(Text.getValueAsString()) : nullptr;
    if (!Memory || !Memory->isUniform() || Memory->holdsFloats() || !is_contained({2u, 4u, 8u}, Memory->Stride))
      return;
    SmallPtrSet<Value *, 8> Loaded;
    SmallVector<Value *> Stored, Work{&Array};
    while (!Work.empty()) {
      Value *Address = Work.pop_back_val();
      for (User *U : Address->users()) {
        auto *Load = dyn_cast<LoadInst>(U);
        auto *Store = dyn_cast<StoreInst>(U);
        if (Load && DL.getTypeStoreSize(Load->getType()) == Memory->Stride &&
            !(isInteger(Load->getType()) && isCountedWith(*Load)))
          Loaded.insert(Load);
        else if (Store && Store->getPointerOperand() == Address &&
                 DL.getTypeStoreSize(Store->getValueOperand()->getType()) == Memory->Stride)
          Stored.push_back(Store->getValueOperand());
        else if (isa<GetElementPtrInst, AddrSpaceCastInst>(U))
          Work.push_back(U);
        else if (!isa<CallInst>(U) || !cast<CallInst>(U)->getCalledFunction() ||
                 !cast<CallInst>(U)->getCalledFunction()->getName().starts_with(RulePrefix))
          return;
      }
    }
    bool Numbers = false;
    for (Value *V : Stored) {
      if (!isNumber(*V, Memory->Stride, Loaded))
        return;
      Numbers |= !isa<Constant>(V) && !Loaded.contains(V);
    }
    if (!Numbers)
      return;
    char Kind = Memory->Stride == 2 ? kindOfHalves(Stored, Loaded) : 'f';
    if (!Kind)
      return;
    Layout Now{Memory->Stride, {{0, Kind, Memory->Stride}}};
    Body.addParamAttr(Array.getArgNo(), Attribute::get(Context, LayoutAttribute, print(Now)));
  }

  // Whether numbers of 16 bits are half ('f') or bfloat16 ('b'), by what they are stored from and loaded as; else 0.
  static char kindOfHalves(ArrayRef<Value *> Stored, const SmallPtrSetImpl<Value *> &Loaded) {
    bool Half = false, Brain = false;
    auto Look = [&](const Value *V) {
      auto *Cast = dyn_cast<BitCastInst>(V);
      Type *T = Cast ? Cast->getSrcTy() : V->getType();
      Half |= T->isHalfTy();
      Brain |= T->isBFloatTy();
    };
    for_each(Stored, Look);
    for (const Value *V : Loaded) {
      Look(V);
      for_each(V->users(), [&](const User *U) {
        if (isa<BitCastInst>(U))
          Half |= U->getType()->isHalfTy(), Brain |= U->getType()->isBFloatTy();
      });
    }
    return Half == Brain ? 0 : Half ? 'f' : 'b';
  }

  bool isNumber(Value &V, uint64_t Bytes, const SmallPtrSetImpl<Value *> &Loaded) {
    SmallVector<Value *> Work{&V};
    SmallPtrSet<Value *, 8> Seen;
    while (!Work.empty()) {
      Value *One = Work.pop_back_val();
      auto *Load = dyn_cast<LoadInst>(One);
      if (!Seen.insert(One).second || isa<Constant>(One) || Loaded.contains(One) || One->getType()->isFloatingPointTy())
        continue;
      if (auto *Cast = dyn_cast<BitCastInst>(One); Cast && Cast->getSrcTy()->isFloatingPointTy())
        continue;
      if (isa<PHINode>(One))
        Work.append(cast<PHINode>(One)->value_op_begin(), cast<PHINode>(One)->value_op_end());
      else if (auto *Select = dyn_cast<SelectInst>(One))
        Work.append({Select->getTrueValue(), Select->getFalseValue()});
      else if (!Load || !floatsAt(Load->getPointerOperand(), Bytes))
        return false;
    }
    return true;
  }

  static bool isInteger(Type *T) { return T->isIntOrIntVectorTy() && T->getScalarSizeInBits() >= 8; }

  static Type *accessedType(const Instruction &I) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return Load->getType();
    auto *Store = dyn_cast<StoreInst>(&I);
    return Store ? Store->getValueOperand()->getType() : nullptr;
  }

  // What was copied as something else has clang's word for that, and memcpy knows no alignment.
  void correct(Instruction &I, uint64_t Bytes) {
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

  // Two halves that were copied as a float are none.
  static bool saysOther(const MDNode *Tag, const Type *Number) {
    auto *Access = Tag && Tag->getNumOperands() > 1 ? dyn_cast<MDNode>(Tag->getOperand(1)) : nullptr;
    auto *Name = Access && Access->getNumOperands() ? dyn_cast<MDString>(Access->getOperand(0)) : nullptr;
    StringRef Right = Number->isFloatTy()      ? "float"
                      : Number->isDoubleTy()   ? "double"
                      : Number->isX86_FP80Ty() ? "long double"
                                               : "";
    return Name && Name->getString() != Right && Name->getString() != "omnipotent char";
  }

  // Of a struct that was loaded as one integer, and is taken apart again.
  void takeMember(TruncInst &Taken) {
    Value *Whole = Taken.getOperand(0);
    uint64_t Shift = 0;
    if (Value *Inner = nullptr; match(Whole, m_LShr(m_Value(Inner), m_ConstantInt(Shift))))
      Whole = Inner;
    auto *Vector = dyn_cast<BitCastInst>(Whole);
    Value *Member = Vector ? elementAt(*Vector, Shift, Taken) : memberAt(*Whole, Shift, Taken.getType());
    if (!Member)
      return;
    Taken.replaceAllUsesWith(Member);
    RecursivelyDeleteTriviallyDeadInstructions(&Taken);
  }

  // Of the numbers whose bits these are, such as two halves.
  static Value *elementAt(BitCastInst &Bits, uint64_t Shift, TruncInst &Taken) {
    auto *Numbers = dyn_cast<FixedVectorType>(Bits.getSrcTy());
    unsigned Size = Taken.getType()->getScalarSizeInBits();
    if (!Numbers || !Bits.getType()->isIntegerTy() || !Numbers->isFPOrFPVectorTy() ||
        Numbers->getScalarSizeInBits() != Size || Shift % Size)
      return nullptr;
    IRBuilder<> B(&Taken);
    return B.CreateBitCast(B.CreateExtractElement(Bits.getOperand(0), Shift / Size), Taken.getType());
  }

  // The other way round: integers that are shifted beside each other and are a vector of numbers then.
  static void takeTogether(BitCastInst &Cast) {
    auto *Numbers = dyn_cast<FixedVectorType>(Cast.getType());
    if (!Numbers || !Numbers->isFPOrFPVectorTy() || !match(Cast.getOperand(0), m_Or(m_Value(), m_Value())))
      return;
    unsigned Size = Numbers->getScalarSizeInBits();
    IRBuilder<> B(&Cast);
    Value *All = PoisonValue::get(Numbers);
    for (unsigned I = 0; I < Numbers->getNumElements(); ++I) {
      Value *One = memberAt(*Cast.getOperand(0), I * Size, B.getIntNTy(Size));
      if (!One)
        return;
      All = B.CreateInsertElement(All, B.CreateBitCast(One, Numbers->getElementType()), I);
    }
    Cast.replaceAllUsesWith(All);
    RecursivelyDeleteTriviallyDeadInstructions(&Cast);
  }

  // As `joined` puts them together, and nothing else is there.
  static Value *memberAt(Value &Whole, uint64_t Shift, Type *T) {
    SmallVector<std::pair<Value *, uint64_t>> Members;
    if (!membersOf(Whole, Members))
      return nullptr;
    sort(Members, less_second());
    for (unsigned I = 1; I < Members.size(); ++I)
      if (Members[I - 1].second + Members[I - 1].first->getType()->getScalarSizeInBits() > Members[I].second)
        return nullptr;
    auto *Found = find_if(Members, [&](const auto &M) { return M.second == Shift && M.first->getType() == T; });
    return Found == Members.end() ? nullptr : Found->first;
  }

  // Each with the place of its first bit.
  static bool membersOf(Value &Whole, SmallVectorImpl<std::pair<Value *, uint64_t>> &Members) {
    Value *One = nullptr, *Other = nullptr;
    uint64_t At = 0;
    if (match(&Whole, m_Or(m_Value(One), m_Value(Other))))
      return membersOf(*One, Members) && membersOf(*Other, Members);
    if (match(&Whole, m_Zero()))
      return true;
    if (!match(&Whole, m_Shl(m_ZExt(m_Value(One)), m_ConstantInt(At))) && !match(&Whole, m_ZExt(m_Value(One))))
      return false;
    Members.push_back({One, At});
    return true;
  }

  // The number whose bits these are; null where they are of more than one kind.
  static Type *numberBehind(ArrayRef<Value *> Bits, const Value *Self) {
    Type *Found = nullptr;
    for (Value *V : Bits) {
      if (V == Self || isa<Constant>(V))
        continue;
      auto *Cast = dyn_cast<BitCastInst>(V);
      Type *T = Cast ? Cast->getSrcTy() : nullptr;
      if (!T || !T->isFPOrFPVectorTy() || (Found && Found != T))
        return nullptr;
      Found = T;
    }
    return Found;
  }

  static Value *asNumber(Value *Bits, Type *T) {
    if (auto *C = dyn_cast<Constant>(Bits))
      return ConstantExpr::getBitCast(C, T);
    return cast<BitCastInst>(Bits)->getOperand(0);
  }

  // A choice among the bits of numbers becomes one among the numbers.
  bool retype(PHINode &Phi) {
    SmallVector<Value *> Incoming(Phi.incoming_values());
    Type *T = isInteger(Phi.getType()) ? numberBehind(Incoming, &Phi) : nullptr;
    if (!T)
      return false;
    PHINode *New = PHINode::Create(T, Incoming.size(), "", Phi.getIterator());
    for (auto [V, Block] : zip(Incoming, Phi.blocks()))
      New->addIncoming(V == &Phi ? static_cast<Value *>(New) : asNumber(V, T), Block);
    IRBuilder<> B(&*Phi.getParent()->getFirstInsertionPt());
    Phi.replaceAllUsesWith(B.CreateBitCast(New, Phi.getType()));
    Phi.eraseFromParent();
    return true;
  }

  bool retype(SelectInst &Select) {
    Value *Choices[] = {Select.getTrueValue(), Select.getFalseValue()};
    Type *T = isInteger(Select.getType()) ? numberBehind(Choices, &Select) : nullptr;
    if (!T)
      return false;
    IRBuilder<> B(&Select);
    Value *New = B.CreateSelect(Select.getCondition(), asNumber(Choices[0], T), asNumber(Choices[1], T));
    Select.replaceAllUsesWith(B.CreateBitCast(New, Select.getType()));
    Select.eraseFromParent();
    return true;
  }

  // Enzyme sees the type of a half by arithmetic alone. A choice among halves that are only moved becomes a float on
  // its way; the optimiser takes that back after Enzyme.
  void showHalf(Instruction &Choice) {
    Type *T = Choice.getType();
    auto IsMoved = [](const Value *V) { return isa<LoadInst, StoreInst, Constant, PHINode, SelectInst>(V); };
    bool Unseen = (T->isHalfTy() || T->isBFloatTy()) && all_of(Choice.users(), IsMoved) &&
                  all_of(Choice.operands(), [&](const Use &U) { return U->getType() != T || IsMoved(U); });
    if (!Unseen)
      return;
    IRBuilder<> B(Choice.getParent(), *Choice.getInsertionPointAfterDef());
    Value *Wide = B.CreateFPExt(&Choice, B.getFloatTy());
    Choice.replaceUsesWithIf(B.CreateFPTrunc(Wide, T), [&](const Use &U) { return U.getUser() != Wide; });
  }

  // A mask of a number's sign bit: its absolute value, its negative, or the negative of its absolute value.
  void changeSign(BinaryOperator &Masked) {
    auto *Cast = dyn_cast<BitCastInst>(Masked.getOperand(0));
    auto *Mask = dyn_cast<ConstantInt>(Masked.getOperand(1));
    if (!Cast || !Mask || !Cast->getSrcTy()->isFloatingPointTy())
      return;
    IRBuilder<> B(&Masked);
    Value *Number = Cast->getOperand(0), *New = nullptr;
    unsigned Code = Masked.getOpcode();
    if (Code == Instruction::And && Mask->getValue().isMaxSignedValue())
      New = B.CreateUnaryIntrinsic(Intrinsic::fabs, Number);
    if (Code == Instruction::Xor && Mask->getValue().isSignMask())
      New = B.CreateFNeg(Number);
    if (Code == Instruction::Or && Mask->getValue().isSignMask())
      New = B.CreateFNeg(B.CreateUnaryIntrinsic(Intrinsic::fabs, Number));
    if (New)
      replaceBits(Masked, New);
  }

  // The bits of one number with the sign of another one: which is that of either, where both have one.
  void takeSign(BinaryOperator &Joined) {
    Value *Size = nullptr, *Sign = nullptr;
    const APInt *Mask = nullptr;
    if (!match(&Joined, m_c_Or(m_BitCast(m_Value(Size)), m_c_And(m_BitCast(m_Value(Sign)), m_APInt(Mask)))))
      return;
    Type *T = Size->getType();
    if (T != Sign->getType() || !T->isFPOrFPVectorTy() ||
        *Mask != APInt::getSplat(Mask->getBitWidth(), APInt::getSignMask(T->getScalarSizeInBits())))
      return;
    IRBuilder<> B(&Joined);
    if (computeKnownFPClass(Size, fcNegative, SimplifyQuery(DL)).isKnownNever(fcNegative))
      return replaceBits(Joined, B.CreateBinaryIntrinsic(Intrinsic::copysign, Size, Sign));
    Type *Bits = T->getWithNewType(B.getIntNTy(T->getScalarSizeInBits()));
    Value *Negative = B.CreateICmpSLT(B.CreateBitCast(Sign, Bits), Constant::getNullValue(Bits));
    replaceBits(Joined, B.CreateSelect(Negative, B.CreateFNeg(B.CreateUnaryIntrinsic(Intrinsic::fabs, Size)), Size));
  }

  static void replaceBits(BinaryOperator &Bits, Value *Number) {
    for (User *U : make_early_inc_range(Bits.users()))
      if (auto *Back = dyn_cast<BitCastInst>(U); Back && Back->getDestTy() == Number->getType()) {
        Back->replaceAllUsesWith(Number);
        Back->eraseFromParent();
      }
    Bits.replaceAllUsesWith(IRBuilder<>(&Bits).CreateBitCast(Number, Bits.getType()));
    Bits.eraseFromParent();
  }

  // What the bytes behind the pointer are, where floating point is among them.
  std::optional<Leaves> floatsAt(Value *Pointer, uint64_t Bytes) { return floatsIn(placeOf(Pointer, DL), Bytes); }

  // Of an integer that may be a pair of small numbers, also where only the steps between elements say what they are.
  std::optional<Leaves> floatsMoved(Value *Pointer, uint64_t Bytes) {
    std::optional<Place> At = placeOf(Pointer, DL);
    if (!At && Bytes == 8 && !Body.getParent()->getTargetTriple().isNVPTX())
      At = placeOfMixed(Pointer, DL);
    return floatsIn(At, Bytes);
  }

  static std::optional<Leaves> floatsIn(const std::optional<Place> &At, uint64_t Bytes) {
    if (!At || !At->Memory->holdsFloats())
      return std::nullopt;
    std::optional<Leaves> Found = At->Memory->cover(At->Offset, Bytes);
    bool Any = Found && any_of(*Found, [](const Leaf &L) { return L.isFloat(); });
    return Any ? Found : std::nullopt;
  }

  // The bits of a number, into memory of which nothing is said but bytes, such as a tile in dynamic shared memory.
  void storeNumber(StoreInst &Store) {
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

  bool takesApart(Value *Pointer, uint64_t Bytes) {
    std::optional<Place> At = placeOf(Pointer, DL);
    return At && At->Memory->holdsFloats() && !At->Memory->cover(At->Offset, Bytes);
  }

  // One type for all the bytes, where they are numbers of one kind without gaps.
  Type *uniform(const Leaves &Numbers, uint64_t Bytes) {
    for (auto [Index, L] : enumerate(Numbers))
      if (!L.isFloat() || L.Kind != Numbers[0].Kind || L.Bytes != Numbers[0].Bytes || L.Offset != Index * L.Bytes)
        return nullptr;
    if (Numbers.size() * Numbers[0].Bytes != Bytes)
      return nullptr;
    Type *One = Numbers[0].type(Context);
    return Numbers.size() == 1 ? One : FixedVectorType::get(One, Numbers.size());
  }

  Value *address(IRBuilder<> &B, Value *Pointer, uint64_t Offset) {
    return Offset ? B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Pointer, Offset) : Pointer;
  }

  SmallVector<Value *> loadEach(IRBuilder<> &B, Value *Pointer, const Leaves &Numbers, bool Volatile) {
    SmallVector<Value *> Values;
    for (const Leaf &L : Numbers)
      Values.push_back(B.CreateAlignedLoad(L.type(Context), address(B, Pointer, L.Offset), L.Alignment, Volatile));
    return Values;
  }

  void storeEach(IRBuilder<> &B, Value *Pointer, const Leaves &Numbers, ArrayRef<Value *> Values, bool Volatile) {
    for (auto [L, Each] : zip(Numbers, Values))
      B.CreateAlignedStore(Each, address(B, Pointer, L.Offset), L.Alignment, Volatile);
  }

  // At least that of the numbers, which memcpy does not tell.
  static Align alignmentOf(const Leaves &Numbers, Align Known) { return std::max(Known, Numbers[0].Alignment); }

  // To memory that was allocated when the pointer to what is copied was known already, as where a vector grows: the two
  // do not overlap.
  bool goesToNewMemory(const MemTransferInst &Copy) {
    auto *Allocation = dyn_cast<CallBase>(getUnderlyingObject(Copy.getRawDest()));
    auto *From = dyn_cast<Instruction>(Copy.getRawSource());
    return Allocation && isNoAliasCall(Allocation) && (!From || DominatorTree(Body).dominates(From, Allocation));
  }

  // Of a choice of structs, of which one is a local variable that is copied as a whole: the others are of its type.
  std::optional<Leaves> floatsOfOne(MemTransferInst &Copy, uint64_t Bytes) {
    SmallVector<const Value *> Choices;
    getUnderlyingObjects(Copy.getRawSource(), Choices, nullptr, 0);
    for (const Value *Each : Choices)
      if (auto *Local = dyn_cast<AllocaInst>(Each); Local && Local->getAllocationSize(DL) == TypeSize::getFixed(Bytes))
        if (std::optional<Leaves> Found = floatsAt(const_cast<AllocaInst *>(Local), Bytes))
          return Found;
    return std::nullopt;
  }

  void typeCopy(MemTransferInst &Copy) {
    auto *Length = dyn_cast<ConstantInt>(Copy.getLength());
    if (!Length || Length->getZExtValue() > LongestCopy)
      return typeElements(Copy);
    uint64_t Bytes = Length->getZExtValue();
    std::optional<Leaves> Numbers = floatsAt(Copy.getRawSource(), Bytes);
    if (!Numbers)
      Numbers = floatsAt(Copy.getRawDest(), Bytes);
    if (std::optional<Place> Mixed = Numbers ? std::nullopt : placeOfMixed(Copy))
      Numbers = Mixed->Memory->cover(Mixed->Offset, Bytes);
    if (!Numbers)
      Numbers = floatsOfOne(Copy, Bytes);
    if (!Numbers)
      return;
    IRBuilder<> B(&Copy);
    auto Values = loadEach(B, Copy.getRawSource(), *Numbers, Copy.isVolatile());
    storeEach(B, Copy.getRawDest(), *Numbers, Values, Copy.isVolatile());
    Copy.eraseFromParent();
  }

  // Zeros among numbers of one type, such as what pads a tile: Enzyme asks of a memset what it sets.
  void typeZeros(MemSetInst &Set) {
    auto *Length = dyn_cast<ConstantInt>(Set.getLength());
    Type *T = match(Set.getValue(), m_Zero()) && Length ? typeBeside(Set.getRawDest()) : nullptr;
    uint64_t Bytes = T ? Length->getZExtValue() : 0, Each = T ? DL.getTypeStoreSize(T).getFixedValue() : 1;
    if (!Bytes || Bytes > LongestCopy || Bytes % Each)
      return;
    IRBuilder<> B(&Set);
    for (uint64_t At = 0; At < Bytes; At += Each)
      B.CreateAlignedStore(Constant::getNullValue(T), address(B, Set.getRawDest(), At), Align(Each), Set.isVolatile());
    Set.eraseFromParent();
  }

  // The one type of number that is loaded from an array, or stored there; null where there are others.
  Type *typeBeside(Value *Pointer) {
    const Value *Array = getUnderlyingObject(Pointer, 0);
    Type *Found = nullptr;
    for (Instruction &I : instructions(Body)) {
      Type *T = accessedType(I);
      if (!T || getUnderlyingObject(getLoadStorePointerOperand(&I), 0) != Array)
        continue;
      if (!T->isFPOrFPVectorTy() || (Found && Found != T->getScalarType()))
        return nullptr;
      Found = T->getScalarType();
    }
    return Found;
  }

  // A copy of whole elements becomes a loop over them. One to a place behind, which may overlap, begins with the last.
  void typeElements(MemTransferInst &Copy) {
    std::optional<Place> At = placeOf(Copy.getRawSource(), DL);
    if (!At || !At->Memory->holdsFloats())
      At = placeOf(Copy.getRawDest(), DL);
    if (At && (!At->Memory->holdsFloats() || !isMultipleOf(Copy.getLength(), At->Memory->Stride, DL)))
      return;
    if (!At)
      At = placeOfMixed(Copy);
    std::optional<Leaves> Numbers = At ? At->Memory->cover(At->Offset, At->Memory->Stride) : std::nullopt;
    if (!Numbers)
      return;
    const uint64_t Stride = At->Memory->Stride;
    IRBuilder<> B(&Copy);
    Value *Count = B.CreateExactUDiv(Copy.getLength(), ConstantInt::get(Copy.getLength()->getType(), Stride));
    Instruction *Guarded = SplitBlockAndInsertIfThen(B.CreateIsNotNull(Count), Copy.getIterator(), false);
    auto [Body, Index] = SplitBlockAndInsertSimpleForLoop(Count, Guarded->getIterator());
    B.SetInsertPoint(Body);
    Value *Place = Index;
    if (isa<MemMoveInst>(Copy) && !goesToNewMemory(Copy)) {
      Value *Last = B.CreateSub(B.CreateSub(Count, ConstantInt::get(Count->getType(), 1)), Index);
      Place = B.CreateSelect(B.CreateICmpUGT(Copy.getRawDest(), Copy.getRawSource()), Last, Index);
    }
    Value *Offset = B.CreateMul(Place, ConstantInt::get(Place->getType(), Stride));
    Value *From = B.CreateInBoundsGEP(B.getInt8Ty(), Copy.getRawSource(), Offset);
    Value *Into = B.CreateInBoundsGEP(B.getInt8Ty(), Copy.getRawDest(), Offset);
    storeEach(B, Into, *Numbers, loadEach(B, From, *Numbers, Copy.isVolatile()), Copy.isVolatile());
    Copy.eraseFromParent();
  }

  void typeLoad(LoadInst &Load) {
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
    Whole =
        One ? B.CreateBitCast(Whole, Load.getType())
            : joined(B, Load.getType(), *Numbers, loadEach(B, Load.getPointerOperand(), *Numbers, Load.isVolatile()));
    Whole->takeName(&Load);
    Load.replaceAllUsesWith(Whole);
    Load.eraseFromParent();
  }

  static bool onlyStored(const LoadInst &Load) {
    return !Load.use_empty() && all_of(Load.users(), [&](const User *U) {
      auto *Store = dyn_cast<StoreInst>(U);
      return Store && Store->getValueOperand() == &Load && (Store->isSimple() || Store->isVolatile());
    });
  }

  // Whether the value is used as an integer, and not merely moved, taken apart or compared.
  static bool isCountedWith(const LoadInst &Load) {
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
        if (!isa<PHINode, SelectInst, FreezeInst, TruncInst, ZExtInst, ExtractElementInst, InsertElementInst,
                 ShuffleVectorInst>(U) &&
            !is_contained({Instruction::And, Instruction::Or, Instruction::Xor, Instruction::Shl, Instruction::LShr},
                          Code))
          return true;
        Work.push_back(U);
      }
    }
    return false;
  }

  // What a value that is only stored is where it goes.
  std::optional<Leaves> destinationOf(LoadInst &Load, uint64_t Bytes) {
    if (!onlyStored(Load))
      return std::nullopt;
    return floatsMoved(cast<StoreInst>(*Load.user_begin())->getPointerOperand(), Bytes);
  }

  Value *asInteger(IRBuilder<> &B, Value *V, const Leaf &L) {
    Type *Bits = B.getIntNTy(8 * L.Bytes);
    return V->getType()->isPointerTy() ? B.CreatePtrToInt(V, Bits) : B.CreateBitCast(V, Bits);
  }

  Value *joined(IRBuilder<> &B, Type *T, const Leaves &Numbers, ArrayRef<Value *> Values) {
    Type *Bits = B.getIntNTy(T->getPrimitiveSizeInBits());
    Value *Whole = ConstantInt::get(Bits, 0);
    for (auto [L, Each] : zip(Numbers, Values))
      Whole = B.CreateOr(Whole, B.CreateShl(B.CreateZExt(asInteger(B, Each, L), Bits), 8 * L.Offset));
    return B.CreateBitCast(Whole, T);
  }

  void typeStore(StoreInst &Store) {
    Value *Stored = Store.getValueOperand();
    uint64_t Bytes = DL.getTypeStoreSize(Stored->getType());
    if (takesApart(Store.getPointerOperand(), Bytes) && !isa<Constant>(Stored)) {
      refuse(&Body, Store.getDebugLoc(), "cannot differentiate a store of single bytes into memory of floating point",
             "write whole numbers, or copy with memcpy");
      return;
    }
    std::optional<Leaves> Numbers = floatsMoved(Store.getPointerOperand(), Bytes);
    if (!Numbers || !Store.isSimple() && !Store.isVolatile())
      return;
    IRBuilder<> B(&Store);
    if (Type *One = uniform(*Numbers, Bytes)) {
      auto *Cast = dyn_cast<BitCastInst>(Stored);
      Value *Whole = Cast && Cast->getOperand(0)->getType() == One ? Cast->getOperand(0) : B.CreateBitCast(Stored, One);
      B.CreateAlignedStore(Whole, Store.getPointerOperand(), alignmentOf(*Numbers, Store.getAlign()),
                           Store.isVolatile());
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

  Function &Body;
  const DataLayout &DL;
  LLVMContext &Context;
};

} // namespace

ADGEN_DECLARE_PASS(TypeCopies);

PreservedAnalyses TypeCopies::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (!F.isDeclaration() &&
        (F.getName().starts_with(BodyPrefix) || F.hasLocalLinkage())) // what calls itself is a function still
      Typer(F).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
