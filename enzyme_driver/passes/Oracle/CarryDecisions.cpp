// What is decided, where sets count that too: a bit has no room for a set, which lies beside it. A choice then is what
// it is chosen by and from, and what cannot be a choice, because the way or an address depends on data, is noted.
#include "Oracle/CarryThrough.h"

using namespace llvm;

namespace adgen {

bool Carrying::countsDecisions() const { return Module.Numbers.countsDecisions(); }

static bool isBit(const Value *V) { return V->getType()->isIntOrIntVectorTy(1); }

Value *Carrying::decision(IRBuilder<> &B, Value *Bit) {
  if (isa<Constant>(Bit))
    return B.getInt64(0);
  if (Value *Known = Decisions.lookup(Bit))
    return Known;
  Value *Any = shadow(Bit); // where it comes from memory or from a caller, there is nothing but that
  return B.CreateSExt(Any->getType()->isVectorTy() ? B.CreateOrReduce(Any) : Any, B.getInt64Ty());
}

Value *Carrying::influences(IRBuilder<> &B, ArrayRef<Value *> Values) {
  SmallVector<Value *> Sets;
  for (Value *V : Values)
    if (isBit(V))
      Sets.push_back(decision(B, V));
    else if (hasShadow(V->getType()))
      Sets.push_back(shadow(V));
  return Module.Numbers.join(B, Sets, B.getInt64Ty());
}

// The shadow of a bit, or a vector of them: whether there is anything beside it.
Value *Carrying::ofDecision(IRBuilder<> &B, Instruction &I) {
  Value *Set = influences(B, SmallVector<Value *>(I.operands()));
  Decisions[&I] = Set;
  Value *Any = B.CreateICmpNE(Set, B.getInt64(0));
  auto *Vector = dyn_cast<FixedVectorType>(I.getType());
  return Vector ? B.CreateVectorSplat(Vector->getNumElements(), Any) : Any;
}

Value *Carrying::ofChoice(IRBuilder<> &B, SelectInst &Select, Value *Chosen) {
  Value *Set = decision(B, Select.getCondition());
  if (isZeroShadow(Set))
    return Chosen;
  Type *T = Select.getType();
  if (holds(T, [](Type *Part) { return Part->isPtrOrPtrVectorTy(); })) {
    noteSteering(B, Set, Select.getDebugLoc());
    return Chosen;
  }
  Value *All =
      Module.Numbers.join(B, {shadow(Select.getTrueValue()), shadow(Select.getFalseValue()), Set}, Select.getType());
  return B.CreateSelect(B.CreateICmpNE(Set, B.getInt64(0)), All, Chosen);
}

void Carrying::noteSteering(IRBuilder<> &B, Value *Set, const DebugLoc &Where) {
  if (!isZeroShadow(Set))
    note(B, B.CreateICmpNE(Set, Constant::getNullValue(Set->getType())), Note::Steered, Where);
}

void Carrying::noteSteering(Instruction &I, ArrayRef<Value *> By) {
  if (!countsDecisions())
    return;
  IRBuilder<> B(&I);
  noteSteering(B, influences(B, By), I.getDebugLoc());
}

// Which way is taken, and which element.
void Carrying::carrySteering(Instruction &I) {
  if (auto *Branch = dyn_cast<BranchInst>(&I); Branch && Branch->isConditional())
    noteSteering(I, {Branch->getCondition()});
  else if (auto *Switch = dyn_cast<SwitchInst>(&I))
    noteSteering(I, {Switch->getCondition()});
  else if (auto *Address = dyn_cast<GetElementPtrInst>(&I))
    noteSteering(I, SmallVector<Value *>(Address->indices()));
  else if (isa<ExtractElementInst>(I) || isa<InsertElementInst>(I))
    noteSteering(I, {I.getOperand(I.getNumOperands() - 1)});
  else if (auto *Room = dyn_cast<AllocaInst>(&I))
    noteSteering(I, {Room->getArraySize()});
  else if (isa<IntToPtrInst>(I))
    noteSteering(I, {I.getOperand(0)});
  else if (auto *Moved = dyn_cast<MemIntrinsic>(&I))
    noteSteering(I, {Moved->getLength()});
}

PHINode *Carrying::ofDecidingPhi(PHINode &Phi) {
  IRBuilder<> B(&Phi);
  PHINode *Set = B.CreatePHI(B.getInt64Ty(), Phi.getNumIncomingValues(), "decided_" + Phi.getName());
  Decisions[&Phi] = Set;
  return Set;
}

void Carrying::finishDecisions() {
  for (auto [Phi, Set] : DecidingPhis)
    for (auto [Value, Block] : zip(Phi->incoming_values(), Phi->blocks())) {
      IRBuilder<> B(Block->getTerminator());
      Set->addIncoming(decision(B, Value), Block);
    }
}

} // namespace adgen
