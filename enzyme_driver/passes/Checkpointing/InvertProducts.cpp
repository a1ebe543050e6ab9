// What is left of a ray's light, `through *= 1 - alpha`, is a product that a loop carries. Enzyme keeps it in each
// iteration, although the reverse sweep could divide: what an iteration has multiplied with is computed again, and the
// number that it began with follows from the one that the next began with.
//
// The number moves to a variable that iterations read by a load that Enzyme repeats (see RematerializeSharedLoads), and
// that the reverse sweep changes: a call on the way to the next iteration has a derivative that divides it. Whether the
// loop is left may depend on the number. An iteration that another one follows has not left, so the outcome of such a
// comparison is read from a variable as well, which the same derivative clears.
//
// Where the user's own comparison leaves the loop before the number comes near zero, a step back loses no more than a
// rounding. Elsewhere the forward sweep has the product once more, in a form that is never zero (WideProduct). A loop
// in another loop keeps the number that its last iteration began with. A sum, as an optical depth whose exponential is
// the light, is one with twice the digits then (WideSum), from which what was added is taken away.
#include "Checkpointing/CarriedProduct.h"

#include "Analysis/Undo.h"
#include "Checkpointing/Breaks.h"
#include "Checkpointing/WideProduct.h"
#include "Checkpointing/WideSum.h"
#include "Support/Derivative.h"
#include "Support/Guards.h"
#include "Support/LeftValues.h"
#include "Support/Pass.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#define DEBUG_TYPE "adgen-invert-products"

using namespace llvm;

STATISTIC(NumProducts, "Number of products inverted");

namespace adgen {
namespace {

// The number and what comparisons have found, in a variable of the thread. In the reverse sweep the number is at first
// the one that the last iteration began with, and in any other one iteration ahead; or always ahead.
class State {
public:
  State(Function &Body, Type *Number, unsigned Comparisons, bool Always, bool IsWide, bool IsSum)
      : M(*Body.getParent()), Number(Number), Always(Always), IsWide(IsWide), IsSum(IsSum),
        LastPlace(Always ? 1 : First + Comparisons),
        Array(ArrayType::get(Number, LastPlace + (IsSum    ? WideSum::Places
                                                  : IsWide ? WideProduct::Places
                                                           : 0))),
        Variable(new AllocaInst(Array, 0, "carried", Body.getEntryBlock().begin())) {}

  static constexpr unsigned First = 3; // of the comparisons' places

  void begin(IRBuilder<> &B, Value *V) {
    store(B, V, Carried);
    if (IsWide)
      beginWide(B, V);
    if (!Always)
      store(B, Constant::getNullValue(Number), NextIsAhead);
  }

  bool isAlwaysAhead() const { return Always; }
  void next(IRBuilder<> &B, Value *V) { store(B, V, Carried); }
  void found(IRBuilder<> &B, Value *V, unsigned Comparison) { store(B, V, First + Comparison); }
  Value *value(IRBuilder<> &B) { return load(B, Carried); }
  Value *found(IRBuilder<> &B, unsigned Comparison) { return load(B, First + Comparison); }

  Type *number() const { return Number; }

  // Where an iteration ends, which is where its reverse begins.
  void end(IRBuilder<> &B) {
    Undo Rule = declareUndo(M, nameOf("step"), {});
    if (Rule.IsNew)
      writeStep(*Rule.Reverse);
    B.CreateCall(Rule.Primal, {Variable});
  }

  // Where the number has been multiplied.
  void divide(IRBuilder<> &B, Value *Factor) {
    Type *Bits = B.getIntNTy(Number->getPrimitiveSizeInBits());
    Undo Rule = declareUndo(M, nameOf("divide"), {Bits});
    if (Rule.IsNew)
      writeDivision(*Rule.Reverse);
    if (Rule.IsNew && IsWide) {
      IRBuilder<> Forward(Rule.Augmented->getEntryBlock().getTerminator());
      Argument &Base = *Rule.Augmented->getArg(0);
      Value *Before = Forward.CreateLoad(Number, &Base), *By = Forward.CreateBitCast(Rule.Augmented->getArg(2), Number);
      IsSum ? WideSum(Forward, Array, &Base).add(By) : WideProduct(Forward, Array, &Base).multiply(Before, By);
    }
    B.CreateCall(Rule.Primal, {Variable, plainBits(B, Factor)});
  }

  // Behind the loop, which runs again.
  void keep(IRBuilder<> &B) {
    keep(B, Carried);
    for (unsigned Place = First; Place < LastPlace; ++Place)
      keep(B, Place);
  }

private:
  enum Place : unsigned { Carried, NextIsAhead, IsAhead };

  std::string nameOf(const Twine &What) const {
    return (What + "_f" + Twine(Number->getPrimitiveSizeInBits().getFixedValue()) + "_" +
            (IsSum    ? "sum_"
             : IsWide ? "wide_"
                      : "") +
            (Always ? "always" : utostr(LastPlace - First)))
        .str();
  }

  Value *at(IRBuilder<> &B, Value &Base, unsigned Place) const {
    return Place ? B.CreateConstInBoundsGEP2_32(Array, &Base, 0, Place) : &Base;
  }

  void store(IRBuilder<> &B, Value *V, unsigned Place) { B.CreateStore(V, at(B, *Variable, Place)); }

  // A load that Enzyme repeats.
  Value *load(IRBuilder<> &B, unsigned Place) {
    Value *From = at(B, *Variable, Place);
    return B.CreateIntrinsic(Intrinsic::nvvm_ldu_global_f, {Number, From->getType()},
                             {From, B.getInt32(M.getDataLayout().getABITypeAlign(Number).value())});
  }

  void keep(IRBuilder<> &B, unsigned Place) {
    Undo Rule = declareUndo(M, nameOf("keep_" + utostr(Place)), {}, Number);
    if (Rule.IsNew) {
      IRBuilder<> Augmented(&Rule.Augmented->getEntryBlock());
      Augmented.CreateRet(Augmented.CreateLoad(Number, at(Augmented, *Rule.Augmented->getArg(0), Place)));
      IRBuilder<> Reverse(&Rule.Reverse->getEntryBlock());
      Argument &Base = *Rule.Reverse->getArg(0);
      Reverse.CreateStore(Rule.Reverse->getArg(2), at(Reverse, Base, Place));
      if (!Always)
        Reverse.CreateStore(Constant::getNullValue(Number), at(Reverse, Base, NextIsAhead));
      Reverse.CreateRetVoid();
    }
    B.CreateCall(Rule.Primal, {Variable});
  }

  Value *isAhead(IRBuilder<> &B, Value &Base, unsigned Place) const {
    return B.CreateFCmpUNE(B.CreateLoad(Number, at(B, Base, Place)), Constant::getNullValue(Number));
  }

  // By a call: it has no derivative.
  void beginWide(IRBuilder<> &B, Value *V) {
    Type *Bits = B.getIntNTy(Number->getPrimitiveSizeInBits());
    Undo Rule = declareUndo(M, nameOf("begin"), {Bits});
    if (Rule.IsNew) {
      IRBuilder<> Forward(Rule.Augmented->getEntryBlock().getTerminator());
      Argument *Base = Rule.Augmented->getArg(0);
      Value *First = Forward.CreateBitCast(Rule.Augmented->getArg(2), Number);
      IsSum ? WideSum(Forward, Array, Base).begin(First) : WideProduct(Forward, Array, Base).begin(First);
      ReturnInst::Create(M.getContext(), &Rule.Reverse->getEntryBlock());
    }
    B.CreateCall(Rule.Primal, {Variable, plainBits(B, V)});
  }

  // Enzyme computes it again.
  Value *plainBits(IRBuilder<> &B, Value *V) {
    auto *Plain = new BitCastInst(V, B.getIntNTy(Number->getPrimitiveSizeInBits()), "", B.GetInsertPoint());
    Plain->setMetadata(InactiveMark, MDNode::get(M.getContext(), {}));
    return Plain;
  }

  void writeStep(Function &Reverse) const {
    IRBuilder<> B(&Reverse.getEntryBlock());
    Argument &Base = *Reverse.getArg(0);
    Constant *Zero = Constant::getNullValue(Number), *One = ConstantFP::get(Number, 1.0);
    Value *Ahead = isAhead(B, Base, NextIsAhead);
    B.CreateStore(B.CreateSelect(Ahead, One, Zero), at(B, Base, IsAhead));
    B.CreateStore(One, at(B, Base, NextIsAhead));
    for (unsigned Place = First; Place < LastPlace; ++Place) {
      Value *Found = at(B, Base, Place);
      B.CreateStore(B.CreateSelect(Ahead, Zero, B.CreateLoad(Number, Found)), Found);
    }
    B.CreateRetVoid();
  }

  void writeDivision(Function &Reverse) const {
    IRBuilder<> B(&Reverse.getEntryBlock());
    Argument &Base = *Reverse.getArg(0);
    Value *Factor = B.CreateBitCast(Reverse.getArg(2), Number);
    if (IsSum) {
      WideSum Left(B, Array, &Base);
      Left.subtract(Factor);
      B.CreateStore(Left.value(), &Base);
      B.CreateRetVoid();
      return;
    }
    if (IsWide) {
      WideProduct Left(B, Array, &Base);
      Left.divide(Factor);
      B.CreateStore(Left.value(), &Base);
      B.CreateRetVoid();
      return;
    }
    if (!Always)
      Factor = B.CreateSelect(isAhead(B, Base, IsAhead), Factor, ConstantFP::get(Number, 1.0));
    B.CreateStore(B.CreateFDiv(B.CreateLoad(Number, &Base), Factor), &Base);
    B.CreateRetVoid();
  }

  Module &M;
  Type *Number;
  bool Always, IsWide, IsSum;
  unsigned LastPlace;
  ArrayType *Array;
  AllocaInst *Variable;
};

// The result of a comparison, by way of the variable: a number that is not zero where the iteration leaves the loop.
void readAgain(CmpInst &Comparison, bool Leaves, State &In, unsigned Index) {
  IRBuilder<> B(Comparison.getNextNode());
  B.SetCurrentDebugLocation(Comparison.getDebugLoc());
  Type *Number = In.number();
  Constant *Zero = Constant::getNullValue(Number), *One = ConstantFP::get(Number, 1.0);
  auto *Found = SelectInst::Create(&Comparison, Leaves ? One : Zero, Leaves ? Zero : One, "", B.GetInsertPoint());
  In.found(B, Found, Index);
  Value *Again = B.CreateFCmp(Leaves ? CmpInst::FCMP_UNE : CmpInst::FCMP_OEQ, In.found(B, Index), Zero);
  Comparison.replaceUsesWithIf(Again, [&](Use &U) { return U.getUser() != Found; });
}

// Nothing behind the loop is found out again from what an iteration knew. In loops around it, what nothing asks for but
// the next run of the loop is not kept.
void holdLeft(Loop &L, const CarriedProduct &Product, DominatorTree &DT, LoopInfo &LI) {
  auto IsNeeded = [&](PHINode &Left) {
    const Loop *Around = LI.getLoopFor(Left.getParent());
    return !L.contains(&Left) && (!Around || Product.isNeededIn(*Around, Left));
  };
  for (Instruction *I : SmallVector<Instruction *>(Product.computed().getArrayRef()))
    holdBehind(*I, DT, LI, IsNeeded);
  for (Instruction *I : Product.left())
    holdBehind(*I, DT, LI, [&](const PHINode &Left) { return !LI.getLoopFor(Left.getParent()); });
}

// Where a thread leaves the loop, whether or not it has come to its latch.
void endLast(Loop &L, State &In, DominatorTree &DT, LoopInfo &LI) {
  SmallVector<Loop::Edge> Edges;
  L.getExitEdges(Edges);
  for (auto [From, To] : Edges)
    if (From != L.getLoopLatch()) {
      IRBuilder<> B(SplitEdge(From, To, &DT, &LI)->getTerminator());
      In.end(B);
    }
}

void undoSteps(CarriedProduct &Product, State &In, DominatorTree &DT, LoopInfo &LI) {
  SmallVector<std::pair<CarriedProduct::Step, Value *>> Steps;
  for (const CarriedProduct::Step &Each : Product.steps())
    Steps.push_back({Each, Product.factor(Each)});
  for (auto &[At, Factor] : Steps) {
    BasicBlock *Block = !At.To || At.From->getSingleSuccessor() ? At.From : SplitEdge(At.From, At.To, &DT, &LI);
    IRBuilder<> B(Block->getTerminator());
    In.divide(B, Factor);
    if (In.isAlwaysAhead())
      In.next(B, At.Product);
  }
}

// The variable in place of the phi.
void moveTo(State &In, PHINode &Carried, Loop &L, DominatorTree &DT, LoopInfo &LI) {
  IRBuilder<> Before(L.getLoopPreheader()->getTerminator());
  In.begin(Before, Carried.getIncomingValueForBlock(L.getLoopPreheader()));
  if (!In.isAlwaysAhead()) {
    IRBuilder<> On(SplitEdge(L.getLoopLatch(), L.getHeader(), &DT, &LI)->getTerminator());
    In.next(On, Carried.getIncomingValueForBlock(L.getLoopLatch()));
  }
  IRBuilder<> Begin(L.getHeader(), L.getHeader()->getFirstInsertionPt());
  Value *Read = In.value(Begin);
  for (User *U : make_early_inc_range(Carried.users()))
    if (auto *Frozen = dyn_cast<FreezeInst>(U)) {
      Frozen->replaceAllUsesWith(Read);
      Frozen->eraseFromParent();
    }
  Carried.replaceAllUsesWith(Read);
  Carried.eraseFromParent();
}

// Whether what comes there is the number that this phi had, or that the loop has left.
bool isHandedOn(Value *V, const PHINode &Phi, const Value &Left, const Loop &Around) {
  auto *Met = dyn_cast<PHINode>(V);
  if (V == &Phi || V == &Left)
    return true;
  return Met && Around.contains(Met) && Met->getParent() != Around.getHeader() &&
         all_of(Met->incoming_values(), [&](Value *Each) { return isHandedOn(Each, Phi, Left, Around); });
}

// The outermost loop throughout which the number is multiplied by this one alone.
Loop *wholeLoop(PHINode &Carried, Loop &L) {
  Loop *Whole = &L;
  const PHINode *Phi = &Carried;
  const Value *Left = Carried.getIncomingValueForBlock(L.getLoopLatch());
  for (Loop *Around = L.getParentLoop(); Around && Around->getLoopPreheader() && Around->getLoopLatch();
       Around = Around->getParentLoop()) {
    auto *Outer = dyn_cast<PHINode>(Phi->getIncomingValueForBlock(Whole->getLoopPreheader()));
    if (!Outer || Outer->getParent() != Around->getHeader() ||
        !isHandedOn(Outer->getIncomingValueForBlock(Around->getLoopLatch()), *Outer, *Left, *Around))
      break;
    Left = Outer->getIncomingValueForBlock(Around->getLoopLatch());
    Phi = Outer;
    Whole = Around;
  }
  return Whole;
}

void keepBehind(Loop &L, State &In) {
  SmallVector<BasicBlock *> Exits;
  L.getUniqueExitBlocks(Exits);
  for (BasicBlock *Exit : Exits) {
    IRBuilder<> Behind(Exit, Exit->getFirstInsertionPt());
    In.keep(Behind);
  }
}

void invert(PHINode &Carried, Loop &L, CarriedProduct &Product, DominatorTree &DT, LoopInfo &LI) {
  ADGEN_COUNT(NumProducts, Carried);
  const bool Always = Product.isAlwaysInvertible();
  Loop &Whole = Always ? *wholeLoop(Carried, L) : L;
  formDedicatedExitBlocks(&Whole, &DT, &LI, nullptr, /*PreserveLCSSA=*/false);
  holdLeft(L, Product, DT, LI);
  State In(*Carried.getFunction(), Carried.getType(), Product.leaving().size(), Always, Product.isOfAnyRange(),
           Product.isSum());
  undoSteps(Product, In, DT, LI);
  if (Whole.getParentLoop())
    keepBehind(Whole, In); // before edges to there are split: what is kept is put back first
  if (!Always) {
    for (auto [Index, Each] : enumerate(Product.leaving()))
      readAgain(*Each.first, Each.second, In, Index);
    IRBuilder<> End(L.getLoopLatch()->getTerminator());
    In.end(End);
    endLast(L, In, DT, LI);
  }
  moveTo(In, Carried, L, DT, LI);
}

// How an iteration has come out is known again: a loop that is left at one place is entered at one in the reverse
// sweep.
bool joinBreak(Loop &L, const CarriedProduct &Product, DominatorTree &DT, LoopInfo &LI) {
  auto Leaves = [&](const Value &Condition) {
    return any_of(Product.leaving(), [&](const auto &Each) { return Each.first == &Condition; });
  };
  return !L.getParentLoop() && joinBreakBy(L, Leaves, DT, LI);
}

bool invertOne(Function &Body, UnchangedMemory &Unchanged, FunctionAnalysisManager &FAM) {
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(Body);
  auto &LI = FAM.getResult<LoopAnalysis>(Body);
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(Body);
  Constants Known(Body, knownActivities(Body));
  for (Loop *L : LI.getLoopsInPreorder()) {
    if (!L->getLoopPreheader() || !L->getLoopLatch())
      continue;
    for (PHINode &Carried : L->getHeader()->phis())
      if (CarriedProduct Product(Carried, *L, DT, SE, Unchanged, Known); Product.isInvertible()) {
        if (!joinBreak(*L, Product, DT, LI))
          invert(Carried, *L, Product, DT, LI);
        return true;
      }
  }
  return false;
}

} // namespace

ADGEN_DECLARE_PASS(InvertProducts);

PreservedAnalyses InvertProducts::run(Module &M, ModuleAnalysisManager &MAM) {
  if (asksForTangents(M)) // which take the loop as it is
    return PreservedAnalyses::all();
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  const UnderlyingObjects Memory(M);
  UnchangedMemory Unchanged(Memory, BodyPrefix);
  SmallVector<Function *> Bodies;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && !F.isDeclaration())
      Bodies.push_back(&F);
  for (Function *Body : Bodies)
    while (invertOne(*Body, Unchanged, FAM))
      FAM.invalidate(*Body, PreservedAnalyses::none());
  return PreservedAnalyses::none();
}

} // namespace adgen
