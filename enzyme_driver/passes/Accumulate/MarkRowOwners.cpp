// Marks the shadows of arrays of which each element is read, or written, by one thread only, because of its row and
// column:
//   (row * length + column) * stride, with 0 <= column < length
// where row and column tell which thread it is, as in
//   row = blockIdx.x,                                          column = threadIdx.x + any * blockDim.x,
//   row = blockIdx.x,                                          column = threadIdx.x + any * 256,
//   row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32,   column = threadIdx.x % 32 + any * 32,
//   row = 2 * blockIdx.x and row = 2 * blockIdx.x + 1,         column = threadIdx.x, in blocks as long as rows,
// and rows may be rows of others in turn. What a gradient adds to such a shadow needs no atomics
// (RelaxPrivateAtomics), nor what it takes from the shadow of an array that is written so. It is found here, before
// Enzyme, while the conditions that keep a column within its row are those of the user's loops. That an index keeps to
// 32 bits follows from flags of the arithmetic, and from lengths and a number of threads that the launch is asked for;
// so it is whether blocks are no longer than steps of a constant.
#include "Accumulate/Ownership.h"
#include "Analysis/Accumulation.h"
#include "Analysis/Indices.h"
#include "Support/Derivative.h"
#include "Support/Pass.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"

#include <numeric>

#define DEBUG_TYPE "adgen-mark-row-owners"

using namespace llvm;

STATISTIC(NumShadows, "Number of shadows of rows marked");

namespace adgen {
namespace {

// What a number tells of the thread that comes to it.
enum Told : unsigned { Nothing = 0, InBlock = 1, InWarp = 2, InLane = 4, InThread = InWarp | InLane };

// What a launch is asked for of a length: that a block is no longer than it, divided by a number, or that it is a
// multiple of one; 0 for nothing.
struct Asked {
  int64_t Filled = 0, Multiple = 0;
};

// An index as digits, the last first: what each tells, and the numbers that they are counted by.
struct Digits {
  SmallVector<unsigned, 4> Told;
  SmallVector<Source, 4> Lengths;
  SmallVector<Asked, 4> Launch;    // for each length
  int64_t Stride = 0, Scalars = 0; // of an element, in bytes and as many as are loaded at once
  int64_t Times = 1;               // so many rows side by side are one of those that tell the thread
  int64_t MostThreads = 0;         // of a block, where the first steps by a constant
  int64_t Together = 1;            // so many elements of a row are one thread's, as where it reads vectors
  bool Walks = false;              // the first digit is counted on by a loop
  bool MayWrap = false;

  bool operator==(const Digits &Other) const {
    return Told == Other.Told && Lengths == Other.Lengths && Stride == Other.Stride && Together == Other.Together &&
           Times == Other.Times;
  }
  void limitAsWell(const Digits &Other) {
    limitThreads(Other.MostThreads);
    for (auto [Mine, Others] : zip(Launch, Other.Launch))
      Mine = {std::max(Mine.Filled, Others.Filled), std::max(Mine.Multiple, Others.Multiple)};
  }
  void limitThreads(int64_t Most) {
    MostThreads = MostThreads && Most ? std::min(MostThreads, Most) : MostThreads + Most;
  }
  bool tellThread() const {
    unsigned All = 0;
    for (unsigned Each : Told)
      All |= Each;
    return All == (InBlock | InThread);
  }
};

Source axis(Source::Kind Of) { return onAxis(Of, 0); }

bool isOf(const Source &S, Source::Kind Of) { return S.Of == Of; }

bool has(const Polynomial::Product &Sources, Source::Kind Of) {
  return any_of(Sources, [=](const Source &S) { return isOf(S, Of); });
}

class Rows {
public:
  Rows(Function &Body, FunctionAnalysisManager &FAM)
      : Body(Body), LI(FAM.getResult<LoopAnalysis>(Body)), SE(FAM.getResult<ScalarEvolutionAnalysis>(Body)),
        DT(FAM.getResult<DominatorTreeAnalysis>(Body)), Index(Body, LI, true) {}

  // What all loads of the array, or all stores to it, have in common, if that tells the thread.
  std::optional<Digits> of(Argument &Array, bool Stored) {
    SmallVector<Instruction *> Loads, Stores;
    if (!collect(Array, Loads, Stores))
      return std::nullopt;
    const SmallVector<Instruction *> &Accesses = Stored ? Stores : Loads;
    std::optional<Digits> Common;
    const int64_t Stride = strideOf(Array, Accesses);
    for (Instruction *Access : Accesses) {
      std::optional<Digits> Mine = Stride ? ofAccess(Array, *Access, Stride) : std::nullopt;
      if (!Mine || !Mine->tellThread() || (Common && !(*Mine == *Common)))
        return std::nullopt;
      Mine->MayWrap |= Common && Common->MayWrap;
      Mine->Scalars = std::max(Mine->Scalars, Common ? Common->Scalars : 0);
      Mine->Walks |= Common && Common->Walks;
      if (Common)
        Mine->limitAsWell(*Common);
      Common = Mine;
    }
    return Common && Common->MayWrap && Common->Walks ? std::nullopt : Common;
  }

private:
  // False where the array is used in another way than by loads and stores of its elements.
  static bool collect(Argument &Array, SmallVectorImpl<Instruction *> &Loads, SmallVectorImpl<Instruction *> &Stores) {
    SmallVector<Value *> Pointers{&Array};
    while (!Pointers.empty()) {
      Value *Pointer = Pointers.pop_back_val();
      for (User *U : Pointer->users()) {
        auto *Load = dyn_cast<LoadInst>(U);
        auto *Store = dyn_cast<StoreInst>(U);
        if (isa<GetElementPtrInst>(U))
          Pointers.push_back(U);
        else if (Load && Load->isSimple())
          Loads.push_back(Load);
        else if (Store && Store->isSimple() && Store->getPointerOperand() == Pointer)
          Stores.push_back(Store);
        else if (!isa<ICmpInst>(U))
          return false;
      }
    }
    return true;
  }

  // The bytes of which all that tells elements apart is a multiple; 0 where that is not understood.
  int64_t strideOf(Argument &Array, ArrayRef<Instruction *> Accesses) {
    int64_t Common = 0;
    for (Instruction *Access : Accesses) {
      std::optional<Polynomial> P = Index.offsetFrom(&Array, getLoadStorePointerOperand(Access));
      if (!P)
        return 0;
      P->take({});
      Common = std::gcd(Common, commonFactor(*P));
    }
    return Common;
  }

  std::optional<Digits> ofAccess(Argument &Array, Instruction &Access, int64_t Stride) {
    std::optional<Polynomial> P = Index.offsetFrom(&Array, getLoadStorePointerOperand(&Access));
    if (!P)
      return std::nullopt;
    Digits Found;
    Found.Stride = Stride;
    int64_t Within = P->take({}), Bytes = Access.getDataLayout().getTypeStoreSize(getLoadStoreType(&Access));
    if (Within < 0)
      return std::nullopt;
    for (auto &[Sources, Factor] : P->Terms)
      Factor /= Found.Stride;
    Found.MayWrap = Index.mayWrap(getLoadStorePointerOperand(&Access));
    if (!addDigits(std::move(*P), Access, Found) || Within + Bytes > Found.Stride * Found.Together)
      return std::nullopt;
    Found.Scalars = std::max<int64_t>(1, Found.Stride / Bytes) * Found.Times;
    return Found;
  }

  bool addDigits(Polynomial P, Instruction &Access, Digits &Found) {
    SmallVector<Source, 4> Lengths;
    for (const auto &[Sources, Factor] : P.Terms)
      for (const Source &S : Sources)
        if (isOf(S, Source::Shared) && !is_contained(Lengths, S))
          Lengths.push_back(S);
    for (const Source &Length : Lengths) {
      Polynomial Column, Row;
      if (!split(P, Length, Column, Row))
        continue;
      const Polynomial Scalars = Column;
      int64_t Together = Found.Told.empty() ? takeCommonFactor(Column) : 1;
      Asked Launch;
      if (!isWithin(Column, Length, Together, Access)) {
        if (isWithin(Scalars, Length, 1, Access))
          Launch.Multiple = Together;
        else if (Column == Polynomial::source(axis(Source::Thread)))
          Launch.Filled = Together;
        else
          continue;
      }
      Found.Together = Found.Told.empty() ? Together : Found.Together;
      std::optional<unsigned> Told = toldBy(Column, Found);
      if (!Told)
        return false;
      Found.Told.push_back(*Told);
      Found.Lengths.push_back(Length);
      Found.Launch.push_back(Launch);
      return addDigits(std::move(Row), Access, Found);
    }
    if (Lengths.empty())
      takeRowsSideBySide(P, Found);
    std::optional<unsigned> Told = Lengths.empty() ? toldBy(P, Found) : std::nullopt;
    if (!Told)
      return false;
    Found.Told.push_back(*Told);
    Found.Walks = any_of(P.Terms, [](const auto &Term) { return has(Term.first, Source::Counter); });
    return true;
  }

  // Rows of one thread side by side, such as 2 * blockIdx.x and 2 * blockIdx.x + 1 of a gate and what goes through it.
  static void takeRowsSideBySide(Polynomial &P, Digits &Found) {
    const int64_t Which = P.take({}), Times = commonFactor(P);
    if (!Found.Lengths.empty() && Which >= 0 && Which < Times)
      Found.Times = takeCommonFactor(P);
    else
      P += Polynomial::constant(Which);
  }

  // As row * length + column; the column depends on no such number.
  static bool split(const Polynomial &P, const Source &Length, Polynomial &Column, Polynomial &Row) {
    for (const auto &[Sources, Factor] : P.Terms) {
      Polynomial::Product Rest(Sources);
      auto At = find(Rest, Length);
      bool IsRow = At != Rest.end();
      if (IsRow)
        Rest.erase(At);
      else if (has(Sources, Source::Shared))
        return false;
      (IsRow ? Row : Column).Terms[Rest] = Factor;
    }
    return !Column.Terms.empty();
  }

  static int64_t commonFactor(const Polynomial &P) {
    int64_t Common = 0;
    for (const auto &[Sources, Factor] : P.Terms)
      Common = std::gcd(Common, Factor);
    return Common;
  }

  static int64_t takeCommonFactor(Polynomial &P) {
    int64_t Common = commonFactor(P);
    for (auto &[Sources, Factor] : P.Terms)
      Factor /= Common;
    return Common;
  }

  // Whether conditions keep the column, which is not negative, below the length whenever the access is reached; where
  // columns are several elements together, below the length divided by as many.
  bool isWithin(const Polynomial &Column, const Source &Length, int64_t Together, Instruction &Access) {
    auto *Limit = const_cast<Value *>(static_cast<const Value *>(Length.What));
    return any_of(instructions(Body), [&](Instruction &I) {
      bool IsColumn = I.getType() == Limit->getType() && DT.dominates(&I, &Access) && Index.of(&I) == Column;
      if (!IsColumn || Index.mayWrap(&I))
        return false;
      if (Together == 1)
        return isBelow(I, *Limit, Access);
      return any_of(Limit->users(), [&](User *U) {
        auto *Quotient = cast<Instruction>(U);
        return isQuotient(*U, *Limit, Together) && DT.dominates(Quotient, &Access) && isBelow(I, *U, Access);
      });
    });
  }

  static bool isQuotient(const User &U, const Value &Of, int64_t By) {
    auto *Op = dyn_cast<BinaryOperator>(&U);
    auto *Number = Op && Op->getOperand(0) == &Of ? dyn_cast<ConstantInt>(Op->getOperand(1)) : nullptr;
    if (!Number)
      return false;
    if (Op->getOpcode() == Instruction::LShr || Op->getOpcode() == Instruction::AShr)
      return Number->getValue().ult(32) && int64_t(1) << Number->getZExtValue() == By;
    return is_contained({Instruction::SDiv, Instruction::UDiv}, Op->getOpcode()) && Number->getSExtValue() == By;
  }

  // Or no larger than a remainder by the length.
  bool isBelow(Instruction &Column, Value &Limit, Instruction &Access) {
    auto IsGuarded = [&](const Value &Most, ArrayRef<CmpInst::Predicate> Any) {
      return any_of(Any, [&](CmpInst::Predicate P) { return isGuarded(Column, P, Most, Access); });
    };
    return IsGuarded(Limit, {CmpInst::ICMP_SLT, CmpInst::ICMP_ULT}) || any_of(Limit.users(), [&](User *U) {
             auto *Op = dyn_cast<BinaryOperator>(U);
             bool Remains = Op && Op->getOperand(1) == &Limit &&
                            is_contained({Instruction::SRem, Instruction::URem}, Op->getOpcode());
             return Remains && DT.dominates(Op, &Access) && IsGuarded(*Op, CmpInst::ICMP_SLE);
           });
  }

  bool isGuarded(Instruction &Column, CmpInst::Predicate P, const Value &Limit, Instruction &Access) {
    const SCEV *Number = SE.getSCEV(&Column), *Most = SE.getSCEV(const_cast<Value *>(&Limit));
    auto *Counted = dyn_cast<SCEVAddRecExpr>(Number);
    if (SE.isBasicBlockEntryGuardedByCond(Access.getParent(), P, Number, Most))
      return true;
    return Counted && SE.isAvailableAtLoopEntry(Most, Counted->getLoop()) &&
           SE.isLoopEntryGuardedByCond(Counted->getLoop(), P, Counted->getStart(), Most) &&
           SE.isLoopBackedgeGuardedByCond(Counted->getLoop(), P, Counted->getPostIncExpr(SE), Most);
  }

  // Blocks that are counted from the last one on, gridDim.x - 1 - blockIdx.x, tell the same as blockIdx.x.
  static void countForwards(Polynomial &P) {
    for (const Polynomial::Product &By : {Polynomial::Product(), Polynomial::Product{axis(Source::BlockSize)},
                                          Polynomial::Product{axis(Source::Warps)}}) {
      auto Of = [&](Source::Kind Kind) {
        Polynomial::Product Both(By);
        Both.push_back(axis(Kind));
        llvm::sort(Both);
        return Both;
      };
      auto Factor = [&](const Polynomial::Product &Sources) {
        auto At = P.Terms.find(Sources);
        return At == P.Terms.end() ? 0 : At->second;
      };
      int64_t Backwards = -Factor(Of(Source::Block));
      if (Backwards <= 0 || Factor(Of(Source::GridSize)) != Backwards || Factor(By) != -Backwards)
        continue;
      P.take(Of(Source::GridSize));
      P.take(By);
      P.Terms[Of(Source::Block)] = Backwards;
    }
  }

  static bool countsAlone(const Polynomial &P) {
    return all_of(P.Terms, [](const auto &Term) {
      return all_of(Term.first, [](const Source &S) { return isOf(S, Source::Counter); });
    });
  }

  // What a digit tells of the thread; nothing where threads may come to it in another way.
  static std::optional<unsigned> toldBy(Polynomial P, Digits &Found) {
    countForwards(P);
    int64_t Block = P.take({axis(Source::Block)}), Thread = P.take({axis(Source::Thread)}),
            Lane = P.take({axis(Source::Lane)}), Warp = P.take({axis(Source::Warp)}),
            BySize = P.take({axis(Source::Block), axis(Source::BlockSize)}),
            ByWarps = P.take({axis(Source::Block), axis(Source::Warps)});
    auto Is = [&](ArrayRef<int64_t> Factors) {
      return ArrayRef({Block, Thread, Lane, Warp, BySize, ByWarps}) == Factors;
    };
    if (any_of(P.Terms, [](const auto &Term) { return Term.second <= 0 || has(Term.first, Source::Shared); }))
      return std::nullopt;
    auto InMultiplesOf = [&](std::initializer_list<Source::Kind> Of, int64_t Factor = 1) {
      return all_of(P.Terms, [&](const auto &Term) {
        return Term.second % Factor == 0 && all_of(Of, [&](Source::Kind Each) { return has(Term.first, Each); }) &&
               none_of(Term.first, [](const Source &S) {
                 return is_contained({Source::Block, Source::Thread, Source::Lane, Source::Warp}, S.Of);
               });
      });
    };
    if (Is({1, 0, 0, 0, 0, 0}) && InMultiplesOf({Source::GridSize}))
      return InBlock;
    if (Is({0, 1, 0, 0, 0, 0}) && InMultiplesOf({Source::BlockSize}))
      return InThread;
    if (int64_t Step = commonFactor(P); Is({0, 1, 0, 0, 0, 0}) && Step > 1 && countsAlone(P)) {
      Found.limitThreads(Step);
      return InThread;
    }
    if (Is({0, 0, 1, 0, 0, 0}) && InMultiplesOf({}, 1 << LaneBits))
      return InLane;
    if (Is({0, 0, 0, 1, 0, 0}) && InMultiplesOf({Source::Warps}))
      return InWarp;
    if (Is({0, 1, 0, 0, 1, 0}) && InMultiplesOf({Source::GridSize, Source::BlockSize}))
      return InBlock | InThread;
    if (Is({0, 0, 0, 1, 0, 1}) && InMultiplesOf({Source::GridSize, Source::Warps}))
      return InBlock | InWarp;
    return Is({0, 0, 0, 0, 0, 0}) && InMultiplesOf({}) ? std::optional<unsigned>(Nothing) : std::nullopt;
  }

  Function &Body;
  LoopInfo &LI;
  ScalarEvolution &SE;
  DominatorTree &DT;
  Indices Index;
};

std::string spelled(const Source &Length) {
  auto *Value = static_cast<const llvm::Value *>(Length.What);
  if (auto *A = dyn_cast<Argument>(Value))
    return std::to_string(A->getArgNo());
  auto *Load = cast<LoadInst>(Value);
  int64_t Offset = 0;
  auto *A = cast<Argument>(GetPointerBaseWithConstantOffset(Load->getPointerOperand(), Offset, Load->getDataLayout()));
  return std::to_string(A->getArgNo()) + "+" + std::to_string(Offset);
}

// How many elements there may be in all, as RowsAttribute has it: so many rows of these lengths; and how many threads a
// block may have.
std::string spelled(const Digits &Own) {
  unsigned First = Own.Told.back();
  StringRef Rows = !Own.MayWrap ? "" : First == InBlock ? "blocks" : First == (InBlock | InWarp) ? "warps" : "threads";
  std::string Threads = Own.MostThreads ? "*" + std::to_string(Own.MostThreads) : "";
  return (Rows + "*" + Twine(Own.Scalars) + Threads + ":" +
          join(map_range(zip(Own.Lengths, Own.Launch),
                         [](const auto &Each) {
                           const auto &[Length, Launch] = Each;
                           return spelled(Length) + (Launch.Filled ? "<" + std::to_string(Launch.Filled) : "") +
                                  (Launch.Multiple ? "%" + std::to_string(Launch.Multiple) : "");
                         }),
               ":"))
      .str();
}

void mark(Function &Gradient, Function &Body, FunctionAnalysisManager &FAM) {
  SmallVector<Activity> Activities = activitiesOf(Gradient);
  BodyLayout Layout(Body, Activities);
  Rows Found(Body, FAM);
  unsigned Shadow = Layout.parameters();
  for (auto [Number, Each] : enumerate(Activities)) {
    if (Each == Activity::Const)
      continue;
    Argument *Adjoint = Gradient.getArg(Shadow++), *Array = Body.getArg(Number);
    if (Each != Activity::Duplicated || !Adjoint->hasAttribute(ShadowAttribute) || structBytes(Body, Number))
      continue;
    for (bool Stored : {false, true}) {
      std::optional<Digits> Own = Found.of(*Array, Stored);
      if (!Own || Own->Lengths.empty()) // which RelaxPrivateAtomics finds for more launches
        continue;
      ADGEN_COUNT(NumShadows, *Adjoint);
      StringRef Name = Stored ? StringRef(StoredRowsAttribute) : StringRef(RowsAttribute);
      Gradient.addParamAttr(Adjoint->getArgNo(), Attribute::get(Gradient.getContext(), Name, spelled(*Own)));
    }
  }
}

} // namespace

ADGEN_DECLARE_PASS(MarkRowOwners);

PreservedAnalyses MarkRowOwners::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (Function &Gradient : M) {
    Function *Body = Gradient.getName().starts_with(GradientPrefix)
                         ? M.getFunction((BodyPrefix + symbolOf(Gradient)).str())
                         : nullptr;
    if (Body && !Body->isDeclaration() && Body->hasFnAttribute(SharedAttribute))
      mark(Gradient, *Body, FAM);
  }
  return PreservedAnalyses::all();
}

} // namespace adgen
