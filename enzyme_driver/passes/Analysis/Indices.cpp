#include "Analysis/Indices.h"

#include "Analysis/Accumulation.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace adgen {

constexpr unsigned Axes = 3;
constexpr unsigned MostTerms = 32;
constexpr unsigned FewestBits = 32; // narrower numbers come back to where they were
constexpr int64_t MostBytesApart = 1 << 20;

static std::optional<Polynomial> ofRegister(const IntrinsicInst &Call) {
  constexpr std::pair<StringLiteral, Source::Kind> Registers[] = {
      {"tid.", Source::Thread}, {"ctaid.", Source::Block}, {"ntid.", Source::BlockSize}, {"nctaid.", Source::GridSize}};
  StringRef Name = Call.getCalledFunction()->getName();
  if (!Name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return std::nullopt;
  for (auto &[Prefix, Kind] : Registers)
    if (Name.starts_with(Prefix))
      return Polynomial::source(onAxis(Kind, Name.back() - 'x'));
  return std::nullopt;
}

std::optional<Polynomial> Indices::offsetFrom(const Value *Array, const Value *Pointer) {
  Polynomial Sum;
  while (Pointer != Array) {
    auto *Step = dyn_cast<GEPOperator>(Pointer);
    SmallMapVector<Value *, APInt, 4> Variable;
    APInt Constant(64, 0);
    if (!Step || !Step->collectOffset(F.getDataLayout(), 64, Variable, Constant))
      return std::nullopt;
    Sum += Polynomial::constant(Constant.getSExtValue());
    for (auto &[Index, Scale] : Variable) {
      std::optional<Polynomial> P = of(Index);
      if (!P)
        return std::nullopt;
      Sum += *P * Polynomial::constant(Scale.getSExtValue());
    }
    Pointer = Step->getPointerOperand();
  }
  return Sum;
}

std::optional<Polynomial> Indices::of(Value *V) {
  auto Known = Found.find(V);
  if (Known != Found.end())
    return Known->second;
  Found[V] = std::nullopt; // a value that comes back to itself is not understood
  std::optional<Polynomial> P = find(V);
  if (P && P->Terms.size() > MostTerms)
    P = std::nullopt;
  return Found[V] = P;
}

std::optional<uint64_t> Indices::lastIteration(const Source &Counter, ScalarEvolution &SE) const {
  auto *Phi = static_cast<const PHINode *>(Counter.What);
  if (!Iterations.contains(Phi))
    return std::nullopt;
  auto *Most = dyn_cast<SCEVConstant>(SE.getConstantMaxBackedgeTakenCount(LI.getLoopFor(Phi->getParent())));
  return Most && Most->getAPInt().getActiveBits() <= 32 ? std::optional(Most->getAPInt().getZExtValue()) : std::nullopt;
}

std::optional<Polynomial> Indices::find(Value *V) {
  if (V->getType()->getIntegerBitWidth() < FewestBits)
    return std::nullopt;
  if (auto *Number = dyn_cast<ConstantInt>(V))
    return Number->getBitWidth() <= 64 ? std::optional(Polynomial::constant(Number->getSExtValue())) : std::nullopt;
  if (auto *A = dyn_cast<Argument>(V))
    return ofArgument(*A);
  if (auto *Call = dyn_cast<IntrinsicInst>(V))
    return ofRegister(*Call);
  if (auto *Phi = dyn_cast<PHINode>(V))
    return LI.isLoopHeader(Phi->getParent()) ? ofCounter(*Phi) : ofJoin(*Phi);
  if (isa<SExtInst, ZExtInst, TruncInst, FreezeInst>(V))
    return of(cast<Instruction>(V)->getOperand(0));
  if (auto *Op = dyn_cast<BinaryOperator>(V))
    return ofArithmetic(*Op);
  return std::nullopt;
}

// A gradient with a tape has the block's index and the grid's extents as its last arguments.
std::optional<Polynomial> Indices::ofArgument(const Argument &A) {
  if (!A.getType()->isIntegerTy())
    return std::nullopt;
  unsigned First = F.arg_size() - 2 * Axes;
  if (!F.hasFnAttribute(TapeAttribute) || A.getArgNo() < First)
    return Polynomial::source({Source::Shared, &A});
  unsigned Place = A.getArgNo() - First;
  return Polynomial::source(onAxis(Place < Axes ? Source::Block : Source::GridSize, Place % Axes));
}

// What a loop counts from one start on with the same step; any other phi in a loop's head counts something too.
std::optional<Polynomial> Indices::ofCounter(PHINode &Phi) {
  Polynomial Counter = Polynomial::source({Source::Counter, &Phi});
  const Loop *L = LI.getLoopFor(Phi.getParent());
  if (!L || L->getHeader() != Phi.getParent() || Phi.getNumIncomingValues() != 2 || !L->getLoopPreheader() ||
      !L->getLoopLatch())
    return std::nullopt;
  std::optional<Polynomial> Start = of(Phi.getIncomingValueForBlock(L->getLoopPreheader()));
  auto *Next = dyn_cast<BinaryOperator>(Phi.getIncomingValueForBlock(L->getLoopLatch()));
  if (!Next || Next->getOpcode() != Instruction::Add || !is_contained(Next->operands(), &Phi))
    return std::nullopt;
  Value *Step = Next->getOperand(Next->getOperand(0) == &Phi);
  std::optional<Polynomial> By = L->isLoopInvariant(Step) ? of(Step) : std::nullopt;
  if (Start && By) {
    Iterations.insert(&Phi);
    return *Start += *By * Counter, Start;
  }
  return isa<ConstantInt>(Step) ? std::optional(Counter) : std::nullopt;
}

// What is the same on every way.
std::optional<Polynomial> Indices::ofJoin(PHINode &Phi) {
  std::optional<Polynomial> Common = of(Phi.getIncomingValue(0));
  bool IsSame = Common && all_of(drop_begin(Phi.incoming_values()), [&](Value *Other) { return of(Other) == Common; });
  return IsSame ? Common : std::nullopt;
}

std::optional<Polynomial> Indices::ofArithmetic(BinaryOperator &Op) {
  std::optional<Polynomial> A = of(Op.getOperand(0)), B = of(Op.getOperand(1));
  if (!A || !B)
    return std::nullopt;
  auto *Number = dyn_cast<ConstantInt>(Op.getOperand(1));
  switch (Op.getOpcode()) {
  case Instruction::Or:
    if (!cast<PossiblyDisjointInst>(Op).isDisjoint())
      return std::nullopt;
    [[fallthrough]];
  case Instruction::Add:
    return *A += *B, A;
  case Instruction::Sub:
    return *A += *B * Polynomial::constant(-1), A;
  case Instruction::Mul:
    return *A * *B;
  case Instruction::Shl:
    if (!Number || Number->getValue().uge(32))
      return std::nullopt;
    return *A * Polynomial::constant(int64_t(1) << Number->getZExtValue());
  default:
    return std::nullopt;
  }
}

static int64_t accessedBytes(const Instruction &I) {
  auto *Store = dyn_cast<StoreInst>(&I);
  return I.getDataLayout().getTypeStoreSize(Store ? Store->getValueOperand()->getType() : I.getType());
}

// With an index of 32 bits that comes back to its beginning they are further apart: what lies between is far less than
// that.
bool Indices::areApart(const Instruction &One, const Instruction &Other) {
  const Value *Pointer = accessedPointer(One), *OtherPointer = accessedPointer(Other);
  if (!Pointer || !OtherPointer || getUnderlyingObject(Pointer) != getUnderlyingObject(OtherPointer))
    return false;
  const Value *Array = getUnderlyingObject(Pointer);
  std::optional<Polynomial> Between = offsetFrom(Array, Pointer), From = offsetFrom(Array, OtherPointer);
  if (!Between || !From)
    return false;
  *Between += *From * Polynomial::constant(-1);
  int64_t Rounds = std::abs(Between->take({onAxis(Source::BlockSize, 0)})), Bytes = std::abs(Between->take({}));
  if (!Between->Terms.empty() || std::max(Rounds, Bytes) > MostBytesApart)
    return false;
  int64_t Width = std::max<int64_t>(accessedBytes(One), accessedBytes(Other));
  return Rounds ? Rounds - Bytes >= Width : Bytes >= Width;
}

} // namespace adgen
