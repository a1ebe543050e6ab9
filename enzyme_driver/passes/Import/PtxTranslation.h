// One call of inline PTX, whose statements become instructions in front of it. The registers of the text are values by
// name; an operand is read as the type that its instruction names.
#pragma once

#include "Support/Adgen.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueHandle.h"

#include <string>

namespace adgen {

class PtxTranslation {
public:
  explicit PtxTranslation(llvm::CallInst &Call) : Call(Call), B(&Call), Context(Call.getContext()) {}

  // Replaces the call, unless something is not understood.
  void run();

private:
  // Operands between commas that are not in a vector.
  static llvm::SmallVector<llvm::StringRef> operandsOf(llvm::StringRef Text);
  bool translateAll();
  bool bindOperands(const llvm::InlineAsm &Assembly);
  llvm::Value *result();

  // The same bits as another type; null where there are not as many.
  llvm::Value *as(llvm::Value *V, llvm::Type *T);

  // What `{0, x}` was made of: the bits of a bfloat16 in front of zeros are those of the same number as a float.
  static llvm::Value *upperHalf(llvm::Value *V);
  llvm::Type *typeNamed(llvm::StringRef Name);
  llvm::Value *constant(llvm::StringRef Text, llvm::Type *T);
  llvm::Value *special(llvm::StringRef Name, llvm::Type *T);

  // An operand as a value of that type.
  llvm::Value *read(llvm::StringRef Operand, llvm::Type *T);
  bool write(llvm::StringRef Operand, llvm::Value *V);
  bool translate(llvm::StringRef Statement);

  // `sat` makes zero of what is no number, `relu` keeps it.
  llvm::Value *clamped(llvm::ArrayRef<llvm::StringRef> Words, llvm::Value *X);
  bool fenced(llvm::ArrayRef<llvm::StringRef> Words);

  // Of all threads of the block, whatever its number is, or of the lanes of a mask.
  bool waited(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::StringRef> Operands);

  // Where the condition does not hold, the register keeps what it has.
  llvm::Value *chosen(llvm::StringRef Condition, llvm::Value *New, llvm::StringRef Register);

  // Of "[$1]" or "[$1+16]": the register, and how much is added to it.
  std::pair<llvm::Value *, uint64_t> placeIn(llvm::StringRef Operand);
  // The same as a pointer.
  llvm::Value *address(llvm::StringRef Operand);
  llvm::Value *element(llvm::Value *Pointer, llvm::Type *T, unsigned Index);

  // In global memory, by one thread at once: shared memory is known by numbers, and what happens later is no access.
  static bool isPlainAccess(llvm::ArrayRef<llvm::StringRef> Words);
  bool accessed(llvm::ArrayRef<llvm::StringRef> Written, llvm::ArrayRef<llvm::StringRef> Operands,
                llvm::StringRef Condition);
  bool loaded(llvm::StringRef Register, llvm::Type *T, llvm::Value *Pointer, bool Volatile, llvm::Value *Condition);
  bool comparedAndSwapped(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::StringRef> Operands,
                          llvm::Value *Pointer, llvm::Type *T);

  // Of "p" or "!p"; null where it is not known.
  llvm::Value *conditionNamed(llvm::StringRef Condition);

  // Accesses happen only where their conditions hold: they get blocks of their own once all of the text is understood.
  void separate();

  // "$0", or "{$0, $1}".
  static llvm::SmallVector<llvm::StringRef> listed(llvm::StringRef List);

  // Each element of a vector on its own, as the hardware has it.
  bool atomics(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::StringRef> Operands, llvm::Value *Pointer,
               llvm::Type *T, llvm::StringRef Results);
  bool atomic(llvm::ArrayRef<llvm::StringRef> Words, llvm::StringRef Given, llvm::Value *Pointer, llvm::Type *T,
              llvm::StringRef Result);

  // shfl.sync.down.b32 result|inside, value, lane or offset, control, mask
  bool shuffled(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::StringRef> Operands);

  // elect.sync lane|leads, mask
  bool elected(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::StringRef> Operands);

  // mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d, ...}, {a, ...}, {b, ...}, {c, ...}
  // ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {d, ...}, [address]
  bool ofTensorCores(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::StringRef> Operands);
  static llvm::SmallVector<llvm::StringRef> partsOf(llvm::StringRef Operand);

  // LLVM names the types of D and C where the factors are of half, else that of the factors.
  static std::string nameOfProduct(llvm::ArrayRef<llvm::StringRef> Words);
  static std::string nameOfMatrixLoad(llvm::ArrayRef<llvm::StringRef> Words);

  // "[$4]" or "[$4+16]", where the register has a number.
  llvm::Value *sharedAddress(llvm::StringRef Operand);

  // Whether the lane that the value comes from is in the segment, as the PTX manual defines it.
  llvm::Value *isInside(llvm::StringRef Mode, llvm::Value *Offset, llvm::Value *Control);
  llvm::Value *value(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::StringRef> Operands, llvm::Type *T);
  llvm::Value *compared(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::Value *> X);
  llvm::Value *converted(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::StringRef> Operands);
  static bool isOfBytes(llvm::ArrayRef<llvm::StringRef> Words);
  llvm::Value *ofBytes(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::StringRef> Operands);
  llvm::Value *floating(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::Value *> X, llvm::Type *T);
  llvm::Value *unary(llvm::StringRef Code, llvm::Value *X, llvm::Type *T);

  // The hyperbolic one, libdevice's, which has a rule.
  llvm::Value *tangent(llvm::Value *X, llvm::Type *T);
  llvm::Value *integral(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::Value *> X);

  llvm::Value *ofOne(llvm::StringRef Code, llvm::Value *X);
  llvm::Value *widened(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::StringRef> Operands);
  llvm::Value *looked(llvm::ArrayRef<llvm::Value *> X);
  llvm::Value *funnelled(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::Value *> X);

  // dp4a, and dp2a whose upper bytes become the lower ones: what it would say else is one bit, which C++ takes
  // otherwise.
  llvm::Value *dotted(llvm::ArrayRef<llvm::StringRef> Words, llvm::ArrayRef<llvm::Value *> X);
  llvm::Value *shifted(llvm::StringRef Code, llvm::StringRef TypeName, llvm::ArrayRef<llvm::Value *> X);
  llvm::Value *masked(llvm::ArrayRef<llvm::Value *> X);
  llvm::Value *extracted(llvm::ArrayRef<llvm::Value *> X);
  llvm::CallInst &Call;
  llvm::IRBuilder<> B;
  llvm::LLVMContext &Context;
  llvm::StringMap<llvm::Value *> Registers;
  llvm::SmallVector<std::string> Outputs;

  struct Conditional {
    llvm::Instruction *Access;
    llvm::WeakTrackingVH Condition, Otherwise; // the latter of a load; it may be another one's, which is replaced
  };
  llvm::SmallVector<Conditional> Conditionals;
};

} // namespace adgen
