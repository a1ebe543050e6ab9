#include "Analysis/ThreadMemory.h"

#include "Support/OpenMP.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace adgen {

static constexpr unsigned MostLoads = 4; // by which an address was found

static bool isThreadNumber(const Value *Number) {
  while (isa<ZExtInst, SExtInst>(Number))
    Number = cast<Instruction>(Number)->getOperand(0);
  auto *Call = dyn_cast<CallInst>(Number);
  return Call && Call->getCalledOperand()->getName() == "omp_get_thread_num"; // Enzyme calls it by a type of its own
}

// Of what is started, the last argument leads to the arrays of records.
static bool isRecordOfThread(const Value *Address) {
  auto *At = dyn_cast<GetElementPtrInst>(Address);
  auto *Array = At ? dyn_cast<LoadInst>(At->getPointerOperand()) : nullptr;
  if (!Array || At->getNumIndices() != 1 || !isThreadNumber(At->getOperand(1)))
    return false;
  auto *Tape = dyn_cast<Argument>(getUnderlyingObject(Array->getPointerOperand(), 0));
  StringRef Sweep = At->getFunction()->getName();
  return Tape && Tape->getArgNo() + 1 == Tape->getParent()->arg_size() &&
         (Sweep.starts_with(ForwardSweepPrefix) || Sweep.starts_with(ReversePrefix));
}

ThreadMemory::ThreadMemory(Module &M, ArrayRef<const Function *> Part) : Part(Part), Memory(M, Part) {
  const Teams Found = teamsOf(M);
  std::vector<const Function *> OfTeams;
  copy_if(Part, std::back_inserter(OfTeams),
          [&](const Function *F) { return Found.All.contains(const_cast<Function *>(F)); });
  findRecords();
  findOwn(OfTeams);
}

// Where it reads, unless it reads the record of its own thread as a whole.
static const Value *readElsewhere(const Instruction &I) {
  if (auto *Copy = dyn_cast<MemTransferInst>(&I))
    return Copy->getRawSource();
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I))
    return I.getOperand(0);
  auto *Load = dyn_cast<LoadInst>(&I);
  return Load && !isRecordOfThread(Load->getPointerOperand()) ? Load->getPointerOperand() : nullptr;
}

static bool keepsRecord(const Instruction &I) {
  auto *Store = dyn_cast<StoreInst>(&I);
  auto *Call = Store ? dyn_cast<CallInst>(Store->getValueOperand()) : nullptr;
  const Function *Forward = Call ? Call->getCalledFunction() : nullptr;
  return Forward && !Forward->isDeclaration() && isRecordOfThread(Store->getPointerOperand());
}

void ThreadMemory::findRecords() {
  for (const Function *F : Part)
    for (const Instruction &I : instructions(F))
      if (keepsRecord(I))
        for (const Value *Array : Memory.of(I.getOperand(1)))
          if (Array && isNoAliasCall(Array) && !Memory.escapes(Array))
            Records[Array].insert(cast<CallInst>(I.getOperand(0))->getCalledFunction());
  for (const Function *F : Part)
    for (const Instruction &I : instructions(F))
      if (const Value *From = readElsewhere(I); From || !keepsRecord(I))
        Records.remove_if([&](const auto &Each) {
          return (From && Memory.of(From).contains(Each.first)) || Memory.writtenBy(I).contains(Each.first);
        });
}

void ThreadMemory::findOwn(ArrayRef<const Function *> OfTeams) {
  for (const Function *F : OfTeams)
    for (const Instruction &I : instructions(F))
      if ((isa<AllocaInst>(I) || isNoAliasCall(&I)) && !Memory.escapes(&I))
        Own.insert(&I);
  for (const Function *F : Part)
    for (const Instruction &I : instructions(F))
      if (auto *Fork = dyn_cast<CallInst>(&I); Fork && startedBy(*Fork))
        for (const Value *Captured : drop_begin(Fork->args(), ForkCaptured))
          for (const Value *Object : Memory.of(Captured))
            Own.erase(Object);
  Memory.forEachHolder([&](const Value *Holder, const Set &Held) {
    if (!Records.contains(Holder))
      HeldElsewhere.insert_range(Held);
  });
  for (bool Changed = true; Changed;) {
    Changed = false;
    Memory.forEachHolder([&](const Value *Holder, const Set &Held) {
      if (!Own.contains(Holder) && !Records.contains(Holder))
        for (const Value *Object : Held)
          Changed |= Own.erase(Object);
    });
  }
}

// What the forward sweep has put into a record that its reverse sweep is given.
void ThreadMemory::addKept(const ExtractValueInst &Member, Set &Found, unsigned Depth) const {
  auto *Record = cast<Argument>(Member.getAggregateOperand());
  SmallSetVector<const Function *, 2> Forwards;
  for (const User *U : Record->getParent()->users()) {
    auto *Call = dyn_cast<CallInst>(U);
    auto *Read = Call && Call->getCalledFunction() == Record->getParent()
                     ? dyn_cast<LoadInst>(Call->getArgOperand(Record->getArgNo()))
                     : nullptr;
    if (!Read || !isRecordOfThread(Read->getPointerOperand()))
      return void(Found.insert(nullptr));
    for (const Value *Array : Memory.of(Read->getPointerOperand())) {
      auto Known = Records.find(Array);
      if (Known == Records.end())
        return void(Found.insert(nullptr));
      Forwards.insert_range(Known->second);
    }
  }
  for (const Function *Forward : Forwards)
    for (const BasicBlock &Block : *Forward)
      if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator())) {
        const Value *Kept = FindInsertedValue(Return->getReturnValue(), Member.getIndices());
        Kept ? addObjects(Kept, Found, Depth + 1) : void(Found.insert(nullptr));
      }
}

void ThreadMemory::addObjects(const Value *Address, Set &Found, unsigned Depth) const {
  if (Depth > MostLoads)
    return void(Found.insert(nullptr));
  SmallVector<const Value *> Bases;
  getUnderlyingObjects(Address, Bases, nullptr, 0);
  for (const Value *Base : Bases) {
    if (isa<ConstantPointerNull, UndefValue>(Base))
      continue;
    auto *Member = dyn_cast<ExtractValueInst>(Base);
    auto *Load = dyn_cast<LoadInst>(Base);
    Set Holders;
    if (Load)
      addObjects(Load->getPointerOperand(), Holders, Depth + 1);
    if (isa<AllocaInst>(Base) || isNoAliasCall(Base)) {
      Found.insert(Base);
    } else if (Member && isa<Argument>(Member->getAggregateOperand())) {
      addKept(*Member, Found, Depth);
    } else if (!Holders.empty() && all_of(Holders, [&](const Value *Each) { return Own.contains(Each); })) {
      for (const Value *Holder : Holders)
        Found.insert_range(Memory.heldBy(Holder));
    } else {
      const Set &Led = Memory.of(Base);
      Found.insert_range(Led);
      if (Led.empty())
        Found.insert(nullptr);
    }
  }
}

ThreadMemory::Set ThreadMemory::ownOf(const Value *Address) const {
  Set Found;
  addObjects(Address, Found, 0);
  return all_of(Found, [&](const Value *Object) { return Own.contains(Object); }) ? Found : Set();
}

bool ThreadMemory::isKeptOnly(const Set &Objects) const {
  return none_of(Objects, [&](const Value *Object) { return HeldElsewhere.contains(Object); });
}

} // namespace adgen
