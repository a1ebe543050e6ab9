// Loops without derivatives become functions that Enzyme leaves alone. In the function of a body it would keep the way
// that each iteration has taken, and walk back through all of them, although nothing is to be done there.
#include "Checkpointing/OutlineInactive.h"
#include "Analysis/Layout.h"
#include "Support/Guards.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr StringLiteral Prefix = "adgen_selection";

using Variables = SmallSetVector<const AllocaInst *, 8>;

class InactiveLoop {
public:
  InactiveLoop(Loop &L, const Variables &Written) : L(L), Written(Written) {}

  bool canBeOutlined() {
    return L.getLoopPreheader() && L.hasDedicatedExits() && hasSelection() && computes() && findOutputs();
  }

  SeenBehind outline(bool WithOrigins) {
    SeenBehind Replaced;
    SaysOrigins = WithOrigins && Exits.size() > 1;
    findInputs();
    Function *F = create();
    BasicBlock *Before = L.getLoopPreheader();
    IRBuilder<> B(Before->getTerminator());
    CallInst *Call = B.CreateCall(F, Inputs.getArrayRef(), "selection");
    Call->setDebugLoc(Before->getTerminator()->getDebugLoc());
    for (auto &[Phi, Slot] : Outputs) {
      auto *Seen = cast<Instruction>(B.CreateExtractValue(Call, Slot, Phi->getName()));
      Seen->setMetadata(InactiveMark, Phi->getMetadata(InactiveMark));
      Phi->replaceAllUsesWith(Seen);
      Replaced[Phi] = Seen;
    }
    if (Exits.size() == 1) {
      B.CreateBr(Exits[0]);
    } else {
      SwitchInst *Switch = B.CreateSwitch(B.CreateExtractValue(Call, 0u), Exits[0], Exits.size() - 1);
      for (unsigned I = 1; I < Exits.size(); ++I)
        Switch->addCase(B.getInt32(I), Exits[I]);
    }
    Before->getTerminator()->eraseFromParent();
    for (auto &[Phi, Slot] : Outputs)
      Phi->eraseFromParent();
    SmallVector<BasicBlock *> Blocks(L.blocks());
    for (BasicBlock *Block : Blocks)
      Block->dropAllReferences();
    for (BasicBlock *Block : Blocks)
      Block->eraseFromParent();
    return Replaced;
  }

private:
  bool hasSelection() const {
    return !Written.empty() ||
           any_of(L.getHeader()->phis(), [](const PHINode &Phi) { return Phi.hasMetadata(InactiveMark); });
  }

  // Nothing but numbers, from memory too.
  bool computes() const {
    return all_of(L.blocks(), [&](const BasicBlock *Block) {
      return all_of(*Block, [&](const Instruction &I) {
        if (auto *Store = dyn_cast<StoreInst>(&I))
          return writesInactive(*Store);
        auto *Known = dyn_cast<IntrinsicInst>(&I);
        auto *Call = dyn_cast<CallBase>(&I);
        return isHeld(&I) || (Known && Known->isAssumeLikeIntrinsic()) ||
               (!I.mayHaveSideEffects() && !I.isVolatile() && !I.isAtomic() && !(Call && Call->isConvergent()));
      });
    });
  }

  bool writesInactive(const StoreInst &Store) const {
    auto *To = dyn_cast<AllocaInst>(getUnderlyingObject(Store.getPointerOperand()));
    Value *V = const_cast<Value *>(Store.getValueOperand());
    return Store.isSimple() && To && Written.contains(To) &&
           (V->getType()->isFloatingPointTy() || isInactive(V)); // of numbers the caller has asked
  }

  // All that leaves the loop has no derivative: what is marked, and integers that are no bits of anything else.
  bool findOutputs() {
    unsigned Slot = 1; // behind the number of the exit
    SmallVector<BasicBlock *> Unique;
    L.getUniqueExitBlocks(Unique);
    for (BasicBlock *Exit : Unique) {
      Exits.push_back(Exit);
      for (PHINode &Phi : Exit->phis()) {
        if (!all_of(Phi.incoming_values(), [&](Value *V) { return isInactive(V); }))
          return false;
        Outputs.push_back({&Phi, Slot++});
      }
    }
    return !Exits.empty();
  }

  bool isInactive(Value *Output) const {
    SmallSetVector<Value *, 16> Parts;
    Parts.insert(Output);
    for (unsigned I = 0; I < Parts.size(); ++I) {
      auto *Part = dyn_cast<Instruction>(Parts[I]);
      if (isa<Constant>(Parts[I]) || isa_and_nonnull<CmpInst, FPToSIInst, FPToUIInst>(Part) ||
          (Part && Part->hasMetadata(InactiveMark)))
        continue;
      bool Held = isHeld(Part);
      if (!Parts[I]->getType()->isIntegerTy() || (isa_and_nonnull<LoadInst, BitCastInst, CallBase>(Part) && !Held &&
                                                  !isFromIntegers(Part) && !computesIntegers(*Part)))
        return false;
      if (Held)
        Parts.insert(cast<CallBase>(Part)->getArgOperand(0));
      else if (auto *Call = dyn_cast_or_null<CallBase>(Part))
        Parts.insert_range(Call->args());
      else if (Part && L.contains(Part) && !isa<LoadInst>(Part))
        Parts.insert_range(Part->operands());
    }
    return true;
  }

  // A maximum, a shift through two words.
  static bool computesIntegers(const Instruction &I) {
    auto *Known = dyn_cast<IntrinsicInst>(&I);
    return Known && Known->doesNotAccessMemory() &&
           all_of(Known->args(), [](const Value *V) { return V->getType()->isIntegerTy(); });
  }

  // Read from an array that holds nothing else, by the type that the user has given it.
  static bool isFromIntegers(const Instruction *I) {
    auto *Load = dyn_cast<LoadInst>(I);
    std::optional<Place> From =
        Load ? placeOf(const_cast<Value *>(Load->getPointerOperand()), Load->getDataLayout()) : std::nullopt;
    return From && From->Memory && !From->Memory->holdsFloats();
  }

  void findInputs() {
    for (BasicBlock *Block : L.blocks())
      for (Instruction &I : *Block)
        for (Value *Operand : I.operands())
          if (auto *Before = dyn_cast<Instruction>(Operand); isa<Argument>(Operand) || (Before && !L.contains(Before)))
            Inputs.insert(Operand);
  }

  Function *create() {
    Function &From = *L.getHeader()->getParent();
    LLVMContext &Context = From.getContext();
    SmallVector<Type *> Parameters, Results{Type::getInt32Ty(Context)};
    for (Value *Input : Inputs)
      Parameters.push_back(Input->getType());
    for (auto &[Phi, Slot] : Outputs)
      Results.push_back(Phi->getType());
    Returned = StructType::get(Context, Results);
    auto *F = Function::Create(FunctionType::get(Returned, Parameters, false), GlobalValue::InternalLinkage, Prefix,
                               From.getParent());
    for (StringRef Name : {"target-cpu", "target-features"})
      if (From.hasFnAttribute(Name))
        F->addFnAttr(From.getFnAttribute(Name));
    F->addFnAttr(Attribute::AlwaysInline); // once Enzyme has run
    F->addFnAttr("enzyme_inactive");
    F->setMemoryEffects(Written.empty() ? MemoryEffects::readOnly()
                                        : MemoryEffects::readOnly() | MemoryEffects::argMemOnly(ModRefInfo::ModRef));
    F->setDoesNotThrow();
    F->setWillReturn();
    F->addFnAttr(Attribute::NoFree);
    F->addFnAttr(Attribute::NoSync);
    fill(*F);
    return F;
  }

  void fill(Function &F) {
    auto *Entry = BasicBlock::Create(F.getContext(), "entry", &F);
    ValueToValueMapTy Map;
    Map[L.getLoopPreheader()] = Entry;
    for (auto [Index, Input] : enumerate(Inputs)) {
      Argument *A = F.getArg(Index);
      Map[Input] = A;
      if (auto *Given = dyn_cast<Argument>(Input); Given && Given->hasNoAliasAttr())
        A->addAttr(Attribute::NoAlias);
      if (A->getType()->isPointerTy())
        A->addAttr(Attribute::getWithCaptureInfo(F.getContext(), CaptureInfo::none()));
    }
    SmallVector<BasicBlock *> Copies;
    for (BasicBlock *Block : L.blocks()) {
      BasicBlock *Copy = CloneBasicBlock(Block, Map, "", &F);
      Map[Block] = Copy;
      Copies.push_back(Copy);
    }
    BranchInst::Create(cast<BasicBlock>(Map[L.getHeader()]), Entry);
    for (BasicBlock *Block : L.blocks())
      leave(*Block, *cast<BasicBlock>(Map[Block]), Copies);
    remapInstructionsInBlocks(Copies, Map);
    stripDebugInfo(F);
  }

  // The edges by which a block leaves the loop return what is seen behind them.
  void leave(BasicBlock &Block, BasicBlock &Copy, SmallVectorImpl<BasicBlock *> &Copies) {
    Instruction *End = Copy.getTerminator();
    for (unsigned I = 0; I < End->getNumSuccessors(); ++I) {
      BasicBlock *Exit = End->getSuccessor(I);
      if (L.contains(Exit))
        continue;
      auto *Leave = BasicBlock::Create(Copy.getContext(), "leave", Copy.getParent());
      IRBuilder<> B(Leave);
      // Origins are asked of all exits.
      Value *Result = SaysOrigins ? nowhere() : PoisonValue::get(Returned);
      Result = B.CreateInsertValue(Result, B.getInt32(find(Exits, Exit) - Exits.begin()), 0u);
      for (auto &[Phi, Slot] : Outputs)
        if (Phi->getParent() == Exit)
          Result = B.CreateInsertValue(Result, Phi->getIncomingValueForBlock(&Block), Slot);
      B.CreateRet(Result);
      End->setSuccessor(I, Leave);
      Copies.push_back(Leave);
    }
  }

  Constant *nowhere() const {
    SmallVector<Constant *> None;
    for (Type *T : Returned->elements())
      None.push_back(T->isIntegerTy() ? Constant::getAllOnesValue(T) : PoisonValue::get(T));
    return ConstantStruct::get(Returned, None);
  }

  Loop &L;
  const Variables &Written;
  SmallVector<BasicBlock *> Exits;
  SmallVector<std::pair<PHINode *, unsigned>> Outputs;
  SmallSetVector<Value *, 16> Inputs;
  StructType *Returned = nullptr;
  bool SaysOrigins = false;
};

} // namespace

bool canBeOutlined(Loop &L, const Variables &Written) { return InactiveLoop(L, Written).canBeOutlined(); }

SeenBehind outline(Loop &L, const Variables &Written) {
  InactiveLoop Inactive(L, Written);
  [[maybe_unused]] bool Can = Inactive.canBeOutlined();
  assert(Can && "asked before");
  return Inactive.outline(true);
}

bool outlineInactive(Loop &L) {
  const Variables None;
  InactiveLoop Inactive(L, None);
  bool Can = Inactive.canBeOutlined();
  if (Can)
    Inactive.outline(false);
  return Can;
}

} // namespace adgen
