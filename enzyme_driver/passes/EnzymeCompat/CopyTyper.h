// Gives one function's copies of floating point their types: what moves numbers as integers moves numbers.
#pragma once

#include "Analysis/Layout.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <optional>

namespace adgen {

using Leaves = llvm::SmallVector<Leaf>;

class CopyTyper {
public:
  explicit CopyTyper(llvm::Function &Body) : Body(Body), DL(Body.getDataLayout()), Context(Body.getContext()) {}

  void run();

private:
  template <class Kind> llvm::SmallVector<Kind *> all() {
    llvm::SmallVector<Kind *> Found;
    for (llvm::Instruction &I : llvm::instructions(Body))
      if (auto *One = llvm::dyn_cast<Kind>(&I))
        Found.push_back(One);
    return Found;
  }

  llvm::Argument *sharedArray(llvm::StringRef Name);

  // An array of integers in shared memory in which nothing but the bits of numbers are kept, to be moved and compared,
  // holds numbers.
  void typeShared(llvm::Argument &Array);

  // Whether numbers of 16 bits are half ('f') or bfloat16 ('b'), by what they are stored from and loaded as; else 0.
  static char kindOfHalves(llvm::ArrayRef<llvm::Value *> Stored, const llvm::SmallPtrSetImpl<llvm::Value *> &Loaded);
  bool areHalves(llvm::LoadInst &Load, char Kind);
  bool isNumber(llvm::Value &V, uint64_t Bytes, const llvm::SmallPtrSetImpl<llvm::Value *> &Loaded);
  static bool isInteger(llvm::Type *T);
  static llvm::Type *accessedType(const llvm::Instruction &I);

  // What was copied as something else has clang's word for that, and memcpy knows no alignment.
  void correct(llvm::Instruction &I, uint64_t Bytes);

  // Two halves that were copied as a float are none.
  static bool saysOther(const llvm::MDNode *Tag, const llvm::Type *Number);

  // Of a struct that was loaded as one integer, and is taken apart again.
  static void takeMember(llvm::TruncInst &Taken);

  // The other way round: integers that are shifted beside each other and are a vector of numbers then.
  static void takeTogether(llvm::BitCastInst &Cast);

  // What lies in an integer from a bit on, as shifts, masks and rotations by constants have put it there; null where
  // it is no whole of anything.
  static llvm::Value *partOf(llvm::IRBuilder<> &B, llvm::Value &Whole, unsigned From, llvm::Type *T);

  // Of a vector of numbers whose bits these are, such as two halves.
  static llvm::Value *elementAt(llvm::IRBuilder<> &B, llvm::Value &Numbers, unsigned From, llvm::Type *T);

  // The number whose bits these are; null where they are of more than one kind.
  static llvm::Type *numberBehind(llvm::ArrayRef<llvm::Value *> Bits, const llvm::Value *Self);
  static llvm::Value *asNumber(llvm::Value *Bits, llvm::Type *T);

  // A choice among the bits of numbers becomes one among the numbers.
  bool retype(llvm::PHINode &Phi);
  bool retype(llvm::SelectInst &Select);

  // Enzyme sees the type of a half by arithmetic alone. A choice among halves that are only moved becomes a float on
  // its way; the optimiser takes that back after Enzyme.
  void showHalf(llvm::Instruction &Choice);

  // A mask of a number's sign bit: its absolute value, its negative, or the negative of its absolute value.
  void changeSign(llvm::BinaryOperator &Masked);
  void turnSign(llvm::BinaryOperator &Turned);

  // The bits of one number with the sign of another one: which is that of either, where both have one.
  void takeSign(llvm::BinaryOperator &Joined);
  static void replaceBits(llvm::BinaryOperator &Bits, llvm::Value *Number);

  // What the bytes behind the pointer are, where floating point is among them.
  std::optional<Leaves> floatsAt(llvm::Value *Pointer, uint64_t Bytes) { return floatsIn(placeOf(Pointer, DL), Bytes); }

  // Of an integer that may be a pair of small numbers, also where only the steps between elements say what they are.
  std::optional<Leaves> floatsMoved(llvm::Value *Pointer, uint64_t Bytes);
  static std::optional<Leaves> floatsIn(const std::optional<Place> &At, uint64_t Bytes);
  bool takesApart(llvm::Value *Pointer, uint64_t Bytes);

  // One type for all the bytes, where they are numbers of one kind without gaps.
  llvm::Type *uniform(const Leaves &Numbers, uint64_t Bytes);
  llvm::Value *address(llvm::IRBuilder<> &B, llvm::Value *Pointer, uint64_t Offset);
  llvm::SmallVector<llvm::Value *> loadEach(llvm::IRBuilder<> &B, llvm::Value *Pointer, const Leaves &Numbers,
                                            bool Volatile, llvm::Align OfAll = {});
  void storeEach(llvm::IRBuilder<> &B, llvm::Value *Pointer, const Leaves &Numbers,
                 llvm::ArrayRef<llvm::Value *> Values, bool Volatile, llvm::Align OfAll = {});

  // At least that of the numbers, which memcpy does not tell.
  static llvm::Align alignmentOf(const Leaves &Numbers, llvm::Align Known) {
    return std::max(Known, Numbers[0].Alignment);
  }

  // To memory that was allocated when the pointer to what is copied was known already, as where a vector grows: the two
  // do not overlap.
  bool goesToNewMemory(const llvm::MemTransferInst &Copy);

  // Of a choice of structs, of which one is a local variable that is copied as a whole: the others are of its type.
  std::optional<Leaves> floatsOfOne(llvm::MemTransferInst &Copy, uint64_t Bytes);
  void typeCopy(llvm::MemTransferInst &Copy);

  // A copy of whole elements becomes a loop over them. One to a place behind, which may overlap, begins with the last.
  void typeElements(llvm::MemTransferInst &Copy);

  // Zeros among numbers of one type, such as what pads a tile: Enzyme asks of a memset what it sets.
  void typeZeros(llvm::MemSetInst &Set);

  // The one type of number that is loaded from an array, or stored there; null where there are others, and where these
  // many bytes of memory that is no argument hold none.
  llvm::Type *typeBeside(llvm::Value *Pointer, uint64_t Bytes);
  void typeLoad(llvm::LoadInst &Load);
  static bool onlyStored(const llvm::LoadInst &Load);

  // Whether the value is used as an integer, and not merely moved, taken apart or compared.
  static bool isCountedWith(const llvm::LoadInst &Load);

  // Whether numbers of 16 bits and more stay whole.
  static bool rotatesWhole(const llvm::User &U);

  // What a value that is only stored is where it goes.
  std::optional<Leaves> destinationOf(llvm::LoadInst &Load, uint64_t Bytes);
  llvm::Value *asInteger(llvm::IRBuilder<> &B, llvm::Value *V, const Leaf &L);
  llvm::Value *joined(llvm::IRBuilder<> &B, llvm::Type *T, const Leaves &Numbers, llvm::ArrayRef<llvm::Value *> Values);
  void typeStore(llvm::StoreInst &Store);

  // The bits of a number, into memory of which nothing is said but bytes, such as a tile in dynamic shared memory.
  void storeNumber(llvm::StoreInst &Store);
  llvm::Function &Body;
  const llvm::DataLayout &DL;
  llvm::LLVMContext &Context;
};

} // namespace adgen
