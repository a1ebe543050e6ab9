// Numbers of 16 bits that are made of floats, and floats that are made of them, by shifting and rounding bits become
// conversions. Of those Enzyme knows the derivative; of bits it has none and says nothing.
#include "Analysis/Bits.h"
#include "Analysis/Halves.h"
#include "Analysis/Layout.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using namespace PatternMatch;

namespace adgen {
namespace {

constexpr unsigned MostValues = 64;

// What computes one value from another one and constants, in the order of the program.
struct Steps {
  Value *From, *To;
  SmallVector<Instruction *> Order;

  Constant *operator()(Constant *Given) const {
    SmallDenseMap<const Value *, Constant *, 16> Known{{From, Given}};
    for (Instruction *I : Order) {
      SmallVector<Constant *> Operands;
      for (Value *V : I->operands())
        Operands.push_back(isa<Constant>(V) ? cast<Constant>(V) : Known.lookup(V));
      Constant *Made = ConstantFoldInstOperands(I, Operands, I->getDataLayout());
      if (!Made || isa<UndefValue>(Made))
        return nullptr;
      Known[I] = Made;
    }
    return Known.lookup(To);
  }
};

bool isStep(const Value &V) {
  if (auto *Call = dyn_cast<IntrinsicInst>(&V))
    return !Call->mayReadOrWriteMemory() && canConstantFoldCallTo(Call, Call->getCalledFunction());
  return isa<BinaryOperator, UnaryOperator, CastInst, SelectInst, CmpInst, FreezeInst>(V) &&
         !V.getType()->isPtrOrPtrVectorTy() && !V.getType()->isVectorTy();
}

// False where something else than `From` and constants is used.
bool order(Value &V, Steps &Found, SmallPtrSetImpl<Value *> &Seen) {
  if (&V == Found.From || isa<Constant>(V) || !Seen.insert(&V).second)
    return true;
  if (!isStep(V) || Seen.size() > MostValues)
    return false;
  for (Value *Operand : cast<Instruction>(V).operands())
    if (!isa<Function>(Operand) && !order(*Operand, Found, Seen))
      return false;
  Found.Order.push_back(cast<Instruction>(&V));
  return true;
}

std::optional<Steps> stepsBetween(Value &From, Value &To) {
  Steps Found{&From, &To, {}};
  SmallPtrSet<Value *, 16> Seen;
  return order(To, Found, Seen) && !Found.Order.empty() ? std::optional(Found) : std::nullopt;
}

// The values that something is computed from for which the condition holds.
SmallSetVector<Value *, 4> sourcesOf(Value &V, function_ref<bool(Value &)> IsWanted) {
  SmallSetVector<Value *, 4> Found;
  SmallPtrSet<Value *, 16> Seen;
  SmallVector<Value *> Work{&V};
  while (!Work.empty() && Seen.size() <= MostValues) {
    Value *Next = Work.pop_back_val();
    if (!Seen.insert(Next).second)
      continue;
    if (IsWanted(*Next))
      Found.insert(Next);
    if (isStep(*Next))
      Work.append(cast<Instruction>(Next)->value_op_begin(), cast<Instruction>(Next)->value_op_end());
  }
  return Found;
}

class Raiser {
public:
  explicit Raiser(Function &Body) : Body(Body), Context(Body.getContext()) {}

  bool run() {
    bool Changed = false;
    for (BitCastInst *Cast : casts(Type::getFloatTy(Context)))
      for (Value *Bits : chosenOf(*Cast->getOperand(0)))
        Changed |= widen(*Bits);
    for (StoreInst *Store : accesses<StoreInst>(32))
      if (isFloatAt(Store->getPointerOperand()))
        for (Value *Bits : chosenOf(*Store->getValueOperand()))
          Changed |= widen(*Bits);
    for (BitCastInst *Cast : casts(Type::getFloatTy(Context)))
      Changed |= widenComputed(*Cast);
    while (chooseAny())
      Changed = true;
    for (Type *T : {Type::getFloatTy(Context), Type::getHalfTy(Context), Type::getBFloatTy(Context)})
      for (BitCastInst *Cast : casts(T))
        if (auto *Inner = dyn_cast<BitCastInst>(Cast->getOperand(0)); Inner && Inner->getSrcTy() == T)
          Cast->replaceAllUsesWith(Inner->getOperand(0));
    for (char Kind : HalfKinds)
      for (BitCastInst *Cast : casts(halfType(Context, Kind)))
        for (Value *Bits : chosenOf(*Cast->getOperand(0)))
          Changed |= round(*Bits, Kind);
    for (StoreInst *Store : accesses<StoreInst>())
      if (char Kind = kindAt(*Store))
        for (Value *Bits : chosenOf(*Store->getValueOperand()))
          Changed |= round(*Bits, Kind);
    for (LoadInst *Load : accesses<LoadInst>())
      typeLocal(*Load);
    for (StoreInst *Store : accesses<StoreInst>())
      typeLocal(*Store);
    return Changed;
  }

private:
  SmallVector<BitCastInst *> casts(Type *To) const {
    SmallVector<BitCastInst *> Found;
    for (Instruction &I : instructions(Body))
      if (auto *Cast = dyn_cast<BitCastInst>(&I); Cast && Cast->getType() == To && Cast->getSrcTy()->isIntegerTy())
        Found.push_back(Cast);
    return Found;
  }

  template <class Access> SmallVector<Access *> accesses(unsigned Width = 16) const {
    SmallVector<Access *> Found;
    for (Instruction &I : instructions(Body))
      if (auto *One = dyn_cast<Access>(&I); One && getLoadStoreType(One)->isIntegerTy(Width))
        Found.push_back(One);
    return Found;
  }

  // What phis and selections choose of.
  static SmallVector<Value *> chosenOf(Value &Bits) {
    SmallPtrSet<Value *, 16> Seen;
    SmallVector<Value *> Work{&Bits}, Found;
    while (!Work.empty()) {
      Value *Next = Work.pop_back_val();
      if (!Seen.insert(Next).second)
        continue;
      if (auto *Phi = dyn_cast<PHINode>(Next))
        Work.append(Phi->value_op_begin(), Phi->value_op_end());
      else if (auto *Select = dyn_cast<SelectInst>(Next))
        Work.append({Select->getTrueValue(), Select->getFalseValue()});
      if (isa<Instruction>(Next) && !isa<PHINode>(Next))
        Found.push_back(Next); // a selection too, as of what is no number in a rounding
    }
    return Found;
  }

  static bool isChoice(const Value *V) { return isa<PHINode, SelectInst>(V); }
  static auto valuesOf(Instruction &Choice) { return drop_begin(Choice.operands(), isa<SelectInst>(Choice)); }

  // The type of the number whose bits these are, as a cast or memory says; null where nothing does.
  Type *numberType(Value *Bits) const {
    if (auto *Cast = dyn_cast<BitCastInst>(Bits))
      return Cast->getSrcTy()->isFloatingPointTy() ? Cast->getSrcTy() : nullptr;
    auto *Load = dyn_cast<LoadInst>(Bits);
    bool InHalf = Bits->getType()->isIntegerTy(16);
    std::optional<Leaf> Held = Load ? leafAt(Load->getPointerOperand(), InHalf ? 2 : 4) : std::nullopt;
    return !Held ? nullptr : InHalf ? halfType(Context, Held->Kind) : Type::getFloatTy(Context);
  }

  // The choices that this one chooses of, in turn, and the numbers whose bits it is; none where it is also of others.
  SmallSetVector<Instruction *, 8> choicesOfBits(Instruction &Last, Type *&T) const {
    SmallSetVector<Instruction *, 8> Found;
    Found.insert(&Last);
    for (unsigned I = 0; I < Found.size(); ++I)
      for (const Use &U : valuesOf(*Found[I])) {
        Type *Of = numberType(U);
        if (isChoice(U))
          Found.insert(cast<Instruction>(U));
        else if (!isa<ConstantInt>(U) && (!Of || (T && T != Of)))
          return {};
        T = Of ? Of : T;
      }
    return T ? Found : SmallSetVector<Instruction *, 8>();
  }

  // Among bits of numbers numbers are chosen, also where loops carry them.
  bool choose(Instruction &Last) {
    if (!Last.getType()->isIntegerTy(16) && !Last.getType()->isIntegerTy(32))
      return false;
    Type *T = nullptr;
    SmallSetVector<Instruction *, 8> Choices = choicesOfBits(Last, T);
    DenseMap<const Value *, Value *> Numbers;
    IRBuilder<> B(Context);
    for (Instruction *I : Choices) { // what they choose of follows
      B.SetInsertPoint(I);
      auto *Phi = dyn_cast<PHINode>(I);
      Value *None = PoisonValue::get(T);
      Numbers[I] = Phi ? cast<Value>(B.CreatePHI(T, Phi->getNumIncomingValues()))
                       : SelectInst::Create(cast<SelectInst>(I)->getCondition(), None, None, "", I->getIterator());
    }
    auto Number = [&](Value *Bits) -> Value * {
      if (auto *C = dyn_cast<ConstantInt>(Bits))
        return ConstantExpr::getBitCast(C, T);
      if (Value *Known = Numbers.lookup(Bits))
        return Known;
      if (auto *Cast = dyn_cast<BitCastInst>(Bits))
        return Cast->getOperand(0);
      return IRBuilder<>(cast<LoadInst>(Bits)->getNextNode()).CreateBitCast(Bits, T);
    };
    for (Instruction *I : Choices) {
      if (auto *Phi = dyn_cast<PHINode>(I)) {
        for (auto [Bits, From] : zip(Phi->incoming_values(), Phi->blocks()))
          cast<PHINode>(Numbers[I])->addIncoming(Number(Bits), From);
        B.SetInsertPoint(&*I->getParent()->getFirstInsertionPt());
      } else {
        auto *Select = cast<SelectInst>(Numbers[I]);
        Select->setTrueValue(Number(I->getOperand(1)));
        Select->setFalseValue(Number(I->getOperand(2)));
        B.SetInsertPoint(I);
      }
      B.SetCurrentDebugLocation(I->getDebugLoc());
      I->replaceUsesWithIf(B.CreateBitCast(Numbers[I], I->getType()),
                           [&](const Use &U) { return !Choices.contains(cast<Instruction>(U.getUser())); });
    }
    for (Instruction *I : Choices)
      I->replaceAllUsesWith(PoisonValue::get(I->getType()));
    for (Instruction *I : Choices)
      I->eraseFromParent();
    return !Choices.empty();
  }

  bool chooseAny() {
    SmallVector<WeakTrackingVH> Choices;
    for (Instruction &I : instructions(Body))
      if (isChoice(&I))
        Choices.emplace_back(&I);
    bool Changed = false;
    for (Value *I : Choices)
      Changed |= I && isChoice(I) && choose(*cast<Instruction>(I));
    return Changed;
  }

  std::optional<Leaf> leafAt(Value *Pointer, uint64_t Bytes) const {
    std::optional<Place> At = placeOf(Pointer, Body.getDataLayout());
    auto Leaves = At ? At->Memory->cover(At->Offset, Bytes) : std::nullopt;
    bool IsOne = Leaves && Leaves->size() == 1 && Leaves->front().isFloat();
    return IsOne ? std::optional(Leaves->front()) : std::nullopt;
  }

  bool isFloatAt(Value *Pointer) const { return leafAt(Pointer, 4).has_value(); }

  // What the memory holds to which 16 bits are stored, by its type or by what is made of it elsewhere.
  char kindAt(StoreInst &Store) const {
    if (auto Leaf = leafAt(Store.getPointerOperand(), 2))
      return Leaf->Kind;
    return Memory.lookup(getUnderlyingObject(Store.getPointerOperand(), 0));
  }

  // Whether they are loaded as words from a parameter that points to integers, which has no shadow: Enzyme would see
  // numbers and integers in one memory. adgen-print-usage tells of them.
  bool isOfWords(Value &Bits) const {
    return any_of(sourcesOf(Bits, [](Value &V) { return isa<LoadInst, ExtractElementInst>(V); }), [&](Value *V) {
      if (auto *Part = dyn_cast<ExtractElementInst>(V))
        V = Part->getVectorOperand();
      auto *Load = dyn_cast<LoadInst>(V);
      std::optional<Place> At = Load && !Load->getType()->isIntegerTy(16)
                                    ? placeOf(Load->getPointerOperand(), Body.getDataLayout())
                                    : std::nullopt;
      auto *Parameter = At ? dyn_cast<Argument>(getUnderlyingObject(Load->getPointerOperand(), 0)) : nullptr;
      return Parameter && !At->Memory->holdsFloats() &&
             Parameter->getArgNo() < Body.arg_size() - sharedNames(Body).size();
    });
  }

  // The upper half of a word, all of whose other bits are zero, is a bfloat16.
  bool widen(Value &Whole) {
    auto *Word = dyn_cast<Instruction>(&Whole);
    Value *Upper = nullptr;
    if (!Word || !Word->getType()->isIntegerTy(32) || isOfWords(*Word))
      return false;
    IRBuilder<> B(Word->getNextNode());
    if (match(Word, m_Shl(m_ZExt(m_Value(Upper)), m_SpecificInt(16))) && Upper->getType()->isIntegerTy(16))
      ;
    else if (match(Word, m_Shl(m_Value(Upper), m_SpecificInt(16))))
      Upper = B.CreateTrunc(Upper, B.getInt16Ty());
    else if (match(Word, m_And(m_Value(Upper), m_SpecificInt(0xffff0000))))
      Upper = B.CreateTrunc(B.CreateLShr(Upper, 16), B.getInt16Ty());
    else
      return false;
    Word->replaceAllUsesWith(B.CreateBitCast(numberOf(B, *Upper, 'b'), Word->getType()));
    return true;
  }

  // Of other computations what they make of some numbers says which they are.
  bool widenComputed(BitCastInst &Cast) {
    auto IsHalf = [](Value &V) { return V.getType()->isIntegerTy(16) && !isa<Constant>(V); };
    for (Value *Bits : sourcesOf(*Cast.getOperand(0), IsHalf))
      if (std::optional<Steps> Found = stepsBetween(*Bits, Cast))
        if (char Kind = kindWidened(Context, *Found)) {
          IRBuilder<> B(&Cast);
          Cast.replaceAllUsesWith(numberOf(B, *Bits, Kind));
          return true;
        }
    return false;
  }

  Value *numberOf(IRBuilder<> &B, Value &Bits, char Kind) {
    if (auto *Load = dyn_cast<LoadInst>(&Bits))
      Memory[getUnderlyingObject(Load->getPointerOperand(), 0)] = Kind;
    return B.CreateFPExt(B.CreateBitCast(&Bits, halfType(Context, Kind)), B.getFloatTy());
  }

  // A local array of which numbers are made holds numbers.
  void typeLocal(Instruction &Access) {
    Value *Pointer = getLoadStorePointerOperand(&Access);
    const Value *Variable = getUnderlyingObject(Pointer, 0);
    char Kind = isa<AllocaInst>(Variable) ? Memory.lookup(Variable) : 0;
    if (!Kind)
      return;
    IRBuilder<> B(&Access);
    Type *T = halfType(Context, Kind);
    if (auto *Load = dyn_cast<LoadInst>(&Access))
      Load->replaceAllUsesWith(
          B.CreateBitCast(B.CreateAlignedLoad(T, Pointer, Load->getAlign(), Load->isVolatile()), Load->getType()));
    else
      B.CreateAlignedStore(B.CreateBitCast(Access.getOperand(0), T), Pointer, getLoadStoreAlignment(&Access),
                           Access.isVolatile());
    Access.eraseFromParent();
  }

  bool round(Value &Bits, char Kind) {
    auto *Last = dyn_cast<Instruction>(&Bits);
    if (!Last || !isStep(Bits))
      return false;
    for (Value *Load : sourcesOf(Bits, [](Value &V) { return isa<LoadInst>(V); }))
      loadNumber(*cast<LoadInst>(Load));
    for (Value *Cast : sourcesOf(Bits, [](Value &V) { return isa<BitCastInst>(V); })) {
      Value *Number = cast<BitCastInst>(Cast)->getOperand(0);
      std::optional<Steps> Found = Number->getType()->isFloatTy() ? stepsBetween(*Number, Bits) : std::nullopt;
      Rounding How = Found ? roundingTo(Context, Kind, *Found) : Rounding::None;
      if (How == Rounding::None)
        continue;
      IRBuilder<> B(Last->getNextNode());
      if (How == Rounding::Some)
        Number = steppedTo(B, *Found, Kind);
      auto *Rounded =
          cast<Instruction>(B.CreateBitCast(B.CreateFPTrunc(Number, halfType(Context, Kind)), Bits.getType()));
      Bits.replaceUsesWithIf(Rounded, [&](const Use &U) { return !Copied.contains(U.getUser()); });
      return true;
    }
    return false;
  }

  // A float of which the optimiser loads the bits.
  void loadNumber(LoadInst &Load) const {
    if (!Load.getType()->isIntegerTy(32) || !isFloatAt(Load.getPointerOperand()))
      return;
    IRBuilder<> B(&Load);
    Value *Number = B.CreateAlignedLoad(B.getFloatTy(), Load.getPointerOperand(), Load.getAlign(), Load.isVolatile());
    Load.replaceAllUsesWith(B.CreateBitCast(Number, Load.getType()));
    Load.eraseFromParent();
  }

  // The number, and what it is rounded by, which has no derivative.
  Value *steppedTo(IRBuilder<> &B, const Steps &Found, char Kind) {
    Value *Number = Found.From;
    Value *Hidden = B.CreateCall(hiddenFrom(*Body.getParent(), Number->getType(), Number->getType()), Number);
    ValueToValueMapTy Map;
    Map[Number] = Hidden;
    for (Instruction *I : Found.Order) {
      Instruction *Copy = B.Insert(I->clone());
      Copied.insert(Copy);
      RemapInstruction(Copy, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      Map[I] = Copy;
    }
    Value *Rounded = B.CreateFPExt(B.CreateBitCast(Map[Found.To], halfType(Context, Kind)), Number->getType());
    Value *By = B.CreateSelect(B.CreateFCmpOEQ(Rounded, Hidden), ConstantFP::get(Number->getType(), 0.0),
                               B.CreateFSub(Rounded, Hidden)); // infinity less itself is none
    return B.CreateFAdd(Number, By);
  }

  Function &Body;
  LLVMContext &Context;
  DenseMap<const Value *, char> Memory; // whose 16 bits become floats
  SmallPtrSet<const User *, 16> Copied;
};

} // namespace

ADGEN_DECLARE_PASS(RaiseHalves);

PreservedAnalyses RaiseHalves::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  for (Function &F : M)
    if (!F.isDeclaration() && F.getName().starts_with(BodyPrefix) && Raiser(F).run()) {
      SmallVector<WeakTrackingVH> Unused;
      for (Instruction &I : instructions(F))
        if (isInstructionTriviallyDead(&I))
          Unused.emplace_back(&I);
      RecursivelyDeleteTriviallyDeadInstructions(Unused);
      Changed = true;
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
