// Indices of arrays as polynomials of what they depend on.
#pragma once

#include "Support/Adgen.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IntrinsicInst.h"

#include <map>
#include <optional>

namespace adgen {

using namespace llvm;

inline constexpr unsigned LaneBits = 5; // of a thread's number in its block: its place in a warp

// What an index depends on: registers of the launch, integers that all threads share, and loop counters.
struct Source {
  enum Kind { Thread, Block, BlockSize, GridSize, Shared, Counter, Lane, Warp, Warps } Of;
  const void *What; // the value, or the axis

  bool operator<(const Source &Other) const { return std::tie(Of, What) < std::tie(Other.Of, Other.What); }
  bool operator==(const Source &Other) const { return Of == Other.Of && What == Other.What; }
};

inline Source onAxis(Source::Kind Of, unsigned Axis) { return {Of, reinterpret_cast<const void *>(uintptr_t(Axis))}; }

// A sum of products of sources, each with a factor.
class Polynomial {
public:
  using Product = SmallVector<Source, 4>;
  struct Order {
    bool operator()(const Product &A, const Product &B) const {
      return std::lexicographical_compare(A.begin(), A.end(), B.begin(), B.end());
    }
  };

  static Polynomial constant(int64_t Factor) { return Polynomial({}, Factor); }
  static Polynomial source(Source L) { return Polynomial({L}, 1); }

  Polynomial &operator+=(const Polynomial &Other) {
    for (const auto &[Sources, Factor] : Other.Terms)
      if (!(Terms[Sources] += Factor))
        Terms.erase(Sources);
    return *this;
  }

  Polynomial operator*(const Polynomial &Other) const {
    Polynomial Result;
    for (const auto &[Sources, Factor] : Terms)
      for (const auto &[More, Times] : Other.Terms) {
        Product Both(Sources);
        append_range(Both, More);
        llvm::sort(Both);
        Result += Polynomial(Both, Factor * Times);
      }
    return Result;
  }

  bool operator==(const Polynomial &Other) const { return Terms == Other.Terms; }

  // The factor of a product, which leaves the sum.
  int64_t take(Product Sources) {
    llvm::sort(Sources);
    auto Found = Terms.find(Sources);
    if (Found == Terms.end())
      return 0;
    int64_t Factor = Found->second;
    Terms.erase(Found);
    return Factor;
  }

  std::map<Product, int64_t, Order> Terms;
  Polynomial() = default;

private:
  Polynomial(Product Sources, int64_t Factor) {
    if (Factor)
      Terms[std::move(Sources)] = Factor;
  }
};

// The indices of one gradient. Of a body they may be asked for rows (`OfRows`): then they hold for launches of one
// dimension whose blocks are whole warps, and know lanes, warps and numbers in structs by value.
class Indices {
public:
  Indices(Function &F, LoopInfo &LI, bool OfRows = false) : F(F), LI(LI), OfRows(OfRows) {}

  // Nothing where the number is not understood.
  std::optional<Polynomial> of(Value *V);
  // How many bytes behind the beginning of an array an element lies; nothing where it is not understood.
  std::optional<Polynomial> offsetFrom(const Value *Array, const Value *Pointer);
  // Of rows: whether the number, or the index by which a pointer was computed, is only what its polynomial says if 32
  // bits are enough for it. That they are is taken for granted of what a loop counts.
  bool mayWrap(const Value *V) const;
  // Of a loop that a counter counts, from 0 on; nothing where it may be any, or the counter something else.
  std::optional<uint64_t> lastIteration(const Source &Counter, ScalarEvolution &SE) const;
  // Whether two accesses to one array, in one iteration of the loops around, are to elements that do not overlap: so
  // many rounds of the block's threads, or bytes, lie between them.
  bool areApart(const Instruction &One, const Instruction &Other);

private:
  std::optional<Polynomial> find(Value *V);
  std::optional<Polynomial> ofArgument(const Argument &A);
  std::optional<Polynomial> ofCounter(PHINode &Phi);
  std::optional<Polynomial> ofJoin(PHINode &Phi);
  std::optional<Polynomial> ofArithmetic(BinaryOperator &Op);
  std::optional<Polynomial> ofSums(BinaryOperator &Op);
  std::optional<Polynomial> ofPowers(BinaryOperator &Op);
  std::optional<Polynomial> ofMember(LoadInst &Load);
  bool fits(const BinaryOperator &Op, const Polynomial &P) const;

  Function &F;
  LoopInfo &LI;
  bool OfRows;
  SmallPtrSet<const Value *, 16> Wrapping;
  std::map<std::pair<const Argument *, int64_t>, const LoadInst *> Members; // the first that reads each
  DenseMap<Value *, std::optional<Polynomial>> Found;
  SmallPtrSet<const PHINode *, 4> Iterations; // whose counters are their loops'
};

} // namespace adgen
