#include "Accumulate/RowOwners.h"

using namespace llvm;

namespace adgen {

static constexpr unsigned MostPlaces = 256; // of a row's elements

std::optional<int64_t> RowOwners::mostRows(const Argument &Shadow, ArrayRef<AtomicRMWInst *> All) {
  int64_t Stride = 0, Width = 0;
  SmallVector<int64_t> Places; // in bytes, of the first row
  for (AtomicRMWInst *Atomic : All) {
    std::optional<Polynomial> P = Index.offsetFrom(&Shadow, Atomic->getPointerOperand());
    int64_t ByRow = P ? P->take({onAxis(Source::Thread, 1)}) : 0,
            Bytes = Atomic->getDataLayout().getTypeStoreSize(Atomic->getType());
    if (!ByRow || (Stride && (ByRow != Stride || Bytes != Width)) || !addPlaces(*P, Places))
      return {};
    Stride = ByRow;
    Width = Bytes;
  }
  int64_t Most = INT32_MAX;
  for (int64_t One : Places)
    for (int64_t Other : Places) {
      if ((One - Other) % Width || Stride % Width)
        return {};
      if ((One - Other) % Stride == 0 && One != Other)
        Most = std::min(Most, std::abs((One - Other) / Stride));
    }
  return Most;
}

bool RowOwners::addPlaces(Polynomial &P, SmallVectorImpl<int64_t> &Places) {
  SmallVector<int64_t> Mine{P.take({})};
  for (const auto &[Sources, Factor] : P.Terms) {
    std::optional<uint64_t> Last =
        Sources.size() == 1 && Sources[0].Of == Source::Counter ? Index.lastIteration(Sources[0], SE) : std::nullopt;
    if (!Last || *Last >= MostPlaces || Mine.size() * (*Last + 1) > MostPlaces)
      return false;
    SmallVector<int64_t> Before = std::move(Mine);
    Mine.clear();
    for (int64_t Place : Before)
      for (uint64_t Iteration = 0; Iteration <= *Last; ++Iteration)
        Mine.push_back(Place + int64_t(Iteration) * Factor);
  }
  append_range(Places, Mine);
  return Places.size() <= MostPlaces;
}

} // namespace adgen
