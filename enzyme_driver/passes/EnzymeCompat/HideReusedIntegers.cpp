// Shared memory that holds integers at one time and floating point at another. Enzyme has one type for each place, and
// stops. Here the integers' accesses become calls of functions that it does not look into: it takes them for inactive,
// and the array for one of floating point. What an integer is written over is no number any more, so that its cotangent
// is cleared (adgen_rule_clear_BYTES, rules/integers.cu).
//
// Numbers of another kind than most others have in one place (doubles, then floats) are moved by rules of their own.
//
// Integers have no derivative as long as no number's bits pass through them. So an array is left alone where bits of
// floating point are stored as integers, or loaded as such and become floating point again: in registers, or in the
// array itself, if it may hold numbers where an integer that goes back there is loaded.
#include "Analysis/Layout.h"
#include "EnzymeCompat/OutlineAccess.h"
#include "Support/Pass.h"
#include "Support/Reaches.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-hide-reused-integers"

using namespace llvm;

STATISTIC(NumArrays, "Number of shared arrays whose integers were hidden");

namespace adgen {
namespace {

constexpr StringLiteral SwapPrefix = "adgen_hidden_swap_";
constexpr StringLiteral FunctionName = "adgen_integer_access";

using Blocks = SmallPtrSet<const BasicBlock *, 16>;

bool isSwap(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName().starts_with(SwapPrefix);
}

Type *accessed(const Instruction &I) {
  if (auto *Store = dyn_cast<StoreInst>(&I))
    return Store->getValueOperand()->getType();
  return isSwap(I) ? cast<CallBase>(I).getArgOperand(1)->getType() : I.getType();
}

Value *addressIn(const Instruction &I) { return I.getOperand(isa<StoreInst>(I)); }
Align alignmentOf(const Instruction &I) {
  if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
    return Atomic->getAlign();
  return isSwap(I) ? I.getDataLayout().getABITypeAlign(accessed(I)) : getLoadStoreAlignment(&I);
}

// What integers are computed by from others, without a way to or from memory or floating point.
bool isIntegerStep(const Instruction &I) {
  return I.getType()->isIntOrIntVectorTy() && !I.mayReadOrWriteMemory() && !isa<BitCastInst, PtrToIntInst>(I);
}

// Where the array may have been written with one kind of content since it was with the other kind.
class Contents {
public:
  explicit Contents(Function &Body) : Dominators(Body), PostDominators(Body) {}

  // Whether a path leads from one of these writes to the read, on which none of the others is met. What a condition or
  // the bounds of a loop may leave out is written behind it: so are the elements of threads that have work.
  bool reaches(ArrayRef<Instruction *> Writes, const Instruction &Read, ArrayRef<Instruction *> Others) const {
    Blocks Covered;
    for (const Instruction *Other : Others)
      cover(*Other->getParent(), Writes, Covered);
    for (const Instruction *Write : Writes) {
      if (next(*Write, Read, Others))
        return true;
      SmallVector<const BasicBlock *> Work(successors(Write->getParent()));
      Blocks Seen;
      if (isBehind(*Write, Others))
        continue;
      while (!Work.empty()) {
        const BasicBlock *Block = Work.pop_back_val();
        if (!Seen.insert(Block).second)
          continue;
        if (Block == Read.getParent() && !isWrittenBefore(Read, Others) && !Covered.contains(Block))
          return true;
        if (!Covered.contains(Block) && !contains(*Block, Others))
          append_range(Work, successors(Block));
      }
    }
    return false;
  }

private:
  // Both in one block, with none of the others in between.
  static bool next(const Instruction &Write, const Instruction &Read, ArrayRef<Instruction *> Others) {
    return Write.getParent() == Read.getParent() && Write.comesBefore(&Read) && none_of(Others, [&](Instruction *O) {
             return O->getParent() == Read.getParent() && Write.comesBefore(O) && O->comesBefore(&Read);
           });
  }

  static bool isBehind(const Instruction &Write, ArrayRef<Instruction *> Others) {
    return any_of(Others, [&](Instruction *O) { return O->getParent() == Write.getParent() && Write.comesBefore(O); });
  }

  static bool isWrittenBefore(const Instruction &Read, ArrayRef<Instruction *> Others) {
    return any_of(Others, [&](Instruction *O) { return O->getParent() == Read.getParent() && O->comesBefore(&Read); });
  }

  static bool contains(const BasicBlock &Block, ArrayRef<Instruction *> Others) {
    return any_of(Others, [&](Instruction *O) { return O->getParent() == &Block; });
  }

  // The blocks behind conditions by which the write may be left out, as long as nothing else depends on these.
  void cover(const BasicBlock &Writing, ArrayRef<Instruction *> Opposite, Blocks &Covered) const {
    for (auto *Node = Dominators.getNode(&Writing)->getIDom(); Node; Node = Node->getIDom()) {
      const BasicBlock *Above = Node->getBlock();
      if (PostDominators.dominates(&Writing, Above))
        continue;
      auto *Join = PostDominators.getNode(Above)->getIDom();
      if (!Join || !Join->getBlock() || chooses(*Above, *Join->getBlock(), Opposite))
        return;
      Covered.insert(Join->getBlock());
    }
  }

  // Whether between both an opposite write depends on the condition, too.
  static bool chooses(const BasicBlock &Above, const BasicBlock &Join, ArrayRef<Instruction *> Opposite) {
    SmallVector<const BasicBlock *> Work(successors(&Above));
    Blocks Seen;
    while (!Work.empty()) {
      const BasicBlock *Block = Work.pop_back_val();
      if (Block == &Join || !Seen.insert(Block).second)
        continue;
      if (contains(*Block, Opposite))
        return true;
      append_range(Work, successors(Block));
    }
    return false;
  }

  DominatorTree Dominators;
  PostDominatorTree PostDominators;
};

class SharedArray {
public:
  SharedArray(Function &Body, Argument &Array) : Body(Body), Array(Array), DL(Body.getDataLayout()) {}

  bool isReused() {
    if (!collect(Array) || Numbers.empty())
      return false;
    if (meet(Integers, Numbers) && typeBits()) {
      Visited.clear();
      for (auto *List : {&Integers, &Numbers, &Counted, &Stored})
        List->clear();
      collect(Array);
    }
    findOthers();
    return (Others.empty() ? meet(Integers, Numbers) : canMove()) &&
           none_of(Integers, [&](Instruction *I) { return leaks(*I); });
  }

  void hide() {
    sayNumbers();
    for (Instruction *I : Others)
      move(*I);
    for (Instruction *I : Integers) {
      if (!isa<LoadInst>(I))
        clearAt(*I);
      if (!isSwap(*I))
        outlineAccess(*I, FunctionName);
    }
    ADGEN_COUNT(NumArrays, Array.getName());
  }

private:
  // All accesses; false where there is anything else.
  bool collect(Value &Address) {
    if (!Visited.insert(&Address).second)
      return true;
    return all_of(Address.users(), [&](User *U) {
      auto &I = *cast<Instruction>(U);
      if (isa<GetElementPtrInst, AddrSpaceCastInst, PHINode, SelectInst>(I))
        return collect(I);
      if (isa<LoadInst, AtomicRMWInst>(I) || isSwap(I) || (isa<StoreInst>(I) && addressIn(I) == &Address))
        return take(I);
      return waits(I);
    });
  }

  bool take(Instruction &I) {
    Type *T = accessed(I);
    bool Counts = T->isIntOrIntVectorTy() && T->getScalarSizeInBits() >= 8;
    auto *Store = dyn_cast<StoreInst>(&I);
    (Counts ? Integers : Numbers).push_back(&I);
    if (!Counts && !isa<LoadInst>(I))
      Stored.push_back(&I);
    if (Counts && !isa<LoadInst>(I))
      Counted.push_back(&I);
    return (Counts || T->isFPOrFPVectorTy()) && !(Store && Store->isAtomic()) &&
           !(isa<LoadInst>(I) && cast<LoadInst>(I).isAtomic());
  }

  // A barrier, which LowerCollectivesToRules gives a pointer to shared memory.
  static bool waits(const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    StringRef Name = Call && Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
    return Name.consume_front(RulePrefix) && (Name.ends_with("barrier") || Name.ends_with("turn"));
  }

  // Whether both kinds are subscripts of one array. Parts of one region, one behind the other, are none of that.
  bool meet(ArrayRef<Instruction *> These, ArrayRef<Instruction *> Those) const {
    return any_of(These, [&](Instruction *One) {
      return any_of(
          Those, [&](Instruction *Other) { return subscripted(*addressIn(*One)) == subscripted(*addressIn(*Other)); });
    });
  }

  // The number whose bits these are, also where it is chosen with constants; null where they are something else's.
  static Value *numberBehind(Value &Bits) {
    auto Of = [](Value *V) {
      auto *Cast = dyn_cast<BitCastInst>(V);
      return Cast && Cast->getSrcTy()->isFPOrFPVectorTy() ? Cast->getOperand(0) : nullptr;
    };
    auto *Phi = dyn_cast<PHINode>(&Bits);
    if (!Phi)
      return Of(&Bits);
    auto *Any = find_if(Phi->incoming_values(), Of);
    Type *T = Any == Phi->incoming_values().end() ? nullptr : Of(*Any)->getType();
    auto IsNumber = [&](Value *V) { return isa<ConstantInt>(V) || (Of(V) && Of(V)->getType() == T); };
    if (!T || !all_of(Phi->incoming_values(), IsNumber))
      return nullptr;
    PHINode *Number = PHINode::Create(T, Phi->getNumIncomingValues(), "", Phi->getIterator());
    for (auto [V, From] : zip(Phi->incoming_values(), Phi->blocks()))
      Number->addIncoming(isa<Constant>(V) ? ConstantExpr::getBitCast(cast<Constant>(V), T) : Of(V), From);
    return Number;
  }

  // Numbers whose bits are stored or loaded are numbers; says whether there were any.
  bool typeBits() {
    bool Any = false;
    for (Instruction *I : Integers) {
      auto *Store = dyn_cast<StoreInst>(I);
      if (Value *Number = Store ? numberBehind(*Store->getValueOperand()) : nullptr) {
        Store->setOperand(0, Number);
        Any = true;
      }
      auto *Load = dyn_cast<LoadInst>(I);
      Type *T = Load && !Load->use_empty() ? Load->user_back()->getType() : nullptr;
      if (!T || !T->isFPOrFPVectorTy() ||
          !all_of(Load->users(), [&](User *U) { return isa<BitCastInst>(U) && U->getType() == T; }))
        continue;
      LoadInst *Now = IRBuilder<>(Load).CreateAlignedLoad(T, Load->getPointerOperand(), Load->getAlign());
      Now->setVolatile(Load->isVolatile());
      Now->setDebugLoc(Load->getDebugLoc());
      for (User *U : make_early_inc_range(Load->users())) {
        U->replaceAllUsesWith(Now);
        cast<Instruction>(U)->eraseFromParent();
      }
      Load->eraseFromParent();
      Any = true;
    }
    return Any;
  }

  // Of numbers of several kinds in one place, those that are not of the kind that is met most often.
  void findOthers() {
    SmallMapVector<Type *, SmallVector<Instruction *>, 2> Kinds;
    for (Instruction *I : Numbers)
      Kinds[accessed(*I)->getScalarType()].push_back(I);
    auto &Most = *max_element(Kinds, [](auto &A, auto &B) { return A.second.size() < B.second.size(); });
    Main = Most.first;
    for (auto &[T, Each] : Kinds)
      if (T != Main && meet(Each, Most.second))
        Others.append(Each);
    IsOneKind = Kinds.size() == 1;
  }

  bool canMove() const {
    return all_of(Others, [](Instruction *I) {
      Type *T = accessed(*I);
      return (T->isFloatTy() || T->isDoubleTy()) && isa<LoadInst, StoreInst>(I);
    });
  }

  // What the last subscript that is no constant is taken of, and the constant offset of that.
  std::pair<const Value *, int64_t> subscripted(Value &Address) const {
    Value *Base = &Address;
    bool Found = false;
    int64_t Offset = 0;
    while (auto *Step = dyn_cast<GEPOperator>(Base)) {
      APInt By(DL.getIndexTypeSizeInBits(Step->getType()), 0);
      bool Constant = Step->accumulateConstantOffset(DL, By);
      if (!Constant && Found)
        break;
      Offset = Constant ? Offset + By.getSExtValue() : 0; // behind a subscript it says nothing of where the array is
      Found |= !Constant;
      Base = Step->getPointerOperand();
    }
    return {isa<GEPOperator>(Base) ? Base : getUnderlyingObject(Base, 0), Offset};
  }

  bool isOwn(Value *Address) const { return Visited.contains(Address); }

  // Whether a number's bits may pass through the access.
  bool leaks(Instruction &I) {
    bool Changes = isa<AtomicRMWInst>(I) || isSwap(I);
    SmallVector<Value *> Given;
    if (isa<StoreInst>(I) || Changes)
      Given.append(I.value_op_begin(), I.value_op_end());
    erase_if(Given, [](Value *V) { return !V->getType()->isIntOrIntVectorTy(); });
    if (any_of(Given, [&](Value *V) { return comesFromNumber(*V); }))
      return true;
    if (isa<StoreInst>(I))
      return false;
    bool Returns = Changes;
    return becomesNumber(I, Returns) || (Returns && mayHoldNumber(I));
  }

  bool comesFromNumber(Value &V) const {
    return reaches(V, [&](Value &Each, SmallVectorImpl<Value *> &Next) {
      auto *I = dyn_cast<Instruction>(&Each);
      if (!I || isa<CmpInst, FPToSIInst, FPToUIInst, AtomicRMWInst, ExtractValueInst>(I))
        return false;
      if (auto *Load = dyn_cast<LoadInst>(I))
        return !isOwn(Load->getPointerOperand()) && !isOfIntegers(Load->getPointerOperand());
      if (auto *Cast = dyn_cast<BitCastInst>(I))
        return Next.push_back(Cast->getOperand(0)), !Cast->getSrcTy()->isIntOrIntVectorTy();
      Next.append(I->value_op_begin(), I->value_op_end());
      return isa<PtrToIntInst>(I) || I->getType()->isFPOrFPVectorTy();
    });
  }

  // `Returns`: whether what is loaded goes back into the array.
  bool becomesNumber(Instruction &Loaded, bool &Returns) const {
    return reaches(Loaded, [&](Value &Each, SmallVectorImpl<Value *> &Next) {
      return any_of(Each.users(), [&](User *U) {
        auto &I = *cast<Instruction>(U);
        if (auto *Store = dyn_cast<StoreInst>(&I)) {
          Returns |= isOwn(Store->getPointerOperand());
          return !isOwn(Store->getPointerOperand()) && !isOfIntegers(Store->getPointerOperand());
        }
        Returns |= (isa<AtomicRMWInst>(I) || isSwap(I)) && isOwn(I.getOperand(0));
        if (isa<BitCastInst>(I) && !I.getType()->isIntOrIntVectorTy())
          return true;
        if (isIntegerStep(I) || isa<BitCastInst, ExtractValueInst>(I))
          Next.push_back(&I);
        return isa<IntToPtrInst>(I);
      });
    });
  }

  bool isOfIntegers(Value *Address) const {
    std::optional<Place> At = placeOf(Address, DL);
    return At && At->Memory && !At->Memory->holdsFloats();
  }

  // Of an integer that is loaded and goes back: the numbers must be gone before, and be back before they are read.
  bool mayHoldNumber(Instruction &Loaded) {
    Contents Order(Body);
    return Order.reaches(Stored, Loaded, Counted) || any_of(Numbers, [&](Instruction *Number) {
             return isa<LoadInst>(Number) && Order.reaches(Counted, *Number, Stored);
           });
  }

  // By a rule, which Enzyme does not look into: adgen_rule_take_TYPE(variable, place), adgen_rule_put_TYPE(place,
  // variable).
  void move(Instruction &I) {
    Type *T = accessed(I);
    IRBuilder<> Start(&*Body.getEntryBlock().getFirstInsertionPt()), B(&I);
    Value *Variable = Start.CreateAlloca(T, nullptr, "moved"), *Place = addressIn(I);
    auto *Store = dyn_cast<StoreInst>(&I);
    if (Store)
      B.CreateStore(Store->getValueOperand(), Variable);
    std::string Name = (Twine(Store ? "put" : "take") + (T->isFloatTy() ? "_f32" : "_f64")).str();
    Function *Rule = declareRule(*Body.getParent(), Name, 2, {});
    keepApart(*Rule);
    B.CreateCall(Rule, Store ? ArrayRef<Value *>{Place, Variable} : ArrayRef<Value *>{Variable, Place});
    if (!Store)
      I.replaceAllUsesWith(B.CreateLoad(T, Variable));
    I.eraseFromParent();
  }

  static void keepApart(Function &Rule) {
    Rule.setNotConvergent();
    Rule.setMemoryEffects(MemoryEffects::argMemOnly());
    Rule.setWillReturn();
    Rule.setDoesNotFreeMemory();
  }

  void clearAt(Instruction &I) {
    IRBuilder<> B(&I);
    uint64_t Bytes = DL.getTypeStoreSize(accessed(I)), Step = std::min({Bytes, alignmentOf(I).value(), uint64_t(8)});
    for (uint64_t Offset = 0; Offset < Bytes; Offset += Step) {
      Function *Rule = declareRule(*Body.getParent(), (ClearPrefix + Twine(Step)).str(), 1, {});
      keepApart(*Rule);
      B.CreateCall(Rule, Offset ? B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), addressIn(I), Offset) : addressIn(I));
    }
  }

  // For Enzyme it is an array of them now.
  void sayNumbers() {
    Body.removeParamAttr(Array.getArgNo(), LayoutAttribute);
    if (!IsOneKind)
      return;
    uint64_t Bytes = DL.getTypeStoreSize(Main);
    Layout Now{Bytes, {{0, Main->isBFloatTy() ? 'b' : 'f', Bytes}}};
    Body.addParamAttr(Array.getArgNo(), Attribute::get(Body.getContext(), LayoutAttribute, print(Now)));
  }

  Function &Body;
  Argument &Array;
  const DataLayout &DL;
  SmallPtrSet<Value *, 16> Visited;
  SmallVector<Instruction *> Integers, Numbers; // accesses
  SmallVector<Instruction *> Counted, Stored;   // of them those that write
  SmallVector<Instruction *> Others;            // of numbers that are not of the main kind
  Type *Main = nullptr;
  bool IsOneKind = false;
};

} // namespace

ADGEN_DECLARE_PASS(HideReusedIntegers);

PreservedAnalyses HideReusedIntegers::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Function *> Bodies;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration())
      Bodies.push_back(&F);
  for (Function *Body : Bodies) {
    unsigned Own = Body->arg_size() - sharedNames(*Body).size();
    for (unsigned I = Own; I < Body->arg_size(); ++I)
      if (SharedArray Array(*Body, *Body->getArg(I)); Array.isReused())
        Array.hide();
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
