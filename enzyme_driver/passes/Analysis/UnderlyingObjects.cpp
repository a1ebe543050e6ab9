#include "Analysis/UnderlyingObjects.h"

#include "Analysis/Undo.h"
#include "Support/Guards.h"
#include "Support/OpenMP.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {

static constexpr const Value *Unknown = nullptr;
static constexpr int64_t Anywhere = -1;
static constexpr unsigned ThreadArguments = 2; // which the OpenMP runtime hands to what it starts

static bool isEntry(const Function &F) {
  return !F.hasLocalLinkage() || F.getName().starts_with(BodyPrefix) || F.getName().starts_with(GradientPrefix);
}

// Whether all that is done with the function is that it is called or started by a fork.
static bool isOnlyCalled(const Function &F) {
  return all_of(F.uses(), [&](const Use &U) {
    auto *Call = dyn_cast<CallBase>(U.getUser());
    if (!Call)
      return false;
    const Function *Callee = Call->getCalledFunction();
    bool Starts = Callee && Callee->getName() == ForkName && Call->getArgOperandNo(&U) == ForkFunction;
    return Call->isCallee(&U) || Starts;
  });
}

// Functions that write to nothing that a program could have handed to them, but for their own memory.
static bool writesNothing(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Call.mayWriteToMemory() || Call.onlyAccessesInaccessibleMemory() || isPin(Call))
    return true;
  if (!Callee)
    return false;
  if (auto *Known = dyn_cast<IntrinsicInst>(&Call))
    return Known->isAssumeLikeIntrinsic();
  StringRef Name = Callee->getName();
  constexpr StringLiteral Harmless[] = {"__kmpc_fork",
                                        "__kmpc_global_thread_num",
                                        "__kmpc_push",
                                        "omp_",
                                        "adgen_omp_",
                                        OwnShadowName,
                                        OverwriteRule,
                                        "adgen_describe_shadow",
                                        "adgen_forget_shadow",
                                        "adgen_add_up",
                                        "adgen_note_overwritten",
                                        "adgen_save_overwritten",
                                        "__enzyme_autodiff_",
                                        "__cxa_",
                                        "_Unwind_",
                                        "_ZSt",
                                        "_Zn",
                                        "_Zd"};
  if (Name.contains("_Rb_tree_insert_and_rebalance") || Name.contains("_Rb_tree_rebalance_for_erase"))
    return false; // nodes of maps and sets are made to lead to each other
  return Callee->hasFnAttribute(MathAttribute) || Name == "malloc" || Name == "calloc" || Name == "free" ||
         any_of(Harmless, [&](StringRef Prefix) { return Name.starts_with(Prefix); });
}

// What stands for threads that work together moves numbers to where it is told to, and no pointers.
static bool movesNumbers(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && ((Callee->getName().starts_with(RulePrefix) && !Callee->getName().starts_with(RegionRulePrefix)) ||
                    Callee->getName().starts_with(UndoPrefix));
}

// Whether what a load gets could be an address.
static bool mayHoldPointers(const Type *T) {
  T = T->getScalarType();
  return T->isPointerTy() || T->isAggregateType() || (T->isIntegerTy() && T->getIntegerBitWidth() >= 64);
}

static std::vector<const Function *> allOf(const Module &M) {
  std::vector<const Function *> All;
  for (const Function &F : M)
    if (!F.isDeclaration())
      All.push_back(&F);
  return All;
}

std::vector<std::vector<const Function *>> connectedFunctions(const Module &M) {
  EquivalenceClasses<const Function *> Classes;
  for (const Function *F : allOf(M)) {
    Classes.insert(F);
    for (const Instruction &I : instructions(F))
      for (const Value *Operand : I.operand_values())
        if (auto *Used = dyn_cast<Function>(Operand->stripPointerCasts()); Used && !Used->isDeclaration())
          Classes.unionSets(F, Used);
  }
  MapVector<const Function *, std::vector<const Function *>> Parts;
  for (const Function *F : allOf(M))
    Parts[Classes.getLeaderValue(F)].push_back(F);
  std::vector<std::vector<const Function *>> All;
  for (auto &[Leader, Part] : Parts)
    All.push_back(std::move(Part));
  return All;
}

UnderlyingObjects::UnderlyingObjects(Module &M) : UnderlyingObjects(M, allOf(M)) {}

UnderlyingObjects::UnderlyingObjects(Module &M, ArrayRef<const Function *> Part) {
  while (Changed) {
    Changed = false;
    follow(Part);
  }
  for (const Function *F : Part)
    for (const Instruction &I : instructions(F)) {
      Written.insert_range(writtenBy(I));
      letEscape(I);
    }
  for (const auto &[Memory, Held] : Contents)
    if (!Memory || isa<Argument, GlobalVariable>(Memory))
      Escaped.insert_range(contentsOf(Memory, Anywhere));
  for (unsigned Next = 0; Next < Escaped.size(); ++Next)
    Escaped.insert_range(contentsOf(Escaped[Next], Anywhere));
}

const UnderlyingObjects::Set &UnderlyingObjects::of(const Value *Pointer) const {
  static const Set Nothing;
  auto Found = Pointees.find(Pointer);
  return Found == Pointees.end() ? Nothing : Found->second;
}

void UnderlyingObjects::add(Set &To, const Set &From) {
  for (const Value *Memory : From)
    Changed |= To.insert(Memory);
}

void UnderlyingObjects::addOf(const Value *To, const Value *From) {
  if (isa<GlobalVariable>(From->stripPointerCasts())) {
    Changed |= Pointees[To].insert(From->stripPointerCasts());
  } else if (auto *Expression = dyn_cast<ConstantExpr>(From)) {
    addOf(To, Expression->getOperand(0));
  } else {
    const Set Led = of(From);
    add(Pointees[To], Led);
  }
}

void UnderlyingObjects::follow(ArrayRef<const Function *> Part) {
  for (const Function *F : Part) {
    bool Own = isEntry(*F), Known = Own || isOnlyCalled(*F);
    for (const Argument &A : F->args())
      if (A.getType()->isPointerTy() && (Own || !Known))
        Changed |= Pointees[&A].insert(Own ? &A : Unknown);
    for (const Instruction &I : instructions(F))
      follow(I);
  }
}

void UnderlyingObjects::follow(const Instruction &I) {
  if (isa<AllocaInst>(I)) {
    Changed |= Pointees[&I].insert(&I);
  } else if (auto *Call = dyn_cast<CallBase>(&I)) {
    followCall(*Call);
  } else if (auto *Store = dyn_cast<StoreInst>(&I)) {
    const Value *Held = Store->getValueOperand();
    addOf(Store, Held); // what the store holds
    const Set Stored = of(Store);
    int64_t Place = placeOf(Store->getPointerOperand(), Held->getType());
    for (const Value *Memory : Set(of(Store->getPointerOperand())))
      hold(Memory, Place, Stored);
  } else if (auto *Load = dyn_cast<LoadInst>(&I)) {
    if (!mayHoldPointers(Load->getType()))
      return;
    int64_t Place = placeOf(Load->getPointerOperand(), Load->getType());
    for (const Value *Memory : Set(of(Load->getPointerOperand()))) {
      bool Users = !Memory || isa<Argument, GlobalVariable>(Memory);
      if (Users)
        Changed |= Pointees[Load].insert(Unknown);
      add(Pointees[Load], contentsOf(Memory, Place));
    }
  } else if (auto *Address = dyn_cast<GetElementPtrInst>(&I)) {
    addOf(Address, Address->getPointerOperand());
  } else if (isa<IntToPtrInst>(I)) {
    Changed |= Pointees[&I].insert(Unknown);
  } else if (mayHoldPointers(I.getType())) {
    for (const Value *Operand : I.operand_values())
      if (!isa<BasicBlock>(Operand))
        addOf(&I, Operand);
  }
}

// Whether the address is that of an object, and not of something inside of it.
static bool isAtStart(const Value *Address, const DenseSet<const Value *> &Inner) {
  if (auto *A = dyn_cast<Argument>(Address))
    return !Inner.contains(A) && !isEntry(*A->getParent()) && isOnlyCalled(*A->getParent());
  auto *New = dyn_cast<CallBase>(Address);
  return isa<AllocaInst>(Address) || (New && New->returnDoesNotAlias());
}

// Where a pointer of the whole width lies in its object, where that is known.
int64_t UnderlyingObjects::placeOf(const Value *Address, const Type *Accessed) const {
  constexpr int64_t Width = 8;
  const auto *I = dyn_cast<Instruction>(Address);
  const auto *A = dyn_cast<Argument>(Address);
  const Module *M = I ? I->getModule() : A ? A->getParent()->getParent() : nullptr;
  if (!M || !(Accessed->isPointerTy() || Accessed->isIntegerTy(64)))
    return Anywhere;
  int64_t Offset = 0;
  const Value *Object = GetPointerBaseWithConstantOffset(Address, Offset, M->getDataLayout());
  return isAtStart(Object, Inner) && Offset >= 0 && Offset % Width == 0 ? Offset : Anywhere;
}

void UnderlyingObjects::hold(const Value *Memory, int64_t Place, const Set &Held) {
  if (!Held.empty())
    add(Contents[Memory][Place], Held);
}

UnderlyingObjects::Set UnderlyingObjects::contentsOf(const Value *Memory, int64_t Place) const {
  Set Found;
  if (auto Known = Contents.find(Memory); Known != Contents.end())
    for (auto &[At, Held] : Known->second)
      if (Place == Anywhere || At == Anywhere || At == Place)
        Found.insert_range(Held);
  return Found;
}

void UnderlyingObjects::handOver(const Function &Callee, unsigned First, const CallBase &Call, unsigned Operand) {
  for (unsigned I = First; I < Callee.arg_size() && Operand < Call.arg_size(); ++I, ++Operand) {
    addOf(Callee.getArg(I), Call.getArgOperand(Operand));
    if (!isAtStart(Call.getArgOperand(Operand), Inner))
      Changed |= Inner.insert(Callee.getArg(I)).second;
  }
}

// Of functions that return what they were handed, or a number.
static bool givesNoNewPointer(const Function &Callee) {
  return Callee.getName() == OwnShadowName || Callee.getName().starts_with("omp_get_") ||
         Callee.getName().starts_with(RegionRulePrefix);
}

void UnderlyingObjects::followCall(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (Callee && Callee->getName() == ForkName) {
    if (Function *Started = startedBy(Call)) {
      for (unsigned I = 0; I < ThreadArguments; ++I)
        Changed |= Pointees[Started->getArg(I)].insert(Started->getArg(I));
      handOver(*Started, ThreadArguments, Call, ForkCaptured);
    }
    return;
  }
  if (Callee && !Callee->isDeclaration()) {
    handOver(*Callee, 0, Call, 0);
    for (const BasicBlock &Block : *Callee)
      if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator()); Return && Return->getReturnValue())
        addOf(&Call, Return->getReturnValue());
    return;
  }
  if (Call.returnDoesNotAlias())
    Changed |= Pointees[&Call].insert(&Call);
  else if (mayHoldPointers(Call.getType()) && !isa<IntrinsicInst>(Call) && !(Callee && givesNoNewPointer(*Callee)))
    Changed |= Pointees[&Call].insert(Unknown);
  for (const Value *Operand : Call.args())
    addOf(&Call, Operand);
  if (auto *Copy = dyn_cast<MemTransferInst>(&Call)) {
    Set Copied;
    for (const Value *Memory : Set(of(Copy->getRawSource()))) {
      if (!Memory || isa<Argument, GlobalVariable>(Memory))
        Copied.insert(Unknown);
      Copied.insert_range(contentsOf(Memory, Anywhere));
    }
    for (const Value *Memory : Set(of(Copy->getRawDest())))
      hold(Memory, Anywhere, Copied);
  } else if (!isa<MemSetInst>(Call) && !writesNothing(Call) && !movesNumbers(Call)) {
    for (const Value *Operand : Call.args())
      for (const Value *Memory : Set(of(Operand)))
        Changed |= Contents[Memory][Anywhere].insert(Unknown);
  }
}

void UnderlyingObjects::insertOf(const Value *Address, Set &Into) const {
  if (auto *Global = dyn_cast<GlobalVariable>(Address->stripPointerCasts()))
    Into.insert(Global);
  else if (auto *Expression = dyn_cast<ConstantExpr>(Address))
    insertOf(Expression->getOperand(0), Into);
  else
    Into.insert_range(of(Address));
}

// Into code that is not followed, or by ways on which it is not.
void UnderlyingObjects::letEscape(const Instruction &I) {
  if (isa<IntToPtrInst>(I))
    return insertOf(I.getOperand(0), Escaped);
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I)) {
    for (const Use &Value : drop_begin(I.operands()))
      insertOf(Value, Escaped);
    return;
  }
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isa<IntrinsicInst>(Call) || movesNumbers(*Call))
    return;
  const Function *Callee = Call->getCalledFunction();
  bool Followed =
      Callee && (Callee->getName() == ForkName ? startedBy(*Call) != nullptr
                                               : !Callee->isDeclaration() || givesNoNewPointer(*Callee) ||
                                                     (writesNothing(*Call) && !mayHoldPointers(Call->getType())));
  if (!Followed)
    for (const Use &Operand : Call->args())
      insertOf(Operand, Escaped);
}

UnderlyingObjects::Set UnderlyingObjects::writtenBy(const Instruction &I) const {
  Set Into;
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call) {
    if (auto *Store = dyn_cast<StoreInst>(&I))
      insertOf(Store->getPointerOperand(), Into);
    else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I))
      insertOf(I.getOperand(0), Into);
    return Into;
  }
  const Function *Callee = Call->getCalledFunction();
  if ((Callee && !Callee->isDeclaration()) || writesNothing(*Call))
    return Into;
  if (auto *Whole = dyn_cast<MemIntrinsic>(Call)) {
    insertOf(Whole->getRawDest(), Into);
    return Into;
  }
  if (!Callee && !Call->isInlineAsm())
    Into.insert(Unknown);
  bool OnlyNumbers = movesNumbers(*Call);
  for (const Use &Operand : Call->args()) {
    if (!Operand->getType()->isPointerTy() || (OnlyNumbers && Call->onlyReadsMemory(Call->getArgOperandNo(&Operand))))
      continue;
    insertOf(Operand, Into);
    if (OnlyNumbers)
      continue;
    for (const Value *Memory : Set(of(Operand)))
      Into.insert_range(contentsOf(Memory, Anywhere));
  }
  return Into;
}

} // namespace adgen
