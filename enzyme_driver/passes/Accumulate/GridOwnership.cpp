#include "Accumulate/GridOwnership.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {

static constexpr unsigned MostPlaces = 64;
static constexpr int64_t MostBytes = int64_t(1) << 32; // with more, an index of 32 bits would come back to others'

namespace {

// An ordinary launch of a few threads, by which steps and offsets are put in order.
class Sample {
public:
  static int64_t threads(unsigned Axis) { return 8 >> Axis; }
  static int64_t blocks(unsigned Axis) { return 6 - int64_t(Axis); }
  static int64_t extent(const Source &Along) {
    unsigned Axis = reinterpret_cast<uintptr_t>(Along.What);
    return Along.Of == Source::Thread || Along.Of == Source::BlockSize ? threads(Axis) : blocks(Axis);
  }
  static int64_t of(const Polynomial &P) {
    int64_t Sum = 0;
    for (const auto &[Sources, Factor] : P.Terms) {
      int64_t Product = Factor;
      for (const Source &S : Sources)
        Product *= extent(S);
      Sum += Product;
    }
    return Sum;
  }
};

Polynomial between(const Polynomial &From, const Polynomial &To) {
  Polynomial Difference = From * Polynomial::constant(-1);
  return Difference += To, Difference;
}

} // namespace

GridOwnership::GridOwnership(Function &F, LoopInfo &LI) : Index(F, LI) {
  Read = {onAxis(Source::Thread, 0), onAxis(Source::Block, 0)}; // which every launch has more than one of
  auto Add = [&](Value &V) {
    std::optional<Polynomial> P = V.getType()->isIntegerTy(32) ? Index.of(&V) : std::nullopt;
    if (P && P->Terms.size() == 1 && P->Terms.begin()->first.size() == 1)
      if (const Source &S = P->Terms.begin()->first.front(); S.Of == Source::Thread || S.Of == Source::Block)
        Read.push_back(S);
  };
  for (Argument &A : F.args())
    if (!A.use_empty())
      Add(A);
  for (Instruction &I : instructions(F))
    if (isa<IntrinsicInst>(I))
      Add(I);
}

bool GridOwnership::leadsAlongAll(const Steps &Each) const {
  return all_of(Read, [&](const Source &S) { return Each.count(S); });
}

bool GridOwnership::takeSteps(Polynomial &Offset, Steps &Found) {
  auto Leads = [](const Source &S) { return S.Of == Source::Thread || S.Of == Source::Block; };
  auto IsExtent = [](const Source &S) { return S.Of == Source::BlockSize || S.Of == Source::GridSize; };
  for (auto It = Offset.Terms.begin(); It != Offset.Terms.end();) {
    const auto &[Sources, Factor] = *It;
    if (!all_of(Sources, [&](const Source &S) { return Leads(S) || IsExtent(S); }) || count_if(Sources, Leads) > 1)
      return false;
    auto Along = find_if(Sources, Leads);
    if (Along == Sources.end()) {
      ++It;
      continue;
    }
    Polynomial Bytes = Polynomial::constant(Factor);
    for (const Source &S : make_filter_range(Sources, IsExtent))
      Bytes = Bytes * Polynomial::source(S);
    Found[*Along] += Bytes;
    It = Offset.Terms.erase(It);
  }
  return !Found.empty();
}

std::optional<GridOwnership::Proof> GridOwnership::proofOf(const Argument &Shadow, ArrayRef<AtomicRMWInst *> All) {
  Steps Common;
  SmallVector<Place> Places;
  int64_t Width = 0;
  for (AtomicRMWInst *Atomic : All) {
    std::optional<Polynomial> Offset = Index.offsetFrom(&Shadow, Atomic->getPointerOperand());
    Steps Mine;
    if (!Offset || !takeSteps(*Offset, Mine) || !(Places.empty() || Mine == Common))
      return std::nullopt;
    Common = std::move(Mine);
    Width = std::max<int64_t>(Width, Atomic->getDataLayout().getTypeStoreSize(Atomic->getType()));
    auto Known = find_if(Places, [&](const Place &P) { return P.Offset == *Offset; });
    if (Known == Places.end())
      Places.push_back({*Offset, {Atomic}});
    else
      Known->All.push_back(Atomic);
    if (Places.size() > MostPlaces)
      return std::nullopt;
  }
  return Places.empty() || !leadsAlongAll(Common) ? std::nullopt : arranged(Common, Places, Width);
}

std::optional<GridOwnership::Proof> GridOwnership::arranged(const Steps &Each, ArrayRef<Place> Places, int64_t Width) {
  Proof Found;
  Found.Width = Width;
  Found.Places.assign(Places.begin(), Places.end());
  for (const auto &[Along, Bytes] : Each)
    Found.Steps.push_back({Along, Bytes});
  llvm::stable_sort(Found.Steps,
                    [](const Step &A, const Step &B) { return Sample::of(A.Bytes) < Sample::of(B.Bytes); });
  llvm::stable_sort(Found.Places,
                    [](const Place &A, const Place &B) { return Sample::of(A.Offset) < Sample::of(B.Offset); });
  joinPlaces(Found);
  int64_t Reach = Found.Width;
  for (const Step &S : Found.Steps) {
    int64_t Bytes = Sample::of(S.Bytes);
    if (Bytes < Reach)
      return std::nullopt;
    Reach += (Sample::extent(S.Along) - 1) * Bytes;
  }
  for (unsigned I = 1; I < Found.Places.size(); ++I)
    if (Sample::of(between(Found.Places[I - 1].Offset, Found.Places[I].Offset)) < Reach)
      return std::nullopt;
  return Found;
}

// Elements side by side, before the shortest step leads to those of another thread, are in one place.
void GridOwnership::joinPlaces(Proof &Of) {
  int64_t Shortest = Sample::of(Of.Steps.front().Bytes), Width = Of.Width;
  SmallVector<Place> Joined;
  for (Place &P : Of.Places) {
    Polynomial Behind = Joined.empty() ? Polynomial() : between(Joined.back().Offset, P.Offset);
    int64_t Bytes = Behind.take({});
    if (Joined.empty() || !Behind.Terms.empty() || Bytes + Width > Shortest) {
      Joined.push_back(std::move(P));
      continue;
    }
    append_range(Joined.back().All, P.All);
    Of.Width = std::max(Of.Width, Bytes + Width);
  }
  Of.Places = std::move(Joined);
}

Value *GridOwnership::Proof::holds(IRBuilder<> &B, LaunchNumbers &Launch) const {
  Value *Holds = B.getTrue(), *Reach = B.getInt64(Width), *Most = B.getInt64(MostBytes);
  auto Add = [&](Value *Condition) { Holds = B.CreateAnd(Holds, Condition); };
  auto IsFarEnough = [&](Value *Bytes) {
    return B.CreateAnd(B.CreateICmpULE(Reach, Bytes), B.CreateICmpULT(Bytes, Most));
  };
  auto ExtentOf = [&](const Source &Along) {
    unsigned Axis = reinterpret_cast<uintptr_t>(Along.What);
    return B.CreateZExt(Along.Of == Source::Thread ? Launch.threads(Axis) : Launch.blocks(Axis), B.getInt64Ty());
  };
  for (const Step &S : Steps) {
    Value *Extent = ExtentOf(S.Along), *Bytes = Launch.of(S.Bytes);
    Add(B.CreateOr(B.CreateICmpEQ(Extent, B.getInt64(1)), IsFarEnough(Bytes)));
    Reach = B.CreateAdd(Reach, B.CreateMul(B.CreateSub(Extent, B.getInt64(1)), Bytes));
    Add(B.CreateICmpULT(Reach, Most));
  }
  for (unsigned Axis = 0; Axis < LaunchAxes; ++Axis)
    for (Source Along : {onAxis(Source::Thread, Axis), onAxis(Source::Block, Axis)})
      if (none_of(Steps, [&](const Step &S) { return S.Along == Along; }))
        Add(B.CreateICmpEQ(ExtentOf(Along), B.getInt64(1)));
  Value *Total = Reach;
  for (unsigned I = 1; I < Places.size(); ++I) {
    Value *Gap = Launch.of(between(Places[I - 1].Offset, Places[I].Offset));
    Add(IsFarEnough(Gap));
    Total = B.CreateAdd(Total, Gap);
  }
  return B.CreateAnd(Holds, B.CreateICmpULT(Total, Most));
}

} // namespace adgen
