// What the functions have in common that ask Enzyme for a derivative of a body (MakeGradients, MakeTangents):
//   void PREFIX_SYMBOL(parameters..., shadows..., shared arrays..., their shadows..., [last])
#pragma once

#include "Support/Adgen.h"

namespace adgen {

// The arguments of a body: the parameters, shared arrays, and where it stores what it returns.
struct BodyLayout {
  BodyLayout(llvm::Function &Body, llvm::ArrayRef<Activity> Activities);

  llvm::Function &Body;
  llvm::ArrayRef<Activity> Activities;
  unsigned Shared;    // shared arrays
  bool ReturnsValue;  // through the body's last argument
  llvm::Type *Result; // of the user's function

  // Only kernels have the attribute, also without shared arrays.
  bool isKernel() const { return Body.hasFnAttribute(SharedAttribute); }
  unsigned parameters() const { return Body.arg_size() - Shared - ReturnsValue; }
};

// The function without code. `Last` is the type of its last argument, null for none; `Words` names the attribute that
// holds the activities.
llvm::Function *createDerivative(const BodyLayout &Layout, llvm::StringRef Prefix, llvm::StringRef Words,
                                 llvm::Type *Last);

// Collects the arguments of a call of Enzyme: a metadata word, then the values it stands for.
class EnzymeCall {
public:
  EnzymeCall(llvm::IRBuilder<> &B, llvm::Function &Body) : B(B), Body(Body) { Arguments.push_back(&Body); }

  void constant(llvm::Value *Primal) { add("enzyme_const", {Primal}); }
  void duplicated(llvm::Value *Primal, llvm::Value *Shadow) { add("enzyme_dup", {Primal, Shadow}); }
  void add(llvm::StringRef Word, llvm::ArrayRef<llvm::Value *> Values);
  // Calls PREFIX_BODY, by which name Enzyme knows what is wanted.
  llvm::CallInst *emit(llvm::StringRef Prefix, llvm::Type *Result);

protected:
  llvm::IRBuilder<> &B;
  llvm::Function &Body;

private:
  llvm::SmallVector<llvm::Value *> Arguments;
};

// Calls `Make` with the body and the plan of every entry of a pass's option.
void forEachPlanned(llvm::Module &M, llvm::StringRef Option, llvm::StringRef Pass,
                    llvm::function_ref<void(llvm::Function &, const EntryPlan &)> Make);

// Before the name of a shared array: what holds its cotangents in second derivatives, for which it is an array as well.
inline constexpr llvm::StringLiteral CotangentsPrefix = "adgen_cotangents_";

// What a function of rules/ is in a gradient: it lets threads wait and does nothing else, or moves numbers among lanes,
// linearly.
enum class RuleOfGradient { Orders, Moves, Other };
RuleOfGradient ruleOfGradient(llvm::StringRef Name);

// The calls of Enzyme in the gradients of a module.
llvm::SmallVector<llvm::CallInst *> gradientCalls(llvm::Module &M);

// Whether forward mode is asked for, in which any number may have a tangent.
bool asksForTangents(const llvm::Module &M);

// What such a call says of a parameter of its body.
struct Said {
  llvm::StringRef Word;
  unsigned At;                   // of the word among the call's operands
  llvm::Argument *Parameter;     // of the body
  llvm::Value *Shadow = nullptr; // null where it has none
};
llvm::SmallVector<Said> saidOfParameters(const llvm::CallInst &Autodiff);

} // namespace adgen
