// The bits of floating point as integers, which carry no derivative for Enzyme. Where they become floating point again
// by a way that it does not see, it would say zero without a word: by memory of integers, or as the exponent and
// mantissa that an exponential was written with. That is refused. Bits that stay integers (a key, a hash, a number of
// 16 bits that is stored as such) are hidden from Enzyme, which otherwise stops at arithmetic with them. A number of
// which the last bits of the mantissa were set, cleared or increased is that number rounded, as by chance where what is
// added is random: its slope is 1, as that of other conversions to fewer bits.
#include "Analysis/Bits.h"
#include "Analysis/Keys.h"
#include "Analysis/Layout.h"
#include "EnzymeCompat/OutlineAccess.h"
#include "Support/Pass.h"
#include "Support/Reaches.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

bool isBits(const Type *T) { return T->isIntOrIntVectorTy() && T->getScalarSizeInBits() >= 8; }

// A number's bits with changes of the last bits of its mantissa.
class Rounded {
public:
  explicit Rounded(BitCastInst &Cast)
      : Cast(Cast), T(Cast.getType()), Bits(Cast.getOperand(0)), DL(Cast.getDataLayout()) {
    Value *Whole;
    if (T->isBFloatTy() && match(Bits, m_Trunc(m_LShr(m_Value(Whole), m_SpecificInt(16))))) {
      T = Type::getFloatTy(T->getContext());
      Bits = Whole;
    }
  }

  // Not where the bits come in any other way, nor where Enzyme sees what becomes of them: bits that are only cleared.
  bool matches() {
    return (T->isFloatTy() || T->isDoubleTy()) && Bits->getType()->isIntegerTy(T->getScalarSizeInBits()) &&
           follow(*Bits) && Changed;
  }

  // The number, and what the rounded one differs by, which is exact and has no derivative.
  void replace() {
    Module &M = *Cast.getModule();
    IRBuilder<> B(&Cast);
    Value *Held = B.CreateCall(hiddenFrom(M, T, Bits->getType()), Number);
    Value *Hidden = B.CreateCall(hiddenFrom(M, T, T), Number);
    Value *Rounding = copied(*Bits, *Held, B);
    if (Cast.getType() != T)
      Rounding = B.CreateAnd(Rounding, 0xffff0000);
    Value *Sum = B.CreateFAdd(Number, B.CreateFSub(B.CreateBitCast(Rounding, T), Hidden));
    if (Cast.getType() != T)
      keepWhole(*Sum);
    Cast.replaceAllUsesWith(Cast.getType() == T ? Sum : B.CreateFPTrunc(Sum, Cast.getType()));
    Cast.eraseFromParent();
  }

private:
  // What takes the upper half for a float again needs no bfloat, to which cotangents would be rounded as well.
  void keepWhole(Value &Sum) {
    for (User *U : make_early_inc_range(Cast.users()))
      if (auto *Again = dyn_cast<FPExtInst>(U); Again && Again->getType() == T) {
        Again->replaceAllUsesWith(&Sum);
        Again->eraseFromParent();
      }
  }

  bool follow(Value &Bits) {
    if (auto *Cast = dyn_cast<BitCastInst>(&Bits)) {
      Value *From = Cast->getOperand(0);
      bool IsSame = From->getType() == T && (!Number || Number == From);
      Number = From;
      return IsSame;
    }
    if (auto *Choice = dyn_cast<SelectInst>(&Bits))
      return follow(*Choice->getTrueValue()) && follow(*Choice->getFalseValue());
    std::optional<unsigned> Rest = unchanged(Bits);
    if (!Rest)
      return false;
    auto &Change = cast<BinaryOperator>(Bits);
    Changed |= Change.getOpcode() != Instruction::And;
    return follow(*Change.getOperand(*Rest));
  }

  // The operand whose last bits the other one changes.
  std::optional<unsigned> unchanged(const Value &Bits) const {
    auto *Change = dyn_cast<BinaryOperator>(&Bits);
    if (!Change || !is_contained({Instruction::Or, Instruction::And, Instruction::Add}, Change->getOpcode()))
      return std::nullopt;
    for (unsigned Rest : {0, 1}) {
      const KnownBits With = computeKnownBits(Change->getOperand(1 - Rest), DL);
      const unsigned Kept = With.getBitWidth() - unsigned(T->getFPMantissaWidth()) + 2;
      const bool Clears = Change->getOpcode() == Instruction::And;
      if ((Clears ? With.countMinLeadingOnes() : With.countMinLeadingZeros()) >= Kept)
        return Rest;
    }
    return std::nullopt;
  }

  Value *copied(Value &Of, Value &Bits, IRBuilder<> &B) const {
    if (isa<BitCastInst>(Of))
      return &Bits;
    Instruction *Copy = cast<Instruction>(Of).clone();
    SmallVector<unsigned, 2> Ways{1, 2}; // of a choice
    if (std::optional<unsigned> Rest = unchanged(Of))
      Ways = {*Rest};
    for (unsigned Way : Ways)
      Copy->setOperand(Way, copied(*Copy->getOperand(Way), Bits, B));
    return B.Insert(Copy);
  }

  BitCastInst &Cast;
  Type *T;     // of the whole number, also where a bfloat is taken from its upper half
  Value *Bits; // of that
  const DataLayout &DL;
  Value *Number = nullptr;
  bool Changed = false; // other than by clearing bits
};

class Follower {
public:
  explicit Follower(Function &Body) : Body(Body), DL(Body.getDataLayout()) {
    for (Instruction &I : instructions(Body))
      if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple() && Load->getType()->isIntegerTy())
        Loads.push_back(Load);
      else if (auto *Cast = dyn_cast<BitCastInst>(&I)) {
        if (isBits(Cast->getType()) && Cast->getSrcTy()->isFPOrFPVectorTy())
          Taken.push_back(Cast);
        else if (isBits(Cast->getSrcTy()) && Cast->getType()->isFPOrFPVectorTy())
          Given.push_back(Cast);
      }
  }

  void run() {
    for (BitCastInst *&Cast : Given)
      if (Rounded Found(*Cast); Found.matches()) {
        Found.replace();
        Cast = nullptr;
      }
    erase(Given, nullptr);
    refuseKept();
    refuseParts();
    for (BitCastInst *Cast : Given)
      if (holdsMantissa(*Cast) && isSumOfConversion(*Cast->getOperand(0)))
        refuse(&Body, Cast->getDebugLoc(),
               "cannot differentiate floating point whose bits were computed from a number as an integer",
               "use expf, exp2f, ldexpf or logf");
    for (LoadInst *Load : Loads)
      if (Type *Number = numberAt(*Load); Number && staysInteger(*Load))
        Taken.push_back(loadNumber(*Load, Number));
      else if (holdsPart(*Load->getPointerOperand(), Load->getType()))
        outlineAccess(*Load, "adgen_part_of_number"); // Enzyme has no integers where it has found numbers
    for (BitCastInst *Cast : Taken)
      if (!Cast->getSrcTy()->isVectorTy() && staysInteger(*Cast))
        hide(*Cast);
    for (BitCastInst *Cast : Given)
      if (isa<TruncInst>(Cast->getOperand(0)) && Cast->getType()->isFloatingPointTy() && isPartOfIntegers(*Cast))
        hide(*Cast);
  }

private:
  // The number of floating point of which the load takes the bits; null where it takes anything else.
  Type *numberAt(LoadInst &Load) const {
    uint64_t Bytes = DL.getTypeStoreSize(Load.getType());
    std::optional<Place> At = placeOf(Load.getPointerOperand(), DL);
    auto Numbers = At ? At->Memory->cover(At->Offset, Bytes) : std::nullopt;
    bool IsOne = Numbers && Numbers->size() == 1 && Numbers->front().isFloat() && Numbers->front().Bytes == Bytes;
    return IsOne ? Numbers->front().type(Load.getContext()) : nullptr;
  }

  static BitCastInst *loadNumber(LoadInst &Load, Type *Number) {
    IRBuilder<> B(&Load);
    LoadInst *Now = B.CreateAlignedLoad(Number, Load.getPointerOperand(), Load.getAlign());
    auto *Bits = cast<BitCastInst>(B.CreateBitCast(Now, Load.getType()));
    Load.replaceAllUsesWith(Bits);
    Load.eraseFromParent();
    return Bits;
  }

  // What is stored as an integer is no number to Enzyme, nor is what is loaded as one.
  void refuseKept() {
    SmallPtrSet<const Value *, 8> Holding, HoldingBits;
    for (Instruction &I : instructions(Body))
      if (auto *Store = dyn_cast<StoreInst>(&I); Store && isNumber(*Store->getValueOperand()))
        for (const Value *Object : objectsOf(Store->getPointerOperand())) {
          Holding.insert(Object);
          if (isBits(Store->getValueOperand()->getType()))
            HoldingBits.insert(Object);
        }
    for (Instruction &I : instructions(Body)) {
      auto *Load = dyn_cast<LoadInst>(&I);
      if (!Load || !isBits(Load->getType()) || holdsKeys(*Load->getPointerOperand(), DL))
        continue;
      SmallVector<const Value *> Objects = objectsOf(Load->getPointerOperand());
      const auto &Of = isNamedInteger(*Load) ? HoldingBits : Holding;
      erase_if(Objects, [&](const Value *Object) { return !Of.contains(Object); });
      if (Objects.empty())
        continue;
      if ((becomesNumber(*Load) || isKeptAgain(*Load, Objects)) &&
          (any_of(Objects, [&](const Value *Object) { return hasNoShadow(*Object); }) || !isOnlyMoved(*Load)))
        return refuse(&Body, Load->getDebugLoc(),
                      "cannot differentiate floating point that is kept as integers in memory",
                      "declare the memory as floating point, copy with memcpy, or keep the number's index beside the "
                      "bits and read the number there");
    }
  }

  // Bytes of numbers, which are no numbers to Enzyme, from which numbers are put together.
  void refuseParts() {
    for (LoadInst *Load : Loads)
      if (holdsPart(*Load->getPointerOperand(), Load->getType()) && (becomesNumber(*Load) || becomesParts(*Load)))
        return refuse(&Body, Load->getDebugLoc(), "cannot differentiate floating point that is moved in parts",
                      "copy the whole number, by memcpy or as an integer of its size");
  }

  bool holdsPart(Value &Pointer, Type *Read) const {
    std::optional<Place> At = placeOf(&Pointer, DL);
    return At && At->Memory->holdsFloats() && !At->Memory->cover(At->Offset, DL.getTypeStoreSize(Read));
  }

  bool becomesParts(Value &Bits) const {
    return reaches(Bits, [&](Value &V, SmallVectorImpl<Value *> &Next) {
      for (Use &U : V.uses()) {
        auto *Store = dyn_cast<StoreInst>(U.getUser());
        if (Store && !U.getOperandNo() && holdsPart(*Store->getPointerOperand(), V.getType()))
          return true;
        if (auto *I = dyn_cast<Instruction>(U.getUser()); I && isIntegerStep(*I))
          Next.push_back(I);
      }
      return false;
    });
  }

  // Memory that is known to hold floating point is none of integers.
  SmallVector<const Value *> objectsOf(Value *Pointer) {
    SmallVector<const Value *> Objects;
    std::optional<Place> At = placeOf(Pointer, DL);
    if (!At || !At->Memory->holdsFloats())
      getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/0);
    return Objects;
  }

  // Whether what was read there goes back there, among integers alone.
  bool isKeptAgain(LoadInst &Load, ArrayRef<const Value *> Objects) {
    return placeOf(Load.getPointerOperand(), DL) && reaches(Load, [&](Value &V, SmallVectorImpl<Value *> &Next) {
             for (Use &U : V.uses()) {
               auto *Store = dyn_cast<StoreInst>(U.getUser());
               if (Store && !U.getOperandNo() && any_of(objectsOf(Store->getPointerOperand()), [&](const Value *O) {
                     return is_contained(Objects, O);
                   }))
                 return true;
               if (auto *I = dyn_cast<Instruction>(U.getUser()); I && isIntegerStep(*I))
                 Next.push_back(I);
             }
             return false;
           });
  }

  // A struct's member that clang calls an integer, as the number of elements of a std::map is: no number is stored
  // there but as an integer.
  bool isNamedInteger(const LoadInst &Load) const {
    const MDNode *Tag = Load.getMetadata(LLVMContext::MD_tbaa);
    auto *Access = Tag && Tag->getNumOperands() > 2 ? dyn_cast<MDNode>(Tag->getOperand(1)) : nullptr;
    auto *Name = Access && Access->getNumOperands() ? dyn_cast<MDString>(Access->getOperand(0)) : nullptr;
    return Name && is_contained({"int", "long", "long long"}, Name->getString()) &&
           (Tag->getOperand(0) != Tag->getOperand(1) || isMemberOfLocal(*Load.getPointerOperand(), DL));
  }

  static bool isMemberOfLocal(const Value &Pointer, const DataLayout &DL) {
    auto Placed = [&DL](const Value &V) {
      APInt Offset(DL.getIndexTypeSizeInBits(V.getType()), 0);
      const Value *Base = V.stripAndAccumulateConstantOffsets(DL, Offset, true);
      return std::pair(Base, Offset.getSExtValue());
    };
    const auto At = Placed(Pointer);
    auto *Local = dyn_cast<AllocaInst>(At.first);
    return Local && isa<StructType>(Local->getAllocatedType()) &&
           none_of(instructions(*Local->getFunction()), [&](const Instruction &I) {
             auto *Store = dyn_cast<StoreInst>(&I);
             return Store && Store->getValueOperand()->getType()->isFPOrFPVectorTy() &&
                    Placed(*Store->getPointerOperand()) == At;
           });
  }

  // Parameters and variables of integers.
  bool hasNoShadow(const Value &Object) const {
    auto *A = dyn_cast<Argument>(&Object);
    return isa<GlobalVariable>(Object) || (A && A->getArgNo() < Body.arg_size() - sharedNames(Body).size());
  }

  static bool isIntegerStep(const Instruction &I) {
    if (auto *Call = dyn_cast<IntrinsicInst>(&I))
      return !Call->mayReadOrWriteMemory() && isBits(Call->getType());
    return isBits(I.getType()) && (isa<BinaryOperator, PHINode, SelectInst, FreezeInst, ExtractElementInst,
                                       InsertElementInst, ShuffleVectorInst>(I) ||
                                   isa<TruncInst, ZExtInst, SExtInst, BitCastInst>(I));
  }

  bool comesFromNumber(Value &Bits) const {
    return reaches(Bits, [&](Value &V, SmallVectorImpl<Value *> &Next) {
      auto *I = dyn_cast<Instruction>(&V);
      if (auto *Cast = dyn_cast_or_null<BitCastInst>(I); Cast && Cast->getSrcTy()->isFPOrFPVectorTy())
        return true;
      if (auto *Load = dyn_cast_or_null<LoadInst>(I);
          Load && numberAt(*Load)) // loaded as an integer, where it is counted with
        return true;
      if (I && isIntegerStep(*I))
        Next.append(I->value_op_begin(), I->value_op_end());
      return false;
    });
  }

  // Of integers in arrays of integers, of which other parts are counted with, as where a depth lies above an index.
  bool isPartOfIntegers(BitCastInst &Cast) {
    return !reaches(*Cast.getOperand(0), [&](Value &V, SmallVectorImpl<Value *> &Next) {
      auto *I = dyn_cast<Instruction>(&V);
      if (auto *Load = dyn_cast_or_null<LoadInst>(I)) {
        std::optional<Place> At = placeOf(Load->getPointerOperand(), DL);
        return !At || At->Memory->holdsFloats() ||
               !all_of(objectsOf(Load->getPointerOperand()), [&](const Value *Object) { return hasNoShadow(*Object); });
      }
      if (I && isIntegerStep(*I))
        Next.append(I->value_op_begin(), I->value_op_end());
      return I ? !isIntegerStep(*I) : !isa<ConstantInt>(V);
    });
  }

  bool isNumber(Value &Stored) const {
    return Stored.getType()->isFPOrFPVectorTy() || (isBits(Stored.getType()) && comesFromNumber(Stored));
  }

  // Without arithmetic or comparisons on the way, Enzyme sees what it is.
  static bool isOnlyMoved(Value &Bits) {
    return !reaches(Bits, [](Value &V, SmallVectorImpl<Value *> &Next) {
      for (User *U : V.users()) {
        if (isa<ICmpInst, BinaryOperator, CallBase>(U))
          return true;
        if (auto *I = dyn_cast<Instruction>(U); I && isIntegerStep(*I))
          Next.push_back(I);
      }
      return false;
    });
  }

  static bool becomesNumber(Value &Bits) {
    return reaches(Bits, [](Value &V, SmallVectorImpl<Value *> &Next) {
      for (User *U : V.users()) {
        if (isa<BitCastInst>(U) && U->getType()->isFPOrFPVectorTy())
          return true;
        if (auto *I = dyn_cast<Instruction>(U); I && isIntegerStep(*I))
          Next.push_back(I);
      }
      return false;
    });
  }

  // A power of two, which has no mantissa, is a step wherever its exponent is an integer.
  bool holdsMantissa(const BitCastInst &Cast) const {
    Type *T = Cast.getType();
    if (T->isVectorTy())
      return false;
    return computeKnownBits(Cast.getOperand(0), DL).countMinTrailingZeros() + 1 < unsigned(T->getFPMantissaWidth());
  }

  // A number that was rounded to an integer, to which something is added: steps as small as those of the mantissa. What
  // was multiplied or mixed as an integer is a hash.
  static bool isSumOfConversion(Value &Bits) {
    return reaches(Bits, [](Value &V, SmallVectorImpl<Value *> &Next) {
      auto *I = dyn_cast<Instruction>(&V);
      if (!I)
        return false;
      if (isa<FPToSIInst, FPToUIInst>(I))
        return true;
      bool Adds = is_contained({Instruction::Add, Instruction::Sub, Instruction::Or, Instruction::Shl}, I->getOpcode());
      if (isIntegerStep(*I) && (Adds || !isa<BinaryOperator, IntrinsicInst>(I)))
        Next.append(I->value_op_begin(), I->value_op_end());
      return false;
    });
  }

  bool staysInteger(Value &Bits) {
    bool Counted = false; // there is arithmetic that Enzyme would stop at
    bool Leaves = reaches(Bits, [&](Value &V, SmallVectorImpl<Value *> &Next) {
      for (Use &U : V.uses()) {
        auto &I = *cast<Instruction>(U.getUser());
        if (isa<ICmpInst, SwitchInst, GetElementPtrInst>(I))
          continue;
        if (auto *Store = dyn_cast<StoreInst>(&I)) {
          std::optional<Place> At = placeOf(Store->getPointerOperand(), DL);
          bool Kept = (At && !At->Memory->holdsFloats()) || holdsKeys(*Store->getPointerOperand(), DL);
          if (U.getOperandNo() || !Kept)
            return true;
          continue;
        }
        if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I); Atomic && holdsKeys(*Atomic->getPointerOperand(), DL))
          continue;
        if (!isIntegerStep(I))
          return true;
        Counted |= isa<BinaryOperator, CallBase, CastInst>(I);
        Next.push_back(&I);
      }
      return false;
    });
    return !Leaves && Counted;
  }

  static void hide(BitCastInst &Cast) {
    IRBuilder<> B(&Cast);
    Cast.replaceAllUsesWith(
        B.CreateCall(hiddenFrom(*Cast.getModule(), Cast.getSrcTy(), Cast.getType()), Cast.getOperand(0)));
    Cast.eraseFromParent();
  }

  Function &Body;
  const DataLayout &DL;
  SmallVector<BitCastInst *> Taken, Given; // to and from integers
  SmallVector<LoadInst *> Loads;           // of integers
};

} // namespace

FunctionCallee hiddenFrom(Module &M, Type *Number, Type *As) {
  StringRef Way = As->isIntegerTy() ? "" : Number->isIntegerTy() ? "given_" : "rounded_";
  StringRef Kind = Number->isIntegerTy() ? "i" : Number->isBFloatTy() ? "b" : "f";
  std::string Name = (BitsPrefix + Way + Kind + Twine(Number->getScalarSizeInBits())).str();
  FunctionCallee Hidden = M.getOrInsertFunction(Name, As, Number);
  auto *F = cast<Function>(Hidden.getCallee());
  F->addFnAttr("enzyme_inactive");
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setDoesNotFreeMemory();
  F->setDoesNotAccessMemory();
  F->addFnAttr("enzyme_no_escaping_allocation"); // else Enzyme looks for a derivative where the reverse sweep needs it
  if (As->isIntegerTy())
    F->addRetAttr(Attribute::get(M.getContext(), "enzyme_type", "{[-1]:Integer}"));
  return Hidden;
}

void showBits(Module &M) {
  for (Function &F : make_early_inc_range(M))
    if (F.getName().starts_with(BitsPrefix)) {
      for (User *U : make_early_inc_range(F.users())) {
        auto *Call = cast<CallInst>(U);
        IRBuilder<> B(Call);
        Call->replaceAllUsesWith(B.CreateBitCast(Call->getArgOperand(0), Call->getType()));
        Call->eraseFromParent();
      }
      F.eraseFromParent();
    }
}

ADGEN_DECLARE_PASS(RestoreFloatBits);

PreservedAnalyses RestoreFloatBits::run(Module &M, ModuleAnalysisManager &) {
  showBits(M);
  return PreservedAnalyses::none();
}

ADGEN_DECLARE_PASS(HideFloatBits);

PreservedAnalyses HideFloatBits::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M) {
    hideRoundings(F);
    hideAddresses(F);
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration())
      Follower(F).run();
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
