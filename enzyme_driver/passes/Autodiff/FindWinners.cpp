// The largest number of a warp is one lane's. Where lanes exchange numbers until each has the maximum of all 32 (the
// lane one bit apart, numbers that turn around, four at a time), the exchanges only find out whose it is: that is asked
// of all lanes at once, the first that has it, and its number is sent to all. So every lane has the same lane's number
// where several are equal, whatever the order of the exchanges, and these carry no derivative: a reverse sweep adds up
// cotangents for one lane, and keeps which.
#include "Analysis/Bits.h"
#include "Autodiff/Choices.h"
#include "Autodiff/Collectives.h"
#include "Support/Pass.h"
#include "Support/Unrolling.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/bit.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#define DEBUG_TYPE "adgen-find-winners"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumWinners, "Number of maxima that are one lane's number");

namespace adgen {
namespace {

constexpr unsigned Lanes = 32, LastLane = 31;
constexpr unsigned LeastLanes = 4; // two are as well asked one by one, and may be sorted
constexpr uint32_t Own = 1, All = ~0u;

// How another lane is told, if one is: by the bits in which it differs, or how far it is, around the warp or a part of
// it, or by its number.
enum class Way { None, Bits, Around, Number };

// A rule's call that sends a number, between a store and a load.
struct Exchange {
  CallInst *Call;
  StoreInst *Sent;
  LoadInst *Received;
  Way By;
  unsigned Apart;
  unsigned Ring; // of how many lanes those are around which it is told; 0 where it is told in another way

  Value *number() const { return Sent->getValueOperand(); }
  Value *mask() const { return Call->getArgOperand(2); }
};

bool isLane(const Value *V, bool ByNumber) {
  const Value *Of;
  while (match(V, m_And(m_Value(Of), m_SpecificInt(LastLane))))
    V = Of;
  return match(V, m_Intrinsic<Intrinsic::nvvm_read_ptx_sreg_laneid>()) ||
         (ByNumber && match(V, m_Intrinsic<Intrinsic::nvvm_read_ptx_sreg_tid_x>()));
}

constexpr StringLiteral Butterfly = "adgen_rule_shfl_bfly_f32", Indexed = "adgen_rule_shfl_idx_f32";

bool isNumberChosen(Instruction &I) { return I.getType()->isFloatTy() && choiceOf(I); }

struct Sender {
  Way By;
  unsigned Apart;
  unsigned Ring = 0;
};

// By how much the number is larger than the lane's, around `Ring` lanes.
std::optional<Sender> senderAround(const Value *From, unsigned Ring, bool ByNumber) {
  const Value *Lane, *First, *Mine;
  const APInt *By, *Mask, *High;
  if (match(From, m_c_Or(m_And(m_Value(First), m_APInt(High)), m_And(m_Value(Mine), m_APInt(Mask)))) && Ring == Lanes) {
    if (Mask->ugt(*High))
      std::swap(High, Mask), std::swap(First, Mine);
    if (!(*Mask + 1).isPowerOf2() || ((*High | *Mask) & LastLane) != LastLane || (*High & *Mask) != 0 ||
        !isLane(First, ByNumber))
      return std::nullopt;
    From = Mine, Ring = Mask->getZExtValue() + 1;
  }
  auto Inside = [&](const Value *V) {
    const Value *Of;
    while (match(V, m_And(m_Value(Of), m_APInt(Mask))) && (*Mask & (Ring - 1)) == Ring - 1)
      V = Of;
    return V;
  };
  From = Inside(From);
  bool IsHalf = match(From, m_c_Xor(m_Value(Lane), m_APInt(By))) && (*By & (Ring - 1)) == Ring / 2;
  if ((!IsHalf && !match(From, m_c_Add(m_Value(Lane), m_APInt(By)))) || !isLane(Inside(Lane), ByNumber))
    return std::nullopt;
  unsigned Apart = By->getRawData()[0] & (Ring - 1);
  return Sender{Way::Around, Apart, Ring};
}

// Which lane sends, where it is one of the segment.
std::optional<Sender> senderOf(const CallInst &Call, bool ByNumber) {
  constexpr unsigned Offset = 3, Control = 4, Segments = 8;
  StringRef Rule = Call.getCalledFunction()->getName();
  const Value *From = Call.getArgOperand(Offset), *Lane;
  const APInt *By;
  auto *Ends = dyn_cast<ConstantInt>(Call.getArgOperand(Control));
  unsigned Segment = Ends ? Ends->getZExtValue() >> Segments & LastLane : 0;
  if (!Ends || (Ends->getZExtValue() & LastLane) != LastLane)
    return std::nullopt;
  auto Told = [&](Way Kind) -> std::optional<Sender> {
    unsigned Apart = By->getRawData()[0] & LastLane;
    if (Kind == Way::Bits ? Apart & Segment : Segment)
      return std::nullopt;
    return Sender{Kind, Apart};
  };
  if (Rule == Butterfly)
    return match(From, m_APInt(By)) ? Told(Way::Bits) : std::nullopt;
  if (Rule != Indexed)
    return std::nullopt;
  if (match(From, m_APInt(By)))
    return Told(Way::Number);
  if (match(From, m_c_Xor(m_Value(Lane), m_APInt(By))) ||
      match(From, m_And(m_c_Xor(m_Value(Lane), m_APInt(By)), m_SpecificInt(LastLane))))
    if (isLane(Lane, ByNumber))
      return Told(Way::Bits);
  const unsigned Ring = Lanes - Segment;
  return isPowerOf2_32(Ring) ? senderAround(From, Ring, ByNumber) : std::nullopt;
}

std::optional<Exchange> exchangeOf(const Value *V, bool ByNumber) {
  auto *Received = const_cast<LoadInst *>(dyn_cast<LoadInst>(V));
  auto *Call = Received ? dyn_cast_or_null<CallInst>(Received->getPrevNode()) : nullptr;
  auto *Sent = Call ? dyn_cast_or_null<StoreInst>(Call->getPrevNode()) : nullptr;
  if (!Sent || !Call->getCalledFunction() || Call->arg_size() < 2 ||
      Received->getPointerOperand() != Call->getArgOperand(0) || Sent->getPointerOperand() != Call->getArgOperand(1))
    return std::nullopt;
  auto Sender = senderOf(*Call, ByNumber);
  if (!Sender)
    return std::nullopt;
  return Exchange{Call, Sent, Received, Sender->By, Sender->Apart, Sender->Ring};
}

bool isShuffleOfNumber(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && Call->getCalledFunction() && is_contained({Butterfly, Indexed}, Call->getCalledFunction()->getName());
}

// Whether it chooses between what another lane has sent and something else.
bool isReceivedChosen(Instruction &I) {
  if (!isNumberChosen(I))
    return false;
  auto Choice = choiceOf(I);
  return any_of(ArrayRef<Value *>{Choice->A, Choice->B}, [](const Value *V) {
    auto *Received = dyn_cast<LoadInst>(V);
    return Received && Received->getPrevNode() && isShuffleOfNumber(*Received->getPrevNode());
  });
}

// Loops of a few exchanges that the optimiser has left become straight code.
bool unrollIn(Function &F, FunctionAnalysisManager &Analyses) {
  Unroller Of(F, Analyses);
  SmallVector<Loop *> Found;
  for (Loop *L : Of.Loops.getLoopsInPreorder())
    if (L->isInnermost() && any_of(L->blocks(), [](BasicBlock *Block) { return any_of(*Block, isReceivedChosen); }))
      Found.push_back(L);
  bool Changed = false;
  for (Loop *L : Found) {
    Of.prepare(*L);
    if (unsigned Count = Of.SE.getSmallConstantTripCount(L); Count && Count <= Lanes + 1) {
      Of.unroll(*L, Count);
      Changed = true;
    }
  }
  return Changed;
}

// Reads what was received right behind the call again, where nothing else is received in that memory: only some lanes
// may go on with it.
void readAtOnce(CallInst &Call) {
  auto *Out = Call.arg_empty() ? nullptr : dyn_cast<AllocaInst>(Call.getArgOperand(0));
  auto *Next = dyn_cast<LoadInst>(Call.getNextNode());
  if (!Out || (Next && Next->getPointerOperand() == Out) ||
      !all_of(Out->users(), [&](const User *U) { return U == &Call || isa<LoadInst>(U); }))
    return;
  SmallVector<LoadInst *> Loads;
  for (User *U : Out->users())
    if (auto *Load = dyn_cast<LoadInst>(U); Load && Load->getType()->isFloatTy())
      Loads.push_back(Load);
  if (Loads.empty())
    return;
  Loads.front()->moveAfter(&Call);
  for (LoadInst *Other : drop_begin(Loads)) {
    Other->replaceAllUsesWith(Loads.front());
    Other->eraseFromParent();
  }
}

// Of which lanes' numbers, each lane's `Number`, something is the largest, or the smallest: a bit for each lane, as
// told from the own one, and for those with a number.
struct Reach {
  Value *Number;
  uint32_t From = Own, Named = 0;
  Way By = Way::None;
  unsigned Ring = 0; // of the exchanges around some lanes
  Extreme Kind = Extreme::None;

  // The bits in which lanes differ that have the same; none where not all of some lanes have it.
  std::optional<unsigned> group() const {
    if (Named == All || (Ring == Lanes && From == All && !Named))
      return LastLane;
    if (Ring && Ring < Lanes && From == (1u << Ring) - 1 && !Named)
      return Ring >= LeastLanes ? std::optional(Ring - 1) : std::nullopt;
    unsigned Bits = 0, Count = 0;
    for (unsigned Lane = 0; Lane < Lanes; ++Lane)
      if (From >> Lane & 1)
        Bits |= Lane, ++Count;
    bool IsAll = By != Way::Around && !Named && Count == 1u << popcount(Bits);
    return IsAll && Count >= LeastLanes ? std::optional(Bits) : std::nullopt;
  }
};

template <class T> std::optional<T> common(T A, T B, T Any) {
  return A == B || B == Any ? std::optional(A) : A == Any ? std::optional(B) : std::nullopt;
}

// Bits that are half of what others go around are told in that way.
Reach told(Reach Of, const Reach &Other) {
  if (Of.By == Way::Bits && Other.By == Way::Around && !(Of.From & ~(Own | 1u << Other.Ring / 2)))
    Of.By = Other.By, Of.Ring = Other.Ring;
  return Of;
}

std::optional<Reach> together(const Reach &One, const Reach &Other) {
  const Reach A = told(One, Other), B = told(Other, One);
  auto By = common(A.By, B.By, Way::None);
  auto Ring = common(A.Ring, B.Ring, 0u);
  auto Kind = common(A.Kind, B.Kind, Extreme::None);
  if (A.Number != B.Number || !By || !Ring || !Kind)
    return std::nullopt;
  return Reach{A.Number, A.From | B.From, A.Named | B.Named, *By, *Ring, *Kind};
}

std::optional<Reach> sent(const Reach &Of, const Exchange &E) {
  if (E.By == Way::Number)
    return Of.From == Own && !Of.Named ? std::optional(Reach{Of.Number, 0, 1u << E.Apart}) : std::nullopt;
  auto Found = together({Of.Number, 1u << E.Apart, 0, E.By, E.Ring}, Of);
  if (!Found || Of.Named)
    return std::nullopt;
  Found->From = 0;
  for (unsigned Lane = 0; Lane < Lanes; ++Lane)
    if (Of.From >> Lane & 1)
      Found->From |= 1u << (Found->By == Way::Around ? (Lane + E.Apart) % Found->Ring : Lane ^ E.Apart);
  return Found;
}

// What a maximum of all lanes is made of.
struct Search {
  Instruction *Result;
  Reach Found;
  unsigned Group;
  SetVector<Instruction *> Choices;
  SmallVector<Exchange> Exchanges;
};

class Finder {
public:
  Finder(Function &Body, const DominatorTree &DT) : Body(Body), DT(DT) {
    ByNumber = none_of(instructions(Body), [](const Instruction &I) {
      auto *Call = dyn_cast<CallInst>(&I);
      return Call && is_contained({Intrinsic::nvvm_read_ptx_sreg_tid_y, Intrinsic::nvvm_read_ptx_sreg_tid_z},
                                  Call->getIntrinsicID());
    });
  }

  bool run() {
    for (Instruction &I : instructions(Body))
      if (isShuffleOfNumber(I))
        readAtOnce(cast<CallInst>(I));
    SmallVector<Instruction *> Choices;
    for (Instruction &I : instructions(Body))
      if (isNumberChosen(I))
        Choices.push_back(&I);
    bool Changed = false;
    SmallPtrSet<Instruction *, 8> Named;
    for (Instruction *I : reverse(Choices)) {
      std::optional<unsigned> Group = reach(*I).group();
      Search Of{I, reach(*I), Group.value_or(0), {}, {}};
      if (Group && !Named.contains(I) && isAlone(Of)) {
        Named.insert_range(Of.Choices);
        name(Of);
        Reaches.clear();
        Changed = true;
      }
    }
    return Changed;
  }

private:
  Reach reach(Value &V) {
    if (auto Known = Reaches.find(&V); Known != Reaches.end())
      return Known->second;
    Reach Found = computed(V);
    Reaches.insert({&V, Found});
    return Found;
  }

  Reach computed(Value &V) {
    if (auto E = exchangeOf(&V, ByNumber)) {
      if (auto Found = sent(reach(*E->number()), *E))
        return *Found;
      return *sent(Reach{E->number()}, *E);
    }
    auto Choice = choiceOf(V);
    if (!Choice)
      return Reach{&V};
    Reach A = reach(*Choice->A), B = reach(*Choice->B);
    for (auto [One, Other] : {std::pair(A, B), {Reach{Choice->A}, B}, {A, Reach{Choice->B}}})
      if (auto Found = together(One, Other); Found && (Found->From != Own || Found->Named))
        if (auto Kind = common(Found->Kind, Choice->Kind, Extreme::None)) {
          Found->Kind = *Kind;
          return *Found;
        }
    return Reach{&V};
  }

  // Everything between the numbers and the result.
  void collect(Value *V, Search &Of) {
    if (V == Of.Found.Number)
      return;
    if (auto E = exchangeOf(V, ByNumber)) {
      if (none_of(Of.Exchanges, [&](const Exchange &Each) { return Each.Received == V; })) {
        Of.Exchanges.push_back(*E);
        collect(E->number(), Of);
      }
    } else if (Of.Choices.insert(cast<Instruction>(V))) {
      auto Choice = choiceOf(*V);
      collect(Choice->A, Of);
      collect(Choice->B, Of);
    }
  }

  // Whether something can be computed at the end of a block, whatever comes then.
  bool canCompute(const Value *V, const BasicBlock &Block) const {
    auto *I = dyn_cast<Instruction>(V);
    return !I || DT.dominates(I, Block.getTerminator()) ||
           (isa<CmpInst, SelectInst, BinaryOperator, IntrinsicInst>(I) && !I->mayHaveSideEffects() &&
            all_of(I->operands(), [&](const Value *Part) { return canCompute(Part, Block); }));
  }

  void compute(Value *V, BasicBlock &Block) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || DT.dominates(I, Block.getTerminator()))
      return;
    for (Value *Part : I->operands())
      compute(Part, Block);
    I->moveBefore(Block.getTerminator()->getIterator());
  }

  // Whether lanes find nothing else on the way, all in one block.
  bool isAlone(Search &Of) {
    collect(Of.Result, Of);
    auto IsInside = [&](const User *U) {
      return isa<CmpInst>(U) || Of.Choices.contains(cast<Instruction>(U)) ||
             any_of(Of.Exchanges, [&](const Exchange &E) { return E.Sent == U; });
    };
    const Exchange &Last = Of.Exchanges.front();
    return !isa<Constant>(Of.Found.Number) && canCompute(Of.Result, *Last.Call->getParent()) &&
           all_of(Of.Exchanges,
                  [&](const Exchange &E) {
                    return E.mask() == Last.mask() && E.Call->getParent() == Last.Call->getParent() &&
                           all_of(E.Received->users(), IsInside);
                  }) &&
           all_of(Of.Choices, [&](Instruction *I) { return I == Of.Result || all_of(I->users(), IsInside); });
  }

  void name(Search &Of) {
    ADGEN_COUNT(NumWinners, *Of.Result);
    Value *Number = Of.Found.Number, *Mask = Of.Exchanges.front().mask();
    compute(Of.Result, *Of.Exchanges.front().Call->getParent());
    findAlone(Of);
    IRBuilder<> B(Of.Result->getNextNode());
    B.SetCurrentDebugLocation(Of.Result->getDebugLoc());
    Value *IsOwn = B.CreateFCmpOEQ(Number, Of.Result);
    CallInst *Having = B.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {}, {Mask, IsOwn});
    hide(*Having);
    Value *First = B.CreateBinaryIntrinsic(Intrinsic::cttz, ofGroup(B, Having, Of), B.getFalse());
    Value *Control = B.getInt32((~Of.Group & LastLane) << 8 | LastLane);
    Value *Winners = shuffled(B, Number, "shfl_one_f32", {Mask, First, Control});
    Value *IsIt = B.CreateFCmpOEQ(Winners, Of.Result);
    Value *Result = B.CreateSelect(IsIt, Winners, Of.Result); // what is not a number stays as it is
    Of.Result->replaceUsesWithIf(Result, [&](Use &U) { return !is_contained({IsOwn, IsIt, Result}, U.getUser()); });
  }

  // Of a mask of lanes those of the own group.
  static Value *ofGroup(IRBuilder<> &B, Value *Mask, const Search &Of) {
    if (Of.Group == LastLane)
      return Mask;
    CallInst *Lane = B.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, {});
    markInteger(*Lane);
    return B.CreateAnd(Mask, B.CreateShl(B.getInt32(Of.Found.From), B.CreateAnd(Lane, ~Of.Group & LastLane)));
  }

  // Which of two equal numbers is taken does not matter any more.
  static void leaveTies(Instruction &Choice) {
    SmallVector<Value *> Conditions;
    auto *Select = dyn_cast<SelectInst>(&Choice);
    if (Select)
      Conditions.push_back(Select->getCondition());
    while (!Conditions.empty()) {
      auto *Part = dyn_cast<Instruction>(Conditions.pop_back_val());
      if (!Part || !Part->hasOneUse() || isa<CmpInst>(Part))
        continue;
      append_range(Conditions, Part->operand_values());
      auto *Either = dyn_cast<SelectInst>(Part);
      if (Either && !saysOf(*Either->getCondition(), *Select->getTrueValue(), *Select->getFalseValue(), Order::Larger))
        Either->replaceAllUsesWith(Either->getTrueValue());
    }
  }

  // The exchanges without a derivative.
  void findAlone(Search &Of) {
    Value *Number = Of.Found.Number;
    auto *Definition = dyn_cast<Instruction>(Number);
    IRBuilder<> B(Definition ? &**Definition->getInsertionPointAfterDef()
                             : &*Body.getEntryBlock().getFirstInsertionPt());
    Value *Hidden = B.CreateCall(hiddenFrom(*Body.getParent(), Number->getType(), Number->getType()), Number);
    for (Instruction *Choice : Of.Choices) {
      leaveTies(*Choice);
      Choice->replaceUsesOfWith(Number, Hidden);
    }
    for (Exchange &E : Of.Exchanges) {
      B.SetInsertPoint(E.Call);
      bool IsButterfly = E.Call->getCalledFunction()->getName().contains("_bfly_");
      CallInst *Received = B.CreateIntrinsic(
          IsButterfly ? Intrinsic::nvvm_shfl_sync_bfly_f32 : Intrinsic::nvvm_shfl_sync_idx_f32, {},
          {E.mask(), E.number() == Number ? Hidden : E.number(), E.Call->getArgOperand(3), E.Call->getArgOperand(4)});
      hide(*Received);
      E.Received->replaceAllUsesWith(Received);
      E.Received->eraseFromParent();
      E.Call->eraseFromParent();
      E.Sent->eraseFromParent();
    }
  }

  Function &Body;
  const DominatorTree &DT;
  bool ByNumber; // whether a thread's number tells its lane
  DenseMap<const Value *, Reach> Reaches;
};

} // namespace

ADGEN_DECLARE_PASS(FindWinners);

PreservedAnalyses FindWinners::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &Analyses = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  FunctionPassManager Straight;
  Straight.addPass(SimplifyCFGPass());
  Straight.addPass(EarlyCSEPass());
  bool Changed = false;
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix) && any_of(instructions(F), isShuffleOfNumber)) {
      if (unrollIn(F, Analyses)) {
        Analyses.invalidate(F, PreservedAnalyses::none());
        Analyses.invalidate(F, Straight.run(F, Analyses));
        Changed = true;
      }
      Changed |= Finder(F, Analyses.getResult<DominatorTreeAnalysis>(F)).run();
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
