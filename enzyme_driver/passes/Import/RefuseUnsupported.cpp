// Names what the gradient of a body would get wrong or what Enzyme would stop at, with the line in the user's file,
// and tells Enzyme which globals hold no variable of the differentiation.
#include "Analysis/Bits.h"
#include "Analysis/Tickets.h"
#include "Import/SwapLoop.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral WhichRemains = "whose value remains is known only when all threads have run: write a value a "
                                       "thread, and combine them in another kernel";
constexpr StringLiteral OtherFactors =
    "the derivative by a factor is the product of all others, which no thread knows: "
    "write a factor a thread, and multiply them in another kernel, or add their "
    "logarithms by atomicAdd";
constexpr StringLiteral Split = "split the kernel where the threads wait for each other, or use atomicAdd";
constexpr StringLiteral OwnRule = "leave the kernel's gradient out, or write the part without it";

// What an intrinsic is called in the user's words; empty where it can be differentiated or is harmless.
StringRef unsupportedIntrinsic(StringRef Name) {
  if (!Name.consume_front("llvm.nvvm."))
    return "";
  return StringSwitch<StringRef>(Name)
      .StartsWith("shfl", "a warp shuffle (__shfl_*)")
      .StartsWith("vote", "a warp vote (__any_sync, __all_sync, __ballot_sync)")
      .StartsWith("match", "a warp match (__match_*_sync)")
      .StartsWith("redux", "a warp reduction (__reduce_*_sync) of the bits of floating point")
      .StartsWith("barrier", "a barrier other than __syncthreads()")
      .StartsWith("tex.", "a texture read")
      .StartsWith("tld4", "a texture read")
      .StartsWith("suld", "a surface read")
      .StartsWith("sust", "a surface write")
      .StartsWith("wmma", "a Tensor Core operation (wmma)")
      .StartsWith("mma", "a Tensor Core operation (mma)")
      .StartsWith("ldmatrix", "a load of matrices for Tensor Cores (ldmatrix)")
      .StartsWith("cp.async", "an asynchronous copy (cp.async)")
      .StartsWith("mbarrier", "an mbarrier")
      .StartsWith("read.ptx.sreg.envreg", "a barrier of the whole grid (cooperative groups' this_grid().sync())")
      .Default("");
}

// The first instruction of a piece of assembly, as the user wrote it.
std::string firstOf(StringRef Text) {
  Text = Text.ltrim("{ \t\n");
  while (Text.starts_with(".reg"))
    Text = Text.split(';').second.ltrim("{ \t\n");
  StringRef One = Text.take_until([](char C) { return C == ';' || C == '\n'; }).rtrim();
  return One.empty() ? "" : (" (" + One + ")").str();
}

// Whether the new value is the expected one times something.
bool multiplies(AtomicCmpXchgInst &Swap) {
  auto *Product = dyn_cast<BinaryOperator>(bitsOf(Swap.getNewValOperand()));
  return Product && is_contained({Instruction::FMul, Instruction::FDiv}, Product->getOpcode()) &&
         any_of(Product->operands(), [&](Value *Factor) { return bitsOf(Factor) == bitsOf(Swap.getCompareOperand()); });
}

bool isFloating(const Type *T) { return T->isFPOrFPVectorTy(); }

// Whether nothing depends on what the instruction computes, as where this_grid() is asked for a rank only.
bool leadsNowhere(const Instruction &I) {
  return all_of(I.users(), [](const User *U) {
    auto *Next = cast<Instruction>(U);
    return !Next->mayHaveSideEffects() && !Next->isTerminator() && !isa<PHINode>(Next) && leadsNowhere(*Next);
  });
}

// What clang makes of OpenMP that has no derivative here, in the user's words.
StringRef unsupportedRuntimeCall(StringRef Name) {
  return StringSwitch<StringRef>(Name)
      .Case("__kmpc_fork_call", "")
      .Case("__kmpc_global_thread_num", "")
      .StartsWith("__kmpc_omp_task", "an OpenMP task that other threads may continue, or an event completes")
      .StartsWith("__kmpc_task", "an OpenMP task")
      .StartsWith("__kmpc_end_task", "an OpenMP task")
      .StartsWith("__kmpc_threadprivate", "an OpenMP threadprivate variable")
      .StartsWith("__kmpc_copyprivate", "an OpenMP single section with copyprivate")
      .StartsWith("__kmpc_cancel", "an OpenMP cancellation")
      .StartsWith("__kmpc_doacross", "an OpenMP loop whose iterations depend on each other (ordered(n))")
      .StartsWith("__kmpc_fork_teams", "OpenMP teams")
      .StartsWith("__kmpc_dispatch", "an OpenMP loop whose schedule is not known when it is compiled")
      .StartsWith("__kmpc_", "an OpenMP directive that adgen does not know")
      .StartsWith("omp_test_", "an OpenMP lock that is only tried")
      .StartsWith("__tgt_", "OpenMP offloading")
      .StartsWith("_ZNSirsE", "reading a number from a stream")
      .StartsWith("_ZNSi10_M_extractI", "reading a number from a stream")
      .Default("");
}

// What to write instead.
StringRef insteadOf(StringRef Name) {
  return StringSwitch<StringRef>(Name)
      .StartsWith("__kmpc_threadprivate",
                  "declare the variable inside the parallel region, or make it an array with an element a thread")
      .StartsWith("__kmpc_copyprivate",
                  "store the value in a shared variable; the barrier at the end of single makes it visible")
      .StartsWith("omp_test_", "use a critical section")
      .StartsWith("__kmpc_omp_task", "leave out untied and detach, or use a parallel for")
      .StartsWith("_ZNSi", "read it before, and pass it as a parameter")
      .Default("use a parallel for, sections, or a parallel region with thread numbers");
}

// Whether a branch asks for the value itself, through comparisons, changes of its type, and what joins several ways.
bool decides(const Value &V, SmallPtrSetImpl<const Value *> &Seen) {
  return Seen.insert(&V).second && any_of(V.users(), [&](const User *U) {
           if (isa<BranchInst, SwitchInst>(U))
             return true;
           bool Asks = isa<CmpInst, CastInst, FreezeInst, PHINode, SelectInst>(U) ||
                       (U->getType()->isIntOrIntVectorTy() && isa<BinaryOperator>(U));
           return Asks && decides(*U, Seen);
         });
}

// Whether others may write what this reads again and again until it decides otherwise.
bool waitsForOthers(const LoadInst &Load) {
  SmallPtrSet<const Value *, 16> Seen;
  if ((!Load.isVolatile() && !Load.isAtomic()) || !decides(Load, Seen))
    return false;
  const BasicBlock *Block = Load.getParent();
  return any_of(successors(Block), [&](const BasicBlock *Next) { return isPotentiallyReachable(Next, Block); });
}

// Threads that wait for each other by integer atomics, a lock or a counter with a fence that tells which block is the
// last, or for what others write to volatile memory. What a thread reads then may be another's result, whose reverse
// sweep may be over when this thread's cotangent comes.
class Order {
public:
  void visit(Instruction &I, unsigned SharedFrom) {
    if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->getCalledFunction())
      Fence |= Call->getCalledFunction()->getName().starts_with("llvm.nvvm.membar.") &&
               !Call->getCalledFunction()->getName().ends_with(".cta");
    if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->getCalledFunction())
      Locks |= Call->getCalledFunction()->getName().starts_with("adgen_hidden_swap_");
    Fence |= isa<FenceInst>(I);
    auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
    bool Answers = Atomic && Atomic->getType()->isIntegerTy() && !Atomic->use_empty();
    Locks |= isa<AtomicCmpXchgInst>(I) || (Answers && Atomic->getOperation() == AtomicRMWInst::Xchg);
    auto *Load = dyn_cast<LoadInst>(&I);
    bool IsMet = Atomic && Atomic->hasMetadata(TicketMetadata);
    Tells |= Answers && !IsMet && isCounter(Atomic->getOperation()) && isOnlyAsked(*Atomic) &&
             !isOfBlock(*getUnderlyingObject(Atomic->getPointerOperand(), /*MaxLookup=*/0), SharedFrom);
    Counts |= (Answers && !IsMet) || (Load && Load->isVolatile() && Load->getType()->isIntegerTy());
    if (Load && isFloating(Load->getType()))
      note(Load->getPointerOperand(), SharedFrom, Loads, &I);
    if (Load && !Awaited && waitsForOthers(*Load)) {
      Places Asked;
      note(Load->getPointerOperand(), SharedFrom, Asked, &I);
      Awaited = Asked.empty() ? nullptr : &I;
    }
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && isFloating(Store->getValueOperand()->getType()))
      note(Store->getPointerOperand(), SharedFrom, Stores, &I);
  }

  // The first read of what others may have written; null where there is none.
  const Instruction *communication() const { return Locks || Tells || (Fence && Counts) ? readOfOthers() : nullptr; }

  // Where a thread waits for another one and reads what that may have written; null where none does.
  const Instruction *wait() const { return Awaited && readOfOthers() ? Awaited : nullptr; }

private:
  using Place = std::pair<const Value *, int64_t>; // a pointer in a struct by value is known by where it lies
  using Places = MapVector<Place, const Instruction *>;

  const Instruction *readOfOthers() const {
    auto Found = find_if(Loads, [&](const auto &Each) { return Stores.contains(Each.first); });
    return Found == Loads.end() ? nullptr : Found->second;
  }

  static void note(Value *Pointer, unsigned SharedFrom, Places &Found, const Instruction *I) {
    SmallVector<const Value *> Objects;
    getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/0);
    for (const Value *Object : Objects) {
      if (isOfBlock(*Object, SharedFrom))
        continue;
      int64_t Offset = -1;
      if (auto *Load = dyn_cast<LoadInst>(Object))
        Object = GetPointerBaseWithConstantOffset(Load->getPointerOperand(), Offset, Load->getDataLayout());
      Found.insert({{Object, Offset}, I});
    }
  }

  // Of what functions of the body are given, too, whose parameters are counted as the body's.
  static bool isOfBlock(const Value &Object, unsigned SharedFrom) {
    auto *A = dyn_cast<Argument>(&Object);
    return isa<AllocaInst>(Object) || (A ? A->getArgNo() >= SharedFrom : isSharedMemory(Object));
  }

  bool Fence = false, Locks = false, Counts = false;
  bool Tells = false; // who comes last, without a fence
  const Instruction *Awaited = nullptr;
  Places Loads, Stores;
};

class Scan {
public:
  explicit Scan(Function &Body)
      : Body(Body), Entry(Body.getParent()->getFunction(Body.getName().drop_front(BodyPrefix.size()))),
        Device(Body.getParent()->getTargetTriple().isNVPTX()) {}

  void run() {
    visit(Body);
    if (const Instruction *Read = Device ? Threads.communication() : nullptr)
      stop(*Read,
           "reading what other threads have written in an order that atomics decide (a lock, or the last block to "
           "finish)",
           Split);
    if (const Instruction *Wait = Device ? Threads.wait() : nullptr)
      stop(*Wait, "waiting for what another thread writes (a loop that asks volatile memory again and again)", Split);
  }

private:
  // On the device everything is inlined but recursive functions; on the host functions call and hand over each other.
  void visit(Function &F) {
    if (F.isDeclaration() || F.hasFnAttribute(MathAttribute) || F.hasFnAttribute(ApartAttribute) ||
        !Seen.insert(&F).second)
      return;
    for (BasicBlock &Block : F)
      for (Instruction &I : Block) {
        visit(I);
        Threads.visit(I, Body.arg_size() - sharedNames(Body).size());
        for (Value *Operand : I.operands())
          if (auto *Used = dyn_cast<Function>(Operand->stripPointerCasts())) {
            Callers.push_back(&I);
            visit(*Used);
            Callers.pop_back();
          }
      }
  }

  void stop(const Instruction &I, const Twine &What, const Twine &Hint) {
    const Instruction *Shown = &I; // what a header of the library does is blamed on who calls it
    for (const Instruction *Caller : reverse(Callers))
      if (isOfLibrary(*Shown))
        Shown = Caller;
    refuse(Entry, Shown->getDebugLoc(), ("cannot differentiate " + What).str(), Hint.str());
  }

  static bool isOfLibrary(const Instruction &I) {
    const DILocation *Place = I.getDebugLoc().get();
    while (Place && Place->getInlinedAt())
      Place = Place->getInlinedAt();
    return !Place || Place->getFilename().contains("/include/c++/");
  }

  void visit(Instruction &I) {
    if (auto *Call = dyn_cast<CallBase>(&I))
      return Device ? visitDeviceCall(*Call) : visitHostCall(*Call);
    if (!Device)
      return visitHost(I);
    if (const Value *Pointer = getLoadStorePointerOperand(&I); Pointer && isNumberOfShared(*Pointer))
      return stop(I, "shared memory that is reached by a number of which adgen does not see the array",
                  "give the assembly __cvta_generic_to_shared(&array[index]) where it stands, or use the array itself");
    if (auto *Store = dyn_cast<StoreInst>(&I); Store && isFloating(Store->getValueOperand()->getType()))
      return visitStore(I, Store->getPointerOperand());
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      return visitAtomic(*Atomic);
    auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I);
    if (Swap && bitsLeft(*Swap) != Bits::Integers && multiplies(*Swap))
      stop(I, "a product by atomics (a compare-and-swap that multiplies)", OtherFactors);
    else if (Swap && bitsLeft(*Swap) != Bits::Integers)
      stop(I,
           "a compare-and-swap of floating point that makes no sum, maximum or minimum, or whose value before is used",
           WhichRemains);
  }

  static bool isNumberOfShared(const Value &Pointer) {
    const Value *Base = getUnderlyingObject(&Pointer, /*MaxLookup=*/0);
    return isa<IntToPtrInst>(Base) && Base->getType()->getPointerAddressSpace() == SharedSpace;
  }

  void visitHost(Instruction &I) {
    auto *Atomic = dyn_cast<AtomicRMWInst>(&I);
    bool IsSum = Atomic && Atomic->getOperation() == AtomicRMWInst::FAdd;
    if (isa<AtomicCmpXchgInst>(&I) && isOfLibrary(I) && I.getDebugLoc() &&
        I.getDebugLoc()->getFilename().contains("shared_ptr"))
      return stop(I, "std::weak_ptr::lock, which counts by a compare-and-swap",
                  "use a std::shared_ptr, or a plain pointer");
    if (isa<AtomicCmpXchgInst>(&I) || (Atomic && isFloating(Atomic->getType()) && !IsSum))
      stop(I, "a compare-and-swap", "use an OpenMP atomic update or a critical section");
  }

  void visitHostCall(CallBase &Call) {
    if (Call.isInlineAsm())
      return visitAssembly(Call);
    if (Function *Callee = Call.getCalledFunction()) {
      if (StringRef What = unsupportedRuntimeCall(Callee->getName()); !What.empty())
        stop(Call, What, insteadOf(Callee->getName()));
      bool IsOwn =
          !Callee->isDeclaration() && !Callee->hasFnAttribute(ApartAttribute) && !writesText(Callee->getName());
      if (Callee->isVarArg() && IsOwn && !movesNoNumbers(*Callee))
        stop(Call, "a function with any number of arguments (" + demangle(Callee->getName()) + ")",
             "use a parameter pack (template <class... T>), a std::initializer_list or an array");
      if (countsBuckets(Callee->getName()) || (Callee->isVarArg() && IsOwn)) {
        Callee->addFnAttr("enzyme_inactive");
        Callee->addFnAttr(Attribute::NoFree);
      }
      if (movesUnderMask(Callee->getName()))
        stop(Call, "loads and stores of vectors under a mask", "treat what does not fill a vector element by element");
    }
    if (Call.getIntrinsicID() == Intrinsic::threadlocal_address)
      stop(Call, "a variable of which every thread has its own (threadprivate, thread_local)",
           insteadOf("__kmpc_threadprivate"));
  }

  // As what prints or throws its arguments by a function of C; what it gives leads to no numbers, either.
  static bool movesNoNumbers(const Function &F) {
    return !F.getReturnType()->isPointerTy() && none_of(instructions(F), [](const Instruction &I) {
      auto *Call = dyn_cast<CallBase>(&I);
      const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      bool CallsOwn = Call && (!Callee || !Callee->isDeclaration());
      bool StoresPointer = isa<StoreInst>(I) && getLoadStoreType(&I)->isPointerTy();
      return isFloating(I.getType()) || isa<MemTransferInst>(I) || CallsOwn || StoresPointer ||
             any_of(I.operands(), [](const Use &U) { return isFloating(U->getType()); });
    });
  }

  // What std::to_string leaves to libstdc++ for floating point.
  static bool writesText(StringRef Name) { return Name.starts_with("_ZN9__gnu_cxx12__to_xstringI"); }

  static bool movesUnderMask(StringRef Name) {
    return Name.starts_with("llvm.masked.") ||
           (Name.starts_with("llvm.x86.avx") && (Name.contains(".maskload.") || Name.contains(".maskstore.")));
  }

  // What std::unordered_map leaves to libstdc++: integers alone.
  static bool countsBuckets(StringRef Name) {
    return Name.starts_with("_ZNKSt8__detail20_Prime_rehash_policy") || Name == "_ZSt11_Hash_bytesPKvmm";
  }

  void visitDeviceCall(CallBase &Call) {
    if (Call.isInlineAsm())
      return visitAssembly(Call);
    Function *Callee = Call.getCalledFunction();
    if (!Callee)
      return stop(Call, "a call through a function pointer or a virtual function",
                  "what comes from outside could be any function: make the object or the pointer in the kernel, choose "
                  "by a number (switch), or use a template parameter");
    if (auto *Copy = dyn_cast<MemTransferInst>(&Call))
      return visitCopy(*Copy);
    if (Call.getIntrinsicID() == Intrinsic::nvvm_prmt)
      return visitPermutation(Call);
    StringRef What = unsupportedIntrinsic(Callee->getName());
    bool Unused = Callee->getName().starts_with("llvm.nvvm.read.") && leadsNowhere(Call);
    if (!What.empty() && !Unused)
      stop(Call, What, OwnRule);
  }

  // What adgen-raise-permutations has left of permutations of bytes moves parts of numbers, or in an order that is
  // computed.
  void visitPermutation(CallBase &Call) {
    for (unsigned Operand : {0u, 1u})
      if (bitsMoved(*Call.getArgOperand(Operand), Call) != Bits::Integers)
        stop(Call, "a permutation of the bytes of numbers (__byte_perm)",
             "move numbers of 16 bits whole, in an order that is a constant, or choose with a condition");
  }

  // Assembly that takes nothing reads a register or fences memory; a barrier in it would not be reversed. What a
  // processor says of itself depends on no number.
  void visitAssembly(CallBase &Call) {
    StringRef Text = cast<InlineAsm>(Call.getCalledOperand())->getAsmString();
    bool TakesNothing = Call.arg_empty() && !holds(Call.getType(), isFloating);
    if (Text.contains("bar.") || Text.contains("barrier."))
      return stop(Call, "a barrier in inline assembly" + firstOf(Text),
                  "use __syncthreads(), __syncwarp() or a tile of cooperative groups, whose barriers are reversed");
    if (!TakesNothing && !Text.contains("cpuid") && !countsOnly(Call, Text))
      return stop(Call, assemblyInWords(Text) + firstOf(Text), OwnRule);
    Call.addFnAttr(Attribute::get(Call.getContext(), "enzyme_inactive"));
  }

  // Integers are made of integers, as by instructions on the bytes of a word.
  static bool countsOnly(CallBase &Call, StringRef Text) {
    auto IsInteger = [](const Type *T) { return T->isIntegerTy(); };
    auto IsOther = [&](const Type *T) { return !T->isIntegerTy() && !T->isStructTy(); };
    return !Text.contains('[') && Call.doesNotAccessMemory() &&
           !cast<InlineAsm>(Call.getCalledOperand())->hasSideEffects() && holds(Call.getType(), IsInteger) &&
           !holds(Call.getType(), IsOther) && all_of(Call.args(), [&](Use &Given) {
             return IsInteger(Given->getType()) && bitsMoved(*Given, Call) == Bits::Integers;
           });
  }

  void visitStore(Instruction &I, Value *Pointer) {
    SmallVector<const Value *> Objects;
    getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/0);
    for (const Value *Object : Objects) {
      if (auto *Global = withoutShadow(Object))
        stop(I, "a write to the global variable '" + sourceName(*Global) + "', which has no shadow",
             "give it one by activity, " + sourceName(*Global) + "=duplicated, or pass the array as a parameter");
      auto *Load = dyn_cast<LoadInst>(Object);
      const GlobalVariable *Holder =
          Load ? withoutShadow(getUnderlyingObject(Load->getPointerOperand(), /*MaxLookup=*/0)) : nullptr;
      if (Holder)
        stop(I, "a write through a pointer in the global variable '" + sourceName(*Holder) + "', which has no shadow",
             "give it one by activity, " + sourceName(*Holder) + "=duplicated, or pass the pointer as a parameter");
    }
  }

  // The variable in global or constant memory that this is, where no shadow was asked for.
  static const GlobalVariable *withoutShadow(const Value *Object) {
    auto *Global = dyn_cast<GlobalVariable>(Object);
    bool Counts = Global && Global->getAddressSpace() != 3 && !Global->hasMetadata(ShadowMetadata);
    return Counts ? Global : nullptr;
  }

  // Copies of structs and arrays.
  void visitCopy(MemTransferInst &Copy) {
    auto *Global = withoutShadow(getUnderlyingObject(Copy.getRawDest(), /*MaxLookup=*/0));
    if (!Global || holds(Global->getValueType(), isFloating))
      visitStore(Copy, Copy.getRawDest());
  }

  void visitAtomic(AtomicRMWInst &Atomic) {
    if (isFloating(Atomic.getType()))
      visitStore(Atomic, Atomic.getPointerOperand());
    if (isFloating(Atomic.getType()) && Atomic.getOperation() != AtomicRMWInst::FAdd)
      return stop(Atomic, "an atomic operation on floating point other than addition", WhichRemains);
    if (isFloating(Atomic.getType()) || bitsLeft(Atomic) == Bits::Integers)
      return;
    if (isCounter(Atomic.getOperation()))
      stop(Atomic, "a counter of integers in an array of floating point",
           "give it an array of integers of its own, as a parameter");
    else if (Atomic.getOperation() == AtomicRMWInst::Xchg)
      stop(Atomic, "an exchange of floating point by atomics (atomicExch)", WhichRemains);
    else
      stop(Atomic, "an atomic operation of integers on the bits of floating point, such as a maximum", WhichRemains);
  }

  Function &Body;
  Function *Entry;
  bool Device;
  Order Threads;
  SmallPtrSet<Function *, 8> Seen;
  SmallVector<const Instruction *> Callers; // of the function that is looked at
};

// A variable that no body writes floating point to is a constant to the differentiation.
void markConstantGlobals(Module &M) {
  for (GlobalVariable &Global : M.globals())
    if (Global.getAddressSpace() != 3 && !Global.getName().starts_with("llvm.") && !Global.hasMetadata(ShadowMetadata))
      Global.setMetadata("enzyme_inactive", MDNode::get(M.getContext(), {}));
}

} // namespace

ADGEN_DECLARE_PASS(RefuseUnsupported);

PreservedAnalyses RefuseUnsupported::run(Module &M, ModuleAnalysisManager &) {
  bool Device = M.getTargetTriple().isNVPTX();
  for (Function &F : M)
    if (F.getName().starts_with(BodyPrefix))
      Scan(F).run();
  if (Device)
    markConstantGlobals(M);
  return PreservedAnalyses::all();
}

} // namespace adgen
