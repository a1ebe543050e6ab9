#include "Import/Fragments.h"

#include "llvm/ADT/StringSwitch.h"

#include <utility>

using namespace llvm;

namespace adgen {

std::optional<Operation> Operation::make(Format Of, unsigned K) {
  bool Known = Of == Format::Double ? K == 4 : Of == Format::Tf32 ? K == 4 || K == 8 : K == 8 || K == 16;
  return Known ? std::optional(Operation{Of, K}) : std::nullopt;
}

StringRef Operation::name() const {
  switch (Of) {
  case Format::Half:
    return K == 16 ? "m16n8k16_f16" : "m16n8k8_f16";
  case Format::Brain:
    return K == 16 ? "m16n8k16_bf16" : "m16n8k8_bf16";
  case Format::Tf32:
    return K == 8 ? "m16n8k8_tf32" : "m16n8k4_tf32";
  case Format::Double:
    return "m8n8k4_f64";
  }
  llvm_unreachable("a format");
}

Element Operation::element(Matrix Which, unsigned Index) const {
  constexpr LaneIndex Group{1, 0, 0};
  if (Which == Matrix::C)
    return {{1, 0, 8 * (Index / 2)}, {0, 2, Index % 2}};
  auto Inner = [&](unsigned Slot) {
    return isPaired() ? LaneIndex{0, 2, Slot % 2 + 8 * (Slot / 2)} : LaneIndex{0, 1, 4 * Slot};
  };
  if (Which == Matrix::B)
    return {Inner(Index), Group};
  unsigned Slot = isPaired() ? Index % 2 + 2 * (Index / 4) : Index / rows();
  unsigned Row = isPaired() ? Index / 2 % 2 : Index % rows();
  return {{1, 0, 8 * Row}, Inner(Slot)};
}

std::optional<Shape> Shape::parse(StringRef Text) {
  Shape S{};
  bool Bad = !Text.consume_front("m") || Text.consumeInteger(10, S.M) || !Text.consume_front("n") ||
             Text.consumeInteger(10, S.N) || !Text.consume_front("k") || Text.consumeInteger(10, S.K) || !Text.empty();
  return Bad ? std::nullopt : std::optional(S);
}

Element Shape::element(const Operation &Op, Matrix Which, unsigned Index) const {
  bool Swapped = isTransposed();
  Matrix Inside = !Swapped || Which == Matrix::C ? Which : Which == Matrix::A ? Matrix::B : Matrix::A;
  unsigned Own = Inside == Matrix::A ? Op.inA() : Inside == Matrix::B ? Op.slots() : Op.results();
  unsigned Part = Index / Own % parts();
  Element Found = Op.element(Inside, Index % Own);
  if (isSideBySide() && Inside != Matrix::A)
    Found.Column.C += 8 * Part;
  if (!isSideBySide() && Inside != Matrix::B)
    Found.Row.C += 16 * Part;
  if (Swapped)
    std::swap(Found.Row, Found.Column);
  return Found;
}

} // namespace adgen
