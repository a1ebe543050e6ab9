#include "Accumulate/Ownership.h"

#include "llvm/Analysis/CFG.h"

using namespace llvm;

namespace adgen {

static constexpr unsigned MostPlaces = 64; // of a thread

std::optional<Ownership::Uses> Ownership::usesOf(Argument &Shadow) {
  Uses Found;
  SmallVector<Value *> Pointers{&Shadow};
  while (!Pointers.empty()) {
    Value *Pointer = Pointers.pop_back_val();
    for (User *U : Pointer->users()) {
      auto *I = cast<Instruction>(U);
      AtomicRMWInst *Atomic = asAccumulation(*I);
      if (isa<GetElementPtrInst>(I))
        Pointers.push_back(I);
      else if (Atomic)
        Found.Accumulations.push_back(Atomic);
      else if (isConsumption(*I))
        Found.Consumptions.push_back(cast<AtomicRMWInst>(I));
      else if (!isa<LoadInst>(I) && !(isa<StoreInst>(I) && getLoadStorePointerOperand(I) == Pointer))
        return std::nullopt;
      else
        Found.Others = true;
    }
  }
  return Found;
}

std::optional<OwnElements> Ownership::elementsOf(const Argument &Shadow, const Uses &All, OwnershipLimits &Launch) {
  SmallVector<AtomicRMWInst *> Accumulations(All.Accumulations);
  append_range(Accumulations, All.Consumptions);
  OwnElements Found{Accumulations, {}};
  Steps Common;
  Polynomial Base;
  SmallVector<Spot> Elements;
  for (AtomicRMWInst *Atomic : Accumulations) {
    std::optional<Polynomial> P = Index.offsetFrom(&Shadow, Atomic->getPointerOperand());
    if (P && isElsewhereEachTime(*Atomic, *P))
      Found.First.insert(Atomic);
    Polynomial Whole = P.value_or(Polynomial());
    Steps Mine = P ? takeThread(*P) : Steps();
    bool IsFirst = !Common.Thread;
    if (!Mine.Thread || !(IsFirst || Mine == Common))
      return std::nullopt;
    std::optional<Spot> Where = takePlace(*P, Mine);
    if (!Where)
      return std::nullopt;
    Where->Of = Atomic;
    Where->Whole = std::move(Whole);
    Where->Width = Atomic->getDataLayout().getTypeStoreSize(Atomic->getType());
    if (!(IsFirst || *P == Base) || !addElements(*Where, Elements, Mine))
      return std::nullopt;
    Common = Mine;
    Base = *P;
  }
  bool Owned = Common.Thread &&
               (Common.BlockSize ? areOwnInBlocksOf(Common, Elements, Launch) : areOwn(Common, Elements, Launch));
  if (!Owned)
    return std::nullopt;
  keepFirst(Elements, Found);
  return Found;
}

bool Ownership::isElsewhereEachTime(const AtomicRMWInst &Atomic, const Polynomial &Where) const {
  const Loop *Innermost = LI.getLoopFor(Atomic.getParent());
  SmallPtrSet<const BasicBlock *, 4> Counted;
  unsigned CountersOverTheGrid = 0;
  for (const auto &[Sources, Factor] : Where.Terms)
    for (const Source &S : Sources) {
      const BasicBlock *Head = S.Of == Source::Counter ? static_cast<const PHINode *>(S.What)->getParent() : nullptr;
      Counted.insert(Head);
      CountersOverTheGrid += Head && Innermost && Innermost->getOutermostLoop()->contains(Head) &&
                             is_contained(Sources, onAxis(Source::GridSize, 0));
    }
  for (const Loop *L = Innermost; L; L = L->getParentLoop())
    if (!Counted.contains(L->getHeader()))
      return false;
  return CountersOverTheGrid <= 1;
}

void Ownership::keepFirst(ArrayRef<Spot> Elements, OwnElements &Found) const {
  for (auto [Index, One] : enumerate(Elements))
    for (const Spot &Other : Elements.drop_front(Index + 1)) {
      if (!One.meets(Other))
        continue;
      bool IsSame = One.Of == Other.Of;
      if (IsSame || mayComeBefore(Other, One))
        Found.First.erase(One.Of);
      if (!IsSame && mayComeBefore(One, Other))
        Found.First.erase(Other.Of);
    }
}

bool Ownership::mayComeBefore(const Spot &One, const Spot &Other) const {
  const BasicBlock *From = One.Of->getParent(), *To = Other.Of->getParent();
  const Loop *Around = LI.getLoopFor(To);
  if (!(One.Whole == Other.Whole) || !Around || !Around->contains(From))
    return isPotentiallyReachable(One.Of, Other.Of);
  if (From == To)
    return One.Of->comesBefore(Other.Of);
  SmallPtrSet<BasicBlock *, 1> Head{Around->getHeader()};
  return To != Around->getHeader() && isPotentiallyReachable(One.Of, Other.Of, &Head);
}

Ownership::Steps Ownership::takeThread(Polynomial &P) {
  Source Thread = onAxis(Source::Thread, 0), Block = onAxis(Source::Block, 0), Size = onAxis(Source::BlockSize, 0);
  Steps Found{P.take({Thread})};
  if (!Found.Thread)
    return {};
  int64_t Constant = P.take({Block}), BySize = P.take({Block, Size}), Step = Constant ? Constant : BySize;
  if ((Constant && BySize) || Step % Found.Thread || Step / Found.Thread < 1)
    return {};
  (Constant ? Found.BlockSize : Found.Rounds) = Step / Found.Thread;
  for (auto It = P.Terms.begin(); It != P.Terms.end();) {
    auto Is = [&](Source::Kind Of) { return any_of(It->first, [=](const Source &L) { return L.Of == Of; }); };
    if (Is(Source::Thread) || Is(Source::Block))
      return {};
    It = Is(Source::Counter) && isOverTheGrid(It->first, It->second, Found) ? P.Terms.erase(It) : std::next(It);
  }
  return Found;
}

bool Ownership::isOverTheGrid(const Polynomial::Product &Sources, int64_t Factor, const Steps &By) {
  bool Grid = is_contained(Sources, onAxis(Source::GridSize, 0)),
       Size = is_contained(Sources, onAxis(Source::BlockSize, 0));
  return Grid &&
         (By.BlockSize ? Factor % (By.BlockSize * By.Thread) == 0 : Size && Factor % (By.Rounds * By.Thread) == 0);
}

std::optional<Spot> Ownership::takePlace(Polynomial &P, const Steps &By) {
  Spot Found;
  Found.Bytes = P.take({});
  int64_t BySize = By.Rounds ? P.take({onAxis(Source::BlockSize, 0)}) : 0;
  if (BySize % By.Thread)
    return std::nullopt;
  Found.Rounds = BySize / By.Thread;
  for (auto It = P.Terms.begin(); It != P.Terms.end();) {
    if (none_of(It->first, [](const Source &L) { return L.Of == Source::Counter; })) {
      ++It;
      continue;
    }
    Found.Counted.Terms.insert(*It);
    It = P.Terms.erase(It);
  }
  return Found;
}

bool Ownership::addElements(const Spot &Where, SmallVectorImpl<Spot> &Elements, const Steps &By) {
  SmallVector<Spot> Own{Where};
  for (const auto &[Sources, Factor] : Where.Counted.Terms) {
    auto Counter = find_if(Sources, [](const Source &L) { return L.Of == Source::Counter; });
    bool InRounds = Sources.size() == 2 && By.Rounds && is_contained(Sources, onAxis(Source::BlockSize, 0));
    std::optional<uint64_t> Most = Index.lastIteration(*Counter, SE);
    if (!Most || *Most >= MostPlaces || !(InRounds || Sources.size() == 1) || (InRounds && Factor % By.Thread))
      return false;
    SmallVector<Spot> Before = std::move(Own);
    Own.clear();
    for (Spot P : Before)
      for (uint64_t Iteration = 0; Iteration <= *Most; ++Iteration) {
        Own.push_back(P);
        (InRounds ? P.Rounds : P.Bytes) += InRounds ? Factor / By.Thread : Factor;
      }
    if (Own.size() > MostPlaces)
      return false;
  }
  append_range(Elements, Own);
  return Elements.size() <= MostPlaces;
}

bool Ownership::areOwn(const Steps &By, ArrayRef<Spot> Elements, OwnershipLimits &Launch) {
  int64_t First = INT64_MAX, Last = INT64_MIN, FirstRound = INT64_MAX, LastRound = INT64_MIN, Width = 1;
  for (const Spot &P : Elements) {
    First = std::min(First, P.Bytes);
    Last = std::max(Last, P.Bytes + P.Width);
    FirstRound = std::min(FirstRound, P.Rounds);
    LastRound = std::max(LastRound, P.Rounds);
    Width = P.Width;
  }
  int64_t Stride = std::abs(By.Thread);
  if (Last - First > Stride || LastRound - FirstRound >= By.Rounds)
    return false;
  Launch.Threads = std::min(Launch.Threads, MostElements / (std::max<int64_t>(1, Stride / Width) * By.Rounds));
  return true;
}

bool Ownership::areOwnInBlocksOf(const Steps &By, ArrayRef<Spot> Elements, OwnershipLimits &Launch) {
  SmallVector<Spot> Sorted(Elements);
  llvm::sort(Sorted, [](const Spot &A, const Spot &B) { return A.Bytes < B.Bytes; });
  int64_t Stride = std::abs(By.Thread), BlockSize = By.BlockSize, Round = Sorted.front().Bytes;
  for (const Spot &P : Sorted) {
    if (P.Bytes + P.Width - Round <= Stride)
      continue;
    BlockSize = std::min(BlockSize, (P.Bytes - Round) / Stride);
    Round = P.Bytes;
    if (P.Width > Stride)
      return false;
  }
  BlockSize = std::min(BlockSize, By.BlockSize - (Round - Sorted.front().Bytes) / Stride);
  if (BlockSize < 1)
    return false;
  Launch.BlockSize = std::min(Launch.BlockSize, BlockSize);
  Launch.Blocks =
      std::min(Launch.Blocks, MostElements / (std::max<int64_t>(1, Stride / Sorted.front().Width) * By.BlockSize));
  return true;
}

} // namespace adgen
