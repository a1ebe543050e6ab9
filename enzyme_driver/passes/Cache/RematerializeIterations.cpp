// After Enzyme: an iteration that OutlineIterations has made a function of keeps nothing from the forward sweep of its
// loop. There the primal runs, and its forward sweep runs right before its reverse sweep, without what it writes to
// memory from outside:
//   tapes[i] = augmented_I(...)   ...   diffeI(..., tapes[i])    becomes    I(...)   ...   diffeI(...,
//   augmented_I(...))
// Left alone where Enzyme has not kept an argument for the reverse sweep, or gives memory that is read back before it.
#include "Analysis/EnzymeCaches.h"
#include "Analysis/Reachability.h"
#include "Analysis/UnderlyingObjects.h"
#include "Support/Allocations.h"
#include "Support/Iterations.h"
#include "Support/Pass.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

#define DEBUG_TYPE "adgen-rematerialize-iterations"

using namespace llvm;

STATISTIC(NumJoined, "Number of iterations whose sweeps are joined");

namespace adgen {
namespace {

SmallVector<CallInst *> callsTo(Function &F) {
  SmallVector<CallInst *> Calls;
  for (User *U : F.users()) {
    auto *Call = dyn_cast<CallInst>(U);
    if (!Call || Call->getCalledFunction() != &F)
      return {};
    Calls.push_back(Call);
  }
  return Calls;
}

SmallVector<Instruction *> effectsOf(Function &F) {
  SmallVector<Instruction *> Effects;
  for (Instruction &I : instructions(F))
    if (I.hasMetadata(EffectMark))
      Effects.push_back(&I);
  return Effects;
}

// Whether it is only an address at which effects happen.
bool isForEffects(const Value &Address) {
  return all_of(Address.users(), [&](const User *U) {
    auto *I = cast<Instruction>(U);
    return I->hasMetadata(EffectMark) || (isa<GetElementPtrInst>(I) && isForEffects(*I));
  });
}

class Sweeps {
public:
  explicit Sweeps(Function &Primal)
      : M(*Primal.getParent()), Primal(Primal), Forward(M.getFunction(("augmented_" + Primal.getName()).str())),
        Reverse(M.getFunction((ReversePrefix + Primal.getName()).str())) {}

  bool canBeJoined(const UnderlyingObjects &Memory) {
    if (!Forward || !Reverse || !fit() || !findArguments())
      return false;
    return effectsOf(Primal).size() == effectsOf(*Forward).size() && isThereStill(Memory);
  }

  void join() {
    for (CallInst *Call : callsTo(*Forward))
      runPrimal(*Call);
    for (Instruction *Effect : effectsOf(*Forward))
      Effect->eraseFromParent();
    unsigned Tape = Forward->arg_size();
    for (CallInst *Call : callsTo(*Reverse)) {
      SmallVector<Value *> Arguments(Call->arg_begin(), Call->arg_begin() + Tape);
      auto *Again = CallInst::Create(Forward, Arguments, "again", Call->getIterator());
      Again->setCallingConv(Forward->getCallingConv());
      Again->setDebugLoc(Call->getDebugLoc());
      Call->setArgOperand(Tape, Again);
    }
    markKept();
    forgetBetweenRuns(*Forward);
    forgetBetweenRuns(*Reverse);
  }

  // Joined or not, iterations are part of their loops again.
  void inlineAll() {
    for (Function *F : {&Primal, Forward, Reverse})
      if (F) {
        F->removeFnAttr(Attribute::NoInline);
        F->addFnAttr(Attribute::AlwaysInline);
      }
  }

private:
  // Whether the reverse sweep takes what the forward sweep takes, and then what that has kept.
  bool fit() const {
    unsigned Count = Forward->arg_size();
    if (Forward->getReturnType()->isVoidTy() || Reverse->arg_size() != Count + 1 || !Primal.getReturnType()->isVoidTy())
      return false;
    for (unsigned I = 0; I < Count; ++I)
      if (Forward->getArg(I)->getType() != Reverse->getArg(I)->getType())
        return false;
    return Reverse->getArg(Count)->getType() == Forward->getReturnType() && all_of(callsTo(*Forward), keepsAll) &&
           !callsTo(*Forward).empty() && !callsTo(*Reverse).empty() && all_of(callsTo(*Reverse), [&](CallInst *Call) {
             return all_of(drop_end(Call->args()), [&](const Use &U) {
               return !isa<UndefValue>(U.get()) || isForEffects(*Forward->getArg(Call->getArgOperandNo(&U)));
             });
           });
  }

  // Whether what the forward sweep returns is kept and nothing else is done with it.
  static bool keepsAll(const CallInst *Call) {
    return all_of(Call->users(), [&](const User *U) {
      auto *Store = dyn_cast<StoreInst>(U);
      return Store && Store->getValueOperand() == Call;
    });
  }

  // Where each argument of the primal is among those of the forward sweep: Enzyme puts shadows behind and names them
  // "NAME'".
  bool findArguments() {
    unsigned Next = 0;
    for (Argument &A : Primal.args()) {
      if (Next >= Forward->arg_size() || Forward->getArg(Next)->getName() != A.getName())
        return false;
      Places.push_back(Next++);
      if (Next < Forward->arg_size() && Forward->getArg(Next)->getName() == (A.getName() + "'").str())
        ++Next;
    }
    return Next == Forward->arg_size();
  }

  // Whether no memory that is read from outside is given back before the reverse sweep.
  bool isThereStill(const UnderlyingObjects &Memory) const {
    UnderlyingObjects::Set Read;
    for (Instruction &I : instructions(*Forward))
      if (const Value *Address = getLoadStorePointerOperand(&I))
        Read.insert_range(Memory.of(Address));
    for (Function &F : M) {
      bool EndsVariables =
          F.getIntrinsicID() == Intrinsic::lifetime_end || F.getIntrinsicID() == Intrinsic::lifetime_start;
      if (!isRelease(F) && !EndsVariables)
        continue;
      for (CallInst *Release : callsTo(F)) {
        if (isPart(*Release->getFunction()))
          continue;
        for (const Value *Object : Memory.of(Release->getArgOperand(0)))
          if (Read.contains(Object) && !isOwn(Object) &&
              any_of(callsTo(*Reverse), [&](CallInst *Call) { return mayFollow(*Release, *Call); }))
            return false;
      }
    }
    return true;
  }

  // Iterations themselves give back only what they have allocated.
  bool isPart(const Function &F) const { return &F == &Primal || &F == Forward || &F == Reverse; }

  // Whether it was allocated by the iteration itself.
  bool isOwn(const Value *Object) const {
    auto *I = dyn_cast_or_null<Instruction>(Object);
    return I && isPart(*I->getFunction());
  }

  // Whether all that an iteration stores outside goes to variables that nobody reads.
  bool isForNobody(const CallInst &Call) const {
    return all_of(effectsOf(Primal), [&](Instruction *Effect) {
      const Value *Address = getLoadStorePointerOperand(Effect);
      auto *Outside = dyn_cast_or_null<Argument>(Address ? getUnderlyingObject(Address) : nullptr);
      auto *Variable = Outside ? dyn_cast<AllocaInst>(Call.getArgOperand(Places[Outside->getArgNo()])) : nullptr;
      return Variable && all_of(Variable->users(), [&](const User *U) {
               auto *User = dyn_cast<CallInst>(U);
               return User && (User->getCalledFunction() == Forward || User->isLifetimeStartOrEnd());
             });
    });
  }

  void runPrimal(CallInst &Call) {
    if (!isForNobody(Call)) {
      SmallVector<Value *> Arguments;
      for (unsigned Place : Places)
        Arguments.push_back(Call.getArgOperand(Place));
      auto *Run = CallInst::Create(&Primal, Arguments, "", Call.getIterator());
      Run->setCallingConv(Primal.getCallingConv());
      Run->setDebugLoc(Call.getDebugLoc());
    }
    for (User *U : make_early_inc_range(Call.users()))
      cast<StoreInst>(U)->eraseFromParent();
    Call.eraseFromParent();
  }

  // What the forward sweep keeps is now taken and given back in one function, which ArenaAllocateCaches wants to know.
  void markKept() {
    auto Marked = [](Function &F, StringRef Name) {
      SmallVector<CallInst *> Calls;
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallInst>(&I);
            Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == Name)
          if (!isOfCache(I))
            Calls.push_back(Call);
      return Calls;
    };
    if (!Marked(Primal, "malloc").empty() || !Marked(Primal, "free").empty()) // which are whose is not known
      return;
    MDNode *Group = MDNode::getDistinct(M.getContext(), {});
    for (CallInst *Call : Marked(*Forward, "malloc"))
      Call->setMetadata(CacheAllocation, Group);
    for (CallInst *Call : Marked(*Reverse, "free"))
      Call->setMetadata(CacheRelease, Group);
  }

  // What a variable held in one iteration is nothing to the next; once inlined into the loop, that would not show.
  static void forgetBetweenRuns(Function &F) {
    for (Instruction &I : make_early_inc_range(F.getEntryBlock()))
      if (auto *Variable = dyn_cast<AllocaInst>(&I);
          Variable && !Variable->isArrayAllocation() && !Variable->getAllocatedType()->isArrayTy())
        new StoreInst(PoisonValue::get(Variable->getAllocatedType()), Variable, std::next(I.getIterator()));
  }

  Module &M;
  Function &Primal, *Forward, *Reverse;
  SmallVector<unsigned> Places;
};

} // namespace

ADGEN_DECLARE_PASS(RematerializeIterations);

PreservedAnalyses RematerializeIterations::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Function *> Iterations;
  for (Function &F : M)
    if (F.getName().starts_with(IterationPrefix) && !F.isDeclaration())
      Iterations.push_back(&F);
  if (Iterations.empty())
    return PreservedAnalyses::all();
  for (Function &F : M)
    if (isRelease(F))
      F.addParamAttr(0, Attribute::getWithCaptureInfo(M.getContext(), CaptureInfo::none()));
  const UnderlyingObjects Memory(M);
  for (Function *F : Iterations) {
    Sweeps Of(*F);
    if (Of.canBeJoined(Memory)) {
      ADGEN_COUNT(NumJoined, F->getName());
      Of.join();
    }
    Of.inlineAll();
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
