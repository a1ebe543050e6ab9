// On the host: Enzyme accumulates by atomics into the shadows of what a thread allocates in a parallel region. Where no
// address of such memory leaves the function that allocates it, nobody else can add to it, and the additions are plain;
// nor where it goes from the thread's forward sweep to its reverse sweep, by the record that is kept for the thread.
// So are those to an element that the thread itself has consumed, where no threads wait for each other: it is what the
// thread overwrites in the primal, and nobody else reads meanwhile. Shadows that a region is given overlap no memory of
// the primal, which the runtime checks: what is read of it is the same after an addition to a shadow.
#include "Analysis/Accumulation.h"
#include "Analysis/ThreadMemory.h"
#include "Support/AliasScopes.h"
#include "Support/Allocations.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"

#define DEBUG_TYPE "adgen-mark-private-memory"

using namespace llvm;
using namespace llvm::PatternMatch;

STATISTIC(NumPlain, "Number of atomic additions to memory that one thread alone sees");

namespace adgen {
namespace {

// Of numbers computed from addresses, whose differences are sizes.
bool isMeasured(const Instruction &Number) {
  return all_of(Number.users(), [](const User *U) {
    auto *Operation = dyn_cast<BinaryOperator>(U);
    return isa<ICmpInst>(U) || (Operation && Operation->getOpcode() == Instruction::Sub);
  });
}

// Whether all that is done with the memory is to read, write and give it back.
bool staysHere(const Value &Memory) {
  SmallVector<const Value *> Addresses{&Memory};
  SmallPtrSet<const Value *, 16> Seen{&Memory};
  while (!Addresses.empty())
    for (const Use &U : Addresses.pop_back_val()->uses()) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      if (!I)
        return false;
      if (isa<GetElementPtrInst, PHINode, SelectInst>(I)) {
        if (Seen.insert(I).second)
          Addresses.push_back(I);
        continue;
      }
      auto *Call = dyn_cast<CallBase>(I);
      bool Harmless = isa<LoadInst, ICmpInst, MemIntrinsic, LifetimeIntrinsic>(I) ||
                      (isa<PtrToIntInst>(I) && isMeasured(*I)) ||
                      (isa<StoreInst>(I) && U.getOperandNo() == StoreInst::getPointerOperandIndex()) ||
                      (isa<AtomicRMWInst>(I) && U.getOperandNo() == AtomicRMWInst::getPointerOperandIndex()) ||
                      (Call && isRelease(*Call));
      if (!Harmless)
        return false;
    }
  return true;
}

// Whether it is memory that the forward sweep has kept pointers in: the reverse sweep reads them and gives it back.
bool holdsKeptPointers(const Value &Memory) {
  auto *Member = dyn_cast<ExtractValueInst>(&Memory);
  if (!Member || !isa<Argument>(Member->getAggregateOperand()) || !Member->getType()->isPointerTy())
    return false;
  bool IsGivenBack = false;
  SmallVector<const Value *> Addresses{&Memory};
  while (!Addresses.empty())
    for (const User *U : Addresses.pop_back_val()->users()) {
      auto *Call = dyn_cast<CallBase>(U);
      bool GivesBack = Call && isRelease(*Call);
      IsGivenBack |= GivesBack;
      if (isa<GetElementPtrInst>(U))
        Addresses.push_back(U);
      else if (!GivesBack && !(isa<LoadInst>(U) && U->getType()->isPointerTy()))
        return false;
    }
  return IsGivenBack;
}

// The memory that a forward sweep of its own does nothing with but to clear it and hand it to the reverse sweep; null
// if it is not that.
const CallInst *onlyCleared(Function &Forward, unsigned Member) {
  Value *Only = nullptr;
  for (BasicBlock &Block : Forward)
    if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator())) {
      Value *Handed = FindInsertedValue(Return->getReturnValue(), Member);
      if (!Handed || (Only && Only != Handed))
        return nullptr;
      Only = Handed;
    }
  auto *Memory = dyn_cast_or_null<CallInst>(Only);
  bool IsFixed = Memory && isCallOf(*Memory, "malloc") && isa<ConstantInt>(Memory->getArgOperand(0));
  auto Clears = [&](const User *U) {
    auto *Store = dyn_cast<StoreInst>(U);
    auto *Set = dyn_cast<MemSetInst>(U);
    bool StoresZero = Store && Store->getPointerOperand() == Memory && match(Store->getValueOperand(), m_Zero());
    return isa<InsertValueInst>(U) || StoresZero || (Set && match(Set->getValue(), m_Zero()));
  };
  return IsFixed && all_of(Memory->users(), Clears) ? Memory : nullptr;
}

// Of a local variable in a function of which Enzyme makes two sweeps, the shadow is such memory: it becomes a local
// variable again.
void makeLocal(Function &Reverse) {
  Module &M = *Reverse.getParent();
  Function *Forward = M.getFunction((ForwardSweepPrefix + Reverse.getName().drop_front(ReversePrefix.size())).str());
  Argument *Tape = Reverse.arg_empty() ? nullptr : &*std::prev(Reverse.arg_end());
  if (!Forward || Forward->isDeclaration() || !Tape->getType()->isStructTy() ||
      Forward->getReturnType() != Tape->getType())
    return;
  for (User *U : Tape->users()) {
    auto *Shadow = dyn_cast<ExtractValueInst>(U);
    const CallInst *Memory =
        Shadow && Shadow->getNumIndices() == 1 ? onlyCleared(*Forward, Shadow->getIndices()[0]) : nullptr;
    if (!Memory)
      continue;
    uint64_t Bytes = cast<ConstantInt>(Memory->getArgOperand(0))->getZExtValue();
    IRBuilder<> B(&*Reverse.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    AllocaInst *Local = B.CreateAlloca(ArrayType::get(B.getInt8Ty(), Bytes));
    Local->setAlignment(Align(16));
    B.CreateMemSet(Local, B.getInt8(0), Bytes, Align(16));
    Shadow->replaceUsesWithIf(Local, [](Use &Each) {
      auto *Call = dyn_cast<CallInst>(Each.getUser());
      return !Call || !isRelease(*Call);
    });
  }
}

// Members of a record that lead to memory of the thread's own, each to other memory, to which nothing else leads.
using KeptMembers = SmallVector<const ExtractValueInst *>;

KeptMembers keptMembers(const Function &Reverse, const ThreadMemory &Threads) {
  MapVector<const ExtractValueInst *, ThreadMemory::Set> Found;
  DenseMap<const Value *, SmallDenseSet<unsigned, 2>> Leading;
  for (const Instruction &I : instructions(Reverse))
    if (auto *Member = dyn_cast<ExtractValueInst>(&I);
        Member && Member->getType()->isPointerTy() && Member->getNumIndices() == 1)
      for (const Value *Object : Found[Member] = Threads.ownOf(Member))
        Leading[Object].insert(Member->getIndices()[0]);
  SmallDenseSet<unsigned> Others;
  for (const auto &[Member, Own] : Found)
    if (Own.empty() || !Threads.isKeptOnly(Own) || !staysHere(*Member) ||
        any_of(Own, [&](const Value *Object) { return Leading[Object].size() > 1; }))
      Others.insert(Member->getIndices()[0]);
  KeptMembers Kept;
  for (const auto &[Member, Own] : Found)
    if (!Others.contains(Member->getIndices()[0]))
      Kept.push_back(Member);
  return Kept;
}

class Owner {
public:
  Owner(Function &F, ArrayRef<const ExtractValueInst *> Kept) : F(F) {
    DenseMap<unsigned, MDNode *> OfMember;
    for (const ExtractValueInst *Member : Kept) {
      MDNode *&Scope = OfMember[Member->getIndices()[0]];
      Scope = Scope ? Scope : newScope();
      Scopes[Member] = Scope;
    }
  }

  void run() {
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (AtomicRMWInst *Atomic = asAccumulation(I); Atomic && isOwn(Atomic->getPointerOperand())) {
        ADGEN_COUNT(NumPlain, *Atomic);
        addPlainly(*Atomic);
      }
    if (!waits())
      for (auto [Atomic, IsConsumed] : consumed())
        if (IsConsumed) {
          ADGEN_COUNT(NumPlain, *Atomic);
          addPlainly(*Atomic);
        }
    for (Instruction &I : instructions(F))
      if (isa<AllocaInst>(I) || isNoAliasCall(&I))
        staysHere(I);
      else if (holdsKeptPointers(I))
        Scopes.try_emplace(&I, newScope());
    if (any_of(F.args(), [](const Argument &A) { return isShadow(&A); }))
      Shadows = newScope();
    for (Instruction &I : instructions(F))
      if (const Value *Address = isa<AtomicRMWInst>(I) ? I.getOperand(0) : getLoadStorePointerOperand(&I))
        tellApart(I, *Address);
  }

private:
  using Objects = SmallVector<const Value *>;

  // Enzyme names the shadow of an argument "NAME'".
  static bool isShadow(const Value *Object) {
    return isa<Argument>(Object) && Object->getType()->isPointerTy() && Object->getName().ends_with("'");
  }

  static Objects objectsOf(const Value *Address) {
    Objects Found;
    getUnderlyingObjects(Address, Found, nullptr, 0);
    return Found;
  }

  // Whether threads order what they do in it: by barriers and locks.
  bool waits() const {
    return any_of(instructions(F), [](const Instruction &I) {
      if (isa<FenceInst>(I) || (I.isAtomic() && !isa<AtomicRMWInst>(I)))
        return true;
      auto *Call = dyn_cast<CallBase>(&I);
      const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      return Call && !Call->doesNotAccessMemory() &&
             (!Callee || !Callee->isDeclaration() || Callee->getName().starts_with(RulePrefix));
    });
  }

  // The accumulations, with whether the thread has stored to the same address before.
  SmallVector<std::pair<AtomicRMWInst *, bool>> consumed() {
    const DominatorTree Tree(F);
    SmallVector<std::pair<AtomicRMWInst *, bool>> Found;
    for (Instruction &I : instructions(F))
      if (AtomicRMWInst *Atomic = asAccumulation(I))
        Found.push_back({Atomic, any_of(Atomic->getPointerOperand()->users(), [&](User *U) {
                           auto *Store = dyn_cast<StoreInst>(U);
                           return Store && Store->getPointerOperand() == Atomic->getPointerOperand() &&
                                  Tree.dominates(Store, Atomic);
                         })});
    return Found;
  }

  // Whether the address leads to memory of this function, whatever way it was chosen.
  bool isOwn(const Value *Address) {
    return all_of(objectsOf(Address), [&](const Value *Object) {
      if (isa<ConstantPointerNull, UndefValue>(Object)) // before anything is allocated
        return true;
      return (isNoAliasCall(Object) || isa<AllocaInst>(Object)) && staysHere(*Object);
    });
  }

  bool staysHere(const Value &Memory) {
    auto [Place, IsNew] = Scopes.try_emplace(&Memory, nullptr);
    if (IsNew && adgen::staysHere(Memory))
      Place->second = newScope();
    return Place->second;
  }

  MDNode *newScope() {
    MDBuilder B(F.getContext());
    if (!Domain)
      Domain = B.createAnonymousAliasScopeDomain("own memory");
    return B.createAnonymousAliasScope(Domain);
  }

  // What an address cannot lead to is said by metadata: the optimiser gives up where there are many ways to choose an
  // address.
  void tellApart(Instruction &Access, const Value &Address) {
    Objects Led = objectsOf(&Address);
    SmallVector<Metadata *> Here, Elsewhere;
    for (const Value *Object : Led)
      if (MDNode *Scope = Scopes.lookup(Object); Scope && !is_contained(Here, Scope))
        Here.push_back(Scope);
    for (auto &[Memory, Scope] : Scopes)
      if (Scope && !is_contained(Here, Scope) && !is_contained(Elsewhere, Scope))
        Elsewhere.push_back(Scope);
    bool IsOwn = all_of(Led, [&](const Value *Object) {
      return isa<ConstantPointerNull, UndefValue>(Object) || Scopes.lookup(Object);
    });
    bool IsOfShadow = Shadows && all_of(Led, isShadow);
    if (IsOfShadow)
      Here.push_back(Shadows);
    else if (Shadows && all_of(Led, [](const Value *Object) { return isa<Argument>(Object) && !isShadow(Object); }))
      Elsewhere.push_back(Shadows);
    if (!IsOwn && !IsOfShadow)
      Here.clear();
    addScopes(Access, Here, Elsewhere);
  }

  Function &F;
  MDNode *Domain = nullptr, *Shadows = nullptr;
  MapVector<const Value *, MDNode *> Scopes; // of memory; null where its address leaves the function
};

// The additions by addresses that a function was not given itself.
SmallVector<AtomicRMWInst *> foundAdditions(ArrayRef<const Function *> Part) {
  SmallVector<AtomicRMWInst *> Additions;
  for (const Function *F : Part)
    for (Instruction &I : instructions(const_cast<Function *>(F)))
      if (AtomicRMWInst *Atomic = asAccumulation(I);
          Atomic && !isa<Argument>(getUnderlyingObject(Atomic->getPointerOperand(), 0)))
        Additions.push_back(Atomic);
  return Additions;
}

// What a thread has allocated in its forward sweep is its own in its reverse sweep, too.
void addToKept(Module &M, DenseMap<const Function *, KeptMembers> &Kept) {
  for (const std::vector<const Function *> &Part : connectedFunctions(M)) {
    SmallVector<AtomicRMWInst *> Additions = foundAdditions(Part);
    if (Additions.empty())
      continue;
    const ThreadMemory Threads(M, Part);
    for (const Function *F : Part)
      if (F->getName().starts_with(ReversePrefix))
        Kept[F] = keptMembers(*F, Threads);
    erase_if(Additions, [&](AtomicRMWInst *Atomic) { return Threads.ownOf(Atomic->getPointerOperand()).empty(); });
    for (AtomicRMWInst *Atomic : Additions) {
      ADGEN_COUNT(NumPlain, *Atomic);
      addPlainly(*Atomic);
    }
  }
}

} // namespace

ADGEN_DECLARE_PASS(MarkPrivateMemory);

PreservedAnalyses MarkPrivateMemory::run(Module &M, ModuleAnalysisManager &) {
  DenseMap<const Function *, KeptMembers> Kept;
  addToKept(M, Kept);
  for (Function &F : M)
    if (isDerivative(F) || F.getName().contains(RegionPrefix) || F.getName().starts_with(IterationPrefix)) {
      if (F.getName().starts_with(ReversePrefix) && !F.isDeclaration())
        makeLocal(F);
      Owner(F, Kept.lookup(&F)).run();
    }
  return PreservedAnalyses::none();
}

} // namespace adgen
