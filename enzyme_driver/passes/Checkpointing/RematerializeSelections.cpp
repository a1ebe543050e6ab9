// Where a loop selects one of the numbers that its iterations compute (a minimum, the nearest, the first of the
// largest),
//   best = inf; for (i...) { d = f(i); if (d < best) best = d; } use(best);
// Enzyme reverses all iterations, although the cotangent of every number but one is zero. The loop remembers what it
// carried into the iteration that won, and that iteration is computed again behind it:
//   best = inf; for (i...) { d = f(i); if (d < best) { best = d; at = i; won = true; } } use(won ? f(at) : inf);
// What is selected in the loop has no derivative then. It is not done where what wins depends on what was carried and
// has a derivative, where that is used for more than comparisons, and where the loop writes to what f reads.
#include "Checkpointing/KeptPlaces.h"
#include "Checkpointing/OutlineInactive.h"
#include "Checkpointing/Selection.h"
#include "Support/Derivative.h"
#include "Support/Guards.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

#define DEBUG_TYPE "adgen-rematerialize-selections"

using namespace llvm;

STATISTIC(NumFunctions, "Number of functions with selections computed again");

namespace adgen {
namespace {

void markInactive(Instruction &I) { I.setMetadata(InactiveMark, MDNode::get(I.getContext(), {})); }

// A value as the loop carries it, and as an iteration hands it on.
struct Carried {
  PHINode *Before;
  Value *After;
};

BasicBlock::iterator behind(Instruction &I) {
  return isa<PHINode>(I) ? I.getParent()->getFirstInsertionPt() : std::next(I.getIterator());
}

// Whether the choices of selections take another number than the one so far: a value beside each choice.
class Changes {
public:
  Value *of(const Selection &S) { return of(S, &S.next()); }

private:
  Value *of(const Selection &S, Value *V) {
    auto *Choice = dyn_cast<Instruction>(V);
    Type *Bool = Type::getInt1Ty(V->getContext());
    if (!S.isChoice(V))
      return ConstantInt::get(Bool, V != &S.soFar());
    Value *&Known = Found[Choice];
    if (!Known)
      Known = isa<PHINode>(Choice) ? ofJoin(S, cast<PHINode>(*Choice)) : ofSelect(S, cast<SelectInst>(*Choice));
    return Known;
  }

  Value *ofSelect(const Selection &S, SelectInst &Choice) {
    Value *Then = of(S, Choice.getTrueValue()), *Else = of(S, Choice.getFalseValue());
    for (auto &[Condition, One, Other, Made] : Selects)
      if (Condition == Choice.getCondition() && One == Then && Other == Else)
        return Made;
    IRBuilder<> B(&Choice);
    Value *Made = match(Then, Else, Choice.getCondition(), B);
    Selects.push_back({Choice.getCondition(), Then, Else, Made});
    return Made;
  }

  static Value *match(Value *Then, Value *Else, Value *Condition, IRBuilder<> &B) {
    auto Is = [](Value *V, bool Wanted) { return isa<ConstantInt>(V) && cast<ConstantInt>(V)->isOne() == Wanted; };
    if (Is(Then, true) && Is(Else, false))
      return Condition;
    return Is(Then, false) && Is(Else, true) ? B.CreateNot(Condition, "changes")
                                             : B.CreateSelect(Condition, Then, Else, "changes");
  }

  Value *ofJoin(const Selection &S, PHINode &Choice) {
    SmallVector<Value *> Incoming;
    for (Value *Each : Choice.incoming_values())
      Incoming.push_back(of(S, Each));
    for (PHINode *Made : Joins)
      if (Made->getParent() == Choice.getParent() && equal(Made->blocks(), Choice.blocks()) &&
          equal(Made->incoming_values(), Incoming))
        return Made;
    PHINode *Made =
        PHINode::Create(Type::getInt1Ty(Choice.getContext()), Incoming.size(), "changes", Choice.getIterator());
    for (auto [Each, From] : zip(Incoming, Choice.blocks()))
      Made->addIncoming(Each, From);
    Joins.push_back(Made);
    return Made;
  }

  struct Select {
    Value *Condition, *Then, *Else, *Made;
  };
  DenseMap<Instruction *, Value *> Found;
  SmallVector<Select> Selects;
  SmallVector<PHINode *> Joins;
};

// Selections of a loop that change together.
class Winner {
public:
  Winner(Loop &L, const DominatorTree &DT, ArrayRef<Selection *> Selected, Value *Changed)
      : L(L), DT(DT), Selected(Selected), Changed(Changed), Header(*L.getHeader()), Last(&Selected[0]->next()) {
    for (const Selection *Each : Selected) {
      Needed.insert_range(Each->needed());
      if (DT.dominates(Last->getParent(), Each->next().getParent()))
        Last = &Each->next();
    }
  }

  void make() {
    remember();
    for (BasicBlock *Exit : Selected[0]->exits())
      computeAgain(*Exit);
    for (Selection *Each : Selected)
      for (Instruction *Choice : Each->carried())
        markInactive(*Choice);
  }

private:
  // What was carried into the iteration that won last, and whether one did.
  void remember() {
    BasicBlock::iterator At = behind(*Last);
    Won = carry(ConstantInt::getFalse(Header.getContext()), ConstantInt::getTrue(Header.getContext()), At, "won");
    for (Instruction *Each : Needed)
      if (auto *Value = dyn_cast<PHINode>(Each); Value && Value->getParent() == &Header)
        Remembered[Value] =
            carry(Value->getIncomingValueForBlock(L.getLoopPreheader()), Value, At, Value->getName() + ".won");
      else if (Each->getType()->isIntegerTy() && isHeld(Each))
        Remembered[Each] = carry(Constant::getNullValue(Each->getType()), atLast(*Each), At, Each->getName() + ".won");
  }

  // What a loop inside has found, such as its own winner, which need not be looked for again: where the last choice is
  // made. On ways that do not come by that loop nothing of it wins.
  Value *atLast(Instruction &Found) {
    if (DT.dominates(&Found, Last))
      return &Found;
    SSAUpdater Updater;
    Updater.Initialize(Found.getType(), Found.getName());
    Updater.AddAvailableValue(Found.getParent(), &Found);
    Updater.AddAvailableValue(&Header, Constant::getNullValue(Found.getType()));
    return Updater.GetValueInMiddleOfBlock(Last->getParent());
  }

  Carried carry(Value *First, Value *OfWinner, BasicBlock::iterator At, const Twine &Name) {
    PHINode *Before = PHINode::Create(First->getType(), 2, Name, Header.begin());
    IRBuilder<> B(At->getParent(), At);
    Value *After = B.CreateSelect(Changed, OfWinner, Before, Name + ".next");
    Before->addIncoming(First, L.getLoopPreheader());
    Before->addIncoming(After, L.getLoopLatch());
    if (First->getType()->isFloatingPointTy()) {
      markInactive(*Before);
      if (auto *Next = dyn_cast<Instruction>(After))
        markInactive(*Next);
    }
    return {Before, After};
  }

  // The value as the exit sees it: what leaves the loop is either what was carried in or what is handed on.
  Value *seenAt(BasicBlock &Exit, const Carried &Value) {
    PHINode *Seen = PHINode::Create(Value.Before->getType(), 2, Value.Before->getName(), Exit.begin());
    PHINode &Pattern = *Selected[0]->seenAt(Exit);
    for (auto [Each, From] : zip(Pattern.incoming_values(), Pattern.blocks()))
      Seen->addIncoming(Each == &Selected[0]->soFar() ? Value.Before : Value.After, From);
    if (Seen->getType()->isFloatingPointTy())
      markInactive(*Seen);
    if (!Seen->getType()->isIntegerTy())
      return Seen;
    hold(*Seen, Exit.getFirstInsertionPt()); // Enzyme would run the loop again for it
    return *Seen->user_begin();
  }

  void computeAgain(BasicBlock &Exit) {
    ValueToValueMapTy Map;
    for (PHINode &Phi : Header.phis())
      Map[&Phi] = PoisonValue::get(Phi.getType());
    for (auto &[Each, Value] : Remembered)
      Map[Each] = seenAt(Exit, Value);
    Value *HasWon = seenAt(Exit, Won);
    BasicBlock::iterator First = Exit.getFirstInsertionPt();
    while (isHeld(&*First))
      ++First;
    BasicBlock *Rest = Exit.splitBasicBlock(First, Exit.getName() + ".selected");
    BasicBlock *Begin = copy(*Rest, Map);
    Exit.getTerminator()->eraseFromParent();
    BranchInst::Create(Begin, Rest, HasWon, &Exit);
    for (Selection *Each : Selected) {
      PHINode *Seen = Each->seenAt(Exit);
      PHINode *Chosen = PHINode::Create(Seen->getType(), 2, Seen->getName() + ".selected", Rest->begin());
      Chosen->addIncoming(Map[&Each->next()], cast<BasicBlock>(Map[Last->getParent()]));
      Chosen->addIncoming(Each->soFar().getIncomingValueForBlock(L.getLoopPreheader()), &Exit);
      Seen->replaceAllUsesWith(Chosen);
      Seen->eraseFromParent();
    }
  }

  // What the winner needs of an iteration, up to its last choice; returns where it begins.
  BasicBlock *copy(BasicBlock &Rest, ValueToValueMapTy &Map) {
    SmallVector<BasicBlock *> Copies;
    for (BasicBlock *Block : L.blocks()) {
      if (DT.properlyDominates(Last->getParent(), Block))
        continue;
      BasicBlock *Copy = BasicBlock::Create(Block->getContext(), Block->getName() + ".again", Rest.getParent(), &Rest);
      Map[Block] = Copy;
      Copies.push_back(Copy);
      for (Instruction &I : *Block)
        if (Needed.contains(&I) && !Map.count(&I)) {
          Instruction *Again = I.clone();
          Again->insertInto(Copy, Copy->end());
          Map[&I] = Again;
        }
      end(*Block, *Copy, Rest);
    }
    remapInstructionsInBlocks(Copies, Map);
    for (const Selection *Each : Selected)
      Each->settle(Map);
    return cast<BasicBlock>(Map[&Header]);
  }

  // An iteration that wins has not left the loop before.
  void end(BasicBlock &Block, BasicBlock &Copy, BasicBlock &Rest) {
    if (&Block == Last->getParent()) {
      BranchInst::Create(&Rest, &Copy);
      return;
    }
    SmallVector<BasicBlock *> Inside;
    for (BasicBlock *Next : successors(&Block))
      if (L.contains(Next))
        Inside.push_back(Next);
    if (Inside.size() == 1)
      BranchInst::Create(Inside[0], &Copy);
    else
      leadOn(Block, Copy);
  }

  void leadOn(BasicBlock &Block, BasicBlock &Copy) {
    Instruction *End = Block.getTerminator()->clone();
    End->insertInto(&Copy, Copy.end());
    if (std::optional<unsigned> Index = wayOfWinner(Block))
      cast<BranchInst>(End)->setCondition(ConstantInt::getBool(End->getContext(), *Index == 0));
  }

  // As any of the selections knows it: an iteration wins in all of them.
  std::optional<unsigned> wayOfWinner(const BasicBlock &Block) const {
    std::optional<unsigned> Known;
    for (const Selection *Each : Selected) {
      std::optional<unsigned> Its = Each->wayOfWinner(Block);
      assert((!Known || !Its || *Known == *Its) && "selections that change together win on one way");
      Known = Known ? Known : Its;
    }
    return Known;
  }

  Loop &L;
  const DominatorTree &DT;
  ArrayRef<Selection *> Selected;
  Value *Changed;
  BasicBlock &Header;
  Instruction *Last;
  SmallSetVector<Instruction *, 32> Needed;
  Carried Won{};
  MapVector<Instruction *, Carried> Remembered;
};

// For each winner that is computed again: with less, all of them cost as much as the loop.
constexpr unsigned FewestIterations = 4;

// False where the loop selects nothing that can be computed again, or has too few iterations (at most so many; 0 where
// that is not known).
bool rematerialize(Loop &L, unsigned Most, const DominatorTree &DT, const LoopInfo &LI, AAResults &AA,
                   const Constants &Known) {
  std::vector<Selection> Found = selectionsOf(L, DT, LI, AA, Known);
  Changes Changed;
  MapVector<Value *, SmallVector<SmallVector<Selection *>>> Together;
  unsigned Winners = 0;
  for (Selection &Each : Found) {
    auto &Groups = Together[Changed.of(Each)];
    auto *Group = find_if(Groups, [&](auto &Group) { return Each.leavesLike(*Group[0]); });
    bool IsNew = Group == Groups.end();
    (IsNew ? Groups.emplace_back() : *Group).push_back(&Each);
    Winners += IsNew;
  }
  if (Most && Most < FewestIterations * Winners)
    return false;
  for (auto &[Condition, Groups] : Together)
    for (ArrayRef<Selection *> Group : Groups)
      Winner(L, DT, Group, Condition).make();
  return !Found.empty();
}

// Numbers without a derivative; where tangents are asked for, and of a region in C++, only what follows from none.
Constants constantsOf(const Function &F) {
  bool Known = F.getName().starts_with(BodyPrefix) && !asksForTangents(*F.getParent());
  return Known ? Constants(F, knownActivities(F)) : Constants({}, {});
}

bool rematerializeIn(Function &F, FunctionAnalysisManager &FAM) {
  SmallPtrSet<BasicBlock *, 16> Done;
  Constants Known = constantsOf(F);
  bool Changed = false;
  for (bool Again = true; Again;) {
    Again = false;
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    SmallVector<Loop *> Inner = LI.getLoopsInPreorder();
    for (Loop *L : reverse(Inner)) {
      if (!Done.insert(L->getHeader()).second || !(maySelect(*L) || mayKeep(*L)))
        continue;
      simplifyLoop(L, &DT, &LI, &SE, &FAM.getResult<AssumptionAnalysis>(F), nullptr, /*PreserveLCSSA=*/false);
      formLCSSARecursively(*L, DT, &LI, &SE);
      unsigned Most = SE.getSmallConstantMaxTripCount(L);
      AAResults &AA = FAM.getResult<AAManager>(F);
      Again = recomputeKept(*L, Most, LI, SE, AA) || rematerialize(*L, Most, DT, LI, AA, Known);
      Changed = true;
      if (Again)
        break;
    }
    if (Again)
      FAM.invalidate(F, PreservedAnalyses::none());
  }
  return Changed;
}

// The outermost loops first: what is in them goes with them.
void outlineIn(Function &F, FunctionAnalysisManager &FAM) {
  for (bool Again = true; Again;) {
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
    SmallVector<Loop *> Loops = LI.getLoopsInPreorder();
    for (Loop *L : Loops)
      if (maySelect(*L))
        formLCSSARecursively(*L, DT, &LI, nullptr);
    Again = any_of(Loops, [](Loop *L) { return outlineInactive(*L); });
    if (Again)
      FAM.invalidate(F, PreservedAnalyses::none());
  }
}

} // namespace

ADGEN_DECLARE_PASS(RematerializeSelections);

PreservedAnalyses RematerializeSelections::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : make_early_inc_range(M))
    if ((F.getName().starts_with(BodyPrefix) || F.getName().starts_with(RegionPrefix)) && !F.isDeclaration() &&
        rematerializeIn(F, FAM)) {
      ADGEN_COUNT(NumFunctions, F.getName());
      outlineIn(F, FAM);
      Changed = true;
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
