// Calls through pointers become calls of the functions that the pointer can hold: pointers in local variables and
// tables, virtual functions of objects that the kernel makes. A function whose address is taken gets a number instead,
// and a call is a choice among the functions of its type. All are then inlined, and Enzyme sees no pointer. A pointer
// that comes from outside, through a parameter, could hold the address of anything; its calls stay and are refused by
// their places.
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace adgen {
namespace {

constexpr uint64_t Step = 16; // between numbers: pointers to members use the lowest bits
constexpr size_t MostTargets = 64;

using Calls = SmallVector<CallInst *>;

enum class Origin {
  Own,     // only what the module itself has put there
  Foreign, // perhaps what comes from outside
  Unknown  // what a caller hands over that is not inlined yet
};

class Search {
public:
  Origin originOf(Value *Pointer) {
    if (isOwn(Pointer))
      return Origin::Own;
    return HandedOver ? Origin::Unknown : Origin::Foreign;
  }

private:
  bool isOwn(Value *Pointer) {
    Work.push_back(Pointer);
    while (!Work.empty()) {
      Value *V = Work.pop_back_val();
      if (isa<Constant>(V) || !Seen.insert(V).second)
        continue;
      if (auto *Handed = dyn_cast<Argument>(V); Handed && followCallers(*Handed))
        continue;
      auto *I = dyn_cast<Instruction>(V);
      if (I && isMadeHere(*I)) {
        if (!followStores(*I, true))
          return false;
        continue;
      }
      if (!I || isa<CallBase>(I))
        return false;
      if (auto *Load = dyn_cast<LoadInst>(I)) {
        if (!followLoad(*Load, V == Pointer))
          return false;
      } else if (auto *Select = dyn_cast<SelectInst>(I)) {
        append_range(Work, ArrayRef<Value *>{Select->getTrueValue(), Select->getFalseValue()});
      } else if (auto *Address = dyn_cast<GetElementPtrInst>(I)) {
        Work.push_back(Address->getPointerOperand());
      } else if (!isa<AllocaInst>(I)) {
        append_range(Work, I->operand_values());
      }
    }
    return true;
  }

  // A function that is still there when others are inlined calls itself, or is called through a pointer.
  bool followCallers(const Argument &Handed) {
    const Function &F = *Handed.getParent();
    if (isKernel(F))
      return false;
    SmallVector<Value *> Given;
    for (const Use &U : F.uses()) {
      auto *Call = dyn_cast<CallBase>(U.getUser());
      if (!Call || !Call->isCallee(&U) || Call->getFunctionType() != F.getFunctionType()) {
        HandedOver = true;
        return false;
      }
      Given.push_back(Call->getArgOperand(Handed.getArgNo()));
    }
    append_range(Work, Given);
    return true;
  }

  // What other kernels and the host leave behind a pointer in a variable is not known.
  bool followLoad(LoadInst &Load, bool IsFunction) {
    SmallVector<const Value *> Objects;
    getUnderlyingObjects(Load.getPointerOperand(), Objects, nullptr, /*MaxLookup=*/0);
    return all_of(Objects, [&](const Value *Object) {
      if (auto *Global = dyn_cast<GlobalVariable>(Object); Global && !isMadeHere(*Global))
        return Global->hasInitializer() && (IsFunction || Global->isConstant());
      if (isMadeHere(*Object))
        return followStores(*const_cast<Value *>(Object));
      Work.push_back(const_cast<Value *>(Object));
      return true;
    });
  }

  // Memory that nobody else has written to: variables of a thread, of a block, and what a kernel allocates.
  static bool isMadeHere(const Value &Object) {
    auto *Global = dyn_cast<GlobalVariable>(&Object);
    auto *Call = dyn_cast<CallBase>(&Object);
    return isa<AllocaInst>(Object) || (Global && Global->getAddressSpace() == SharedSpace) ||
           (Call && Call->getCalledFunction() && Call->getCalledFunction()->getName() == "malloc");
  }

  bool followStores(Value &Address, bool Known = false) {
    if (!Seen.insert(&Address).second && !Known)
      return true;
    return all_of(Address.users(), [&](User *U) {
      if (auto *Store = dyn_cast<StoreInst>(U)) {
        if (!Store->getValueOperand()->getType()->isFPOrFPVectorTy())
          Work.push_back(Store->getValueOperand());
        return true;
      }
      if (auto *Copy = dyn_cast<MemTransferInst>(U))
        return isa<AllocaInst, GlobalVariable>(getUnderlyingObject(Copy->getRawSource(), /*MaxLookup=*/0));
      if (isa<GEPOperator, AddrSpaceCastOperator, PHINode, SelectInst>(U))
        return followStores(*U);
      auto *Call = dyn_cast<CallInst>(U); // a virtual function leaves the object what it is
      return isa<LoadInst, IntrinsicInst, ICmpInst>(U) || (Call && (Call->isIndirectCall() || frees(*Call)));
    });
  }

  static bool frees(const CallInst &Call) {
    return Call.getCalledFunction() && Call.getCalledFunction()->getName() == "free";
  }

  SmallVector<Value *> Work;
  SmallPtrSet<Value *, 16> Seen;
  bool HandedOver = false;
};

// All calls through own pointers, by the type of what they call; types of which one pointer is unknown have to wait.
MapVector<FunctionType *, Calls> ownCalls(Module &M) {
  MapVector<FunctionType *, Calls> Found;
  SmallPtrSet<FunctionType *, 4> Waiting;
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallInst>(&I);
      if (!Call || !Call->isIndirectCall())
        continue;
      Origin From = Search().originOf(Call->getCalledOperand());
      if (From == Origin::Own)
        Found[Call->getFunctionType()].push_back(Call);
      if (From == Origin::Unknown)
        Waiting.insert(Call->getFunctionType());
    }
  Found.remove_if([&](const auto &Each) { return Waiting.contains(Each.first); });
  return Found;
}

SmallVector<Function *> addressedFunctions(Module &M, FunctionType *Type) {
  SmallVector<Function *> Found;
  for (Function &F : M)
    if (!F.isDeclaration() && !isKernel(F) && F.getFunctionType() == Type && F.hasAddressTaken())
      Found.push_back(&F);
  return Found;
}

// Direct calls go to a new function with the old one's body; whatever else refers to the old one gets the number.
Function *numbered(Function &Old, uint64_t Number) {
  auto *New =
      Function::Create(Old.getFunctionType(), GlobalValue::ExternalLinkage, Old.getAddressSpace(), "", Old.getParent());
  New->takeName(&Old);
  New->copyAttributesFrom(&Old);
  New->splice(New->begin(), &Old);
  New->setSubprogram(Old.getSubprogram());
  Old.setSubprogram(nullptr);
  for (auto [From, To] : zip(Old.args(), New->args())) {
    To.takeName(&From);
    From.replaceAllUsesWith(&To);
  }
  for (User *U : make_early_inc_range(Old.users()))
    if (auto *Call = dyn_cast<CallBase>(U); Call && Call->getCalledOperand() == &Old)
      Call->setCalledFunction(New);
  auto *Word = ConstantInt::get(Type::getInt64Ty(Old.getContext()), Number);
  Old.replaceAllUsesWith(ConstantExpr::getIntToPtr(Word, Old.getType()));
  Old.eraseFromParent();
  New->setLinkage(GlobalValue::InternalLinkage);
  New->setComdat(nullptr);
  return New;
}

// Of the function that a pointer holds; what is read from memory is read as a number.
Value *numberIn(Value *Pointer, IRBuilder<> &B) {
  auto *Load = dyn_cast<LoadInst>(Pointer);
  if (!Load)
    return B.CreatePtrToInt(Pointer, B.getInt64Ty());
  IRBuilder<> At(Load);
  return At.CreateAlignedLoad(B.getInt64Ty(), Load->getPointerOperand(), Load->getAlign(), Load->isVolatile());
}

// switch (pointer) { case number: result = function(...); }
void choose(CallInst &Call, ArrayRef<Function *> Targets, ArrayRef<ConstantInt *> Numbers) {
  BasicBlock *Head = Call.getParent(), *Tail = Head->splitBasicBlock(&Call, "called");
  Function &F = *Head->getParent();
  auto *Nowhere = BasicBlock::Create(F.getContext(), "nowhere", &F, Tail);
  new UnreachableInst(F.getContext(), Nowhere);
  Head->getTerminator()->eraseFromParent();
  IRBuilder<> B(Head);
  B.SetCurrentDebugLocation(Call.getDebugLoc());
  SwitchInst *Choice = B.CreateSwitch(numberIn(Call.getCalledOperand(), B), Nowhere, Targets.size());
  PHINode *Result =
      Call.getType()->isVoidTy() ? nullptr : PHINode::Create(Call.getType(), Targets.size(), "", Tail->begin());
  for (auto [Target, Number] : zip(Targets, Numbers)) {
    auto *Case = BasicBlock::Create(F.getContext(), "case", &F, Tail);
    Choice->addCase(Number, Case);
    auto *Direct = cast<CallInst>(Call.clone());
    Direct->insertInto(Case, Case->end());
    Direct->setCalledFunction(Target);
    BranchInst::Create(Tail, Case);
    if (Result)
      Result->addIncoming(Direct, Case);
  }
  if (Result)
    Call.replaceAllUsesWith(Result);
  Call.eraseFromParent();
}

// Tables of virtual functions and what describes a class to the language: nobody outside the module asks for them.
void hideTables(Module &M) {
  for (GlobalVariable &Global : M.globals())
    if (StringRef Name = Global.getName();
        Name.starts_with("_ZTV") || Name.starts_with("_ZTI") || Name.starts_with("_ZTS"))
      if (Global.hasInitializer()) {
        Global.setLinkage(GlobalValue::InternalLinkage);
        Global.setComdat(nullptr);
      }
}

// A pointer to a member function is a pair, and a pair that is chosen among several hides that none is virtual.
void chooseParts(Function &F) {
  SmallVector<ExtractValueInst *> Work;
  for (Instruction &I : instructions(F))
    if (auto *Part = dyn_cast<ExtractValueInst>(&I))
      Work.push_back(Part);
  while (!Work.empty()) {
    ExtractValueInst *Part = Work.pop_back_val();
    auto *Select = dyn_cast<SelectInst>(Part->getAggregateOperand());
    if (!Select)
      continue;
    IRBuilder<> B(Part);
    auto Of = [&](Value *Pair) {
      Value *Each = B.CreateExtractValue(Pair, Part->getIndices());
      if (auto *Extracted = dyn_cast<ExtractValueInst>(Each))
        Work.push_back(Extracted);
      return Each;
    };
    Value *True = Of(Select->getTrueValue()), *False = Of(Select->getFalseValue());
    Part->replaceAllUsesWith(B.CreateSelect(Select->getCondition(), True, False));
    Part->eraseFromParent();
  }
}

bool holdsEvenWords(const Constant &C) {
  if (auto *Number = dyn_cast<ConstantInt>(&C))
    return !Number->getValue()[0];
  if (isa<Function, ConstantPointerNull, ConstantAggregateZero>(C))
    return true;
  auto *Cast = dyn_cast<ConstantExpr>(&C);
  bool HasParts = isa<ConstantAggregate>(C) || (Cast && Cast->isCast());
  return HasParts && all_of(C.operand_values(), [](const Value *V) { return holdsEvenWords(*cast<Constant>(V)); });
}

bool holdsFunctions(const Constant &C) {
  return isa<Function>(C) ||
         any_of(C.operand_values(), [](const Value *V) { return holdsFunctions(*cast<Constant>(V)); });
}

// A table that has only addresses of functions and even numbers put into it; other numbers may be changed by the host.
bool isEvenTable(const Value &Table) {
  if (auto *Global = dyn_cast<GlobalVariable>(&Table))
    return Global->hasInitializer() && holdsEvenWords(*Global->getInitializer()) &&
           (holdsFunctions(*Global->getInitializer()) || (Global->isConstant() && Global->hasDefinitiveInitializer()));
  if (!isa<AllocaInst, GEPOperator, AddrSpaceCastOperator>(Table))
    return false;
  auto IsEven = [](const Value *V) { return isa<Constant>(V) && holdsEvenWords(*cast<Constant>(V)); };
  return all_of(Table.users(), [&](const User *U) {
    if (auto *Copy = dyn_cast<MemTransferInst>(U)) {
      auto *From = dyn_cast<GlobalVariable>(getUnderlyingObject(Copy->getRawSource(), /*MaxLookup=*/0));
      return From && isEvenTable(*From);
    }
    if (auto *Fill = dyn_cast<MemSetInst>(U))
      return IsEven(Fill->getValue());
    if (auto *Store = dyn_cast<StoreInst>(U))
      return IsEven(Store->getValueOperand());
    return isa<LoadInst, LifetimeIntrinsic>(U) || (isa<GEPOperator, AddrSpaceCastOperator>(U) && isEvenTable(*U));
  });
}

// The lowest bit of a pointer to a member function says that it is virtual.
void dropVirtualMembers(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    Value *Word;
    if (!match(&I, m_And(m_Value(Word), m_One())))
      continue;
    if (auto *Part = dyn_cast<ExtractValueInst>(Word))
      Word = Part->getAggregateOperand();
    auto *Load = dyn_cast<LoadInst>(Word);
    if (Load && Load->getType()->isIntegerTy(64) &&
        isEvenTable(*getUnderlyingObject(Load->getPointerOperand(), /*MaxLookup=*/0)))
      I.replaceAllUsesWith(Constant::getNullValue(I.getType()));
  }
}

} // namespace

ADGEN_DECLARE_PASS(DevirtualizeCalls);

PreservedAnalyses DevirtualizeCalls::run(Module &M, ModuleAnalysisManager &) {
  hideTables(M);
  for (Function &F : M) {
    chooseParts(F);
    dropVirtualMembers(F);
  }
  uint64_t Last = 0;
  for (auto &[Type, Each] : ownCalls(M)) {
    SmallVector<Function *> Old = addressedFunctions(M, Type), Targets;
    if (Old.empty() || Old.size() > MostTargets)
      continue;
    SmallVector<ConstantInt *> Numbers;
    for (Function *F : Old) {
      Numbers.push_back(ConstantInt::get(llvm::Type::getInt64Ty(M.getContext()), Last += Step));
      Targets.push_back(numbered(*F, Last));
    }
    for (CallInst *Call : Each)
      choose(*Call, Targets, Numbers);
  }
  return PreservedAnalyses::none();
}

} // namespace adgen
