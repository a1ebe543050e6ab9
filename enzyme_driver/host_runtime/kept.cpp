// Memory for what a thread keeps for the reverse sweep: pieces that come and go with every CUDA thread or iteration, in an order close
// to last in, first out, and never leave the function and the OpenMP thread that asked for them. They are cut from chunks that the
// thread reuses; the C library's heap costs more than most reverse sweeps.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

constexpr uint64_t ChunkBytes = 1 << 20, Alignment = 16, SpareBytes = 64 << 20;

struct alignas(Alignment) Chunk {
  uint64_t bytes, used, pieces; // without this head; pieces that are in use

  char *begin() { return reinterpret_cast<char *>(this + 1); }
};

// Before every piece.
struct alignas(Alignment) Head {
  Chunk *chunk;
};

class Store {
public:
  ~Store() {
    for (Chunk *chunk : spare)
      std::free(chunk);
    if (current && !current->pieces)
      std::free(current);
  }

  void *take(uint64_t bytes) {
    const uint64_t needed = sizeof(Head) + (bytes + Alignment - 1) / Alignment * Alignment;
    if ((!current || current->bytes - current->used < needed) && !open(needed))
      return nullptr;
    auto *head = reinterpret_cast<Head *>(current->begin() + current->used);
    head->chunk = current;
    current->used += needed;
    ++current->pieces;
    return head + 1;
  }

  void give(void *piece) {
    Chunk *chunk = (static_cast<Head *>(piece) - 1)->chunk;
    if (--chunk->pieces)
      return;
    chunk->used = 0;
    if (chunk != current)
      put(chunk);
  }

private:
  bool open(uint64_t needed) {
    if (current && !current->pieces)
      put(current);
    const auto fits = std::find_if(spare.rbegin(), spare.rend(), [&](Chunk *chunk) { return chunk->bytes >= needed; });
    if (fits != spare.rend()) {
      current = *fits;
      spare_bytes -= current->bytes;
      spare.erase(std::next(fits).base());
      return true;
    }
    const uint64_t bytes = std::max(needed, ChunkBytes);
    current = static_cast<Chunk *>(std::malloc(sizeof(Chunk) + bytes));
    if (current)
      *current = {bytes, 0, 0};
    return current;
  }

  void put(Chunk *chunk) {
    if (spare_bytes + chunk->bytes > SpareBytes)
      return std::free(chunk);
    spare_bytes += chunk->bytes;
    spare.push_back(chunk);
  }

  Chunk *current = nullptr;
  std::vector<Chunk *> spare;
  uint64_t spare_bytes = 0;
};

thread_local Store store;

} // namespace

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

HIDDEN void *adgen_keep(uint64_t bytes) { return store.take(bytes); }
HIDDEN void adgen_release(void *piece) {
  if (piece)
    store.give(piece);
}
