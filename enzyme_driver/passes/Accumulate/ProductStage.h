// Shared memory in which each lane of a warp leaves numbers in a row of its own, and what sums products of them.
#pragma once

#include "Accumulate/OuterProducts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/MathExtras.h"

namespace adgen {

// How the numbers of an outer product lie in a lane's row: first those of its rows, then those of its columns. A lane
// sums up a tile of `Side` by `Side` products at a time; neighbouring tiles have neighbouring rows and columns each,
// so that lanes add to neighbouring elements.
struct ProductLayout {
  llvm::Type *T;
  size_t Rows, Columns, Side;

  explicit ProductLayout(const OuterProduct &Of);
  size_t tilesDown() const { return llvm::divideCeil(Rows, Side); }
  size_t tilesAcross() const { return llvm::divideCeil(Columns, Side); }
  size_t tiles() const { return tilesDown() * tilesAcross(); }
  size_t numbers() const { return (tilesDown() + tilesAcross()) * Side; }
  // Of the number at a place of a tile; beyond the last one where the tile is not full.
  static size_t indexOf(size_t Tile, size_t Place, size_t Tiles) { return Place * Tiles + Tile; }
  size_t rowBytes() const; // so that lanes write to different banks
  size_t vectors() const;  // of 16 bytes, in a tile
  uint64_t sumsBytes() const;
};

// An outer product whose sums over lanes are taken, in a loop of whose additions nothing sees anything: where the whole
// warp has come to the loop together, its sums are kept in shared memory until a lane leaves the loop.
struct ProductSum {
  OuterProduct Of;
  llvm::AtomicRMWInst *Last;                    // of the additions
  llvm::Value *Base;                            // from which their elements are constants away
  llvm::SmallVector<llvm::Value *, 2> Compared; // the same in all lanes, if it turns out so when the kernel runs
  unsigned Loop = ~0u;                          // by number, where there is one
  uint64_t Kept = 0;                            // where its sums begin among the warp's

  ProductLayout layout() const { return ProductLayout(Of); }
};

class ProductStage {
public:
  explicit ProductStage(llvm::Function &F);

  // So many rows and columns an outer product may have; 0 where there is no room.
  size_t most(llvm::Type &T) const;
  // Takes the memory; products that lie in a loop keep their sums there, as far as there is room.
  void create(llvm::MutableArrayRef<ProductSum> All);

  // Whether the thread's warp has room.
  llvm::Value *hasRoom(llvm::IRBuilder<> &B) const;
  // Before the loop of some products: whether the whole warp is here, with sums of its own, which are zero then.
  llvm::Value *begin(llvm::Instruction &Before, llvm::ArrayRef<const ProductSum *> Its) const;
  // Adds what the warp has kept, once.
  void end(llvm::Instruction &Before, llvm::ArrayRef<const ProductSum *> Its, llvm::Value &Whole) const;
  // Adds the sums over the active lanes, or keeps them if the warp is whole.
  void sum(llvm::Instruction &Before, const ProductSum &It, llvm::Value &Active, llvm::Value *Whole) const;

private:
  using TileBody = llvm::function_ref<void(llvm::IRBuilder<> &, llvm::Value *)>;
  using Sums = llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &, size_t)>;

  void forTiles(llvm::Instruction &Before, const ProductLayout &Layout, llvm::Value &Active, TileBody Body) const;
  llvm::Value *leave(llvm::IRBuilder<> &B, const OuterProduct &Of, const ProductLayout &Layout) const;
  llvm::SmallVector<llvm::Value *> sumsOf(llvm::IRBuilder<> &B, const ProductLayout &Layout, llvm::Value *First,
                                          llvm::Value &Active, llvm::Value *Tile) const;
  llvm::GlobalVariable *distances(const ProductSum &It) const;
  void add(llvm::IRBuilder<> &B, const ProductSum &It, llvm::Value *Tile, Sums Of) const;
  llvm::Value *kept(llvm::IRBuilder<> &B, const ProductSum &It, llvm::Value *Tile, size_t Vector) const;
  llvm::GlobalVariable *createShared(uint64_t Bytes, llvm::StringRef Name);

  llvm::Function &F;
  llvm::Module &M;
  bool KnowsThreads;
  uint64_t Warps, Room, RowsBytes = 0, SumsBytes = 0; // of a warp
  llvm::GlobalVariable *Rows = nullptr, *Kept = nullptr;
  llvm::Value *Warp = nullptr;
  mutable llvm::DenseMap<const ProductSum *, llvm::GlobalVariable *> Distances;
};

} // namespace adgen
