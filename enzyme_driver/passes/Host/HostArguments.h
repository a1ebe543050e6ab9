// How functions of the host library get a kernel's arguments, and where shared arrays lie.
#pragma once

#include "Support/Adgen.h"

#include "llvm/IR/IRBuilder.h"

#include <string>

namespace adgen {

// What the functions that are made of an entry are called.
struct EntryNames {
  llvm::StringRef Symbol, Suffix;
  bool HasShadows; // a derivative
  std::string entry() const { return (Symbol + Suffix).str(); }
};

EntryNames namesOf(const llvm::Function &F);

// Where in shared memory the arrays of an entry lie.
struct SharedLayout {
  llvm::SmallVector<uint64_t> Offsets; // of each array
  uint64_t Bytes = 0;                  // of the static ones
};

// What the function of one thread takes before the indices: the arguments of the call, and the shared arrays.
struct ThreadArguments {
  llvm::SmallVector<llvm::Value *> Values;
  // Structs, of which each thread has its own copy: the originals.
  llvm::SmallVector<std::pair<unsigned, llvm::Value *>> Copies;
};

class HostArguments {
public:
  explicit HostArguments(llvm::Module &M)
      : M(M), Pointer(llvm::PointerType::getUnqual(M.getContext())), Int32(llvm::Type::getInt32Ty(M.getContext())) {}

  SharedLayout sharedLayout(const llvm::Function &F) const;

  // Argument I of F, from the array of pointers to values; a struct is passed by its address.
  llvm::Value *loadArgument(llvm::IRBuilder<> &B, llvm::Function &F, unsigned I, llvm::Value *Arguments) const;

  // `Shared` gives the beginning of shared memory, where there are shared arrays.
  ThreadArguments loadArguments(llvm::IRBuilder<> &B, llvm::Function &F, llvm::Value *Launch, llvm::Value *Arguments,
                                llvm::function_ref<llvm::Value *()> Shared) const;
  void copyStructs(llvm::IRBuilder<> &B, llvm::Function &F, const ThreadArguments &Loaded) const;

  // Of the block along x, y and z, and of the grid.
  llvm::SmallVector<llvm::Value *> loadExtents(llvm::IRBuilder<> &B, llvm::Value *Launch) const;

private:
  // Also the shadows of structs that hold pointers are structs by value.
  bool isStructByValue(const llvm::Function &F, unsigned I) const;
  uint64_t structSize(const llvm::Function &F, unsigned I) const;

  // Once for a function, also where it is taken in a loop.
  static llvm::Value *createCopy(llvm::IRBuilder<> &B, uint64_t Bytes);

  // Of static and dynamic arrays, as the runtime pads them.
  llvm::Value *sharedBytes(llvm::IRBuilder<> &B, llvm::Value *Launch, const SharedLayout &Layout) const;

  llvm::Module &M;
  llvm::PointerType *Pointer;
  llvm::Type *Int32;
};

} // namespace adgen
