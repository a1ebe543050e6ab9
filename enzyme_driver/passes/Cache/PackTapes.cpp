// In C++, of functions that gradients call: what a forward sweep keeps is a record, which holds the addresses of arrays
// of which its loops fill an element in each iteration. The reverse sweep reads some of these arrays only to fill its
// own with the same numbers, and others not at all. It reads the forward sweep's then, which lie in one block:
//   tape->a = alloc(n); tape->b = alloc(n)     becomes   tape->a = alloc(2 n); tape->b = tape->a + n
//   for (i...) own[i] = tape->a[i]; ... own[i]  becomes   ... tape->a[i]
// A recursion comes by here for each of its calls, and little else costs as much as to take memory and give it back.
#include "Analysis/EnzymeCaches.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#define DEBUG_TYPE "adgen-pack-tapes"

using namespace llvm;

STATISTIC(NumCopies, "Number of arrays of reverse sweeps that were copies");
STATISTIC(NumUnread, "Number of arrays that no reverse sweep reads");
STATISTIC(NumMerged, "Number of arrays that lie behind another one");

namespace adgen {
namespace {

constexpr uint64_t Alignment = 16;
constexpr int64_t CallsAhead = 8; // of a recursion, whose records are fetched

bool isCallOf(const Value *V, StringRef Name) {
  auto *Call = dyn_cast_or_null<CallInst>(V);
  return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == Name;
}

bool isTape(const Argument &A) { return A.getName().starts_with("tapeArg"); }

bool allocatesTape(const Value *V) { return isCallOf(V, "adgen_large_alloc"); }

// With all that was computed from it alone, which nothing uses any more.
void eraseWithUsers(Instruction &First) {
  SmallSetVector<Instruction *, 16> Gone;
  Gone.insert(&First);
  for (unsigned I = 0; I < Gone.size(); ++I)
    for (User *U : Gone[I]->users())
      Gone.insert(cast<Instruction>(U));
  for (Instruction *I : Gone)
    I->replaceAllUsesWith(PoisonValue::get(I->getType()));
  for (Instruction *I : Gone)
    I->eraseFromParent();
}

// The only index of an address, null where it has several.
Value *indexOf(const Value *Address) {
  auto *Place = dyn_cast<GetElementPtrInst>(Address);
  return Place && Place->getNumIndices() == 1 ? Place->idx_begin()->get() : nullptr;
}

// An address that is used for loads and stores, and for further addresses.
bool isElement(const User &U) {
  return isa<GetElementPtrInst>(U) && all_of(U.uses(), [](const Use &Access) {
           auto *Store = dyn_cast<StoreInst>(Access.getUser());
           return isa<LoadInst>(Access.getUser()) || (Store && Store->getPointerOperand() == Access.get()) ||
                  isElement(*Access.getUser());
         });
}

// Whether elements behind these addresses are read, or else written.
template <class Access> bool hasAny(const User &Address) {
  return any_of(Address.users(),
                [](const User *U) { return isa<Access>(U) || (isa<GetElementPtrInst>(U) && hasAny<Access>(*U)); });
}

// Where a reverse sweep asks for an array, once, and gives it back.
struct Reading {
  LoadInst *Load;
  CallInst *Release;
};

// An array of the record, which the forward sweep allocates, and its readings in each reverse sweep.
struct Array {
  CallInst *Allocation;
  SmallVector<Reading, 2> Readings;

  bool isUnread() const {
    return !hasAny<LoadInst>(*Allocation) &&
           all_of(Readings, [](const Reading &Each) { return Each.Load->hasOneUse(); });
  }
};

using Members = MapVector<uint64_t, SmallVector<LoadInst *, 1>>; // by their offsets

class Tape {
public:
  Tape(Function &Forward, ArrayRef<Function *> Sweeps) : Forward(Forward), Sweeps(Sweeps), Loads(Sweeps.size()) {}

  bool find() {
    Record = findRecord();
    return Record && findStores(*Record, 0) && all_of(zip(Sweeps, Loads), [&](auto Each) {
             auto [Sweep, Found] = Each;
             Argument &Last = *Sweep->getArg(Sweep->arg_size() - 1);
             return isTape(Last) && Last.getType()->isPointerTy() && findLoads(Last, 0, Found) && isInParts(Found);
           });
  }

  bool run(FunctionAnalysisManager &FAM) {
    for (auto &[Offset, Store] : Stores)
      if (auto Of = arrayOf(Offset, *Store))
        Arrays.push_back(*Of);
    bool Changed = false;
    for (auto [Number, Sweep] : enumerate(Sweeps))
      Changed |= dropCopies(*Sweep, Number, FAM);
    Changed |= dropUnread();
    Changed |= merge();
    for (auto [Number, Sweep] : enumerate(Sweeps))
      Changed |= fetchAhead(*Sweep, Number);
    return Changed;
  }

private:
  // What the function returns first, on all ways.
  CallInst *findRecord() const {
    CallInst *Found = nullptr;
    for (BasicBlock &Block : Forward) {
      auto *Return = dyn_cast<ReturnInst>(Block.getTerminator());
      if (!Return)
        continue;
      Value *V = Return->getReturnValue();
      if (V && V->getType()->isStructTy())
        V = FindInsertedValue(V, {0});
      if (!allocatesTape(V) || (Found && Found != V))
        return nullptr;
      Found = cast<CallInst>(V);
    }
    return Found;
  }

  static std::optional<uint64_t> offsetOf(const GetElementPtrInst &Place, uint64_t From) {
    const DataLayout &DL = Place.getDataLayout();
    APInt Offset(DL.getIndexTypeSizeInBits(Place.getType()), From);
    return Place.accumulateConstantOffset(DL, Offset) ? std::optional(Offset.getZExtValue()) : std::nullopt;
  }

  bool findStores(Value &Address, uint64_t Offset) {
    return all_of(Address.users(), [&](User *U) {
      if (auto *Place = dyn_cast<GetElementPtrInst>(U)) {
        auto Further = offsetOf(*Place, Offset);
        return Further && findStores(*Place, *Further);
      }
      auto *Store = dyn_cast<StoreInst>(U);
      if (Store)
        return Store->isSimple() && Store->getValueOperand() != &Address && Stores.insert({Offset, Store}).second;
      return Offset == 0 && isa<ReturnInst, InsertValueInst>(U);
    });
  }

  static bool findLoads(Value &Address, uint64_t Offset, Members &Found) {
    return all_of(Address.users(), [&](User *U) {
      if (auto *Place = dyn_cast<GetElementPtrInst>(U)) {
        auto Further = offsetOf(*Place, Offset);
        return Further && findLoads(*Place, *Further, Found);
      }
      auto *Load = dyn_cast<LoadInst>(U);
      if (Load && Load->isSimple())
        Found[Offset].push_back(Load);
      return Load && Load->isSimple();
    });
  }

  // Whether what is read is what was stored, member by member.
  bool isInParts(const Members &Found) const {
    const DataLayout &DL = Forward.getDataLayout();
    auto End = [&](uint64_t Offset, Type *T) { return Offset + DL.getTypeStoreSize(T); };
    return all_of(Found, [&](const auto &At) {
      return all_of(At.second, [&](const LoadInst *Load) {
        return all_of(Stores, [&](const auto &Other) {
          uint64_t Ends = End(At.first, Load->getType()), Begins = Other.first;
          Type *T = Other.second->getValueOperand()->getType();
          return At.first == Begins ? End(Begins, T) == Ends : Begins >= Ends || End(Begins, T) <= At.first;
        });
      });
    });
  }

  std::optional<Array> arrayOf(uint64_t Offset, StoreInst &Store) const {
    auto *Allocation = dyn_cast<CallInst>(Store.getValueOperand());
    if (!allocatesTape(Allocation) || Allocation == Record ||
        !all_of(Allocation->users(), [&](User *U) { return U == &Store || isElement(*U); }))
      return std::nullopt;
    Array Of{Allocation, {}};
    for (const Members &Found : Loads) {
      const auto *At = Found.find(Offset);
      auto Read = At == Found.end() || At->second.size() != 1 ? std::nullopt : readingOf(*At->second.front());
      if (!Read)
        return std::nullopt;
      Of.Readings.push_back(*Read);
    }
    return Of;
  }

  static std::optional<Reading> readingOf(LoadInst &Load) {
    CallInst *Release = nullptr;
    for (User *U : Load.users()) {
      if (isCallOf(U, "adgen_large_free") && !Release)
        Release = cast<CallInst>(U);
      else if (!isElement(*U) || hasAny<StoreInst>(*U))
        return std::nullopt;
    }
    return Release ? std::optional(Reading{&Load, Release}) : std::nullopt;
  }

  // Nothing but the forward sweep writes to the arrays, so an element is the same whenever it is read.
  bool dropCopies(Function &Reverse, size_t Number, FunctionAnalysisManager &FAM) {
    const auto &LI = FAM.getResult<LoopAnalysis>(Reverse);
    const auto &DT = FAM.getResult<DominatorTreeAnalysis>(Reverse);
    SmallVector<CallInst *> Caches;
    for (Instruction &I : instructions(Reverse))
      if (isCacheAllocation(&I) && isCallOf(&I, "adgen_kept_alloc"))
        Caches.push_back(cast<CallInst>(&I));
    bool Changed = false;
    for (CallInst *Cache : Caches)
      if (StoreInst *Store = onlyStoreTo(*Cache, LI))
        Changed |= dropCopy(*Cache, *Store, Number, LI, DT);
    return Changed;
  }

  bool dropCopy(CallInst &Cache, StoreInst &Store, size_t Number, const LoopInfo &LI, const DominatorTree &DT) {
    auto *Read = dyn_cast<LoadInst>(Store.getValueOperand());
    Value *Index = indexOf(Store.getPointerOperand());
    if (!Read || !Index || indexOf(Read->getPointerOperand()) != Index)
      return false;
    auto *From = cast<GetElementPtrInst>(Read->getPointerOperand());
    Type *Element = cast<GetElementPtrInst>(Store.getPointerOperand())->getSourceElementType();
    const auto *Of =
        find_if(Arrays, [&](const Array &Each) { return Each.Readings[Number].Load == From->getPointerOperand(); });
    SmallVector<LoadInst *> Readings = loadsFrom(Cache);
    auto MayRead = [&](const LoadInst *Load) {
      auto *Place = dyn_cast<GetElementPtrInst>(Load->getPointerOperand());
      return indexOf(Place) && Place->getSourceElementType() == Element &&
             DT.dominates(Of->Readings[Number].Load, Load) &&
             !isPotentiallyReachable(Of->Readings[Number].Release, Load, nullptr, &DT, &LI);
    };
    if (Of == Arrays.end() || !all_of(Readings, MayRead))
      return false;
    ADGEN_COUNT(NumCopies, Cache);
    for (LoadInst *Load : Readings) {
      IRBuilder<> B(Load);
      Value *Place = B.CreateGEP(From->getSourceElementType(), Of->Readings[Number].Load,
                                 indexOf(Load->getPointerOperand()), "", From->isInBounds());
      Load->replaceAllUsesWith(B.CreateAlignedLoad(Load->getType(), Place, Read->getAlign(), Load->getName()));
    }
    eraseWithUsers(Cache);
    return true;
  }

  static SmallVector<LoadInst *> loadsFrom(CallInst &Cache) {
    SmallVector<LoadInst *> Found;
    SmallSetVector<Instruction *, 8> Pointers;
    Pointers.insert(&Cache);
    for (unsigned I = 0; I < Pointers.size(); ++I)
      for (User *U : Pointers[I]->users())
        if (auto *Load = dyn_cast<LoadInst>(U))
          Found.push_back(Load);
        else if (isa<GetElementPtrInst, PHINode>(U))
          Pointers.insert(cast<Instruction>(U));
    return Found;
  }

  bool dropUnread() {
    bool Changed = false;
    erase_if(Arrays, [&](const Array &Each) {
      if (!Each.isUnread())
        return false;
      ADGEN_COUNT(NumUnread, *Each.Allocation);
      for (const Reading &Of : Each.Readings)
        eraseWithUsers(*Of.Load);
      eraseWithUsers(*Each.Allocation);
      return Changed = true;
    });
    return Changed;
  }

  // Of arrays that are allocated in one block of code, and given back in one, the first holds all.
  bool merge() {
    SmallVector<SmallVector<Array *>> Groups;
    for (Array &Each : Arrays) {
      auto *Found = find_if(Groups, [&](ArrayRef<Array *> Group) { return areBeside(*Group.front(), Each); });
      if (Found == Groups.end())
        Found = &Groups.emplace_back();
      Found->push_back(&Each);
    }
    bool Changed = false;
    for (SmallVector<Array *> &Group : Groups) {
      sort(Group, [](const Array *A, const Array *B) { return A->Allocation->comesBefore(B->Allocation); });
      CallInst *First = Group.front()->Allocation;
      erase_if(Group, [&](const Array *Each) {
        auto *Size = dyn_cast<Instruction>(Each->Allocation->getArgOperand(0));
        return Size && Size->getParent() == First->getParent() && !Size->comesBefore(First);
      });
      if (Group.size() > 1)
        mergeInto(*First, Group);
      Changed |= Group.size() > 1;
    }
    return Changed;
  }

  static bool areBeside(const Array &A, const Array &B) {
    return A.Allocation->getParent() == B.Allocation->getParent() && all_of(zip(A.Readings, B.Readings), [](auto Both) {
             return std::get<0>(Both).Release->getParent() == std::get<1>(Both).Release->getParent();
           });
  }

  static void mergeInto(CallInst &First, ArrayRef<Array *> Group) {
    IRBuilder<> B(&First);
    Type *Number = First.getArgOperand(0)->getType();
    Value *Bytes = ConstantInt::get(Number, 0);
    SmallVector<Value *> Offsets;
    for (const Array *Each : Group) {
      Offsets.push_back(Bytes);
      Value *Up = B.CreateAdd(Each->Allocation->getArgOperand(0), ConstantInt::get(Number, Alignment - 1));
      Bytes = B.CreateAdd(Bytes, B.CreateAnd(Up, ConstantInt::getSigned(Number, -int64_t(Alignment))));
    }
    First.setArgOperand(0, Bytes);
    for (auto [Each, Offset] : drop_begin(zip(Group, Offsets))) {
      ADGEN_COUNT(NumMerged, *Each->Allocation);
      IRBuilder<> There(Each->Allocation);
      Value *Place = There.CreateInBoundsGEP(There.getInt8Ty(), &First, Offset);
      Place->takeName(Each->Allocation);
      Each->Allocation->replaceAllUsesWith(Place);
      Each->Allocation->eraseFromParent();
      for (const Reading &Of : Each->Readings)
        Of.Release->eraseFromParent();
    }
  }

  // The runtime takes memory in the order of addresses, and a recursion is reversed from its end: what comes next lies
  // before the record, and before the arrays.
  bool fetchAhead(Function &Reverse, size_t Number) {
    auto IsWithin = [&](const User *U) { return isa<CallInst>(U) && cast<CallInst>(U)->getFunction() == &Reverse; };
    if (!isa<ConstantInt>(Record->getArgOperand(0)) || none_of(Reverse.users(), IsWithin))
      return false;
    Argument &Address = *Reverse.getArg(Reverse.arg_size() - 1);
    IRBuilder<> B(&Reverse.getEntryBlock(), Reverse.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    fetchBefore(Address, B);
    if (!Arrays.empty()) {
      LoadInst &First = *Arrays.front().Readings[Number].Load;
      B.SetInsertPoint(First.getNextNode());
      fetchBefore(First, B);
    }
    return true;
  }

  void fetchBefore(Value &Memory, IRBuilder<> &B) const {
    auto Bytes = int64_t(cast<ConstantInt>(Record->getArgOperand(0))->getZExtValue());
    Value *Place = B.CreateGEP(B.getInt8Ty(), &Memory, B.getInt64(-CallsAhead * Bytes));
    B.CreateIntrinsic(Intrinsic::prefetch, {Place->getType()}, {Place, B.getInt32(0), B.getInt32(3), B.getInt32(1)});
  }

  Function &Forward;
  ArrayRef<Function *> Sweeps; // reverse ones
  CallInst *Record = nullptr;
  MapVector<uint64_t, StoreInst *> Stores; // of the members, by their offsets
  SmallVector<Members, 2> Loads;           // of each reverse sweep
  SmallVector<Array> Arrays;
};

// Without the number that tells apart functions of one name, and what SizeTeams calls its forms.
StringRef withoutNumber(StringRef Name) {
  StringRef Rest = Name.rtrim("0123456789");
  return Rest.size() < Name.size() && Rest.ends_with(".") ? Rest.drop_back() : Name;
}

StringRef nameOf(StringRef Name) {
  Name.consume_back("_alone");
  return withoutNumber(Name);
}

// Where memory is kept on some ways alone, it is asked on these alone where the stack of the runtime ends.
bool markLate(Function &F, FunctionAnalysisManager &FAM) {
  CallInst *Mark = nullptr;
  SmallVector<CallInst *> Releases;
  SmallVector<BasicBlock *> Keeping;
  for (Instruction &I : instructions(F)) {
    if (isCallOf(&I, "adgen_kept_mark"))
      Mark = Mark ? nullptr : cast<CallInst>(&I);
    else if (isCallOf(&I, "adgen_kept_release"))
      Releases.push_back(cast<CallInst>(&I));
    else if (isCallOf(&I, "adgen_kept_alloc"))
      Keeping.push_back(I.getParent());
  }
  if (!Mark || Mark->getParent() != &F.getEntryBlock() || Keeping.empty())
    return false;
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  const auto &LI = FAM.getResult<LoopAnalysis>(F);
  BasicBlock *First = Keeping.front();
  for (BasicBlock *Block : Keeping)
    First = DT.findNearestCommonDominator(First, Block);
  while (LI.getLoopFor(First))
    First = DT.getNode(First)->getIDom()->getBlock();
  if (First == &F.getEntryBlock() || any_of(Releases, [&](CallInst *Call) { return Call->getArgOperand(0) != Mark; }))
    return false;
  IRBuilder<> B(&F.getEntryBlock(), F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  AllocaInst *Has = B.CreateAlloca(B.getInt1Ty()), *Where = B.CreateAlloca(Mark->getType());
  B.CreateStore(B.getFalse(), Has);
  B.CreateStore(Constant::getNullValue(Mark->getType()), Where);
  Mark->moveBefore(First->getFirstInsertionPt());
  B.SetInsertPoint(Mark->getNextNode());
  B.CreateStore(B.getTrue(), Has);
  B.CreateStore(Mark, Where);
  for (CallInst *Release : Releases) {
    B.SetInsertPoint(Release);
    Value *Asked = B.CreateLoad(B.getInt1Ty(), Has);
    Release->setArgOperand(0, B.CreateLoad(Mark->getType(), Where));
    Release->moveBefore(SplitBlockAndInsertIfThen(Asked, Release->getIterator(), false)->getIterator());
  }
  DominatorTree Now(F);
  PromoteMemToReg({Has, Where}, Now);
  return true;
}

} // namespace

ADGEN_DECLARE_PASS(PackTapes);

PreservedAnalyses PackTapes::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  MapVector<StringRef, std::pair<SmallVector<Function *, 1>, SmallVector<Function *, 2>>> Pairs;
  for (Function &F : M) {
    StringRef Name = F.getName();
    if (F.isDeclaration() || !F.hasLocalLinkage())
      continue;
    if (Name.consume_front(ForwardSweepPrefix))
      Pairs[nameOf(Name)].first.push_back(&F);
    else if (Name.consume_front(ReversePrefix) && any_of(F.args(), isTape))
      Pairs[nameOf(Name)].second.push_back(&F);
  }
  bool Changed = false;
  for (auto &[Name, Pair] : Pairs) {
    auto &[Forward, Reverse] = Pair;
    if (Forward.size() != 1 || Reverse.empty())
      continue;
    if (Tape Of(*Forward.front(), Reverse); Of.find() && Of.run(FAM)) {
      Changed = true;
      for (Function *F : Reverse)
        FAM.invalidate(*F, PreservedAnalyses::none());
    }
  }
  for (Function &F : M)
    if (!F.isDeclaration())
      Changed |= markLate(F, FAM);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
