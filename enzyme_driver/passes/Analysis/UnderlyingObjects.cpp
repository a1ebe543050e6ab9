#include "Analysis/UnderlyingObjects.h"

#include "Analysis/Undo.h"
#include "Support/Allocations.h"
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
  SetVector<Number> Writes;
  for (const Function *F : Part)
    for (const Instruction &I : instructions(F))
      Writes.insert(changedBy(I));
  Written = Sets.unite(Writes.getArrayRef());
  letEscape(Part);
}

void UnderlyingObjects::add(const Value *To, Number From) {
  Number &Into = Pointees[To];
  Number Before = std::exchange(Into, Sets.unite(Into, From));
  Changed |= Into != Before;
}

// The memory that a pointer leads to, also one that is no value of a function.
UnderlyingObjects::Number UnderlyingObjects::leads(const Value *Address) const {
  if (auto *Global = dyn_cast<GlobalVariable>(Address->stripPointerCasts()))
    return Sets.only(Global);
  if (auto *Expression = dyn_cast<ConstantExpr>(Address))
    return leads(Expression->getOperand(0));
  return pointees(Address);
}

void UnderlyingObjects::follow(ArrayRef<const Function *> Part) {
  for (const Function *F : Part) {
    bool Own = isEntry(*F), Known = Own || isOnlyCalled(*F);
    for (const Argument &A : F->args())
      if (A.getType()->isPointerTy() && (Own || !Known))
        add(&A, Sets.only(Own ? &A : Unknown));
    for (const Instruction &I : instructions(F))
      follow(I);
  }
}

void UnderlyingObjects::follow(const Instruction &I) {
  if (isa<AllocaInst>(I)) {
    add(&I, Sets.only(&I));
  } else if (auto *Call = dyn_cast<CallBase>(&I)) {
    followCall(*Call);
  } else if (auto *Store = dyn_cast<StoreInst>(&I)) {
    const Value *Held = Store->getValueOperand();
    add(Store, leads(Held)); // what the store holds
    hold(pointees(Store->getPointerOperand()), placeOf(Store->getPointerOperand(), Held->getType()), pointees(Store));
  } else if (auto *Load = dyn_cast<LoadInst>(&I)) {
    const Value *From = Load->getPointerOperand();
    if (mayHoldPointers(Load->getType()))
      add(Load, readFrom(pointees(From), placeOf(From, Load->getType())));
  } else if (auto *Address = dyn_cast<GetElementPtrInst>(&I)) {
    add(Address, leads(Address->getPointerOperand()));
  } else if (isa<IntToPtrInst>(I)) {
    addUnknown(&I);
  } else if (mayHoldPointers(I.getType())) {
    for (const Value *Operand : I.operand_values())
      if (!isa<BasicBlock>(Operand))
        add(&I, leads(Operand));
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

void UnderlyingObjects::hold(Number Memory, int64_t Place, Number Held) {
  if (Held == ObjectSets::Empty || !Stored.insert({Memory, Place, Held}).second)
    return;
  for (unsigned Each : Sets.members(Memory)) {
    Content &Of = Contents[Each];
    Number &There = Of.At[Place];
    Number Before = std::exchange(There, Sets.unite(There, Held));
    if (There == Before)
      continue;
    Of.Anywhere = Sets.unite(Of.Anywhere, Held);
    Changed = true;
    ++State;
  }
}

UnderlyingObjects::Number UnderlyingObjects::contentsOf(Number Memory, int64_t Place) const {
  auto [Known, New] = Read.try_emplace({Memory, Place}, State, ObjectSets::Empty);
  if (!New && Known->second.first == State)
    return Known->second.second;
  SmallVector<Number> Held;
  for (unsigned Each : Sets.members(Memory)) {
    auto Found = Contents.find(Each);
    if (Found == Contents.end())
      continue;
    const Content &Of = Found->second;
    if (Place == Anywhere) {
      Held.push_back(Of.Anywhere);
    } else {
      Held.push_back(Of.At.lookup(Anywhere));
      Held.push_back(Of.At.lookup(Place));
    }
  }
  Known->second = {State, Sets.unite(Held)};
  return Known->second.second;
}

// What may be found there, also what nobody has put there that is followed.
UnderlyingObjects::Number UnderlyingObjects::readFrom(Number Memory, int64_t Place) const {
  Number Held = contentsOf(Memory, Place);
  return Sets.isOfUsers(Memory) ? Sets.unite(Held, Sets.only(Unknown)) : Held;
}

void UnderlyingObjects::handOver(const Function &Callee, unsigned First, const CallBase &Call, unsigned Operand) {
  for (unsigned I = First; I < Callee.arg_size() && Operand < Call.arg_size(); ++I, ++Operand) {
    add(Callee.getArg(I), leads(Call.getArgOperand(Operand)));
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
        add(Started->getArg(I), Sets.only(Started->getArg(I)));
      handOver(*Started, ThreadArguments, Call, ForkCaptured);
    }
    return;
  }
  if (Callee && !Callee->isDeclaration()) {
    handOver(*Callee, 0, Call, 0);
    for (const BasicBlock &Block : *Callee)
      if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator()); Return && Return->getReturnValue())
        add(&Call, leads(Return->getReturnValue()));
    return;
  }
  if (Call.returnDoesNotAlias())
    add(&Call, Sets.only(&Call));
  else if (mayHoldPointers(Call.getType()) && !isa<IntrinsicInst>(Call) && !(Callee && givesNoNewPointer(*Callee)))
    addUnknown(&Call);
  if (Call.returnDoesNotAlias() && Callee && isAllocation(*Callee))
    return; // its size may be the distance of two addresses
  for (const Value *Operand : Call.args())
    add(&Call, leads(Operand));
  if (auto *Copy = dyn_cast<MemTransferInst>(&Call))
    hold(pointees(Copy->getRawDest()), Anywhere, readFrom(pointees(Copy->getRawSource()), Anywhere));
  else if (!isa<MemSetInst>(Call) && !writesNothing(Call) && !movesNumbers(Call))
    for (const Value *Operand : Call.args())
      hold(pointees(Operand), Anywhere, Sets.only(Unknown));
}

void UnderlyingObjects::forEachHolder(function_ref<void(const Value *, const Set &)> Do) const {
  for (const auto &[Holder, Held] : Contents)
    if (Held.Anywhere != ObjectSets::Empty)
      Do(Sets.memory(Holder), Sets[Held.Anywhere]);
}

// Into code that is not followed, or by ways on which it is not.
UnderlyingObjects::Number UnderlyingObjects::escapingBy(const Instruction &I) const {
  if (isa<IntToPtrInst>(I))
    return leads(I.getOperand(0));
  Number Given = ObjectSets::Empty;
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I)) {
    for (const Use &Value : drop_begin(I.operands()))
      Given = Sets.unite(Given, leads(Value));
    return Given;
  }
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isa<IntrinsicInst>(Call) || movesNumbers(*Call))
    return Given;
  const Function *Callee = Call->getCalledFunction();
  bool Followed =
      Callee && (Callee->getName() == ForkName ? startedBy(*Call) != nullptr
                                               : !Callee->isDeclaration() || givesNoNewPointer(*Callee) ||
                                                     (writesNothing(*Call) && !mayHoldPointers(Call->getType())));
  if (!Followed)
    for (const Use &Operand : Call->args())
      Given = Sets.unite(Given, leads(Operand));
  return Given;
}

// Also what can be reached from memory that has escaped, or that is the user's.
void UnderlyingObjects::letEscape(ArrayRef<const Function *> Part) {
  SetVector<Number> Given;
  for (const Function *F : Part)
    for (const Instruction &I : instructions(F))
      Given.insert(escapingBy(I));
  for (const auto &[Memory, Held] : Contents)
    if (Sets.isOfUsers(Sets.only(Sets.memory(Memory))))
      Given.insert(Held.Anywhere);
  for (Number Before = ObjectSets::Empty, Next = Sets.unite(Given.getArrayRef()); Before != Next;) {
    Before = Escaped = Next;
    Next = Sets.unite(Escaped, contentsOf(Escaped, Anywhere));
  }
}

UnderlyingObjects::Number UnderlyingObjects::changedBy(const Instruction &I) const {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call) {
    if (auto *Store = dyn_cast<StoreInst>(&I))
      return leads(Store->getPointerOperand());
    return isa<AtomicRMWInst, AtomicCmpXchgInst>(I) ? leads(I.getOperand(0)) : ObjectSets::Empty;
  }
  const Function *Callee = Call->getCalledFunction();
  if ((Callee && !Callee->isDeclaration()) || writesNothing(*Call))
    return ObjectSets::Empty;
  if (auto *Whole = dyn_cast<MemIntrinsic>(Call))
    return leads(Whole->getRawDest());
  Number Into = !Callee && !Call->isInlineAsm() ? Sets.only(Unknown) : ObjectSets::Empty;
  bool OnlyNumbers = movesNumbers(*Call);
  for (const Use &Operand : Call->args()) {
    if (!Operand->getType()->isPointerTy() || (OnlyNumbers && Call->onlyReadsMemory(Call->getArgOperandNo(&Operand))))
      continue;
    Into = Sets.unite(Into, leads(Operand));
    if (!OnlyNumbers)
      Into = Sets.unite(Into, contentsOf(pointees(Operand), Anywhere));
  }
  return Into;
}

} // namespace adgen
