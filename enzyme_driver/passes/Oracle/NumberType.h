// What travels beside every number of floating point when a function is carried over (ShadowModule.h): tangents, say,
// or sets of inputs. A shadow has the type of the number itself and lies in memory at the same place, so that its type
// fits whatever moves numbers.
#pragma once

#include "Support/Adgen.h"

namespace adgen {

// Why what was computed may not be what the shadows say, found where the code runs; the order of adgen_shadow_notes.
enum class Note : unsigned {
  LostBits,     // integer arithmetic on the bits of a number whose shadow is not zero
  LostInMemory, // a shadow that is not zero, stored where memory has none
  Tie,          // a decision between equal numbers with different shadows: a kink
  LostRace,     // a compare-and-swap that met equal bits with another shadow
  Steered,      // a way or an address that depends on data, where decisions count
  Single,       // a number with a shadow that is not zero was rounded to single precision
  Half,         // and to 16 bits
};
inline constexpr unsigned NoteCount = 7;
inline constexpr llvm::StringLiteral NotesName =
    "adgen_shadow_notes"; // of the variable: for each note the line where it was made last, or 0

// What a rule may do to the function that it writes into.
class RuleWriter {
public:
  virtual ~RuleWriter() = default;
  // Notes something where `Condition` holds (a bit, or a vector of bits).
  virtual void note(llvm::IRBuilder<> &B, llvm::Value *Condition, Note Kind, const llvm::DebugLoc &Where) = 0;
  // Stores the shadow of a number behind a pointer.
  virtual void storeShadow(llvm::IRBuilder<> &B, llvm::Value *Shadow, llvm::Value *Pointer, llvm::Value *ShadowPointer,
                           const llvm::DebugLoc &Where) = 0;
};

class NumberType {
public:
  virtual ~NumberType() = default;
  virtual llvm::StringRef name() const = 0; // what functions that carry it are called after

  // The shadow of the result of an instruction or intrinsic of floating-point arithmetic, whose operands have these
  // shadows. Null where there is no rule.
  virtual llvm::Value *ofArithmetic(llvm::IRBuilder<> &B, llvm::Instruction &I, llvm::ArrayRef<llvm::Value *> Shadows,
                                    RuleWriter &Writer) = 0;
  // Whether a function is mathematics with a rule, into whose body nobody has to look.
  virtual bool knows(const llvm::Function &F) const = 0;
  // The shadow of the result of a call of one (null where it returns nothing).
  virtual llvm::Value *ofFunction(llvm::IRBuilder<> &B, llvm::CallBase &Call, llvm::ArrayRef<llvm::Value *> Shadows,
                                  RuleWriter &Writer) = 0;
  // What an atomic operation on a number does to its shadow in memory, and what the shadow was. Null where that is no
  // single operation.
  virtual llvm::Value *ofAtomic(llvm::IRBuilder<> &B, llvm::AtomicRMWInst &Atomic, llvm::Value *Shadow,
                                llvm::Value *ShadowPointer) = 0;
  // The shadow of integer arithmetic, conversions and intrinsics, whose operands may be bits of numbers. Null where the
  // shadow is a number of the same form, and whatever moves bits moves its bits.
  virtual llvm::Value *ofBits(llvm::IRBuilder<> &, llvm::Instruction &, llvm::ArrayRef<llvm::Value *>, RuleWriter &) {
    return nullptr;
  }
  // Whether a shadow (no pointer, no aggregate) is not zero.
  virtual llvm::Value *isAny(llvm::IRBuilder<> &B, llvm::Value *Shadow) const = 0;
  // Whether shadows are sets: of all that come to a place by compare-and-swap none is lost, moved bytes are no longer
  // sets, and the shadow of a struct that holds pointers has no copies of its integers.
  virtual bool areSets() const { return false; }
  // Whether sets also hold what a choice is made by, and both of what is chosen from.
  virtual bool countsDecisions() const { return false; }
  // The union of sets, as the shadow of a value of type T. Only where decisions count.
  virtual llvm::Value *join(llvm::IRBuilder<> &, llvm::ArrayRef<llvm::Value *>, llvm::Type *) const { return nullptr; }
};

} // namespace adgen
