// After Enzyme, in C++: what the forward sweep of a function keeps is a record, which the reverse sweep takes by value.
// Whoever calls it reads the record where the primal's call stood, gives its memory back, keeps a copy for the reverse
// sweep and hands over every member: with the records of what is called in turn these are thousands of numbers for each
// call of a recursion. The reverse sweep takes the record's address, and its memory is given back behind that:
//   r = *tape; free(tape); ... reverse(x, r)   becomes   ... reverse(x, tape); free(tape)
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#define DEBUG_TYPE "adgen-pass-tapes-by-pointer"

using namespace llvm;

STATISTIC(NumPassed, "Number of reverse sweeps that take the address of what was kept");
STATISTIC(NumLeft, "Number of records that stay where they are until the reverse sweep");

namespace adgen {
namespace {

// Enzyme's mark of a record that is read where the primal's call stood.
constexpr StringLiteral EarlyMark = "enzyme_mustcache";

// What the call hands over last, where it is the call of a reverse sweep that takes a record by value.
Use *recordOf(Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && !Call->arg_empty() && isa<StructType>(Call->getArgOperand(Call->arg_size() - 1)->getType())
             ? &Call->getArgOperandUse(Call->arg_size() - 1)
             : nullptr;
}

bool takesRecord(const Function &F) {
  if (F.isDeclaration() || !F.hasLocalLinkage() || F.isVarArg() || F.arg_empty() ||
      !F.getName().starts_with(ReversePrefix) || F.getName().contains(IterationPrefix) ||
      F.getName().contains(RegionPrefix)) // which each thread calls once
    return false;
  const Argument &Last = *F.getArg(F.arg_size() - 1);
  return isa<StructType>(Last.getType()) && Last.getName().starts_with("tapeArg") && all_of(F.uses(), [](const Use &U) {
           auto *Call = dyn_cast<CallInst>(U.getUser());
           return Call && Call->isCallee(&U) && !Call->isMustTailCall();
         });
}

// A record that is read and given back at once, and handed to a reverse sweep, maybe out of a place of its own.
class EarlyRecord {
public:
  EarlyRecord(LoadInst &Read, const LoopInfo &Loops) : Read(Read), Loops(Loops) {}

  bool find(const SmallPtrSetImpl<const Function *> &Sweeps) {
    Free = dyn_cast_or_null<CallInst>(Read.getNextNode());
    if (!Free || !isCallOf(*Free, "free") || Free->getArgOperand(0) != Read.getPointerOperand() || !Read.hasOneUse())
      return false;
    Instruction *User = Read.user_back();
    Kept = dyn_cast<StoreInst>(User);
    if (Kept && Kept->getValueOperand() == &Read) {
      Again = onlyReadingOf(*Kept);
      User = Again && Again->hasOneUse() ? Again->user_back() : nullptr;
    }
    Handed = User ? recordOf(*User) : nullptr;
    if (!Handed || !Sweeps.contains(cast<CallInst>(User)->getCalledFunction()))
      return false;
    return Again ? Handed->get() == Again : Loops.getLoopFor(User->getParent()) == Loops.getLoopFor(Read.getParent());
  }

  // The address is kept in place of the record.
  void leave() {
    auto *Call = cast<CallInst>(Handed->getUser());
    Value *Tape = Read.getPointerOperand();
    IRBuilder<> B(Call);
    if (Again) {
      IRBuilder<> Early(&Read);
      Early.CreateIntrinsic(Intrinsic::prefetch, {Tape->getType()},
                            {Tape, Early.getInt32(0), Early.getInt32(3), Early.getInt32(1)});
      Kept->setOperand(0, Tape);
      Kept->setMetadata(LLVMContext::MD_invariant_group, nullptr);
      Tape = B.CreateAlignedLoad(Tape->getType(), Again->getPointerOperand(), Again->getAlign(), "tape");
    }
    Handed->set(B.CreateAlignedLoad(Read.getType(), Tape, Read.getAlign(), "record"));
    auto *After = cast<CallInst>(Free->clone());
    After->setArgOperand(0, Tape);
    After->insertAfter(Call->getIterator());
    Free->eraseFromParent();
    if (Again)
      Again->eraseFromParent();
    Read.eraseFromParent();
    ADGEN_COUNT(NumLeft, *After);
  }

private:
  // Enzyme keeps a value in a variable, or in elements of the array whose address a variable holds. All that is done
  // with them: the value is stored once, and read in one place.
  LoadInst *onlyReadingOf(const StoreInst &Store) const {
    const Value *Address = Store.getPointerOperand()->stripInBoundsOffsets();
    if (auto *Array = dyn_cast<LoadInst>(Address))
      Address = Array->getPointerOperand();
    auto *Variable = dyn_cast<AllocaInst>(Address);
    SmallSetVector<const Value *, 8> Addresses;
    if (Variable)
      Addresses.insert(Variable);
    LoadInst *Found = nullptr;
    for (unsigned I = 0; I < Addresses.size(); ++I)
      for (const User *U : Addresses[I]->users()) {
        auto *Load = dyn_cast<LoadInst>(U);
        if (isa<GetElementPtrInst>(U) || (Load && Load->getType()->isPointerTy() && Addresses[I] == Variable))
          Addresses.insert(U);
        else if (Load && Load->getType() == Store.getValueOperand()->getType() && !Found)
          Found = const_cast<LoadInst *>(Load);
        else if (U != &Store && !holdsArray(*U, Addresses[I], *Variable))
          return nullptr;
      }
    return Found;
  }

  // What is allocated for the values is stored in the variable, and given back.
  static bool holdsArray(const User &U, const Value *Address, const AllocaInst &Variable) {
    if (auto *Store = dyn_cast<StoreInst>(&U))
      return Address == &Variable && Store->getPointerOperand() == &Variable &&
             isa<CallInst>(Store->getValueOperand()) && Store->getValueOperand()->hasOneUse() &&
             isCallOf(*cast<Instruction>(Store->getValueOperand()), "malloc");
    return isCallOf(*cast<Instruction>(&U), "free");
  }

  static bool isCallOf(const Instruction &I, StringRef Name) {
    auto *Call = dyn_cast<CallInst>(&I);
    return Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == Name;
  }

  LoadInst &Read;
  const LoopInfo &Loops;
  CallInst *Free = nullptr;
  StoreInst *Kept = nullptr;
  LoadInst *Again = nullptr;
  Use *Handed = nullptr;
};

class Passing {
public:
  explicit Passing(Module &M) {
    for (Function &F : M)
      if (takesRecord(F))
        Sweeps.push_back(&F);
  }

  bool run(FunctionAnalysisManager &FAM, Module &M) {
    const SmallPtrSet<const Function *, 8> Known(Sweeps.begin(), Sweeps.end());
    for (Function &F : M) {
      if (F.isDeclaration())
        continue;
      const LoopInfo &Loops = FAM.getResult<LoopAnalysis>(F);
      for (Instruction &I : make_early_inc_range(instructions(F)))
        if (I.hasMetadata(EarlyMark) && isa<LoadInst>(I) && isa<StructType>(I.getType()))
          Early.push_back(cast<LoadInst>(&I));
      for (LoadInst *Read : Early)
        if (EarlyRecord Record(*Read, Loops); Record.find(Known))
          Record.leave();
      Early.clear();
    }
    SmallVector<std::pair<Function *, Function *>> Made;
    for (Function *F : Sweeps)
      Made.emplace_back(F, withPointer(*F));
    for (auto [Old, New] : Made)
      for (User *U : to_vector(Old->users()))
        callWithPointer(*cast<CallInst>(U), *New);
    for (auto [Old, New] : Made) {
      New->takeName(Old);
      Old->eraseFromParent();
    }
    return !Sweeps.empty();
  }

private:
  // The same function, which reads the members where they were taken out of the record.
  Function *withPointer(Function &F) {
    Argument &Record = *F.getArg(F.arg_size() - 1);
    LLVMContext &C = F.getContext();
    SmallVector<Type *> Types(F.getFunctionType()->params());
    Types.back() = PointerType::getUnqual(C);
    auto *New =
        Function::Create(FunctionType::get(F.getReturnType(), Types, false), F.getLinkage(), F.getAddressSpace());
    F.getParent()->getFunctionList().insert(F.getIterator(), New);
    New->copyAttributesFrom(&F);
    New->copyMetadata(&F, 0);
    F.setSubprogram(nullptr);
    const unsigned Last = F.arg_size() - 1;
    New->removeParamAttrs(Last, AttributeMask(New->getAttributes().getParamAttrs(Last)));
    for (Attribute::AttrKind Kind : {Attribute::NoAlias, Attribute::ReadOnly, Attribute::NonNull})
      New->addParamAttr(Last, Kind);
    New->addParamAttr(Last, Attribute::getWithCaptureInfo(C, CaptureInfo::none()));
    New->addDereferenceableParamAttr(Last, F.getDataLayout().getTypeStoreSize(Record.getType()));
    New->splice(New->begin(), &F);
    for (auto [From, To] : zip(F.args(), New->args())) {
      To.setName(From.getName());
      if (&From != &Record)
        From.replaceAllUsesWith(&To);
    }
    readMembers(Record, *New->getArg(Last));
    ADGEN_COUNT(NumPassed, F.getName());
    return New;
  }

  void readMembers(Argument &Record, Argument &Address) {
    for (User *U : make_early_inc_range(Record.users())) {
      auto *Member = dyn_cast<ExtractValueInst>(U);
      if (!Member)
        continue;
      IRBuilder<> B(Member);
      SmallVector<Value *> Indices{B.getInt32(0)};
      for (unsigned Index : Member->indices())
        Indices.push_back(B.getInt32(Index));
      Value *Place = B.CreateInBoundsGEP(Record.getType(), &Address, Indices);
      auto *Read = B.CreateLoad(Member->getType(), Place);
      Read->takeName(Member);
      InTape.insert(Read);
      Member->replaceAllUsesWith(Read);
      Member->eraseFromParent();
    }
    if (Record.use_empty())
      return;
    IRBuilder<> B(&*Address.getParent()->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    auto *Whole = B.CreateLoad(Record.getType(), &Address, "record");
    InTape.insert(Whole);
    Record.replaceAllUsesWith(Whole);
  }

  void callWithPointer(CallInst &Call, Function &New) {
    SmallVector<Value *> Arguments(Call.args());
    Arguments.back() = addressOf(Call);
    IRBuilder<> B(&Call);
    CallInst *With = B.CreateCall(&New, Arguments);
    With->setCallingConv(Call.getCallingConv());
    With->setAttributes(Call.getAttributes().removeParamAttributes(Call.getContext(), Call.arg_size() - 1));
    With->setDebugLoc(Call.getDebugLoc());
    With->takeName(&Call);
    Call.replaceAllUsesWith(With);
    Call.eraseFromParent();
  }

  // Where the record lies that the call is handed. A tape is not written again.
  Value *addressOf(CallInst &Call) {
    Value *Record = Call.getArgOperand(Call.arg_size() - 1);
    auto *Load = dyn_cast<LoadInst>(Record);
    if (Load && (InTape.contains(Load) || isStillThere(*Load, Call)))
      return Load->getPointerOperand();
    IRBuilder<> B(&*Call.getFunction()->getEntryBlock().begin());
    AllocaInst *Own = B.CreateAlloca(Record->getType(), nullptr, "record");
    B.SetInsertPoint(&Call);
    B.CreateStore(Record, Own);
    return Own;
  }

  static bool isStillThere(const LoadInst &Load, const CallInst &Call) {
    return Load.getParent() == Call.getParent() && none_of(make_range(Load.getIterator(), Call.getIterator()),
                                                           [](const Instruction &I) { return I.mayWriteToMemory(); });
  }

  SmallVector<Function *> Sweeps;
  SmallVector<LoadInst *> Early;
  SmallPtrSet<const LoadInst *, 16> InTape;
};

} // namespace

ADGEN_DECLARE_PASS(PassTapesByPointer);

PreservedAnalyses PassTapesByPointer::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  return Passing(M).run(FAM, M) ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace adgen
