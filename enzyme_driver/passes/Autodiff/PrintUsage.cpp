// Prints what the optimised bodies do to the memory behind each parameter, as JSON:
//   {"usage": {"SYMBOL": [{"reads": bool, "writes": bool, "added_to": number or null, "floats": [...]}, ...]},
//    "counted": bool, "split": bool}
// `added_to` is the parameter to whose elements this one's are added (Summands.h). `floats`, where there are any, says
// behind which pointers floating point is accessed, also as integers of which numbers are taken: -1 for the parameter
// itself, else the offset in the struct that it points to; `chosen`, where it is there, says in the same way where
// threads choose by atomics what remains. The others come from the attributes that LLVM's own analysis
// left on the bodies' arguments. Of a struct behind an address it says whether the struct itself may be written, not
// what its members point to, and by `beyond`, where it is true, that structs behind that one are accessed;
// `moves_pointers`, where it is true, that pointers may be stored in memory to which this
// one leads; `unordered`, where it is there, "line:file" of a store whose element depends on the order in which threads
// arrive; `queued` the same of integers; `orders` the parameters that have another order where this one has (see
// adgen-find-arrivals). Counted says of all bodies that every loop runs a number of times that is known before it
// starts and writes no memory, and that nothing is read that is written elsewhere. Split says that bodies call
// functions, whose forward and reverse sweeps will be two functions.
#include "Analysis/Summands.h"
#include "Analysis/UnderlyingObjects.h"
#include "Support/Pass.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

static bool writesMemory(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return I.mayWriteToMemory();
  const Function *Callee = Call->getCalledFunction();
  bool Mathematics = Callee && (Callee->hasFnAttribute(MathAttribute) || Callee->getName().starts_with(MathPrefix));
  return !Mathematics && !Call->onlyAccessesInaccessibleMemory() && Call->mayWriteToMemory();
}

static bool writesInALoop(Function &Body, const LoopInfo &Loops) {
  return any_of(Body, [&](BasicBlock &Block) { return Loops.getLoopFor(&Block) && any_of(Block, writesMemory); });
}

// Whether each parameter's memory is only read or only written, and there is no other that is written.
static bool separatesInputs(Function &Body) {
  SmallPtrSet<const Value *, 8> Read, Written;
  for (Instruction &I : instructions(Body)) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      Read.insert(getUnderlyingObject(Load->getPointerOperand(), 0));
    if (!writesMemory(I))
      continue;
    auto *Store = dyn_cast<StoreInst>(&I);
    if (!Store)
      return false;
    Written.insert(getUnderlyingObject(Store->getPointerOperand(), 0));
  }
  return all_of(Written, [&](const Value *Object) { return isa<Argument>(Object) && !Read.contains(Object); }) &&
         all_of(Read, [](const Value *Object) { return isa<Argument, GlobalVariable>(Object); });
}

static bool countsItsLoops(Function &Body, FunctionAnalysisManager &FAM) {
  auto &Evolution = FAM.getResult<ScalarEvolutionAnalysis>(Body);
  auto &Loops = FAM.getResult<LoopAnalysis>(Body);
  return all_of(Loops.getLoopsInPreorder(), [&](Loop *L) { return Evolution.hasLoopInvariantBackedgeTakenCount(L); }) &&
         !writesInALoop(Body, Loops) && separatesInputs(Body);
}

// Of functions that were not inlined: regions of threads, recursion.
static bool callsOthers(Function &Body) {
  return any_of(instructions(Body), [](Instruction &I) {
    return isa<CallBase>(I) && any_of(I.operands(), [](const Value *V) {
             auto *F = dyn_cast<Function>(V);
             return F && !F->isDeclaration();
           });
  });
}

// The parameter that the object is or comes from, and where it lies: -1, or at this offset of the parameter's struct.
static std::optional<std::pair<const Argument *, int64_t>> sourceOf(const Value *Object, const DataLayout &Layout) {
  if (auto *Parameter = dyn_cast<Argument>(Object))
    return {{Parameter, -1}};
  auto *Load = dyn_cast<LoadInst>(Object);
  if (!Load)
    return std::nullopt;
  int64_t Offset = 0;
  auto *Struct = dyn_cast<Argument>(GetPointerBaseWithConstantOffset(Load->getPointerOperand(), Offset, Layout));
  return Struct ? std::optional(std::pair<const Argument *, int64_t>(Struct, Offset)) : std::nullopt;
}

// Whether numbers are taken out of loaded bits whole: all of them, or a bfloat16, which is the upper half of a float.
static bool becomesNumbers(const Value &Bits, unsigned Steps = 4) {
  return Steps && any_of(Bits.users(), [&](const User *U) {
           if (isa<BitCastInst>(U))
             return U->getType()->isFPOrFPVectorTy();
           bool Moves = match(U, m_LShr(m_Value(), m_SpecificInt(16))) ||
                        match(U, m_Shl(m_Value(), m_SpecificInt(16))) ||
                        match(U, m_And(m_Value(), m_SpecificInt(0xffff0000))) || isa<TruncInst, ExtractElementInst>(U);
           return Moves && becomesNumbers(*U, Steps - 1);
         });
}

static bool accessesNumber(const Instruction &I) {
  const Type *T = isa<StoreInst>(I) ? I.getOperand(0)->getType() : I.getType();
  return T->isFPOrFPVectorTy() || (isa<LoadInst>(I) && T->isIntOrIntVectorTy() && becomesNumbers(I));
}

using Places = DenseMap<const Argument *, std::set<int64_t>>;

static Places placesOfFloats(const Function &Body) {
  Places Found;
  for (const Instruction &I : instructions(Body)) {
    const Value *Address = getLoadStorePointerOperand(&I);
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      Address = Atomic->getPointerOperand();
    if (!Address || !accessesNumber(I))
      continue;
    SmallVector<const Value *> Objects;
    getUnderlyingObjects(Address, Objects, nullptr, 0);
    for (const Value *Object : Objects)
      if (auto Source = sourceOf(Object, Body.getDataLayout()))
        Found[Source->first].insert(Source->second);
  }
  return Found;
}

static bool isAskedForNull(const Argument &A) {
  return A.getType()->isPointerTy() && any_of(A.users(), [](const User *U) {
           auto *Test = dyn_cast<ICmpInst>(U);
           return Test && Test->isEquality() && any_of(Test->operands(), IsaPred<ConstantPointerNull>);
         });
}

// The body and the functions that it uses.
static SmallVector<const Function *> usedBy(const Function &Body) {
  SmallVector<const Function *> Found{&Body};
  for (unsigned Next = 0; Next < Found.size(); ++Next)
    for (const Instruction &I : instructions(*Found[Next]))
      for (const Value *Operand : I.operands())
        if (auto *F = dyn_cast<Function>(Operand); F && !F->isDeclaration() && !is_contained(Found, F))
          Found.push_back(F);
  return Found;
}

// The parameters of these functions that lead to memory in which pointers are stored, through however many pointers.
static SmallPtrSet<const Argument *, 4> holdersOfStoredPointers(ArrayRef<const Function *> Functions) {
  SmallPtrSet<const Argument *, 4> Found;
  SmallVector<const Value *> Work;
  SmallPtrSet<const Value *, 16> Seen;
  for (const Function *F : Functions)
    for (const Instruction &I : instructions(*F))
      if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->getValueOperand()->getType()->isPointerTy())
        Work.push_back(Store->getPointerOperand());
  while (!Work.empty()) {
    SmallVector<const Value *> Objects;
    getUnderlyingObjects(Work.pop_back_val(), Objects, nullptr, 0);
    for (const Value *Object : Objects) {
      if (!Seen.insert(Object).second)
        continue;
      if (auto *Parameter = dyn_cast<Argument>(Object))
        Found.insert(Parameter);
      else if (auto *Load = dyn_cast<LoadInst>(Object))
        Work.push_back(Load->getPointerOperand());
    }
  }
  return Found;
}

// Whether the function accesses structs behind the one that the parameter points to, such as those of an array: by
// offsets that are known, or by indices that count structs.
static bool goesBeyond(const Argument &Struct, uint64_t Bytes) {
  const DataLayout &Layout = Struct.getParent()->getDataLayout();
  SmallVector<std::pair<const Value *, uint64_t>> Work{{&Struct, 0}};
  DenseSet<std::pair<const Value *, uint64_t>> Seen;
  while (!Work.empty()) {
    auto [Address, Offset] = Work.pop_back_val();
    if (!Seen.insert({Address, Offset}).second)
      continue;
    for (const Use &U : Address->uses()) {
      const User *By = U.getUser();
      auto *Step = dyn_cast<GEPOperator>(By);
      auto *Call = dyn_cast<CallBase>(By);
      if (Step) {
        SmallMapVector<Value *, APInt, 4> Strides;
        APInt Known(64, 0);
        bool Clear = Step->collectOffset(Layout, 64, Strides, Known);
        bool Counts = Clear && any_of(Strides, [&](const auto &Each) { return Each.second.urem(Bytes) == 0; });
        int64_t At = Offset + Known.getSExtValue();
        Work.push_back({Step, Counts ? Bytes : std::clamp<int64_t>(At, 0, Bytes)});
      } else if (isa<PHINode, SelectInst, FreezeInst>(By)) {
        Work.push_back({By, Offset});
      } else if (getLoadStorePointerOperand(By) == Address || (isa<MemIntrinsic>(By) && U.getOperandNo() < 2)) {
        if (Offset >= Bytes)
          return true;
      } else if (const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
                 Callee && Call->isArgOperand(&U) && Call->getArgOperandNo(&U) < Callee->arg_size()) {
        Work.push_back({Callee->getArg(Call->getArgOperandNo(&U)), Offset});
      }
    }
  }
  return false;
}

// Where threads choose by atomics what remains.
static Places placesOfChoices(const Function &Body) {
  Places Found;
  for (const Instruction &I : instructions(Body)) {
    auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || !Callee->getName().starts_with((RulePrefix + ChoicePrefix).str()))
      continue;
    if (auto Source = sourceOf(getUnderlyingObject(Call->getArgOperand(0), 0), Body.getDataLayout()))
      Found[Source->first].insert(Source->second);
  }
  return Found;
}

static json::Value numberOf(const Argument *Parameter) {
  return Parameter ? json::Value(Parameter->getArgNo()) : json::Value(nullptr);
}

static StringRef valueOf(const Argument &A, StringRef Name) {
  return A.getParent()->getAttributes().getParamAttr(A.getArgNo(), Name).getValueAsString();
}

static json::Array numbersIn(StringRef List) {
  json::Array Found;
  for (StringRef Number : split(List, ';'))
    Found.push_back(std::stoi(Number.str()));
  return Found;
}

ADGEN_DECLARE_PASS(PrintUsage);

PreservedAnalyses PrintUsage::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Counted = true, Split = false;
  std::optional<const UnderlyingObjects> Memory;
  auto IsWritten = [&](const Argument &A) {
    if (!Memory)
      Memory.emplace(M);
    return Memory->written().contains(&A);
  };
  json::Object Usage;
  for (Function &F : M) {
    StringRef Symbol = F.getName();
    if (!Symbol.consume_front(BodyPrefix) || F.isDeclaration())
      continue;
    Counted &= countsItsLoops(F, FAM);
    Split |= callsOthers(F);
    const Places Floats = placesOfFloats(F), Choices = placesOfChoices(F);
    const auto Holders = holdersOfStoredPointers(usedBy(F));
    const bool InCallee = any_of(Holders, [&](const Argument *A) { return A->getParent() != &F; });
    json::Array Parameters;
    for (Argument &A : F.args()) {
      bool IsPointer = A.getType()->isPointerTy();
      bool Untouched = A.use_empty() || A.hasAttribute(Attribute::ReadNone);
      const bool ByAddress = A.getParent()->getAttributes().hasParamAttr(A.getArgNo(), ByAddressAttribute);
      bool Writes = ByAddress ? IsWritten(A) : !A.onlyReadsMemory();
      json::Object Described{{"reads", IsPointer && !Untouched && !A.hasAttribute(Attribute::WriteOnly)},
                             {"writes", IsPointer && !Untouched && Writes},
                             {"added_to", numberOf(addedTo(A))}};
      if (IsPointer && (InCallee || Holders.contains(&A)))
        Described["moves_pointers"] = true;
      if (uint64_t Bytes = ByAddress ? structBytes(F, A.getArgNo()) : 0; Bytes && goesBeyond(A, Bytes))
        Described["beyond"] = true;
      if (auto At = Choices.find(&A); At != Choices.end())
        Described["chosen"] = json::Array(At->second);
      if (isAskedForNull(A))
        Described["nullable"] = true;
      for (auto [Key, Name] : {std::pair("unordered", UnorderedAttribute), {"queued", QueuedAttribute}})
        if (A.hasAttribute(Name))
          Described[Key] = valueOf(A, Name);
      if (A.hasAttribute(OrdersAttribute))
        Described["orders"] = numbersIn(valueOf(A, OrdersAttribute));
      if (auto At = Floats.find(&A); At != Floats.end())
        Described["floats"] = json::Array(At->second);
      Parameters.push_back(std::move(Described));
    }
    Usage[Symbol] = std::move(Parameters);
  }
  json::Object Report{{"usage", std::move(Usage)}, {"counted", Counted}, {"split", Split}};
  outs() << formatv("{0}", json::Value(std::move(Report))) << "\n";
  return PreservedAnalyses::all();
}

} // namespace adgen
