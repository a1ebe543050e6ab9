// Vectors of a body's own: what a function returns, and what it changes the size of. Python hands arrays over, of which
// nobody can change the size, so such a vector is a local one, and its elements are copied behind the call.
#pragma once

#include "Support/Adgen.h"

namespace adgen {

// A std::vector with the standard allocator in a struct, or one that is no member, at 0.
struct VectorMember {
  uint64_t Offset, ElementBytes;
  bool OneKind; // all numbers in an element are of one type
};
// None where the type is no such vector.
std::optional<VectorMember> asVector(llvm::DIType *Type);
llvm::SmallVector<VectorMember> vectorMembers(llvm::DIType *Type);

// A local std::vector in front of the builder, which holds nothing yet.
llvm::Value *createVector(llvm::IRBuilder<> &B);

// A local struct of so many bytes with what another holds, of which the vectors have copies of the elements.
llvm::Value *copyStruct(llvm::IRBuilder<> &B, llvm::Value &Given, uint64_t Bytes, llvm::ArrayRef<VectorMember> Vectors);

// Frees the elements of the vectors in a local struct.
void release(llvm::IRBuilder<> &B, llvm::Value &Own, llvm::ArrayRef<VectorMember> Vectors);

// Copies the elements of a local vector to the array that the vector `Given` stands for, and frees them. Where it is of
// another size, the runtime is told instead (host_runtime/vectors.cpp), under the name of `Given`.
void handBack(llvm::IRBuilder<> &B, llvm::Argument &Given, llvm::Value &Own, const VectorMember &V);

} // namespace adgen
