// What pointers of type void * lead to.
#ifndef ADGEN_IMPORT_VOIDPOINTERS_H
#define ADGEN_IMPORT_VOIDPOINTERS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

namespace adgen {

// CUDA's numbers of 16 bits, and classes that are such numbers (adgen-name-halves), by the names that they have in IR.
class HalfClasses {
public:
  explicit HalfClasses(const llvm::Module &M);

  // Null for any other type.
  llvm::DICompositeType *named(const llvm::Type *T) const;

private:
  llvm::StringMap<llvm::DICompositeType *> Known;
};

// What is behind a pointer of type void *: numbers of the language, or of a class of 16 bits; neither if it is not
// known.
struct Number {
  llvm::Type *Language = nullptr;
  llvm::DICompositeType *Half = nullptr;
};

// The one type of number that is read and written behind the parameter; none where there is more than one, or where
// that is not seen.
Number numberBehind(llvm::Argument &Parameter, const HalfClasses &Halves);

// The same behind the member that lies there in a struct, which is given by value.
Number numberBehind(llvm::Argument &Struct, int64_t Offset, const HalfClasses &Halves);

} // namespace adgen

#endif
