// Where the shadows of shared arrays begin. Arrays of all banks' words lie in one bank with the same index: lanes that
// add to elements of several arrays, as of a step's vectors, would all but one have to try again. Each shadow of such a
// size is longer by the widest word, so that the next one begins at other banks.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace adgen {

constexpr uint64_t WidestWord = 16; // in bytes: what a thread stores at once

// Bytes of the shadow of an array of so many.
constexpr uint64_t shadowBytes(uint64_t Array) {
  constexpr uint64_t Banks = 128, Largest = 4096; // in bytes
  return Array % Banks == 0 && Array <= Largest ? Array + WidestWord : Array;
}

// Of a kernel whose shadows of static arrays lie in dynamic shared memory: the bytes that a launch adds for them.
inline constexpr llvm::StringLiteral MovedShadowsAttribute = "adgen-moved-shadows";

} // namespace adgen
