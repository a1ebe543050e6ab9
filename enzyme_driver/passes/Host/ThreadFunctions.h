// The function of one thread of a kernel, in which indices are arguments, and barriers and operations of a warp are
// calls of the host's runtime.
#pragma once

#include "Support/Adgen.h"

#include "llvm/IR/IRBuilder.h"

#include <string>

namespace adgen {

// The order in which thread functions take the indices.
constexpr llvm::StringLiteral Registers[] = {"tid.x",  "tid.y",  "tid.z",  "ctaid.x",  "ctaid.y",  "ctaid.z",
                                             "ntid.x", "ntid.y", "ntid.z", "nctaid.x", "nctaid.y", "nctaid.z"};
constexpr unsigned RegisterCount = std::size(Registers);

class ThreadFunctions {
public:
  explicit ThreadFunctions(llvm::Module &M)
      : M(M), Context(M.getContext()), Pointer(llvm::PointerType::getUnqual(Context)),
        Int32(llvm::Type::getInt32Ty(Context)) {}

  // A clone that takes the indices as its last arguments; null where something in it has no counterpart here. Where
  // threads work together, the very last argument is the runtime's handle of the thread.
  llvm::Function *make(llvm::Function &F, bool Cooperates);
  llvm::Function *withoutAtomics(llvm::Function &Thread);
  static bool hasAtomics(const llvm::Function &F);

  // The threads of a block, which run one after the other, take the cotangents of elements that no other block stores
  // to.
  static void takeInTurn(llvm::Function &Thread);

private:
  // What one thread stores before a barrier another one reads behind it, through its own copy of a pointer that aliases
  // nothing.
  static void forgetAliasing(llvm::Function &Thread);

  // Shared arrays and their shadows lie one behind the other, which is all that their addresses will show. Dynamic ones
  // begin at the same place.
  void tellArraysApart(llvm::Function &Thread, const llvm::Function &F);

  // A failed assertion ends the thread and is reported when the call ends; on the host it must not end the process.
  void replaceTraps(llvm::Function &F);
  static bool isTrap(const llvm::Function &F);
  static void lower(llvm::AtomicRMWInst &Atomic);

  // A block comes before those that it leads to, and all of a loop before what follows it.
  static llvm::SmallVector<llvm::BasicBlock *> inOrder(llvm::Function &F);
  bool replaceSpecials(llvm::Function &Thread, llvm::Function &F);
  llvm::Value *special(llvm::CallInst &Call, llvm::StringRef Name, llvm::Function &Thread, unsigned First);

  // The value of a register of PTX, or null; its name without dots or underscores in it also stands for that in
  // assembly.
  llvm::Value *registerValue(llvm::IRBuilder<> &B, llvm::StringRef Name, llvm::Function &Thread, unsigned First);

  // Assembly in the headers of CUDA and cooperative groups: it reads a register, or pauses. Null for any other.
  llvm::Value *assembly(llvm::CallInst &Call, llvm::Function &Thread, unsigned First);

  // Barriers, and what warps do: calls of the runtime (host_runtime/together.cpp); null where it has nothing for it.
  llvm::Value *together(llvm::IRBuilder<> &B, llvm::CallInst &Call, llvm::StringRef Name, llvm::Value *Thread);

  // Which lanes have not come to the end of the forward sweep; or that the own one has.
  llvm::Value *participants(llvm::IRBuilder<> &B, llvm::CallInst &Call, llvm::StringRef Name, llvm::Value *Thread);
  // The derivative of a shuffle (rules/shuffle.cu).
  llvm::Value *gathered(llvm::IRBuilder<> &B, llvm::CallInst &Call, llvm::StringRef Name, llvm::Value *Thread);
  llvm::Value *warp(llvm::IRBuilder<> &B, const std::string &Name, llvm::Value *Thread, llvm::Value *Mask,
                    llvm::Value *Given, llvm::Value *Offset = nullptr, llvm::Value *Control = nullptr);

  // What the runtime packs in 64 bits, as the intrinsic gives it: an integer, the bits of a float, or one of these and
  // a predicate.
  llvm::Value *fromWarp(llvm::IRBuilder<> &B, llvm::Value *Result, llvm::Type *Wanted);

  // sync, arrive or red.and/or/popc; then "all" or "count". The operands are the barrier, the threads expected, the
  // predicate.
  llvm::Value *barrier(llvm::IRBuilder<> &B, llvm::CallInst &Call, llvm::StringRef Name, llvm::Value *Thread);
  llvm::Module &M;
  llvm::LLVMContext &Context;
  llvm::PointerType *Pointer;
  llvm::Type *Int32;
  unsigned Places = 0; // at which threads ask who is active, in the order of the program
};

} // namespace adgen
