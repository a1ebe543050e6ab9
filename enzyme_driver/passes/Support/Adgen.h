// What the passes share: names, the logical parameters of an entry, and how a refusal is reported.
#pragma once

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

#include <string>
#include <vector>

namespace adgen {

inline constexpr llvm::StringLiteral BodyPrefix = "adgen_body_";
inline constexpr llvm::StringLiteral GradientPrefix = "adgen_gradient_";
// Of the variables through which the rendered translation unit asks for instances of templates.
inline constexpr llvm::StringLiteral InstancePrefix = "adgen_instance_";
inline constexpr llvm::StringLiteral ReversePrefix =
    "diffe"; // of what Enzyme makes of a function for the reverse sweep
inline constexpr llvm::StringLiteral ForwardSweepPrefix = "augmented_"; // and for the forward sweep
inline constexpr llvm::StringLiteral GradientSuffix = "__gradient";     // of what the runtime calls
// The same of what carries tangents forward.
inline constexpr llvm::StringLiteral TangentPrefix = "adgen_tangent_";
inline constexpr llvm::StringLiteral TangentSuffix = "__tangent";
// The same of what carries tangents forward along several directions at once.
inline constexpr llvm::StringLiteral DirectionsPrefix = "adgen_directions_";
inline constexpr llvm::StringLiteral DirectionsSuffix = "__directions";
// Function attribute of that: how many directions. Tangents of one number lie so many beside each other.
inline constexpr llvm::StringLiteral DirectionsAttribute = "adgen-directions";
// The same of what carries tangents through a gradient.
inline constexpr llvm::StringLiteral SecondPrefix = "adgen_second_";
inline constexpr llvm::StringLiteral SecondSuffix = "__second";
// Of what describes a kernel with barriers to the host's runtime, and of the function of one thread of it.
inline constexpr llvm::StringLiteral CooperativeSuffix = "_cooperative";
inline constexpr llvm::StringLiteral EachSuffix = "_each";
inline constexpr llvm::StringLiteral TapePrefix = "adgen_tape_"; // of what measures the tape
// Of the shared arrays through which threads hand each other values.
inline constexpr llvm::StringLiteral ExchangePrefix = "adgen_exchange_";
// Function attribute of a kernel, LLVM's: how many registers a thread may have.
inline constexpr llvm::StringLiteral RegistersAttribute = "nvvm.maxnreg";
// Of the shadows of device variables; Enzyme finds them by metadata on the variable.
inline constexpr llvm::StringLiteral ShadowPrefix = "adgen_shadow_";
inline constexpr llvm::StringLiteral ShadowMetadata = "enzyme_shadow";
// Metadata of a variable that was in the GPU's constant memory, to which no kernel writes.
inline constexpr llvm::StringLiteral ConstantMetadata = "adgen.constant";
inline constexpr llvm::StringLiteral MeasureSuffix = "__tape";
// Of an instruction whose result has no derivative, Enzyme's.
inline constexpr llvm::StringLiteral InactiveMark = "enzyme_inactive_val";
inline constexpr llvm::StringLiteral AutodiffPrefix = "__enzyme_autodiff_";
inline constexpr llvm::StringLiteral ForwardPrefix = "__enzyme_fwddiff_";
// Function attribute, Enzyme's: the mathematical function that this is, for which there is a rule.
inline constexpr llvm::StringLiteral MathAttribute = "enzyme_math";
// Of the functions of rules/mathematics.cu.
inline constexpr llvm::StringLiteral MathPrefix = "adgen_math_";
inline constexpr llvm::StringLiteral RulePrefix =
    "adgen_rule_"; // of the functions of rules/ about what threads do together
inline constexpr llvm::StringLiteral TogetherPrefix = "adgen_together_"; // of what rules call that only the host has
// Function attribute: stays a function of its own until Enzyme has run, and nothing in it is differentiated.
inline constexpr llvm::StringLiteral ApartAttribute = "adgen-apart";
inline constexpr llvm::StringLiteral LanesPrefix = "adgen_lanes_";    // of rules about which lanes of a warp take part
inline constexpr llvm::StringLiteral TallyName = "adgen_lanes_tally"; // of the rule that counts threads
inline constexpr llvm::StringLiteral OnHost = "_on_host"; // behind the names of rules that the host has in its own way
// Of intrinsics that carry no derivative and are hidden from Enzyme.
inline constexpr llvm::StringLiteral HiddenPrefix = "adgen_hidden_";
// Of what gives the bits of a number that carry no derivative, until Enzyme has run.
inline constexpr llvm::StringLiteral BitsPrefix = "adgen_hidden_bits_";
inline constexpr unsigned SharedSpace = 3;   // the address space of shared memory on NVIDIA's GPUs
inline constexpr unsigned ConstantSpace = 4; // and of constant memory
// Function attribute: the shared arrays that a body takes as its last arguments, "name:name:...".
inline constexpr llvm::StringLiteral SharedAttribute = "adgen-shared";
// Function attribute of a gradient that keeps its values on a tape.
inline constexpr llvm::StringLiteral TapeAttribute = "adgen-tape";
// Argument attribute of a kernel: the tape.
inline constexpr llvm::StringLiteral TapeMemoryAttribute = "adgen-tape-memory";
// The values of TapeAttribute, what decides about the tape's size: numbers, arrays too, or what the sweep itself
// writes, so that it is run to measure; then it writes to shared arrays only, or to the caller's as well.
inline constexpr llvm::StringLiteral TapeByScalars = "scalars", TapeByArrays = "arrays", TapeByRunning = "run",
                                     TapeInPlace = "run in place";
// Function attributes of such a gradient: functions with its arguments that its threads call before the first and
// behind the last of the blocks to which they walk. Only the primal's arguments, their shadows and the extents of the
// grid say anything there.
inline constexpr llvm::StringLiteral BeforeWalkAttribute = "adgen_before_walk",
                                     BehindWalkAttribute = "adgen_behind_walk";
// What such a gradient takes at last: the bytes of a thread's tape and where it begins, the index of the block, the
// extents of the grid.
inline constexpr unsigned TapeArguments = 8;
// Function attribute of a gradient: the activities of the parameters, "duplicated:const:...".
inline constexpr llvm::StringLiteral ActivityAttribute = "adgen-activity";
// The same of a function that carries tangents, to which what is said of gradients does not apply.
inline constexpr llvm::StringLiteral TangentActivityAttribute = "adgen-tangent-activity";
// Function attribute: a body that stores what the function returns through its last argument.
inline constexpr llvm::StringLiteral ResultAttribute = "adgen-result";
// Behind RulePrefix: rules by which threads choose one of the values that they bring (RaiseAtomicChoices).
inline constexpr llvm::StringLiteral ChoicePrefix = "choose_";
// The same of those that clear the shadow of a number where something else is written over it (HideReusedIntegers).
inline constexpr llvm::StringLiteral ClearPrefix = "clear_";
// The number of a barrier for the whole grid, from SelectKernels to LowerGridBarriers or the host's runtime: PTX has
// barriers 0 to 15 of a block.
inline constexpr unsigned GridBarrier = 32;
inline constexpr llvm::StringLiteral ByAddressAttribute =
    "adgen-by-address"; // of a struct that is the user's, not a copy
// Argument attribute: a parameter's shadow. It overlaps no other argument's memory, which the runtime checks.
inline constexpr llvm::StringLiteral ShadowAttribute = "adgen-shadow";
// Argument attribute: the user says that each of its elements belongs to one thread.
inline constexpr llvm::StringLiteral OwnedAttribute = "adgen-owned";
// Argument attribute: the user says that the shadow holds zeros before the gradient.
inline constexpr llvm::StringLiteral FreshAttribute = "adgen-fresh";
// Argument attribute: the shadow of an array that the user does not need after the gradient, nor the shadow itself.
inline constexpr llvm::StringLiteral DiscardedAttribute = "adgen-discarded";
// Argument attribute: the shadow of a shared array. It overlaps nothing but other such shadows, and nothing at all with
// the value "static".
inline constexpr llvm::StringLiteral SharedShadowAttribute = "adgen-shared-shadow";
inline constexpr llvm::StringLiteral StaticArray = "static";
// Argument attribute: the size in bytes of the struct that the pointer stands for.
inline constexpr llvm::StringLiteral StructAttribute = "adgen-struct";
// Argument attribute beside it: where the struct holds floating point, "offset:bytes;offset:bytes".
inline constexpr llvm::StringLiteral FloatsAttribute = "adgen-struct-floats";

// Argument attribute of a body: where threads store to its arrays in the order of their arrival, "line:file".
inline constexpr llvm::StringLiteral UnorderedAttribute = "adgen-unordered";
// The same of integers, such as a queue of indices.
inline constexpr llvm::StringLiteral QueuedAttribute = "adgen-queued";
// Argument attribute of a body: where in a struct there are pointers to arrays without a derivative, "offset@offset".
inline constexpr llvm::StringLiteral ConstMembersAttribute = "adgen-const-members";
// Argument attribute of a body: the numbers of the parameters whose elements have another order where this one's have,
// "number;number".
inline constexpr llvm::StringLiteral OrdersAttribute = "adgen-orders";

enum class Activity { Duplicated, Active, Const };

// What a pass option "symbol=word:word@8@24;symbol=word" says of one entry.
struct EntryPlan {
  std::string Symbol;
  std::vector<Activity> Activities;
  std::vector<llvm::StringRef>
      OfShadows; // the attribute that says what the user says of an array's shadow; often empty
  std::vector<llvm::StringRef> ConstMembers; // the value of ConstMembersAttribute; often empty
};

llvm::Expected<std::vector<EntryPlan>> parsePlan(llvm::StringRef Text);
// Of a text such as "8@24"; false where it is none.
bool readNumbers(llvm::StringRef Text, llvm::SmallVectorImpl<uint64_t> &Numbers);
Activity parseActivity(llvm::StringRef Word);
// Of a gradient or a function that carries tangents; none for any other.
llvm::SmallVector<Activity> activitiesOf(const llvm::Function &Derivative);
// Along how many directions a function carries tangents.
unsigned directionsOf(const llvm::Function &Derivative);
// Whether a function carries tangents forward, along one direction or several.
bool carriesTangents(const llvm::Function &F);
llvm::SmallVector<llvm::StringRef> sharedNames(const llvm::Function &F);
// Whether it is memory of a block: one of the shared arrays that a body is given at last, or a shared variable.
bool isSharedMemory(const llvm::Value &Object);
// Bytes of shared memory that the static arrays of a gradient, each of which has a shadow, leave for what its threads
// hand each other; 0 where the launch decides how large an array is.
uint64_t roomInShared(const llvm::Function &Gradient);

// A parameter as the user wrote it, and the IR arguments that carry it.
struct LogicalParameter {
  std::string Name;
  llvm::DIType *Type = nullptr;
  llvm::SmallVector<llvm::Argument *, 2> Arguments;
  bool IsStruct = false;    // by value, or one behind a pointer or reference, of which Type is then the type
  uint64_t StructBytes = 0; // its size, where IsStruct
  bool ByAddress = false;   // a struct behind a pointer or reference: one that holds pointers, in C++
  bool IsReference = false, IsConst = false; // where ByAddress
};

llvm::SmallVector<LogicalParameter> logicalParameters(llvm::Function &F);
llvm::DIType *stripQualifiers(llvm::DIType *Type);
bool isPointerOrReference(const llvm::DIDerivedType &Type);
bool isConst(llvm::DIType *Type); // not of what a pointer points to
// A variable of the device that the host may set, one that clang keeps from it too: of a file whose host code is
// elsewhere, `static __constant__` without a value.
bool isSetByHost(const llvm::GlobalVariable &Variable);
// A number of floating point inside a struct.
struct FloatMember {
  uint64_t Offset;
  uint64_t Bytes;
};

// Arrays of a type are one member after the other: how many elements they have.
uint64_t elementCount(const llvm::DICompositeType *Array);
llvm::SmallVector<FloatMember> floatMembers(llvm::DIType *Struct);
llvm::SmallVector<FloatMember> floatMembers(const llvm::Function &F, unsigned Index);
void markStruct(llvm::Function &F, unsigned Index, uint64_t Bytes, llvm::DIType *Type);
// The size of the struct that an argument stands for; 0 where it stands for none.
uint64_t structBytes(const llvm::Function &F, unsigned Index);
// Whether it stands for a copy of a struct, whose address nobody else has.
bool isStructByValue(const llvm::Argument &A);
// An array that a pointer in a struct by value leads to: by the place of the pointer. Two of them do not overlap if one
// is written to, which the runtime checks.
struct MemberArray {
  const llvm::Argument *Struct;
  int64_t Offset;
  bool operator==(const MemberArray &Other) const { return Struct == Other.Struct && Offset == Other.Offset; }
};
std::optional<MemberArray> memberArray(const llvm::Value *Object);
// The shadow that a pointer points into, an argument of the gradient; null where that is not known.
const llvm::Argument *shadowOf(const llvm::Value *Pointer);
// As the user wrote it, with its namespaces.
std::string qualifiedName(const llvm::DIScope *Scope, llvm::StringRef Name);
std::string sourceName(const llvm::GlobalVariable &Global);
// What a piece of assembly does, in the user's words.
llvm::StringRef assemblyInWords(llvm::StringRef Text);
bool isKernel(const llvm::Function &F);
bool isDerivative(const llvm::Function &F);
// Of the function that the runtime calls for a derivative: what follows the user's symbol.
llvm::StringRef suffixOf(const llvm::Function &Derivative);
// The user's symbol of a kernel, a body or a derivative of it.
llvm::StringRef symbolOf(const llvm::Function &F);
// Declares adgen_rule_NAME, which takes pointers, then operands, and registers adgen_rule_NAME_augmented and
// adgen_rule_NAME_reverse as its derivative. Enzyme hands every argument of a derivative over twice: a pointer with its
// shadow, and an operand with itself. What the augmented function keeps (void: nothing) is its result and the last
// argument of the reverse one.
llvm::Function *declareRule(llvm::Module &M, llvm::StringRef Name, unsigned Pointers,
                            llvm::ArrayRef<llvm::Type *> Operands, llvm::Type *Kept = nullptr);
// The function with all that it names, to call it or to hand it over, and whose code is there.
llvm::SetVector<const llvm::Function *> reachedFrom(const llvm::Function &First);
// The first instruction that is wanted in these; null where there is none.
const llvm::Instruction *firstReached(const llvm::Function &From,
                                      llvm::function_ref<bool(const llvm::Instruction &)> IsWanted);
bool isCallOf(const llvm::Instruction &I, llvm::StringRef Name);
// Whether the type or a part of it is one that is asked for.
bool holds(llvm::Type *T, llvm::function_ref<bool(llvm::Type *)> IsWanted);
// Has every function inlined that is no kernel, body, gradient or marked mathematics and does not call itself.
void markForInlining(llvm::Module &M);

// On the GPU: raises a flag, a variable of the module that the runtime reads, and ends the thread.
void endThread(llvm::IRBuilder<> &B, llvm::StringRef Flag);

// Links from a bitcode file what the module refers to, as internal functions.
void linkFile(llvm::Module &M, llvm::StringRef Path);

// Prints "adgen-refusal: {json}" on stderr: the driver turns it into an error with file and line.
void refuse(const llvm::Function *Entry, const llvm::DebugLoc &Where, llvm::StringRef Reason, llvm::StringRef Hint);
void refuse(const llvm::Function *Entry, llvm::StringRef Reason, llvm::StringRef Hint);
// Where the user wrote it, "line:file".
std::string placeOf(const llvm::DebugLoc &Where);

} // namespace adgen
