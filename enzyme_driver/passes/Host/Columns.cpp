#include "Host/Columns.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {

static SmallSetVector<Value *, 4> withExtended(Value &V) {
  SmallSetVector<Value *, 4> All;
  All.insert(&V);
  for (User *U : V.users())
    if (isa<ZExtInst>(U))
      All.insert(U);
  return All;
}

Columns::Columns(Function &Thread, unsigned First)
    : Threads(withExtended(*Thread.getArg(First))), Widths(withExtended(*Thread.getArg(First + 6))) {
  SmallPtrSet<User *, 8> Found;
  auto Ends = [&](Value *Begin) {
    return areUses(withExtended(*Begin), [&](User &U) { return addsThread(U) && Found.insert(&U).second; });
  };
  AreAll = areUses(withExtended(*Thread.getArg(First + 3)), [&](User &U) { return isBegin(U) && Ends(&U); }) &&
           areUses(Threads, [&](User &U) { return Found.contains(&U); });
}

Value *Columns::allowWideBlocks(IRBuilder<> &B, Value *Width) const {
  Value *Allow = B.getInt1(AreAll);
  for (uint64_t Number : Numbers)
    Allow = B.CreateAnd(Allow, B.CreateICmpEQ(Width, B.getInt32(Number)));
  return Allow;
}

bool Columns::areUses(const Values &Of, function_ref<bool(User &)> Are) {
  return all_of(Of, [&](Value *V) { return all_of(V->users(), [&](User *U) { return Of.contains(U) || Are(*U); }); });
}

bool Columns::isBegin(User &U) {
  uint64_t Number;
  Value *A, *B;
  if (match(&U, m_Shl(m_Value(), m_ConstantInt(Number))) && Number < 32)
    return Numbers.insert(uint64_t(1) << Number), true;
  if (match(&U, m_c_Mul(m_Value(), m_ConstantInt(Number))) && Number <= UINT32_MAX)
    return Numbers.insert(Number), true;
  return match(&U, m_Mul(m_Value(A), m_Value(B))) && (Widths.contains(A) || Widths.contains(B));
}

bool Columns::addsThread(User &U) const {
  Value *A, *B;
  return match(&U, m_Add(m_Value(A), m_Value(B))) && (Threads.contains(A) || Threads.contains(B));
}

} // namespace adgen
