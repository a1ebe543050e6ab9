// Adds up what lanes of a warp add to one of a few places, of which each lane has chosen one: a row of a table by the
// material, class or cluster that a particle, pixel or point belongs to. With fewer places than lanes some lanes have
// one in common in any case, and on the whole grid nearly all do. Which lanes these are is found out when the kernel
// runs, by comparing addresses (match.any); one lane of each place adds the sum. So are the elements of a small shared
// array, such as a filter's, few in any case.
//
// That a number has few values follows from where it is made: where ways meet that each bring one that is the same in
// all lanes, or where a loop was left whose count is small. What is read at such a place has few values too.
#include "Accumulate/HandOver.h"
#include "Accumulate/LaneGroups.h"
#include "Accumulate/LaneOrigins.h"
#include "Analysis/Accumulation.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#define DEBUG_TYPE "adgen-match-lanes"

using namespace llvm;

STATISTIC(NumGroups, "Number of groups of additions to one of a few places");

namespace adgen {
namespace {

constexpr unsigned MostPlaces = 16; // half a warp

// How many values a number may have among the lanes that are in the same iteration.
enum class Spread { One, Few, Many };

class Spreads {
public:
  Spreads(LoopInfo &LI, ScalarEvolution &SE) : LI(LI), SE(SE) {}

  Spread of(const Value *V) {
    if (isa<Constant>(V))
      return Spread::One;
    if (auto *A = dyn_cast<Argument>(V))
      return isOfTheTape(*A) ? Spread::Many : Spread::One;
    auto [Known, New] = Found.try_emplace(V, Spread::Many); // in a cycle that is no loop
    if (!New)
      return Known->second;
    auto *Phi = dyn_cast<PHINode>(V);
    Spread Result = Phi && isHeader(*Phi) ? ofCarried(*Phi) : find(*cast<Instruction>(V));
    note(*V, Result);
    return Result;
  }

private:
  Spread find(const Instruction &I) {
    if (auto *Phi = dyn_cast<PHINode>(&I))
      return ofChoice(I, Phi->incoming_values());
    if (auto *Choice = dyn_cast<SelectInst>(&I))
      return ofChoice(I, drop_begin(Choice->operands()));
    if (isa<LoadInst>(I))
      return I.getType()->isIntOrPtrTy() ? of(getLoadStorePointerOperand(&I)) : Spread::Many;
    if (isa<BinaryOperator, CastInst, GetElementPtrInst, FreezeInst>(I) || isArithmetic(I))
      return widest(I);
    return isOfTheBlock(I) ? Spread::One : Spread::Many;
  }

  // As many values as there were before the loop where all lanes go on by the same steps. If they choose in each
  // iteration, there are more and more.
  Spread ofCarried(const PHINode &Phi) {
    const Loop *L = LI.getLoopFor(Phi.getParent());
    Spread Before = ofWays(Phi, [&](BasicBlock *From) { return !L->contains(From); });
    size_t Count = Order.size();
    note(Phi, Spread::One); // how a step changes that
    Spread Next = ofWays(Phi, [&](BasicBlock *From) { return L->contains(From); });
    for (const Value *Guessed : drop_begin(Order, Count))
      Found.erase(Guessed);
    Order.truncate(Count);
    if (Next == Spread::One)
      return Before;
    return isSmall(Phi) ? Spread::Few : Spread::Many;
  }

  Spread ofWays(const PHINode &Phi, function_ref<bool(BasicBlock *)> IsAsked) {
    Spread Widest = Spread::One;
    for (const auto &[Way, From] : zip_equal(Phi.incoming_values(), Phi.blocks()))
      if (IsAsked(From))
        Widest = std::max(Widest, of(Way));
    return Widest;
  }

  void note(const Value &V, Spread Result) {
    Found[&V] = Result;
    Order.push_back(&V);
  }

  // A choice by what a lane has computed: as many values as there are ways, if each brings the same to all lanes.
  Spread ofChoice(const Instruction &I, User::const_op_range Ways) {
    Spread Widest = Spread::One;
    SmallPtrSet<const Value *, MostPlaces> Different;
    for (const Use &Way : Ways) {
      Widest = std::max(Widest, leavesLoop(I, *Way) ? Spread::Many : of(Way));
      Different.insert(Way);
    }
    if (Widest == Spread::Few || (Widest == Spread::One && Different.size() == 1))
      return Widest;
    bool Few = Widest == Spread::One ? Different.size() <= MostPlaces : isSmall(I);
    return Few ? Spread::Few : Spread::Many;
  }

  // Lanes leave a loop in different iterations.
  bool leavesLoop(const Instruction &I, const Value &Way) const {
    auto *From = dyn_cast<Instruction>(&Way);
    const Loop *L = From ? LI.getLoopFor(From->getParent()) : nullptr;
    return L && !L->contains(&I);
  }

  bool isHeader(const PHINode &Phi) const {
    const Loop *L = LI.getLoopFor(Phi.getParent());
    return L && L->getHeader() == Phi.getParent();
  }

  bool isSmall(const Instruction &I) {
    auto *Number = const_cast<Instruction *>(&I);
    if (!I.getType()->isIntegerTy())
      return false;
    return SE.getUnsignedRangeMax(SE.getSCEV(Number)).ult(MostPlaces) || all_of(I.operands(), [&](const Use &Way) {
             return !Way->getType()->isIntegerTy() || Way->getType()->isIntegerTy(1) ||
                    SE.getUnsignedRangeMax(SE.getSCEV(Way)).ult(MostPlaces);
           });
  }

  Spread widest(const Instruction &I) {
    Spread Widest = Spread::One;
    for (const Use &Operand : I.operands())
      if (!isa<Function>(Operand))
        Widest = std::max(Widest, leavesLoop(I, *Operand) ? ofLeft(cast<Instruction>(*Operand)) : of(Operand));
    return Widest;
  }

  Spread ofLeft(const Instruction &I) { return isSmall(I) ? Spread::Few : Spread::Many; }

  LoopInfo &LI;
  ScalarEvolution &SE;
  DenseMap<const Value *, Spread> Found;
  SmallVector<const Value *> Order; // in which they were found
};

class Matcher {
public:
  Matcher(Function &F, const Meetings &Meet, LoopInfo &LI, ScalarEvolution &SE)
      : F(F), Meet(Meet), All(LI, SE), Given(F) {}

  void run() {
    for (const LaneGroup &G : laneGroups(F, Meet, [&](const AtomicRMWInst &A) { return isCommon(A); }))
      replace(G);
  }

private:
  bool isCommon(const AtomicRMWInst &Atomic) {
    if (Atomic.hasMetadata(TableMark))
      return true;
    Spread Places = All.of(Atomic.getPointerOperand());
    return Given.contain(*Atomic.getPointerOperand()) ? Places == Spread::Few
                                                      : Places != Spread::One && isOfFewElements(Atomic);
  }

  // A shared array of so few elements that lanes have some in common, wherever they add.
  bool isOfFewElements(const AtomicRMWInst &Atomic) const {
    auto *A = dyn_cast<Argument>(getUnderlyingObject(Atomic.getPointerOperand()));
    if (!A || !F.hasParamAttribute(A->getArgNo(), SharedShadowAttribute))
      return false;
    SmallVector<StringRef> Names = sharedNames(F);
    size_t Behind = F.hasFnAttribute(TapeAttribute) ? TapeArguments : 0;
    StringRef Name = Names[A->getArgNo() - (F.arg_size() - Behind - Names.size())];
    const GlobalVariable *Array = F.getParent()->getNamedGlobal(Name);
    uint64_t Bytes = Array ? F.getDataLayout().getTypeAllocSize(Array->getValueType()).getFixedValue() : 0;
    return Bytes && Bytes <= MostPlaces * F.getDataLayout().getTypeStoreSize(Atomic.getType());
  }

  // All members move to the place of the last.
  static void replace(const LaneGroup &G) {
    ++NumGroups;
    IRBuilder<> B(G.Members.back());
    Value *Active = activeLanes(B);
    Value *Alike = alikeLanes(B, Active, G.Members.front()->getPointerOperand(), true);
    handOver(B, "warp", G.Members, Active, Alike, [&](ArrayRef<AtomicRMWInst *>) { return B.getFalse(); });
  }

  Function &F;
  const Meetings &Meet;
  Spreads All;
  GivenShadows Given;
};

// A constant is the same in all lanes, such as how far a shuffle went whose derivative asks for it.
void answerForConstants(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Match = dyn_cast<IntrinsicInst>(&I);
    bool OfAll = Match && Match->getIntrinsicID() == Intrinsic::nvvm_match_all_sync_i32p;
    if (!OfAll || !isa<Constant>(Match->getOperand(1)))
      continue;
    IRBuilder<> B(Match);
    Value *Same = B.CreateInsertValue(PoisonValue::get(Match->getType()), Match->getOperand(0), 0);
    Match->replaceAllUsesWith(B.CreateInsertValue(Same, B.getTrue(), 1));
    Match->eraseFromParent();
  }
}

} // namespace

ADGEN_DECLARE_PASS(MatchLanes);

PreservedAnalyses MatchLanes::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration()) {
      answerForConstants(F);
      Matcher(F, Meetings(F, FAM.getResult<AAManager>(F)), FAM.getResult<LoopAnalysis>(F),
              FAM.getResult<ScalarEvolutionAnalysis>(F))
          .run();
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
