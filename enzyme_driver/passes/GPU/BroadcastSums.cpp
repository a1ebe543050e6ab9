// A warp adds up in five shuffles, each lane what the lane so far above it has, and one lane alone asks for the sum.
// The reversal has five shuffles as well, one waiting for the other, by which each lane gets what the lanes below it
// have: but only that one lane has a cotangent. Whether that is so cannot be known, for it depends on how the block is
// laid out; so the lanes vote. Where all but the first have zero, each lane gets what the first one has by one shuffle.
//
// Not so where the last lane's cotangent comes to all lanes too: all of them had the sum, and ask for it.
//
// What lanes get then is found by letting a warp of which the first lane alone has a one run the shuffles, additions
// and choices here. It runs behind the optimiser, by which the rules of shuffles have become these.
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <array>
#include <map>

#define DEBUG_TYPE "adgen-broadcast-sums"

using namespace llvm;

STATISTIC(NumBroadcast, "Number of chains of shuffles that are one where only the first lane has a cotangent");

namespace adgen {
namespace {

constexpr unsigned Lanes = 32, FewestShuffles = 3, DeepestOfLane = 8;
using Warp = std::array<unsigned, Lanes>; // what each lane has

bool isLane(const Value *V) {
  auto *Call = dyn_cast<CallInst>(V);
  return Call && Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_laneid;
}

// Among all lanes, from lane to lane.
bool isShuffle(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  if (!Call || Call->getIntrinsicID() != Intrinsic::nvvm_shfl_sync_idx_f32)
    return false;
  auto *Mask = dyn_cast<ConstantInt>(Call->getArgOperand(0)), *Bounds = dyn_cast<ConstantInt>(Call->getArgOperand(3));
  return Mask && Mask->isMinusOne() && Bounds && Bounds->equalsInt(Lanes - 1);
}

// An integer or a condition that follows from the lane's number alone.
std::optional<unsigned> ofLane(const Value *V, unsigned Lane, unsigned Depth = 0) {
  if (auto *Number = dyn_cast<ConstantInt>(V))
    return Number->getBitWidth() <= 32 ? std::optional(unsigned(Number->getZExtValue())) : std::nullopt;
  if (isLane(V))
    return Lane;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Depth == DeepestOfLane || I->getNumOperands() != 2 || !isa<BinaryOperator, ICmpInst>(I) ||
      !I->getOperand(0)->getType()->isIntegerTy())
    return std::nullopt;
  auto One = ofLane(I->getOperand(0), Lane, Depth + 1), Other = ofLane(I->getOperand(1), Lane, Depth + 1);
  if (!One || !Other)
    return std::nullopt;
  unsigned Width = I->getOperand(0)->getType()->getIntegerBitWidth();
  APInt A(Width, *One), B(Width, *Other);
  if (auto *Compare = dyn_cast<ICmpInst>(I))
    return ICmpInst::compare(A, B, Compare->getPredicate());
  switch (I->getOpcode()) {
  case Instruction::Add:
    return (A + B).getZExtValue();
  case Instruction::Sub:
    return (A - B).getZExtValue();
  case Instruction::And:
    return (A & B).getZExtValue();
  case Instruction::Or:
    return (A | B).getZExtValue();
  case Instruction::Xor:
    return (A ^ B).getZExtValue();
  default:
    return std::nullopt;
  }
}

// The shuffles, additions and choices of a block that hand on one number, and nothing else.
class Network {
public:
  // Of a warp of which that lane has a one.
  Network(CallInst &First, unsigned Lane) : Block(*First.getParent()), Source(First.getArgOperand(1)) {
    Has[Source].fill(0);
    Has[Source][Lane] = 1;
    auto *Made = dyn_cast<Instruction>(Source);
    bool IsHere = Made && Made->getParent() == &Block && !isa<PHINode>(Made);
    for (Instruction &I : make_range(IsHere ? std::next(Made->getIterator()) : Block.getFirstNonPHIIt(), Block.end()))
      if (std::optional<Warp> Gets = run(I)) {
        Has[&I] = *Gets;
        Members.insert(&I);
        NumShuffles += isShuffle(I);
      } else if (NumShuffles && I.mayHaveSideEffects()) {
        break;
      }
  }

  // Whether every lane has either nothing or the first lane's number in what others use.
  bool isWorthIt() const {
    return NumShuffles >= FewestShuffles && all_of(Members, [&](const Instruction *I) {
             return !isUsedOutside(*I) || all_of(Has.at(I), [](unsigned Times) { return Times <= 1; });
           });
  }

  // Whether all lanes get it.
  bool reachesAll() const {
    return any_of(Members, [&](const Instruction *I) {
      return isUsedOutside(*I) && all_of(Has.at(I), [](unsigned Times) { return Times > 0; });
    });
  }

  // Returns what comes behind.
  BasicBlock *shorten() {
    for (Instruction *I : Members)
      for (Value *Operand : I->operands())
        hoist(Operand);
    BasicBlock *Rest = SplitBlock(&Block, Members.front());
    LLVMContext &Context = Block.getContext();
    auto *Together = BasicBlock::Create(Context, "broadcast", Block.getParent(), Rest),
         *Each = BasicBlock::Create(Context, "each", Block.getParent(), Rest);
    vote(*Together, *Each);
    for (Instruction *I : Members)
      I->removeFromParent();
    for (Instruction *I : Members)
      I->insertInto(Each, Each->end());
    BranchInst::Create(Rest, Each);
    IRBuilder<> B(BranchInst::Create(Rest, Together)), AtRest(Rest, Rest->begin());
    Value *First = B.CreateIntrinsic(Intrinsic::nvvm_shfl_sync_idx_f32, {},
                                     {B.getInt32(-1), Source, B.getInt32(0), B.getInt32(Lanes - 1)});
    Value *Lane = B.CreateIntrinsic(B.getInt32Ty(), Intrinsic::nvvm_read_ptx_sreg_laneid, {});
    for (Instruction *I : Members) {
      if (!isUsedOutside(*I))
        continue;
      PHINode *Either = AtRest.CreatePHI(I->getType(), 2);
      I->replaceUsesWithIf(Either, [&](Use &U) { return !Members.contains(cast<Instruction>(U.getUser())); });
      Either->addIncoming(I, Each);
      Either->addIncoming(chosen(B, Has.at(I), Lane, First), Together);
    }
    return Rest;
  }

private:
  // What a warp gets of which the first lane has a one; nothing where it does anything else with it.
  std::optional<Warp> run(const Instruction &I) const {
    if (!I.getType()->isFloatTy())
      return std::nullopt;
    auto *Choice = dyn_cast<SelectInst>(&I);
    bool Handles =
        isShuffle(I) || I.getOpcode() == Instruction::FAdd || (Choice && !isa<VectorType>(Choice->getType()));
    if (!Handles)
      return std::nullopt;
    Warp Gets;
    bool Known = false;
    for (unsigned Lane = 0; Lane < Lanes; ++Lane) {
      std::optional<unsigned> Times = run(I, Lane);
      if (!Times)
        return std::nullopt;
      Gets[Lane] = *Times;
    }
    for (const Value *Operand : I.operands())
      Known |= Has.count(Operand) != 0;
    return Known ? std::optional(Gets) : std::nullopt;
  }

  std::optional<unsigned> run(const Instruction &I, unsigned Lane) const {
    if (isShuffle(I)) {
      std::optional<unsigned> From = ofLane(I.getOperand(2), Lane);
      return From && *From < Lanes ? has(I.getOperand(1), *From) : std::nullopt;
    }
    if (auto *Choice = dyn_cast<SelectInst>(&I)) {
      std::optional<unsigned> Which = ofLane(Choice->getCondition(), Lane);
      auto One = has(Choice->getTrueValue(), Lane), Other = has(Choice->getFalseValue(), Lane);
      return Which && One && Other ? (*Which ? One : Other) : std::nullopt;
    }
    auto One = has(I.getOperand(0), Lane), Other = has(I.getOperand(1), Lane);
    return One && Other ? std::optional(*One + *Other) : std::nullopt;
  }

  std::optional<unsigned> has(const Value *V, unsigned Lane) const {
    if (auto *Number = dyn_cast<ConstantFP>(V))
      return Number->isZero() ? std::optional(0U) : std::nullopt;
    auto Known = Has.find(V);
    return Known == Has.end() ? std::nullopt : std::optional(Known->second[Lane]);
  }

  bool isUsedOutside(const Instruction &I) const {
    return any_of(I.users(), [&](const User *U) { return !Members.contains(cast<Instruction>(U)); });
  }

  // What follows from the lane's number comes first.
  void hoist(Value *V) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || I->getParent() != &Block || Members.contains(I) || I->comesBefore(Members.front()) || V == Source)
      return;
    for (Value *Operand : I->operands())
      hoist(Operand);
    I->moveBefore(Members.front()->getIterator());
  }

  void vote(BasicBlock &Together, BasicBlock &Each) {
    Instruction *End = Block.getTerminator();
    IRBuilder<> B(End);
    Value *HasOne = B.CreateFCmpUNE(Source, ConstantFP::getZero(Source->getType()));
    Value *Who = B.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {}, {B.getInt32(-1), HasOne});
    B.CreateCondBr(B.CreateICmpULE(Who, B.getInt32(1)), &Together, &Each);
    End->eraseFromParent();
  }

  static Value *chosen(IRBuilder<> &B, const Warp &Has, Value *Lane, Value *First) {
    unsigned Which = 0;
    for (unsigned Each = 0; Each < Lanes; ++Each)
      Which |= Has[Each] << Each;
    if (!~Which)
      return First;
    Value *Mine = B.CreateTrunc(B.CreateLShr(B.getInt32(Which), Lane), B.getInt1Ty());
    return B.CreateSelect(Mine, First, ConstantFP::getZero(First->getType()));
  }

  BasicBlock &Block;
  Value *Source;
  std::map<const Value *, Warp> Has;
  SmallSetVector<Instruction *, 32> Members;
  unsigned NumShuffles = 0;
};

CallInst *firstShuffle(BasicBlock &Block) {
  auto Found = find_if(Block, isShuffle);
  return Found == Block.end() ? nullptr : cast<CallInst>(&*Found);
}

void shortenAll(Function &F) {
  SmallVector<BasicBlock *> Blocks(make_pointer_range(F));
  for (BasicBlock *Block : Blocks)
    while (CallInst *First = Block ? firstShuffle(*Block) : nullptr) {
      Network Of(*First, 0);
      bool ForOne = Of.isWorthIt() && !Network(*First, Lanes - 1).reachesAll();
      Block = ForOne ? Of.shorten() : nullptr;
      if (Block)
        ADGEN_COUNT(NumBroadcast, *Block);
    }
}

} // namespace

ADGEN_DECLARE_PASS(BroadcastSums);

PreservedAnalyses BroadcastSums::run(Module &M, ModuleAnalysisManager &) {
  for (Function &F : M)
    if (isKernel(F) && F.getName().ends_with(GradientSuffix))
      shortenAll(F);
  return PreservedAnalyses::none();
}

} // namespace adgen
