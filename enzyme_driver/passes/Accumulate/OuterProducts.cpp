#include "Accumulate/OuterProducts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace llvm;

namespace adgen {
namespace {

constexpr size_t FewestInRow = 2;

BinaryOperator *asProduct(Value *V) {
  auto *Product = dyn_cast<BinaryOperator>(V);
  return Product && Product->getOpcode() == Instruction::FMul ? Product : nullptr;
}

// The factors by number, in the order in which they come, and which addition is of the product of two.
class Factors {
public:
  explicit Factors(ArrayRef<AtomicRMWInst *> Additions) {
    const DenseSet<Value *> Shared = sharedFactors(Additions);
    for (AtomicRMWInst *Addition : Additions) {
      Value *Added = Addition->getValOperand();
      BinaryOperator *Product = Shared.contains(Added) ? nullptr : asProduct(Added);
      insert(Product ? Product->getOperand(0) : ConstantFP::get(Added->getType(), 1),
             Product ? Product->getOperand(1) : Added, *Addition);
    }
  }

  // The one with the most additions: rows are those that have the same columns.
  OuterProduct largest() const {
    std::map<std::vector<unsigned>, std::vector<unsigned>> Alike;
    for (auto [Number, Others] : enumerate(Partners)) {
      std::vector<unsigned> Columns;
      for (auto [Other, Addition] : Others)
        Columns.push_back(Other);
      Alike[Columns].push_back(Number);
    }
    auto Most = max_element(Alike, [](const auto &A, const auto &B) { return additionsOf(A) < additionsOf(B); });
    OuterProduct Found;
    if (Most == Alike.end() || !additionsOf(*Most))
      return Found;
    for (unsigned Column : Most->first)
      Found.Columns.push_back(Values[Column]);
    for (unsigned Row : Most->second) {
      Found.Rows.push_back(Values[Row]);
      for (unsigned Column : Most->first)
        Found.Additions.push_back(Partners[Row].at(Column));
    }
    return Found;
  }

  void erase(const OuterProduct &Found) {
    for (Value *Row : Found.Rows)
      for (Value *Column : Found.Columns) {
        Partners[Numbers.at(Row)].erase(Numbers.at(Column));
        Partners[Numbers.at(Column)].erase(Numbers.at(Row));
      }
  }

private:
  // Which more than one product has: they are no products themselves here, although they may be some.
  static DenseSet<Value *> sharedFactors(ArrayRef<AtomicRMWInst *> Additions) {
    DenseSet<Value *> Once, Shared;
    for (AtomicRMWInst *Addition : Additions)
      if (BinaryOperator *Product = asProduct(Addition->getValOperand()))
        for (Value *Factor : Product->operands())
          if (!Once.insert(Factor).second)
            Shared.insert(Factor);
    return Shared;
  }

  static size_t additionsOf(const std::pair<const std::vector<unsigned>, std::vector<unsigned>> &Alike) {
    const auto &[Columns, Rows] = Alike;
    return std::min(Columns.size(), Rows.size()) < FewestInRow ? 0 : Columns.size() * Rows.size();
  }

  // Squares and further additions of the same product stay alone.
  void insert(Value *First, Value *Second, AtomicRMWInst &Addition) {
    const unsigned One = numberOf(First), Other = numberOf(Second);
    if (One != Other && Partners[One].try_emplace(Other, &Addition).second)
      Partners[Other].try_emplace(One, &Addition);
  }

  unsigned numberOf(Value *V) {
    auto [Known, IsNew] = Numbers.try_emplace(V, Values.size());
    if (IsNew) {
      Values.push_back(V);
      Partners.emplace_back();
    }
    return Known->second;
  }

  DenseMap<Value *, unsigned> Numbers;
  SmallVector<Value *> Values;
  std::vector<std::map<unsigned, AtomicRMWInst *>> Partners;
};

} // namespace

// As alike as they can be.
static size_t sizeOfParts(size_t Count, size_t Most) { return divideCeil(Count, divideCeil(Count, Most)); }

SmallVector<OuterProduct> inParts(const OuterProduct &Whole, size_t Most) {
  const size_t High = sizeOfParts(Whole.Rows.size(), Most), Wide = sizeOfParts(Whole.Columns.size(), Most);
  SmallVector<OuterProduct> Parts;
  for (size_t Row = 0; Row < Whole.Rows.size(); Row += High)
    for (size_t Column = 0; Column < Whole.Columns.size(); Column += Wide) {
      OuterProduct &Part = Parts.emplace_back();
      append_range(Part.Rows, ArrayRef(Whole.Rows).drop_front(Row).take_front(High));
      append_range(Part.Columns, ArrayRef(Whole.Columns).drop_front(Column).take_front(Wide));
      for (size_t Down = 0; Down < Part.Rows.size(); ++Down)
        for (size_t Right = 0; Right < Part.Columns.size(); ++Right)
          Part.Additions.push_back(Whole.at(Row + Down, Column + Right));
    }
  return Parts;
}

SmallVector<OuterProduct> outerProducts(ArrayRef<AtomicRMWInst *> Additions, size_t Fewest) {
  Factors Left(Additions);
  SmallVector<OuterProduct> All;
  for (OuterProduct Next = Left.largest(); Next.Additions.size() >= Fewest; Next = Left.largest()) {
    Left.erase(Next);
    All.push_back(std::move(Next));
  }
  return All;
}

} // namespace adgen
