// Adds up what the lanes of a warp add to one element, before one of them adds it. Which lanes have an element in common follows from the
// registers that its address depends on: without the thread's index, all lanes of the warp; with y and z alone, a row of the block; with x
// alone, a column. What else the address depends on and may differ between lanes is compared when the kernel runs, and lanes that are
// not there take no part. The accumulations of a block of the same kind are handed over together: the lanes then share the work
// (rules/accumulate.cu). Columns are looked for in shared memory only, where two lanes that meet cost more than shuffles.
#include "Accumulation.h"
#include "Passes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned MostCompared = 2;
constexpr unsigned Counts[] = {16, 8, 4, 3, 2, 1}; // that rules/accumulate.cu has
constexpr unsigned LaneBits = 5;

// What decides the value of an address, apart from what is the same in the whole grid.
struct Origin {
  bool X = false, OtherAxes = false, Unknown = false;
  SmallSetVector<Value *, MostCompared> Compared; // the same in all lanes, if it turns out so when the kernel runs

  void add(const Origin &Other) {
    X |= Other.X;
    OtherAxes |= Other.OtherAxes;
    Unknown |= Other.Unknown;
    Compared.insert_range(Other.Compared);
  }
};

class Origins {
public:
  explicit Origins(const Function &F) : F(F) {}

  const Origin &of(Value *V) {
    auto Known = Found.find(V);
    return Known != Found.end() ? Known->second : Found[V] = find(V);
  }

private:
  Origin find(Value *V) {
    Origin Result;
    if (isa<Constant>(V))
      return Result;
    if (auto *A = dyn_cast<Argument>(V)) {
      if (isOfTheTape(*A))
        A->getType()->isPointerTy() ? void(Result.Unknown = true) : void(Result.Compared.insert(A));
      return Result;
    }
    auto *I = cast<Instruction>(V);
    if (auto *Call = dyn_cast<IntrinsicInst>(I); Call && readsRegister(*Call, Result))
      return Result;
    if (isa<PHINode, LoadInst>(I) || dropsTheLane(*I)) {
      bool Comparable = I->getType()->isIntOrPtrTy() && I->getType()->getPrimitiveSizeInBits() <= 64;
      Comparable && (dropsTheLane(*I) || isLikelyTheSame(I)) ? void(Result.Compared.insert(I)) : void(Result.Unknown = true);
      return Result;
    }
    bool Computed = isa<BinaryOperator, CastInst, GetElementPtrInst, CmpInst, SelectInst, FreezeInst>(I) ||
                    isArithmetic(*I);
    Result.Unknown = !Computed;
    for (Value *Operand : I->operands())
      if (Computed && !isa<Function>(Operand))
        Result.add(of(Operand));
    return Result;
  }

  // Other intrinsics of the GPU may tell lanes apart.
  static bool isArithmetic(const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && !Call->mayReadOrWriteMemory() && !Call->getCalledFunction()->getName().starts_with("llvm.nvvm.");
  }

  // A tape's place differs in every lane; the block's index is an argument beside it, and changes as the kernel walks over the grid.
  bool isOfTheTape(const Argument &A) const {
    return F.hasFnAttribute(TapeAttribute) && A.getArgNo() + TapeArguments >= F.arg_size();
  }

  static bool readsRegister(const IntrinsicInst &Call, Origin &Result) {
    switch (Call.getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_tid_x:
      return Result.X = true;
    case Intrinsic::nvvm_read_ptx_sreg_tid_y:
    case Intrinsic::nvvm_read_ptx_sreg_tid_z:
      return Result.OtherAxes = true;
    default:
      return isOfTheBlock(Call);
    }
  }

  static bool isOfTheBlock(const IntrinsicInst &Call) {
    constexpr StringLiteral Registers[] = {"ctaid.", "nctaid.", "ntid.", "warpsize"};
    StringRef Name = Call.getCalledFunction()->getName();
    return Name.consume_front("llvm.nvvm.read.ptx.sreg.") &&
           any_of(Registers, [&](StringRef Register) { return Name.starts_with(Register); });
  }

  // Such as threadIdx.x / 32.
  static bool dropsTheLane(const Instruction &I) {
    auto *Number = I.getNumOperands() == 2 ? dyn_cast<ConstantInt>(I.getOperand(1)) : nullptr;
    if (!Number)
      return false;
    const APInt &N = Number->getValue();
    switch (I.getOpcode()) {
    case Instruction::LShr:
    case Instruction::AShr:
      return N.uge(LaneBits);
    case Instruction::UDiv:
    case Instruction::SDiv:
      return N.sge(1 << LaneBits) && N.countr_zero() >= LaneBits;
    case Instruction::And:
      return N.countr_zero() >= LaneBits;
    default:
      return false;
    }
  }

  // Whether it pays to compare: nothing that it comes from is known to differ.
  bool isLikelyTheSame(Value *V) {
    SmallVector<Value *> Next{V};
    SmallPtrSet<Value *, 16> Seen{V};
    while (!Next.empty()) {
      Value *From = Next.pop_back_val();
      auto *I = dyn_cast<Instruction>(From);
      auto *A = dyn_cast<Argument>(From);
      Origin Register;
      if (isa<AllocaInst>(From) || (A && isOfTheTape(*A) && A->getType()->isPointerTy()))
        return false;
      if (isa_and_nonnull<CallBase>(I)) {
        auto *Read = dyn_cast<IntrinsicInst>(I);
        if (Read && readsRegister(*Read, Register) && !Register.X && !Register.OtherAxes)
          continue;
        if (!isArithmetic(*I))
          return false;
      }
      for (Value *Operand : I ? I->operands() : iterator_range<User::op_iterator>(nullptr, nullptr))
        if (!isa<Constant, BasicBlock>(Operand) && Seen.insert(Operand).second)
          Next.push_back(Operand);
    }
    return true;
  }

  const Function &F;
  DenseMap<Value *, Origin> Found;
};

bool usesOtherAxes(Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && (Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_y ||
                    Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_tid_z);
  });
}

// A thread's own variables have the same addresses in all threads, so a pointer that was read may be to one of them.
bool keepsOwnAddresses(Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    auto *Store = dyn_cast<StoreInst>(&I);
    if (!Store || !Store->getValueOperand()->getType()->isPointerTy())
      return false;
    return !isa<Argument, GlobalVariable, LoadInst>(getUnderlyingObject(Store->getValueOperand()));
  });
}

// Accumulations of a block that are handed over together.
struct Group {
  StringRef Lanes; // which have their elements in common
  SmallVector<AtomicRMWInst *, 16> Members;
  SmallVector<Value *, MostCompared> Compared;

  Type *type() const { return Members.front()->getType(); }
};

class Reducer {
public:
  Reducer(Function &F, const Meetings &Meet) : F(F), Meet(Meet), From(F), HasColumns(usesOtherAxes(F)), KeepsOwn(keepsOwnAddresses(F)) {}

  void run() {
    SmallVector<Group> Groups;
    for (BasicBlock &Block : F)
      collect(Block, Groups);
    for (const Group &G : Groups)
      handOver(G);
  }

private:
  void collect(BasicBlock &Block, SmallVectorImpl<Group> &Groups) {
    SmallVector<Group> Open;
    auto Close = [&](auto Ends) {
      copy_if(Open, std::back_inserter(Groups), Ends);
      erase_if(Open, Ends);
    };
    for (Instruction &I : Block) {
      Close([&](const Group &G) { return isMet(G, I); });
      AtomicRMWInst *Atomic = asAccumulation(I);
      if (!Atomic || !(Atomic->getType()->isFloatTy() || Atomic->getType()->isDoubleTy()))
        continue;
      const Origin &Where = From.of(Atomic->getPointerOperand());
      StringRef Lanes = inCommon(Where, *Atomic);
      if (Lanes.empty())
        continue;
      Group New{Lanes, {Atomic}, SmallVector<Value *, MostCompared>(Where.Compared.begin(), Where.Compared.end())};
      auto Like = find_if(Open, [&](const Group &G) {
        return G.Lanes == Lanes && G.Compared == New.Compared && G.type() == New.type();
      });
      if (Like == Open.end())
        Open.push_back(New);
      else
        Like->Members.push_back(Atomic);
      Close([&](const Group &G) { return G.Members.size() == Counts[0]; });
    }
    Close([](const Group &) { return true; });
  }

  bool isMet(const Group &G, const Instruction &I) const {
    return any_of(G.Members, [&](const AtomicRMWInst *Member) {
      return Meet.mayMeet(I, Member->getPointerOperand(), Member->getType());
    });
  }

  StringRef inCommon(const Origin &Where, const AtomicRMWInst &Atomic) const {
    if (Where.Unknown || Where.Compared.size() > MostCompared || (Where.X && Where.OtherAxes))
      return "";
    const Value *Object = getUnderlyingObject(Atomic.getPointerOperand());
    if (!isa<Argument>(Object) && KeepsOwn)
      return "";
    if (auto *A = dyn_cast<Argument>(Object); A && !isShadow(*A, ShadowAttribute) && !isShadow(*A, SharedShadowAttribute))
      return ""; // the thread's own copy of a struct, whose address is the same in all threads
    if (!Where.X)
      return Where.OtherAxes ? "row" : "warp";
    bool InShared = isa<Argument>(Object) && isShadow(*cast<Argument>(Object), SharedShadowAttribute);
    return InShared && HasColumns ? "column" : "";
  }

  bool isShadow(const Argument &A, StringRef Kind) const { return F.hasParamAttribute(A.getArgNo(), Kind); }

  // All members move to the place of the last.
  void handOver(const Group &G) {
    IRBuilder<> B(G.Members.back());
    Value *Active = B.CreateIntrinsic(Intrinsic::nvvm_activemask, ArrayRef<Type *>(), ArrayRef<Value *>());
    Value *Common = B.getTrue();
    for (Value *V : G.Compared)
      Common = B.CreateAnd(Common, call(B, "adgen_common", B.getInt1Ty(), {Active, asNumber(B, V)}));
    ArrayRef<AtomicRMWInst *> Rest = G.Members;
    while (!Rest.empty()) {
      unsigned Count = *find_if(Counts, [&](unsigned N) { return N <= Rest.size(); });
      handOver(B, G, Rest.take_front(Count), Active, Common);
      Rest = Rest.drop_front(Count);
    }
    for (AtomicRMWInst *Member : G.Members)
      Member->eraseFromParent();
  }

  static Value *asNumber(IRBuilder<> &B, Value *V) {
    Type *Int64 = B.getInt64Ty();
    return V->getType()->isPointerTy() ? B.CreatePtrToInt(V, Int64) : B.CreateZExt(V, Int64);
  }

  void handOver(IRBuilder<> &B, const Group &G, ArrayRef<AtomicRMWInst *> Members, Value *Active, Value *Common) {
    IRBuilder<> Start(&*F.getEntryBlock().getFirstInsertionPt());
    Type *Pointers = ArrayType::get(B.getPtrTy(), Members.size()), *Numbers = ArrayType::get(G.type(), Members.size());
    Value *Elements = Start.CreateAlloca(Pointers), *Values = Start.CreateAlloca(Numbers);
    for (auto [Index, Member] : enumerate(Members)) {
      B.CreateStore(Member->getPointerOperand(), B.CreateConstInBoundsGEP2_64(Pointers, Elements, 0, Index));
      B.CreateStore(Member->getValOperand(), B.CreateConstInBoundsGEP2_64(Numbers, Values, 0, Index));
    }
    std::string Name = ("adgen_add_" + G.Lanes + (G.type()->isFloatTy() ? "_f32_" : "_f64_") + Twine(Members.size())).str();
    call(B, Name, B.getVoidTy(), {Elements, Values, Active, Common});
  }

  static CallInst *call(IRBuilder<> &B, StringRef Name, Type *Result, ArrayRef<Value *> Arguments) {
    SmallVector<Type *> Types;
    for (Value *Argument : Arguments)
      Types.push_back(Argument->getType());
    Module &M = *B.GetInsertBlock()->getModule();
    CallInst *Call = B.CreateCall(M.getOrInsertFunction(Name, FunctionType::get(Result, Types, false)), Arguments);
    Call->setConvergent();
    return Call;
  }

  Function &F;
  const Meetings &Meet;
  Origins From;
  bool HasColumns, KeepsOwn;
};

} // namespace

PreservedAnalyses ReduceAccumulations::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Reducer(F, Meetings(F, FAM.getResult<AAManager>(F))).run();
  return PreservedAnalyses::none();
}

} // namespace adgen
