// What makes an address differ between the lanes of a warp.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IntrinsicInst.h"

namespace adgen {

constexpr unsigned MostCompared = 2;

// A rule that answers all lanes with the largest number that one of them has (rules/accumulate.cu).
inline constexpr llvm::StringLiteral MostOfLanes = "adgen_most";
// And one by which lanes get from another what only that has.
inline constexpr llvm::StringLiteral LentByLane = "adgen_lent";
// Or all of them have what one has.
inline constexpr llvm::StringLiteral LentToAll = "adgen_lent_to_all";

// What decides the value of an address, apart from what is the same in the whole grid.
struct LaneOrigin {
  bool X = false, OtherAxes = false, Unknown = false;
  // Where the index x counts without some of its lowest bits: how many. So many neighbouring lanes have the same, as a
  // power of two; 0 where all lanes of a warp have.
  unsigned Dropped = 0;
  // The same in all lanes, if it turns out so when the kernel runs.
  llvm::SmallSetVector<llvm::Value *, MostCompared> Compared;

  void add(const LaneOrigin &Other) {
    X |= Other.X;
    OtherAxes |= Other.OtherAxes;
    Unknown |= Other.Unknown;
    Dropped = Dropped && Other.Dropped ? std::min(Dropped, Other.Dropped) : std::max(Dropped, Other.Dropped);
    Compared.insert_range(Other.Compared);
  }
};

// Other intrinsics of the GPU may tell lanes apart.
bool isArithmetic(const llvm::Instruction &I);

// A register that holds the same for the whole block.
bool isOfTheBlock(const llvm::Instruction &I);

// A tape's place differs in every lane; the block's index is an argument beside it, and changes as the kernel walks
// over the grid.
bool isOfTheTape(const llvm::Argument &A);

class LaneOrigins {
public:
  // With `Counts`, numbers that were kept for the reverse sweep may be the same as well, such as those of iterations.
  explicit LaneOrigins(bool Counts = false) : Counts(Counts) {}

  const LaneOrigin &of(llvm::Value *V) {
    auto Known = Found.find(V);
    return Known != Found.end() ? Known->second : Found[V] = find(V);
  }

  // What lanes come to have in common, if it is compared.
  void assumeAlike(llvm::Value &V) {
    Found[&V].Compared.insert(&V);
    Assumed.insert(&V);
  }

private:
  LaneOrigin find(llvm::Value *V);

  // A number that was computed on each of the ways that meet, from what is the same or compared in any case.
  bool choosesAmongAlike(llvm::Instruction &I);

  static bool readsRegister(const llvm::IntrinsicInst &Call, LaneOrigin &Result);

  // Such as threadIdx.x / 16: most lanes of a warp have it in common with others.
  static unsigned dropsMostOfTheLane(const llvm::Instruction &I);

  // Such as threadIdx.x / 32.
  static bool dropsTheLane(const llvm::Instruction &I);

  // As of an index in a matrix by the length of its rows: lanes in one row have the same. Divisors that are known are
  // small, but for those that drop the lane.
  static bool dividesByNumber(const llvm::Instruction &I);

  // Whether it pays to compare: nothing that it comes from is known to differ.
  bool isLikelyTheSame(llvm::Value *V);

  // An integer that a lane has kept in its tape.
  bool isCount(const llvm::Value *V) const;

  bool Counts;
  llvm::DenseMap<llvm::Value *, LaneOrigin> Found;
  llvm::SmallPtrSet<const llvm::Value *, 4> Assumed;
};

bool usesOtherAxes(llvm::Function &F);

// A thread's own variables have the same addresses in all threads, so a pointer that was read may be to one of them.
bool keepsOwnAddresses(llvm::Function &F);

} // namespace adgen
