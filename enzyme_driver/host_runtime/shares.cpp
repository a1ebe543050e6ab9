#include "shares.h"
#include "blocks.h"

#include <algorithm>
#include <limits>
#include <omp.h>

namespace {

constexpr uint64_t FewestThreads = 32; // of a block

constexpr int64_t Least = std::numeric_limits<int64_t>::min(), Most = std::numeric_limits<int64_t>::max();

using Ranges = std::vector<adgen_range>; // of each shadow

void add(Ranges &all, const Ranges &more) {
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = {std::min(all[i].first, more[i].first), std::max(all[i].last, more[i].last)};
}

bool isBefore(const Ranges &one, const Ranges &other) {
  for (size_t i = 0; i < one.size(); ++i)
    if (one[i].last >= other[i].first)
      return false;
  return true;
}

class Dealer {
public:
  Dealer(const adgen_launch *launch, footprint_function footprint, uint64_t shadows, void *const *args)
      : launch(launch), footprint(footprint), args(args), nothing(size_t(__builtin_popcountll(shadows)), {Most, Least}),
        count(int64_t(omp_get_max_threads())) {}

  std::optional<std::vector<Share>> deal() {
    std::vector<Share> shares;
    for (int64_t i = 0; i < count; ++i) {
      const auto [first, end] = partOf(blocksOf(launch), i, count);
      shares.push_back({first, end, end});
    }
    std::vector<Ranges> whole(shares.size(), nothing), late = whole;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i)
      whole[i] = between(shares[i].first, shares[i].end);
    const std::vector<Ranges> behind = allBehind(whole);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count - 1; ++i)
      shares[i].late = firstThatMeets(shares[i], behind[i]);
    balance(shares);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; ++i)
      late[i] = between(shares[i].late, shares[i].end);
    const std::vector<Ranges> late_behind = allBehind(late);
    for (size_t i = 0; i < shares.size(); ++i)
      if (!isBefore(late[i], late_behind[i]))
        return std::nullopt;
    return shares;
  }

private:
  Ranges of(int64_t block) const {
    Ranges found(nothing.size());
    const auto [x, y, z] = placeOf(launch, block);
    footprint(launch, args, x, y, z, found.data());
    return found;
  }

  Ranges between(int64_t first, int64_t end) const {
    Ranges all = nothing;
    for (int64_t block = first; block < end; ++block)
      add(all, of(block));
    return all;
  }

  // What the shares behind each one touch.
  std::vector<Ranges> allBehind(const std::vector<Ranges> &each) const {
    std::vector<Ranges> behind(each.size(), nothing);
    for (size_t i = each.size() - 1; i-- > 0;) {
      behind[i] = behind[i + 1];
      add(behind[i], each[i + 1]);
    }
    return behind;
  }

  int64_t firstThatMeets(const Share &share, const Ranges &behind) const {
    int64_t block = share.first;
    while (block < share.end && isBefore(of(block), behind))
      ++block;
    return block;
  }

  // Nothing is behind the last share, but its thread would be the last one to be done.
  void balance(std::vector<Share> &shares) const {
    int64_t early = 0;
    for (size_t i = 0; i + 1 < shares.size(); ++i)
      early = std::max(early, shares[i].late - shares[i].first);
    Share &last = shares.back();
    last.late = std::min(last.late, last.first + early);
  }

  const adgen_launch *launch;
  footprint_function footprint;
  void *const *args;
  const Ranges nothing;
  const int64_t count;
};

} // namespace

std::optional<std::vector<Share>> sharesOf(const adgen_launch *launch, footprint_function footprint, uint64_t shadows,
                                           void *const *args) {
  if (!footprint || uint64_t(launch->block[0]) * launch->block[1] * launch->block[2] < FewestThreads ||
      omp_in_parallel())
    return std::nullopt;
  return Dealer(launch, footprint, shadows, args).deal();
}
