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
constexpr int64_t WarpSize = 1 << LaneBits;

static std::optional<Polynomial> ofRegister(const IntrinsicInst &Call, bool OfRows) {
  constexpr std::pair<StringLiteral, Source::Kind> Registers[] = {
      {"tid.", Source::Thread}, {"ctaid.", Source::Block}, {"ntid.", Source::BlockSize}, {"nctaid.", Source::GridSize}};
  StringRef Name = Call.getCalledFunction()->getName();
  if (!Name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return std::nullopt;
  for (auto &[Prefix, Kind] : Registers) {
    if (!Name.starts_with(Prefix))
      continue;
    unsigned Axis = Name.back() - 'x';
    if (OfRows && Axis > 0)
      return Polynomial::constant(Kind == Source::BlockSize || Kind == Source::GridSize);
    return Polynomial::source(onAxis(Kind, Axis));
  }
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
    return ofRegister(*Call, OfRows);
  if (auto *Load = dyn_cast<LoadInst>(V))
    return OfRows ? ofMember(*Load) : std::nullopt;
  if (auto *Phi = dyn_cast<PHINode>(V))
    return LI.isLoopHeader(Phi->getParent()) ? ofCounter(*Phi) : ofJoin(*Phi);
  if (isa<SExtInst, ZExtInst, FreezeInst>(V) || (isa<TruncInst>(V) && !OfRows))
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
  return isa<ConstantInt>(Step) && !OfRows ? std::optional(Counter) : std::nullopt; // its start may be anything
}

// What is the same on every way.
std::optional<Polynomial> Indices::ofJoin(PHINode &Phi) {
  std::optional<Polynomial> Common = of(Phi.getIncomingValue(0));
  bool IsSame = Common && all_of(drop_begin(Phi.incoming_values()), [&](Value *Other) { return of(Other) == Common; });
  return IsSame ? Common : std::nullopt;
}

std::optional<Polynomial> Indices::ofArithmetic(BinaryOperator &Op) {
  if (OfRows)
    if (std::optional<Polynomial> P = ofPowers(Op))
      return P;
  std::optional<Polynomial> P = ofSums(Op);
  if (P && OfRows && !fits(Op, *P))
    Wrapping.insert(&Op);
  return P;
}

bool Indices::mayWrap(const Value *V) const {
  SmallVector<const Value *> Work{V};
  SmallPtrSet<const Value *, 16> Seen{V};
  while (!Work.empty()) {
    auto *I = dyn_cast<Instruction>(Work.pop_back_val());
    if (!I)
      continue;
    if (Wrapping.contains(I))
      return true;
    auto *Counter = dyn_cast<PHINode>(I);
    for (const Use &From : I->operands()) {
      auto *Next = Counter && Iterations.contains(Counter) ? dyn_cast<Instruction>(From) : nullptr;
      bool Counts = Next && is_contained(Next->operands(), I);
      if (!Counts && Seen.insert(From.get()).second)
        Work.push_back(From.get());
    }
  }
  return false;
}

// An integer in a struct by value, which a kernel only reads.
std::optional<Polynomial> Indices::ofMember(LoadInst &Load) {
  int64_t Offset = 0;
  auto *A =
      dyn_cast<Argument>(GetPointerBaseWithConstantOffset(Load.getPointerOperand(), Offset, Load.getDataLayout()));
  if (!A || !Load.isSimple() || !Load.getType()->isIntegerTy(32) || !isStructByValue(*A) || !A->onlyReadsMemory())
    return std::nullopt;
  const LoadInst *First = Members.try_emplace({A, Offset}, &Load).first->second;
  return First->getType() == Load.getType() ? std::optional(Polynomial::source({Source::Shared, First})) : std::nullopt;
}

// Of the thread's number and the block's size by the width of a warp.
std::optional<Polynomial> Indices::ofPowers(BinaryOperator &Op) {
  auto *Number = dyn_cast<ConstantInt>(Op.getOperand(1));
  std::optional<Polynomial> Of = Number ? of(Op.getOperand(0)) : std::nullopt;
  if (!Of)
    return std::nullopt;
  const APInt &N = Number->getValue();
  unsigned Kind = Op.getOpcode();
  bool Divides = (Kind == Instruction::LShr && N == LaneBits) ||
                 ((Kind == Instruction::UDiv || Kind == Instruction::SDiv) && N == WarpSize);
  bool Remains = (Kind == Instruction::And && N == WarpSize - 1) ||
                 ((Kind == Instruction::URem || Kind == Instruction::SRem) && N == WarpSize);
  Polynomial Thread = Polynomial::source(onAxis(Source::Thread, 0)),
             Size = Polynomial::source(onAxis(Source::BlockSize, 0)), Rounded = Size;
  Rounded += Polynomial::constant(WarpSize - 1);
  if (*Of == Thread && (Divides || Remains))
    return Polynomial::source(onAxis(Divides ? Source::Warp : Source::Lane, 0));
  Polynomial Block = Polynomial::source(onAxis(Source::Block, 0)), InGrid = Block * Size;
  InGrid += Thread;
  if (*Of == InGrid && Remains)
    return Polynomial::source(onAxis(Source::Lane, 0));
  if (*Of == InGrid && Divides) {
    Polynomial Row = Block * Polynomial::source(onAxis(Source::Warps, 0));
    return Row += Polynomial::source(onAxis(Source::Warp, 0)), Row;
  }
  if ((*Of == Size || *Of == Rounded) && Divides)
    return Polynomial::source(onAxis(Source::Warps, 0));
  bool IsSmall =
      *Of == Polynomial::source(onAxis(Source::Warp, 0)) || *Of == Polynomial::source(onAxis(Source::Warps, 0));
  return Kind == Instruction::And && IsSmall && N.countr_one() > LaneBits ? Of : std::nullopt; // no more than 32
}

// Whether the number is what its polynomial says: it may not overflow, or is at most that of all threads.
bool Indices::fits(const BinaryOperator &Op, const Polynomial &P) const {
  auto *Overflowing = dyn_cast<OverflowingBinaryOperator>(&Op);
  if (!Overflowing || Op.getType()->getIntegerBitWidth() >= 64 || Overflowing->hasNoSignedWrap() ||
      Overflowing->hasNoUnsignedWrap())
    return true;
  return P.Terms.size() < 4 &&
         all_of(
             P.Terms,
             [](const auto &Term) {
               return Term.second >= 0 && Term.second < WarpSize &&
                      (Term.first.empty() ||
                       (Term.second == 1 &&
                        all_of(
                            Term.first,
                            [](const Source &S) { return S.Of != Source::Shared && S.Of != Source::Counter; }))) &&
                      count_if(
                          Term.first,
                          [](const Source &S) { return S.Of == Source::Block || S.Of == Source::GridSize; }) <= 1 &&
                      Term.first.size() <= 2;
             });
}

std::optional<Polynomial> Indices::ofSums(BinaryOperator &Op) {
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
  case Instruction::Xor: // by -1: the number from behind
    if (!Number || !Number->isMinusOne())
      return std::nullopt;
    return *B += *A * Polynomial::constant(-1), B;
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
