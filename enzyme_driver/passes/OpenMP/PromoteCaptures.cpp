// A parallel region gets the address of every variable that it uses, of the object whose method it is in, or of a
// struct of arrays. Where it only reads a variable that is a pointer, it gets the pointer. What it reads at known
// places of an object it is handed by the fork, too: pointers and counts themselves, and numbers of floating point by
// the address of a copy. No region may write to the variable or object. Where nothing is left that the region does with
// the address, it gets none. Enzyme then knows each array apart, which of them are const, and how long one is meant:
// behind one address all are the same to it, and it would add the derivative of an array that is const to the array
// itself. The object itself needs no memory any more, where it is a variable of the function that forks, and arrays
// that change places from step to step are values.
#include "Analysis/UnderlyingObjects.h"
#include "Support/Extended.h"
#include "Support/OpenMP.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace adgen {
namespace {

// What is started in threads, and what starts it.
struct Team {
  Function *Started;
  SmallVector<CallInst *> Forks;
};

// Bytes that are there in any case behind an address; 0 where that is not known.
uint64_t bytesBehind(const Value &Address, const DataLayout &DL) {
  if (auto *Variable = dyn_cast<AllocaInst>(&Address)) {
    std::optional<TypeSize> Size = Variable->getAllocationSize(DL);
    return Size && Variable->isStaticAlloca() ? Size->getFixedValue() : 0;
  }
  if (auto *A = dyn_cast<Argument>(&Address))
    return structBytes(*A->getParent(), A->getArgNo());
  auto *New = dyn_cast<CallBase>(&Address);
  auto *Bytes = New && isCallOf(*New, "_Znwm") ? dyn_cast<ConstantInt>(New->getArgOperand(0)) : nullptr;
  return Bytes ? Bytes->getZExtValue() : 0;
}

// What a region reads behind an address that it gets, by place and type.
using Reads = MapVector<std::pair<uint64_t, Type *>, SmallVector<LoadInst *>>;

// Of an object, and not of a variable that is a number.
bool areOfMembers(const Reads &Of) {
  return any_of(Of, [](auto &Read) { return Read.first.first || Read.first.second->isPointerTy(); });
}

CallInst *extendedCall(CallInst &Call, FunctionCallee Callee, ArrayRef<Value *> More) {
  SmallVector<Value *> Arguments(Call.args());
  append_range(Arguments, More);
  IRBuilder<> B(&Call);
  CallInst *New = B.CreateCall(Callee, Arguments);
  New->setAttributes(Call.getAttributes());
  New->setCallingConv(Call.getCallingConv());
  New->setDebugLoc(Call.getDebugLoc());
  Call.eraseFromParent();
  return New;
}

class Handing {
public:
  explicit Handing(Module &M) : M(M), DL(M.getDataLayout()), Memory(M) {
    for (const Function *F : teamsOf(M).All)
      for (const Instruction &I : instructions(F))
        Written.insert_range(Memory.writtenBy(I));
  }

  void run() {
    MapVector<Function *, Team> Teams;
    for (CallInst *Fork : callsOf(M, ForkName))
      if (Function *Started = startedBy(*Fork)) {
        Teams[Started].Started = Started;
        Teams[Started].Forks.push_back(Fork);
      }
    for (auto &[Started, T] : Teams)
      handOver(T);
  }

private:
  void handOver(Team &T) {
    const unsigned Count = T.Started->arg_size();
    for (unsigned I = RegionCaptured; I < Count; ++I) {
      Argument *Captured = T.Started->getArg(I);
      Argument *A = Captured->getType()->isPointerTy() ? inRegion(*Captured) : nullptr;
      if (!A)
        continue;
      Reads Of;
      collect(*A, 0, bytesOf(I, T), Of);
      if (isPointer(*A, Of))
        replace(T, I, *A, Of.front().second);
      else if (areOfMembers(Of))
        replace(T, I, A->getArgNo(), Of);
      else
        for (auto &[Where, Loads] : Of)
          use(*A, Loads);
    }
  }

  // Whether the region only reads a variable that is a pointer.
  static bool isPointer(const Argument &Address, const Reads &Of) {
    return Of.size() == 1 && Of.front().first.second->isPointerTy() && Address.hasNUses(Of.front().second.size()) &&
           all_of(Address.users(), IsaPred<LoadInst>);
  }

  // It gets the pointer in place of the variable's address.
  static void replace(Team &T, unsigned Number, Argument &InRegion, ArrayRef<LoadInst *> Loads) {
    const unsigned Operand = Number - RegionCaptured + ForkCaptured;
    for (CallInst *Fork : T.Forks)
      Fork->setArgOperand(Operand, IRBuilder<>(Fork).CreateLoad(InRegion.getType(), Fork->getArgOperand(Operand)));
    for (LoadInst *Load : Loads) {
      Load->replaceAllUsesWith(&InRegion);
      Load->eraseFromParent();
    }
    forgetAttributes(T, Number, InRegion);
  }

  // They spoke of the variable.
  static void forgetAttributes(Team &T, unsigned Number, Argument &InRegion) {
    auto Forget = [](CallInst &Call, unsigned Operand) {
      Call.removeParamAttrs(Operand, AttributeMask(Call.getAttributes().getParamAttrs(Operand)));
    };
    Argument *Captured = T.Started->getArg(Number);
    Forget(*cast<CallInst>(Captured->user_back()), InRegion.getArgNo());
    for (CallInst *Fork : T.Forks)
      Forget(*Fork, Number - RegionCaptured + ForkCaptured);
    for (Argument *A : {Captured, &InRegion})
      A->getParent()->removeParamAttrs(A->getArgNo(),
                                       AttributeMask(A->getParent()->getAttributes().getParamAttrs(A->getArgNo())));
  }

  // What is there in all forks, where no team writes to it.
  uint64_t bytesOf(unsigned Number, const Team &T) const {
    uint64_t Least = ~uint64_t(0);
    for (const CallInst *Fork : T.Forks) {
      APInt Offset(64, 0);
      const Value *Handed = Fork->getArgOperand(Number - RegionCaptured + ForkCaptured);
      const Value *Object = Handed->stripAndAccumulateConstantOffsets(DL, Offset, /*AllowNonInbounds=*/false);
      uint64_t Bytes = Written.contains(Object) ? 0 : bytesBehind(*Object, DL);
      Least = std::min(Least, Offset.ult(Bytes) ? Bytes - Offset.getZExtValue() : 0);
    }
    return Least;
  }

  void collect(Value &Address, uint64_t Offset, uint64_t Bytes, Reads &Of) const {
    for (User *U : Address.users()) {
      auto *Load = dyn_cast<LoadInst>(U);
      auto *Inner = dyn_cast<GetElementPtrInst>(U);
      APInt More(64, 0);
      if (Load && Load->isSimple() && Offset + DL.getTypeStoreSize(Load->getType()) <= Bytes)
        Of[{Offset, Load->getType()}].push_back(Load);
      else if (Inner && Inner->getPointerOperand() == &Address && Inner->accumulateConstantOffset(DL, More) &&
               !More.isNegative())
        collect(*Inner, Offset + More.getZExtValue(), Bytes, Of);
    }
  }

  // Pointers and integers go as they are, but not what might be the bits of a number.
  static bool goesByAddress(const Type *T, ArrayRef<LoadInst *> Loads) {
    auto Counts = [](const User *U) {
      return isa<BinaryOperator, CmpInst, GetElementPtrInst, TruncInst, SExtInst, ZExtInst, SIToFPInst, UIToFPInst>(U);
    };
    bool IsCount = (T->isIntegerTy(32) || T->isIntegerTy(64)) &&
                   all_of(Loads, [&](const LoadInst *Load) { return all_of(Load->users(), Counts); });
    return !T->isPointerTy() && !IsCount;
  }

  void replace(Team &T, unsigned Number, unsigned InRegion, Reads &Of) {
    SmallVector<Type *> Types;
    for (auto &[Where, Loads] : Of)
      Types.push_back(goesByAddress(Where.second, Loads) ? PointerType::getUnqual(M.getContext()) : Where.second);
    const unsigned First = T.Started->arg_size();
    for (CallInst *&Fork : T.Forks)
      Fork = fork(*Fork, Number, Of);
    auto *Call = cast<CallInst>(T.Started->getArg(Number)->user_back());
    Function *Old = Call->getCalledFunction();
    Function *Region = extended(*Old, Types, Old->getIterator()),
             *Started = extended(*T.Started, Types, T.Started->getIterator());
    T.Started->replaceAllUsesWith(Started);
    T.Started->eraseFromParent();
    T.Started = Started;
    SmallVector<Value *> More;
    for (unsigned I = First; I < Started->arg_size(); ++I)
      More.push_back(Started->getArg(I));
    const unsigned Begin = Region->arg_size() - More.size();
    extendedCall(*Call, Region, More);
    Old->eraseFromParent();
    for (auto [I, Read] : enumerate(Of))
      use(*Region->getArg(Begin + I), Read.second);
    forgetUnused(T, Number, *Region->getArg(InRegion));
  }

  // The fork with what the region reads.
  CallInst *fork(CallInst &Old, unsigned Number, const Reads &Of) {
    IRBuilder<> B(&Old);
    Value *Address = Old.getArgOperand(Number - RegionCaptured + ForkCaptured);
    SmallVector<Value *> More;
    for (auto &[Where, Loads] : Of) {
      Value *Read = B.CreateLoad(
          Where.second, Where.first ? B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Address, Where.first) : Address);
      if (goesByAddress(Where.second, Loads)) {
        IRBuilder<> Entry(&*Old.getFunction()->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
        Value *Copy = Entry.CreateAlloca(Where.second);
        B.CreateStore(Read, Copy);
        Read = Copy;
      }
      More.push_back(Read);
    }
    CallInst *New = extendedCall(Old, {Old.getFunctionType(), Old.getCalledOperand()}, More);
    New->setArgOperand(1, B.getInt32(New->arg_size() - ForkCaptured));
    return New;
  }

  // The region reads what it is handed once, where it begins, if it does not get it itself.
  static void use(Argument &Handed, ArrayRef<LoadInst *> Loads) {
    Value *Read = &Handed;
    if (Loads.front()->getType() != Handed.getType())
      Read = new LoadInst(Loads.front()->getType(), &Handed, "",
                          Handed.getParent()->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    for (LoadInst *Load : Loads) {
      Load->replaceAllUsesWith(Read);
      Load->eraseFromParent();
    }
  }

  // Nobody needs an address with which nothing is done.
  void forgetUnused(Team &T, unsigned Number, Argument &InRegion) {
    eraseUnused(InRegion);
    if (!InRegion.use_empty())
      return;
    auto MakeNull = [](CallInst &Call, unsigned Operand) {
      Call.setArgOperand(Operand, ConstantPointerNull::get(cast<PointerType>(Call.getArgOperand(Operand)->getType())));
    };
    forgetAttributes(T, Number, InRegion);
    MakeNull(*cast<CallInst>(T.Started->getArg(Number)->user_back()), InRegion.getArgNo());
    for (CallInst *Fork : T.Forks)
      MakeNull(*Fork, Number - RegionCaptured + ForkCaptured);
  }

  static void eraseUnused(Value &Address) {
    for (User *U : make_early_inc_range(Address.users()))
      if (auto *Inner = dyn_cast<GetElementPtrInst>(U)) {
        eraseUnused(*Inner);
        if (Inner->use_empty())
          Inner->eraseFromParent();
      }
  }

  Module &M;
  const DataLayout &DL;
  const UnderlyingObjects Memory;
  UnderlyingObjects::Set Written; // by teams
};

} // namespace

ADGEN_DECLARE_PASS(PromoteCaptures);

PreservedAnalyses PromoteCaptures::run(Module &M, ModuleAnalysisManager &) {
  Handing(M).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
