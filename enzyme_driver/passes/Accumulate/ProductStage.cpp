#include "Accumulate/ProductStage.h"
#include "Accumulate/HandOver.h"
#include "Analysis/Accumulation.h"
#include "Analysis/Indices.h"
#include "Support/Threads.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace adgen {

constexpr uint64_t LanesOfWarp = 1 << LaneBits;
constexpr uint64_t MostShared = 44 * 1024; // of a block
constexpr uint64_t Threads = 256;          // of a block that have room, where the user does not bound blocks
constexpr uint64_t VectorBytes = 16;
constexpr size_t FewestLargeTiles = 12; // with fewer, most lanes would have none
constexpr size_t LargeSide = 4, SmallSide = 2;
constexpr unsigned GlobalSpace = 1;

static size_t sideOf(size_t Rows, size_t Columns) {
  size_t Large = divideCeil(Rows, LargeSide) * divideCeil(Columns, LargeSide);
  return Large < FewestLargeTiles ? SmallSide : LargeSide;
}

ProductLayout::ProductLayout(const OuterProduct &Of)
    : T(Of.Additions.front()->getType()), Rows(Of.Rows.size()), Columns(Of.Columns.size()),
      Side(sideOf(Rows, Columns)) {}

static void meet(Instruction &Before, Value &Lanes) {
  IRBuilder<>(&Before).CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, ArrayRef<Type *>(), {&Lanes});
}

static uint64_t bytesOf(const Type &T) { return T.getPrimitiveSizeInBits() / 8; }

static Type *vectorOf(const ProductLayout &Layout) {
  return FixedVectorType::get(Layout.T, VectorBytes / bytesOf(*Layout.T));
}

// An odd number of vectors.
static uint64_t rowBytesOf(uint64_t Numbers, const Type &T) {
  return (divideCeil(Numbers * bytesOf(T), VectorBytes) | 1) * VectorBytes;
}

size_t ProductLayout::rowBytes() const { return rowBytesOf(numbers(), *T); }
size_t ProductLayout::vectors() const { return Side * Side * bytesOf(*T) / VectorBytes; }
uint64_t ProductLayout::sumsBytes() const { return tiles() * vectors() * VectorBytes; }

ProductStage::ProductStage(Function &F)
    : F(F), M(*F.getParent()), KnowsThreads(mostThreads(F) != 0),
      Warps(divideCeil(KnowsThreads ? mostThreads(F) : Threads, LanesOfWarp)),
      Room(std::min(MostShared, roomInShared(F))) {}

size_t ProductStage::most(Type &T) const {
  for (size_t Most : {32, 16, 8})
    if (rowBytesOf(2 * Most, T) * LanesOfWarp * Warps <= Room)
      return Most;
  return 0;
}

GlobalVariable *ProductStage::createShared(uint64_t Bytes, StringRef Name) {
  auto *T = ArrayType::get(Type::getInt8Ty(M.getContext()), Bytes * Warps);
  GlobalVariable *Made = createExchange(F, T, Name);
  Made->setAlignment(Align(VectorBytes));
  return Made;
}

void ProductStage::create(MutableArrayRef<ProductSum> All) {
  for (const ProductSum &It : All)
    RowsBytes = std::max(RowsBytes, It.layout().rowBytes() * LanesOfWarp);
  for (ProductSum &It : All) {
    if (It.Loop == ~0u || (RowsBytes + SumsBytes + It.layout().sumsBytes()) * Warps > Room) {
      It.Loop = ~0u;
      continue;
    }
    It.Kept = SumsBytes;
    SumsBytes += It.layout().sumsBytes();
  }
  Rows = createShared(RowsBytes, ".products");
  if (SumsBytes)
    Kept = createShared(SumsBytes, ".products.sums");
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  Warp = B.CreateLShr(threadInBlock(B), LaneBits, "warp");
}

Value *ProductStage::hasRoom(IRBuilder<> &B) const {
  return KnowsThreads ? B.getTrue() : B.CreateICmpULT(Warp, B.getInt32(Warps));
}

// The active lanes do one tile after the other.
void ProductStage::forTiles(Instruction &Before, const ProductLayout &Layout, Value &Active, TileBody Each) const {
  IRBuilder<> B(&Before);
  Value *Own = B.CreateShl(B.getInt32(1), readRegister(B, Intrinsic::nvvm_read_ptx_sreg_laneid));
  Value *Below = B.CreateAnd(&Active, B.CreateSub(Own, B.getInt32(1)));
  Value *Rank = B.CreateUnaryIntrinsic(Intrinsic::ctpop, Below),
        *Count = B.CreateUnaryIntrinsic(Intrinsic::ctpop, &Active);
  forStrided(Before, Rank, Count, B.getInt32(Layout.tiles()), "tile", Each);
}

Value *ProductStage::begin(Instruction &Before, ArrayRef<const ProductSum *> Its) const {
  IRBuilder<> B(&Before);
  Value *Active = activeLanes(B), *Everyone = B.getInt32(~0u);
  Value *Whole = B.CreateAnd(B.CreateICmpEQ(Active, Everyone), hasRoom(B), "whole");
  for (const ProductSum *It : Its)
    for (Value *V : It->Compared)
      Whole = B.CreateAnd(Whole, areAlike(B, Active, V));
  Instruction *Then = SplitBlockAndInsertIfThen(Whole, Before.getIterator(), false);
  meet(*Then, *Everyone); // of a loop before, all have been taken
  for (const ProductSum *It : Its)
    forTiles(*Then, It->layout(), *Everyone, [&](IRBuilder<> &B, Value *Tile) {
      for (size_t Vector = 0; Vector < It->layout().vectors(); ++Vector)
        B.CreateAlignedStore(Constant::getNullValue(vectorOf(It->layout())), kept(B, *It, Tile, Vector),
                             Align(VectorBytes));
    });
  meet(*Then, *Everyone);
  return Whole;
}

void ProductStage::end(Instruction &Before, ArrayRef<const ProductSum *> Its, Value &Whole) const {
  Instruction *Then = SplitBlockAndInsertIfThen(&Whole, Before.getIterator(), false);
  IRBuilder<> First(Then);
  Value *Active = activeLanes(First);
  for (const ProductSum *It : Its)
    forTiles(*Then, It->layout(), *Active, [&](IRBuilder<> &B, Value *Tile) {
      const ProductLayout Layout = It->layout();
      const size_t Width = VectorBytes / bytesOf(*Layout.T);
      add(B, *It, Tile, [&](IRBuilder<> &B, size_t Place) {
        Value *From = B.CreateConstInBoundsGEP1_32(Layout.T, kept(B, *It, Tile, Place / Width), Place % Width);
        return B.CreateAtomicRMW(AtomicRMWInst::Xchg, From, Constant::getNullValue(Layout.T), MaybeAlign(),
                                 AtomicOrdering::Monotonic);
      });
    });
}

// Writes the thread's row; returns lane 0's.
Value *ProductStage::leave(IRBuilder<> &B, const OuterProduct &Of, const ProductLayout &Layout) const {
  SmallVector<Value *> Numbers;
  auto Append = [&](ArrayRef<Value *> Of, size_t Tiles) {
    for (size_t Tile = 0; Tile < Tiles; ++Tile)
      for (size_t Place = 0; Place < Layout.Side; ++Place) {
        const size_t Index = ProductLayout::indexOf(Tile, Place, Tiles);
        Numbers.push_back(Index < Of.size() ? Of[Index] : Constant::getNullValue(Layout.T));
      }
  };
  Append(Of.Rows, Layout.tilesDown());
  Append(Of.Columns, Layout.tilesAcross());
  Value *First = B.CreateInBoundsGEP(B.getInt8Ty(), Rows, B.CreateNUWMul(Warp, B.getInt32(RowsBytes)), "rows");
  Value *Lane = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_laneid);
  Value *Own = B.CreateInBoundsGEP(B.getInt8Ty(), First, B.CreateMul(Lane, B.getInt32(Layout.rowBytes())), "row");
  const size_t Width = VectorBytes / bytesOf(*Layout.T);
  auto *Vector = FixedVectorType::get(Layout.T, Width);
  for (size_t Begin = 0; Begin < Numbers.size(); Begin += Width) {
    Value *Some = Constant::getNullValue(Vector);
    for (size_t I = 0; I < Width && Begin + I < Numbers.size(); ++I)
      Some = B.CreateInsertElement(Some, Numbers[Begin + I], uint64_t(I));
    B.CreateAlignedStore(Some, B.CreateConstInBoundsGEP1_32(Layout.T, Own, Begin), Align(VectorBytes));
  }
  return First;
}

// Of the elements from the common place, tile by tile; -1 where a tile has none.
GlobalVariable *ProductStage::distances(const ProductSum &It) const {
  GlobalVariable *&Made = Distances[&It];
  if (Made)
    return Made;
  const ProductLayout Layout = It.layout();
  SmallVector<uint32_t> Bytes;
  for (size_t Tile = 0; Tile < Layout.tiles(); ++Tile)
    for (size_t Place = 0; Place < Layout.Side * Layout.Side; ++Place) {
      const size_t Down = Layout.tilesDown(), Across = Layout.tilesAcross();
      const size_t Row = ProductLayout::indexOf(Tile % Down, Place / Layout.Side, Down),
                   Column = ProductLayout::indexOf(Tile / Down, Place % Layout.Side, Across);
      const bool Is = Row < Layout.Rows && Column < Layout.Columns;
      Bytes.push_back(Is ? uint32_t(distanceOf(*It.Of.at(Row, Column))) : ~0u);
    }
  auto *Table = ConstantDataArray::get(M.getContext(), Bytes);
  Made = new GlobalVariable(M, Table->getType(), true, GlobalValue::InternalLinkage, Table, "adgen_products_elements",
                            nullptr, GlobalValue::NotThreadLocal, GlobalSpace);
  Made->setAlignment(Align(VectorBytes));
  return Made;
}

Value *ProductStage::kept(IRBuilder<> &B, const ProductSum &It, Value *Tile, size_t Vector) const {
  Value *Own = B.CreateInBoundsGEP(B.getInt8Ty(), Kept, B.CreateNUWMul(Warp, B.getInt32(SumsBytes)));
  Value *Index = B.CreateNUWAdd(Tile, B.getInt32(Vector * It.layout().tiles() + It.Kept / VectorBytes));
  return B.CreateInBoundsGEP(vectorOf(It.layout()), Own, Index);
}

void ProductStage::sum(Instruction &Before, const ProductSum &It, Value &Active, Value *Whole) const {
  const ProductLayout Layout = It.layout();
  IRBuilder<> Start(&Before);
  Value *First = leave(Start, It.Of, Layout);
  Value *Keeps = Whole ? Start.CreateAnd(Whole, Start.CreateICmpEQ(&Active, Start.getInt32(~0u))) : nullptr;
  meet(Before, Active);
  forTiles(Before, Layout, Active, [&](IRBuilder<> &B, Value *Tile) {
    const SmallVector<Value *> Found = sumsOf(B, Layout, First, Active, Tile);
    Instruction *Here = &*B.GetInsertPoint(), *Then = nullptr;
    if (Keeps)
      SplitBlockAndInsertIfThenElse(Keeps, Here->getIterator(), &Then, &Here);
    B.SetInsertPoint(Here);
    add(B, It, Tile, [&](IRBuilder<> &, size_t Place) { return Found[Place]; });
    for (size_t Vector = 0; Then && Vector < Layout.vectors(); ++Vector) {
      IRBuilder<> Keep(Then);
      Value *Place = kept(Keep, It, Tile, Vector);
      auto *T = cast<FixedVectorType>(vectorOf(Layout));
      Value *Some = PoisonValue::get(T);
      for (unsigned I = 0; I < T->getNumElements(); ++I)
        Some = Keep.CreateInsertElement(Some, Found[Vector * T->getNumElements() + I], uint64_t(I));
      Value *Sum = Keep.CreateFAdd(Keep.CreateAlignedLoad(T, Place, Align(VectorBytes)), Some);
      Keep.CreateAlignedStore(Sum, Place, Align(VectorBytes));
    }
  });
  meet(Before, Active);
}

// Of the products of a tile, which begins in lane 0's row.
SmallVector<Value *> ProductStage::sumsOf(IRBuilder<> &B, const ProductLayout &Layout, Value *First, Value &Active,
                                          Value *Tile) const {
  Value *Down = B.getInt32(Layout.tilesDown());
  auto At = [&](Value *Index, size_t Behind) {
    Value *Number = B.CreateNUWAdd(B.CreateNUWMul(Index, B.getInt32(Layout.Side)), B.getInt32(Behind));
    return B.CreateInBoundsGEP(Layout.T, First, Number);
  };
  Value *Row = At(B.CreateURem(Tile, Down), 0),
        *Column = At(B.CreateUDiv(Tile, Down), Layout.tilesDown() * Layout.Side);
  auto *T = ArrayType::get(Layout.T, Layout.Side * Layout.Side);
  Value *Result = IRBuilder<>(&*F.getEntryBlock().getFirstInsertionPt()).CreateAlloca(T);
  std::string Name =
      ("adgen_sum_products_" + Twine(Layout.T->isFloatTy() ? "f32_" : "f64_") + Twine(Layout.Side)).str();
  callTogether(B, Name, B.getVoidTy(),
               {Row, Column, B.getInt32(Layout.rowBytes() / bytesOf(*Layout.T)), &Active, Result});
  SmallVector<Value *> Found;
  for (unsigned Place = 0; Place < T->getNumElements(); ++Place)
    Found.push_back(B.CreateLoad(Layout.T, B.CreateConstInBoundsGEP2_32(T, Result, 0, Place)));
  return Found;
}

void ProductStage::add(IRBuilder<> &B, const ProductSum &It, Value *Tile, Sums Of) const {
  const ProductLayout Layout = It.layout();
  const unsigned Places = Layout.Side * Layout.Side;
  Value *From = B.CreateInBoundsGEP(B.getInt32Ty(), distances(It), B.CreateNUWMul(Tile, B.getInt32(Places)));
  Instruction *After = &*B.GetInsertPoint();
  for (unsigned Place = 0; Place < Places; ++Place) {
    Value *Distance = B.CreateLoad(B.getInt32Ty(), B.CreateConstInBoundsGEP1_32(B.getInt32Ty(), From, Place));
    if (Layout.tiles() * Places != Layout.Rows * Layout.Columns)
      B.SetInsertPoint(
          SplitBlockAndInsertIfThen(B.CreateICmpNE(Distance, B.getInt32(~0u)), After->getIterator(), false));
    Value *To = B.CreateGEP(B.getInt8Ty(), It.Base, B.CreateSExt(Distance, B.getInt64Ty()));
    auto *Add = B.CreateAtomicRMW(AtomicRMWInst::FAdd, To, Of(B, Place), MaybeAlign(), AtomicOrdering::Monotonic);
    Add->setMetadata(LanesMark, MDNode::get(M.getContext(), {}));
    B.SetInsertPoint(After);
  }
}

} // namespace adgen
