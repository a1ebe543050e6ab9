// Accumulates without atomics into elements that only one thread accumulates into. Either the user says so of an array (adgen-owned),
// or the index proves it: every accumulation into the shadow is at
//   stride * (blockIdx.x * width + threadIdx.x + any loop counter * gridDim.x * width) + what is the same in all threads,
// with the block's size as the width, or a constant, and those of one thread stay within one stride. That holds for grids of one
// dimension whose blocks are no wider, which no index shows: the gradient is there twice, with atomics and without, and the launch
// decides. Loads and stores of the shadow do not matter: another thread that writes or reads an element there would be a race
// of the primal with itself. The load of an addition moves up as far as it can: on a GPU loads come first.
#include "Accumulation.h"
#include "Passes.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <map>
#include <optional>

using namespace llvm;

namespace adgen {
namespace {

constexpr unsigned Axes = 3;
constexpr unsigned MostTerms = 32;
constexpr int64_t MostElements = INT32_MAX; // with more, an index of 32 bits would come back to elements of others

// What an index depends on: registers of the launch, integers that all threads share, and loop counters.
struct Leaf {
  enum Kind { Thread, Block, BlockSize, GridSize, Shared, Counter } Of;
  const void *What; // the value, or the axis

  bool operator<(const Leaf &Other) const { return std::tie(Of, What) < std::tie(Other.Of, Other.What); }
  bool operator==(const Leaf &Other) const { return Of == Other.Of && What == Other.What; }
};

Leaf onAxis(Leaf::Kind Of, unsigned Axis) { return {Of, reinterpret_cast<const void *>(uintptr_t(Axis))}; }

// A sum of products of leaves, each with a factor.
class Polynomial {
public:
  using Product = SmallVector<Leaf, 4>;
  struct Order {
    bool operator()(const Product &A, const Product &B) const {
      return std::lexicographical_compare(A.begin(), A.end(), B.begin(), B.end());
    }
  };

  static Polynomial constant(int64_t Factor) { return Polynomial({}, Factor); }
  static Polynomial leaf(Leaf L) { return Polynomial({L}, 1); }

  Polynomial &operator+=(const Polynomial &Other) {
    for (const auto &[Leaves, Factor] : Other.Terms)
      if (!(Terms[Leaves] += Factor))
        Terms.erase(Leaves);
    return *this;
  }

  Polynomial operator*(const Polynomial &Other) const {
    Polynomial Result;
    for (const auto &[Leaves, Factor] : Terms)
      for (const auto &[More, Times] : Other.Terms) {
        Product Both(Leaves);
        append_range(Both, More);
        llvm::sort(Both);
        Result += Polynomial(Both, Factor * Times);
      }
    return Result;
  }

  bool operator==(const Polynomial &Other) const { return Terms == Other.Terms; }

  // The factor of a product, which leaves the sum.
  int64_t take(Product Leaves) {
    llvm::sort(Leaves);
    auto Found = Terms.find(Leaves);
    if (Found == Terms.end())
      return 0;
    int64_t Factor = Found->second;
    Terms.erase(Found);
    return Factor;
  }

  std::map<Product, int64_t, Order> Terms;
  Polynomial() = default;

private:
  Polynomial(Product Leaves, int64_t Factor) {
    if (Factor)
      Terms[std::move(Leaves)] = Factor;
  }
};

// The indices of one gradient as polynomials.
class Indices {
public:
  Indices(Function &F, LoopInfo &LI) : F(F), LI(LI) {}

  // How many bytes behind the beginning of the shadow an element lies; nothing where it is not understood.
  std::optional<Polynomial> offsetFrom(const Value *Shadow, const Value *Pointer) {
    Polynomial Sum;
    while (Pointer != Shadow) {
      auto *Step = dyn_cast<GEPOperator>(Pointer);
      SmallMapVector<Value *, APInt, 4> Variable;
      APInt Constant(64, 0);
      if (!Step || !Step->collectOffset(F.getDataLayout(), 64, Variable, Constant))
        return std::nullopt;
      Sum += Polynomial::constant(Constant.getSExtValue());
      for (auto &[Index, Scale] : Variable) {
        std::optional<Polynomial> P = of(Index);
        if (!P)
          return std::nullopt;
        Sum += *P * Polynomial::constant(Scale.getSExtValue());
      }
      Pointer = Step->getPointerOperand();
    }
    return Sum;
  }

  std::optional<Polynomial> of(Value *V) {
    auto Known = Found.find(V);
    if (Known != Found.end())
      return Known->second;
    Found[V] = std::nullopt; // a value that comes back to itself is not understood
    std::optional<Polynomial> P = find(V);
    if (P && P->Terms.size() > MostTerms)
      P = std::nullopt;
    return Found[V] = P;
  }

private:
  std::optional<Polynomial> find(Value *V) {
    if (auto *Number = dyn_cast<ConstantInt>(V))
      return Number->getBitWidth() <= 64 ? std::optional(Polynomial::constant(Number->getSExtValue())) : std::nullopt;
    if (auto *A = dyn_cast<Argument>(V))
      return ofArgument(*A);
    if (auto *Call = dyn_cast<IntrinsicInst>(V))
      return ofRegister(*Call);
    if (auto *Phi = dyn_cast<PHINode>(V))
      return ofCounter(*Phi);
    if (isa<SExtInst, ZExtInst, TruncInst, FreezeInst>(V))
      return of(cast<Instruction>(V)->getOperand(0));
    if (auto *Op = dyn_cast<BinaryOperator>(V))
      return ofArithmetic(*Op);
    return std::nullopt;
  }

  // A gradient with a tape has the block's index and the grid's extents as its last arguments.
  std::optional<Polynomial> ofArgument(const Argument &A) {
    if (!A.getType()->isIntegerTy())
      return std::nullopt;
    unsigned First = F.arg_size() - 2 * Axes;
    if (!F.hasFnAttribute(TapeAttribute) || A.getArgNo() < First)
      return Polynomial::leaf({Leaf::Shared, &A});
    unsigned Place = A.getArgNo() - First;
    return Polynomial::leaf(onAxis(Place < Axes ? Leaf::Block : Leaf::GridSize, Place % Axes));
  }

  static std::optional<Polynomial> ofRegister(const IntrinsicInst &Call) {
    constexpr std::pair<StringLiteral, Leaf::Kind> Registers[] = {
        {"tid.", Leaf::Thread}, {"ctaid.", Leaf::Block}, {"ntid.", Leaf::BlockSize}, {"nctaid.", Leaf::GridSize}};
    StringRef Name = Call.getCalledFunction()->getName();
    if (!Name.consume_front("llvm.nvvm.read.ptx.sreg."))
      return std::nullopt;
    for (auto &[Prefix, Kind] : Registers)
      if (Name.starts_with(Prefix))
        return Polynomial::leaf(onAxis(Kind, Name.back() - 'x'));
    return std::nullopt;
  }

  // What a loop counts from one start on with the same step; any other phi in a loop's head counts something too.
  std::optional<Polynomial> ofCounter(PHINode &Phi) {
    Polynomial Counter = Polynomial::leaf({Leaf::Counter, &Phi});
    const Loop *L = LI.getLoopFor(Phi.getParent());
    if (!L || L->getHeader() != Phi.getParent() || Phi.getNumIncomingValues() != 2 || !L->getLoopPreheader() || !L->getLoopLatch())
      return std::nullopt;
    std::optional<Polynomial> Start = of(Phi.getIncomingValueForBlock(L->getLoopPreheader()));
    auto *Next = dyn_cast<BinaryOperator>(Phi.getIncomingValueForBlock(L->getLoopLatch()));
    if (!Next || Next->getOpcode() != Instruction::Add || !is_contained(Next->operands(), &Phi))
      return std::nullopt;
    Value *Step = Next->getOperand(Next->getOperand(0) == &Phi);
    std::optional<Polynomial> By = L->isLoopInvariant(Step) ? of(Step) : std::nullopt;
    if (Start && By)
      return *Start += *By * Counter, Start;
    return isa<ConstantInt>(Step) ? std::optional(Counter) : std::nullopt;
  }

  std::optional<Polynomial> ofArithmetic(BinaryOperator &Op) {
    std::optional<Polynomial> A = of(Op.getOperand(0)), B = of(Op.getOperand(1));
    if (!A || !B)
      return std::nullopt;
    auto *Number = dyn_cast<ConstantInt>(Op.getOperand(1));
    switch (Op.getOpcode()) {
    case Instruction::Or:
      if (!cast<PossiblyDisjointInst>(Op).isDisjoint())
        return std::nullopt;
      [[fallthrough]];
    case Instruction::Add:
      return *A += *B, A;
    case Instruction::Sub:
      return *A += *B * Polynomial::constant(-1), A;
    case Instruction::Mul:
      return *A * *B;
    case Instruction::Shl:
      if (!Number || Number->getValue().uge(32))
        return std::nullopt;
      return *A * Polynomial::constant(int64_t(1) << Number->getZExtValue());
    default:
      return std::nullopt;
    }
  }

  Function &F;
  LoopInfo &LI;
  DenseMap<Value *, std::optional<Polynomial>> Found;
};

// What the launch has to keep to.
struct Limits {
  int64_t Threads = MostElements, BlockSize = MostElements;
};

// Whether every accumulation into a shadow is in the thread's own stride.
class Ownership {
public:
  Ownership(Function &F, LoopInfo &LI) : Index(F, LI) {}

  // The accumulations into the shadow, if they are all there is besides loads and stores.
  static std::optional<SmallVector<AtomicRMWInst *>> accumulations(Argument &Shadow) {
    SmallVector<AtomicRMWInst *> Found;
    SmallVector<Value *> Pointers{&Shadow};
    while (!Pointers.empty()) {
      Value *Pointer = Pointers.pop_back_val();
      for (User *U : Pointer->users()) {
        auto *I = cast<Instruction>(U);
        AtomicRMWInst *Atomic = asAccumulation(*I);
        if (isa<GetElementPtrInst>(I))
          Pointers.push_back(I);
        else if (Atomic)
          Found.push_back(Atomic);
        else if (!isa<LoadInst>(I) && !(isa<StoreInst>(I) && getLoadStorePointerOperand(I) == Pointer))
          return std::nullopt;
      }
    }
    return Found;
  }

  // Lowers the limits where it is proved.
  bool isProved(const Argument &Shadow, ArrayRef<AtomicRMWInst *> Accumulations, Limits &Launch) {
    Steps Common;
    Polynomial Base;
    int64_t First = INT64_MAX, Last = INT64_MIN, Width = 1;
    for (const AtomicRMWInst *Atomic : Accumulations) {
      std::optional<Polynomial> P = Index.offsetFrom(&Shadow, Atomic->getPointerOperand());
      Steps Mine = P ? takeThread(*P) : Steps();
      bool IsFirst = !Common.Thread;
      if (!Mine.Thread || !(IsFirst || Mine == Common))
        return false;
      int64_t Constant = P->take({});
      if (!(IsFirst || *P == Base))
        return false;
      Common = Mine;
      Base = *P;
      Width = Atomic->getDataLayout().getTypeStoreSize(Atomic->getType());
      First = std::min(First, Constant);
      Last = std::max(Last, Constant + Width);
    }
    if (!Common.Thread || Last - First > std::abs(Common.Thread))
      return false;
    Launch.Threads = std::min(Launch.Threads, MostElements / std::max<int64_t>(1, std::abs(Common.Thread) / Width));
    if (Common.BlockSize)
      Launch.BlockSize = std::min(Launch.BlockSize, Common.BlockSize);
    return true;
  }

private:
  // From thread to thread in bytes, and from block to block in threads, where that is a constant.
  struct Steps {
    int64_t Thread = 0, BlockSize = 0;
    bool operator==(const Steps &Other) const { return Thread == Other.Thread && BlockSize == Other.BlockSize; }
  };

  // Takes what depends on the thread out of an offset; no steps where that is not a stride times the thread's number.
  static Steps takeThread(Polynomial &P) {
    Leaf Thread = onAxis(Leaf::Thread, 0), Block = onAxis(Leaf::Block, 0), Size = onAxis(Leaf::BlockSize, 0);
    Steps Found{P.take({Thread}), 0};
    if (!Found.Thread)
      return {};
    if (int64_t Constant = P.take({Block}))
      Found.BlockSize = Constant % Found.Thread ? -1 : Constant / Found.Thread;
    else if (P.take({Block, Size}) != Found.Thread)
      return {};
    for (auto It = P.Terms.begin(); It != P.Terms.end();) {
      auto Is = [&](Leaf::Kind Of) { return any_of(It->first, [=](const Leaf &L) { return L.Of == Of; }); };
      if (Is(Leaf::Thread) || Is(Leaf::Block) || (Is(Leaf::Counter) && !isOverTheGrid(It->first, It->second, Found)))
        return {};
      It = Is(Leaf::Counter) ? P.Terms.erase(It) : std::next(It);
    }
    return Found.BlockSize < 0 ? Steps() : Found;
  }

  // Whether a loop counter leads from one round of all threads to another.
  static bool isOverTheGrid(const Polynomial::Product &Leaves, int64_t Factor, const Steps &By) {
    bool Grid = is_contained(Leaves, onAxis(Leaf::GridSize, 0)), Size = is_contained(Leaves, onAxis(Leaf::BlockSize, 0));
    return Grid && (By.BlockSize ? Factor % (By.BlockSize * By.Thread) == 0 : Size && Factor % By.Thread == 0);
  }

  Indices Index;
};

// The load and what its address needs of its block from a place on; nothing where that cannot move.
SmallVector<Instruction *> neededFrom(Instruction &Place, LoadInst &Load) {
  SmallVector<Instruction *> Needed{&Load};
  for (unsigned I = 0; I < Needed.size(); ++I)
    for (Value *Operand : Needed[I]->operands()) {
      auto *Made = dyn_cast<Instruction>(Operand);
      if (!Made || Made->getParent() != Load.getParent() || Made->comesBefore(&Place))
        continue;
      if (!isSafeToSpeculativelyExecute(Made))
        return {};
      Needed.push_back(Made);
    }
  return Needed;
}

// Moves a load to where its block may do it first.
void moveUp(LoadInst &Load, const Meetings &Meet) {
  Instruction *Place = &Load;
  while (Instruction *Before = Place->getPrevNode()) {
    if (isa<PHINode>(Before) || Meet.mayTouch(*Before, Load.getPointerOperand(), Load.getType()))
      break;
    Place = Before;
  }
  SmallVector<Instruction *> Needed = neededFrom(*Place, Load);
  while (Place != &Load && is_contained(Needed, Place)) { // what is needed stays where it is
    Place = Place->getNextNode();
    Needed = neededFrom(*Place, Load);
  }
  if (Place == &Load)
    return;
  SmallPtrSet<Instruction *, 8> Moved;
  for (Instruction *I : reverse(Needed)) // what something needs was found after it
    if (Moved.insert(I).second)
      I->moveBefore(Place->getIterator());
}

void makePlain(AtomicRMWInst &Atomic, const Meetings &Meet) {
  IRBuilder<> B(&Atomic);
  LoadInst *Old = B.CreateAlignedLoad(Atomic.getType(), Atomic.getPointerOperand(), Atomic.getAlign());
  Value *New = B.CreateFAdd(Old, Atomic.getValOperand());
  StoreInst *Store = B.CreateAlignedStore(New, Atomic.getPointerOperand(), Atomic.getAlign());
  Old->setAAMetadata(Atomic.getAAMetadata());
  Store->setAAMetadata(Atomic.getAAMetadata());
  Atomic.eraseFromParent();
  moveUp(*Old, Meet);
}

bool readsOtherAxes(Function &F) {
  constexpr Intrinsic::ID Registers[] = {
      Intrinsic::nvvm_read_ptx_sreg_tid_y,  Intrinsic::nvvm_read_ptx_sreg_tid_z,   Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
      Intrinsic::nvvm_read_ptx_sreg_ctaid_z, Intrinsic::nvvm_read_ptx_sreg_laneid};
  bool Reads = any_of(instructions(F), [&](const Instruction &I) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && is_contained(Registers, Call->getIntrinsicID());
  });
  unsigned First = F.arg_size() - 2 * Axes;
  return Reads || (F.hasFnAttribute(TapeAttribute) && !(F.getArg(First + 1)->use_empty() && F.getArg(First + 2)->use_empty()));
}

// The gradient in two versions, of which the launch chooses one.
class Versions {
public:
  Versions(Function &F, Limits Launch) : Shared(F), Launch(Launch) {}

  void make(ArrayRef<AtomicRMWInst *> Owned, FunctionAnalysisManager &FAM) {
    Module &M = *Shared.getParent();
    DISubprogram *Program = Shared.getSubprogram();
    Shared.setSubprogram(nullptr); // what is inlined below keeps its places
    ValueToValueMapTy Map;
    Function *Own = CloneFunction(&Shared, Map);
    {
      Meetings Meet(*Own, FAM.getResult<AAManager>(*Own));
      for (AtomicRMWInst *Atomic : Owned)
        makePlain(*cast<AtomicRMWInst>(Map[Atomic]), Meet);
    }
    Function *Both = Function::Create(Shared.getFunctionType(), Shared.getLinkage(), "", &M);
    Both->takeName(&Shared);
    Both->copyAttributesFrom(&Shared);
    SmallVector<Value *> Arguments;
    for (auto [From, To] : zip(Shared.args(), Both->args())) {
      To.takeName(&From);
      Arguments.push_back(&To);
    }
    LLVMContext &Context = M.getContext();
    auto *Entry = BasicBlock::Create(Context, "entry", Both), *Yes = BasicBlock::Create(Context, "own", Both),
         *No = BasicBlock::Create(Context, "shared", Both);
    IRBuilder<> B(Entry);
    B.CreateCondBr(keepsToLimits(B, *Both), Yes, No);
    for (auto [Block, Version] : {std::pair(Yes, Own), std::pair(No, &Shared)}) {
      B.SetInsertPoint(Block);
      CallInst *Call = B.CreateCall(Version, Arguments);
      B.CreateRetVoid();
      InlineFunctionInfo Info;
      if (!InlineFunction(*Call, Info).isSuccess())
        report_fatal_error("adgen-own-accumulations: a version could not be inlined");
      FAM.clear(*Version, Version->getName());
      Version->eraseFromParent();
    }
    Both->setSubprogram(Program);
  }

private:
  Value *keepsToLimits(IRBuilder<> &B, Function &F) const {
    auto Register = [&](Intrinsic::ID Id) -> Value * { return B.CreateIntrinsic(Id, ArrayRef<Type *>(), ArrayRef<Value *>()); };
    Value *Grid[Axes], *Block[Axes] = {Register(Intrinsic::nvvm_read_ptx_sreg_ntid_x), Register(Intrinsic::nvvm_read_ptx_sreg_ntid_y),
                                       Register(Intrinsic::nvvm_read_ptx_sreg_ntid_z)};
    constexpr Intrinsic::ID Extents[] = {Intrinsic::nvvm_read_ptx_sreg_nctaid_x, Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
                                         Intrinsic::nvvm_read_ptx_sreg_nctaid_z};
    for (unsigned Axis = 0; Axis < Axes; ++Axis)
      Grid[Axis] = F.hasFnAttribute(TapeAttribute) ? F.getArg(F.arg_size() - Axes + Axis) : Register(Extents[Axis]);
    Type *Int64 = B.getInt64Ty();
    Value *Threads = B.CreateMul(B.CreateZExt(Grid[0], Int64), B.CreateZExt(Block[0], Int64));
    Value *Holds = B.CreateICmpULE(Threads, B.getInt64(Launch.Threads));
    if (Launch.BlockSize < MostElements)
      Holds = B.CreateAnd(Holds, B.CreateICmpULE(Block[0], B.getInt32(Launch.BlockSize)));
    for (Value *Extent : {Block[1], Block[2], Grid[1], Grid[2]})
      Holds = B.CreateAnd(Holds, B.CreateICmpEQ(Extent, B.getInt32(1)));
    return Holds;
  }

  Function &Shared;
  Limits Launch;
};

void ownAsTheUserSays(Function &F, FunctionAnalysisManager &FAM) {
  SmallVector<AtomicRMWInst *> Owned;
  for (Instruction &I : instructions(F))
    if (AtomicRMWInst *Atomic = asAccumulation(I))
      if (const Argument *Shadow = shadowOf(Atomic->getPointerOperand()))
        if (F.hasParamAttribute(Shadow->getArgNo(), OwnedAttribute))
          Owned.push_back(Atomic);
  Meetings Meet(F, FAM.getResult<AAManager>(F));
  for (AtomicRMWInst *Atomic : Owned)
    makePlain(*Atomic, Meet);
}

void own(Function &F, FunctionAnalysisManager &FAM) {
  ownAsTheUserSays(F, FAM);
  Ownership Owner(F, FAM.getResult<LoopAnalysis>(F));
  bool MayProve = F.hasFnAttribute(SharedAttribute) && !readsOtherAxes(F);
  SmallVector<AtomicRMWInst *> Proved;
  Limits Launch;
  for (Argument &A : F.args()) {
    if (!F.hasParamAttribute(A.getArgNo(), ShadowAttribute))
      continue;
    std::optional<SmallVector<AtomicRMWInst *>> Found = Ownership::accumulations(A);
    if (Found && MayProve && Owner.isProved(A, *Found, Launch))
      append_range(Proved, *Found);
  }
  if (!Proved.empty())
    Versions(F, Launch).make(Proved, FAM);
}

} // namespace

PreservedAnalyses OwnAccumulations::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *> Gradients;
  for (Function &F : M)
    if (F.hasFnAttribute(ActivityAttribute) && !F.isDeclaration())
      Gradients.push_back(&F);
  for (Function *F : Gradients)
    own(*F, FAM);
  return PreservedAnalyses::none();
}

} // namespace adgen
