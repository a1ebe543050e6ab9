// Where a local array is only indexed by constants once its loops are unrolled, SROA makes a variable of each element,
// and what was stored at a computed place (the last store of a shift in an insertion sort) is stored through a phi of
// these variables' addresses. Enzyme's activity analysis loses what is stored that way: a wrong gradient without a
// word, in reverse and forward mode. Here such an access becomes one of each variable under a select, and the variables
// become values.
#include "Support/Pass.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostVariables = 64;

bool isChoice(const Value *V) { return V->getType()->isPointerTy() && isa<PHINode, SelectInst>(V); }

// The pointers that a phi or a select chooses from.
SmallVector<Value *> chosenFrom(Instruction &Choice) {
  if (auto *Phi = dyn_cast<PHINode>(&Choice))
    return SmallVector<Value *>(Phi->incoming_values());
  auto &Select = cast<SelectInst>(Choice);
  return {Select.getTrueValue(), Select.getFalseValue()};
}

// Local variables whose addresses meet in phis and selects, and all that is done with them.
struct Web {
  SmallSetVector<AllocaInst *, 8> Variables;
  SmallSetVector<Instruction *, 8> Choices;
  SmallVector<Instruction *> Accesses;
  SmallVector<LifetimeIntrinsic *> Lifetimes;
  bool IsUnderstood = true;
  Type *Held = nullptr; // what each variable holds

  explicit Web(AllocaInst &First) {
    add(First);
    for (unsigned Next = 0; Next < Pointers.size(); ++Next)
      for (User *U : Pointers[Next]->users())
        follow(*cast<Instruction>(U), *Pointers[Next]);
    IsUnderstood &= Held && Variables.size() <= MostVariables && all_of(Variables, [&](const AllocaInst *A) {
                      std::optional<TypeSize> Size = A->getAllocationSize(A->getDataLayout());
                      return A->isStaticAlloca() && Size && *Size == A->getDataLayout().getTypeStoreSize(Held);
                    });
  }

private:
  void add(Value &Pointer) {
    if (!Seen.insert(&Pointer).second)
      return;
    if (auto *Variable = dyn_cast<AllocaInst>(&Pointer))
      Variables.insert(Variable);
    else if (isChoice(&Pointer))
      addChoice(cast<Instruction>(Pointer));
    else
      IsUnderstood &= isa<UndefValue>(Pointer);
    if (isa<Instruction>(Pointer))
      Pointers.push_back(&Pointer);
  }

  void addChoice(Instruction &Choice) {
    Choices.insert(&Choice);
    for (Value *From : chosenFrom(Choice))
      add(*From);
  }

  void follow(Instruction &User, const Value &Pointer) {
    if (isChoice(&User))
      return add(User);
    if (auto *Lifetime = dyn_cast<LifetimeIntrinsic>(&User))
      return Lifetimes.push_back(Lifetime);
    auto *Store = dyn_cast<StoreInst>(&User);
    bool Plain = (Store && Store->isSimple() && Store->getValueOperand() != &Pointer) ||
                 (isa<LoadInst>(User) && cast<LoadInst>(User).isSimple());
    if (Plain) {
      Type *Accessed = getLoadStoreType(&User);
      Held = Held ? Held : Accessed;
      IsUnderstood &= Held == Accessed || CastInst::isBitCastable(Accessed, Held);
      Accesses.push_back(&User);
    }
    IsUnderstood &= Plain;
  }

  SmallVector<Value *> Pointers;
  SmallPtrSet<const Value *, 8> Seen;
};

// The choices of a web as numbers of its variables.
class Numbers {
public:
  explicit Numbers(const Web &W) : W(W) {
    Type *Number = Type::getInt32Ty(W.Choices.front()->getContext());
    for (Instruction *Choice : W.Choices)
      if (auto *Phi = dyn_cast<PHINode>(Choice))
        Made[Phi] =
            PHINode::Create(Number, Phi->getNumIncomingValues(), Phi->getName() + ".number", Phi->getIterator());
    for (Instruction *Choice : W.Choices)
      of(*Choice);
    for (auto [Choice, N] : Made)
      if (auto *Phi = dyn_cast<PHINode>(Choice))
        for (auto [From, Way] : zip(Phi->incoming_values(), Phi->blocks()))
          cast<PHINode>(N)->addIncoming(of(*From), Way);
  }

  Value *of(Value &Pointer) {
    IntegerType *Number = Type::getInt32Ty(Pointer.getContext());
    if (auto *Variable = dyn_cast<AllocaInst>(&Pointer))
      return ConstantInt::get(Number, find(W.Variables, Variable) - W.Variables.begin());
    if (isa<UndefValue>(Pointer))
      return ConstantInt::get(Number, 0);
    if (Value *Known = Made.lookup(cast<Instruction>(&Pointer)))
      return Known;
    auto &Select = cast<SelectInst>(Pointer);
    Value *Yes = of(*Select.getTrueValue()), *No = of(*Select.getFalseValue());
    Value *N = IRBuilder<>(&Select).CreateSelect(Select.getCondition(), Yes, No, Select.getName() + ".number");
    Made[&Select] = N;
    return N;
  }

  // The variables that a choice may lead to.
  SmallSetVector<AllocaInst *, 8> reachedBy(Instruction &Choice) const {
    SmallSetVector<AllocaInst *, 8> Reached;
    SmallSetVector<Instruction *, 8> Work;
    Work.insert(&Choice);
    for (unsigned Next = 0; Next < Work.size(); ++Next)
      for (Value *From : chosenFrom(*Work[Next]))
        if (auto *Variable = dyn_cast<AllocaInst>(From))
          Reached.insert(Variable);
        else if (!isa<UndefValue>(From))
          Work.insert(cast<Instruction>(From));
    return Reached;
  }

private:
  const Web &W;
  MapVector<Instruction *, Value *> Made;
};

class Lowering {
public:
  explicit Lowering(Web &W) : W(W), Number(W) {}

  void run() {
    for (LifetimeIntrinsic *Lifetime : W.Lifetimes)
      begin(*Lifetime);
    for (AllocaInst *Variable :
         W.Variables) // what is read before it is written, and not used, has a value all the same
      IRBuilder<>(Variable->getNextNode()).CreateStore(Constant::getNullValue(W.Held), Variable);
    for (Instruction *Access : W.Accesses) {
      auto *Load = dyn_cast<LoadInst>(Access);
      Load ? lower(*Load) : lower(*cast<StoreInst>(Access));
      Access->eraseFromParent();
    }
    for (Instruction *Choice : W.Choices)
      Choice->replaceAllUsesWith(PoisonValue::get(Choice->getType()));
    for (Instruction *Choice : W.Choices)
      Choice->eraseFromParent();
  }

private:
  void begin(LifetimeIntrinsic &Lifetime) {
    if (Lifetime.getIntrinsicID() == Intrinsic::lifetime_start)
      IRBuilder<>(&Lifetime).CreateStore(Constant::getNullValue(W.Held), Lifetime.getArgOperand(0));
    Lifetime.eraseFromParent();
  }

  void lower(LoadInst &Load) {
    IRBuilder<> B(&Load);
    Value *Pointer = Load.getPointerOperand(), *Read = nullptr;
    if (isa<AllocaInst>(Pointer))
      Read = B.CreateLoad(W.Held, Pointer);
    else
      for (AllocaInst *Variable : Number.reachedBy(*cast<Instruction>(Pointer))) {
        Value *Each = B.CreateLoad(W.Held, Variable);
        Read = Read ? B.CreateSelect(leadsTo(B, *Pointer, *Variable), Each, Read) : Each;
      }
    Load.replaceAllUsesWith(Read ? B.CreateBitCast(Read, Load.getType()) : PoisonValue::get(Load.getType()));
  }

  void lower(StoreInst &Store) {
    IRBuilder<> B(&Store);
    Value *Pointer = Store.getPointerOperand(), *New = B.CreateBitCast(Store.getValueOperand(), W.Held);
    if (isa<AllocaInst>(Pointer)) {
      B.CreateStore(New, Pointer);
      return;
    }
    for (AllocaInst *Variable : Number.reachedBy(*cast<Instruction>(Pointer)))
      B.CreateStore(B.CreateSelect(leadsTo(B, *Pointer, *Variable), New, B.CreateLoad(W.Held, Variable)), Variable);
  }

  Value *leadsTo(IRBuilder<> &B, Value &Pointer, AllocaInst &Variable) {
    return B.CreateICmpEQ(Number.of(Pointer), Number.of(Variable));
  }

  Web &W;
  Numbers Number;
};

// A variable of the type that all accesses are of by now, where it was a struct of that only.
AllocaInst &asHeld(AllocaInst &Variable, Type &Held) {
  if (Variable.getAllocatedType() == &Held)
    return Variable;
  AllocaInst *Same = IRBuilder<>(&Variable).CreateAlloca(&Held, Variable.getAddressSpace());
  Same->takeName(&Variable);
  Variable.replaceAllUsesWith(Same);
  Variable.eraseFromParent();
  return *Same;
}

void lowerIn(Function &F, FunctionAnalysisManager &FAM) {
  SmallPtrSet<const AllocaInst *, 8> Known;
  SmallVector<AllocaInst *> All, Promoted;
  for (Instruction &I : instructions(F))
    if (auto *Variable = dyn_cast<AllocaInst>(&I))
      All.push_back(Variable);
  for (AllocaInst *First : All) {
    if (Known.contains(First))
      continue;
    Web W(*First);
    Known.insert_range(W.Variables);
    if (!W.IsUnderstood || W.Choices.empty())
      continue;
    Lowering(W).run();
    for (AllocaInst *Variable : W.Variables)
      Promoted.push_back(&asHeld(*Variable, *W.Held));
  }
  if (!Promoted.empty())
    PromoteMemToReg(Promoted, FAM.getResult<DominatorTreeAnalysis>(F), &FAM.getResult<AssumptionAnalysis>(F));
}

} // namespace

ADGEN_DECLARE_PASS(LowerPointerPhis);

PreservedAnalyses LowerPointerPhis::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (!F.isDeclaration())
      lowerIn(F, FAM);
  return PreservedAnalyses::none();
}

} // namespace adgen
