// Memory for what gradients keep: a stack for every thread of the operating system. What is freed out of turn goes when
// all above it has gone; what is never freed goes with the scope that it was taken in. Of emptied memory so much stays
// for later gradients: to get its pages anew from the system takes longer than to fill them.
#include "kept.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace {

constexpr uint64_t Alignment = 16, FirstChunk = 1 << 16;
constexpr uint64_t MostSpare = 256 << 20;    // bytes, of all threads
constexpr uint64_t Most = uint64_t(1) << 48; // bytes that there can be
constexpr int NoNumber = 0xff;

std::atomic<bool> holds_no_numbers{false};

struct alignas(16) Chunk {
  Chunk *below;
  char *end;

  uint64_t bytes() const { return uint64_t(end - reinterpret_cast<const char *>(this)); }
};

// Emptied chunks of a thread, the last one first.
class Spare {
public:
  ~Spare() {
    while (Chunk *chunk = first)
      std::free(take(&first, chunk));
  }

  Chunk *take(uint64_t bytes) {
    for (Chunk **place = &first; Chunk *chunk = *place; place = &chunk->below)
      if (chunk->bytes() >= bytes)
        return take(place, chunk);
    return nullptr;
  }

  void give(Chunk *chunk) {
    if (total.fetch_add(chunk->bytes()) + chunk->bytes() > MostSpare) {
      total -= chunk->bytes();
      std::free(chunk);
      return;
    }
    chunk->below = first;
    first = chunk;
  }

private:
  static std::atomic<uint64_t> total;
  Chunk *first = nullptr;

  static Chunk *take(Chunk **place, Chunk *chunk) {
    total -= chunk->bytes();
    *place = chunk->below;
    return chunk;
  }
};
std::atomic<uint64_t> Spare::total{0};

struct alignas(16) Piece {
  Piece *below;
  bool freed;
};

class Stack {
public:
  ~Stack() {
    release(nullptr);
    std::free(chunk);
  }

  // Null where there is not so much: for a loop that does not run, Enzyme asks for as much as its count, wrapped
  // around, says.
  void *push(uint64_t bytes) {
    const uint64_t needed = sizeof(Piece) + (bytes + Alignment - 1) / Alignment * Alignment;
    if (bytes > Most || ((!chunk || uint64_t(chunk->end - top) < needed) && !grow(needed)))
      return nullptr;
    auto *piece = reinterpret_cast<Piece *>(top);
    piece->below = last;
    piece->freed = false;
    top += needed;
    last = piece;
    if (holds_no_numbers.load(std::memory_order_relaxed))
      std::memset(piece + 1, NoNumber, bytes);
    return piece + 1;
  }

  void free(void *start) {
    (static_cast<Piece *>(start) - 1)->freed = true;
    while (last && last->freed)
      pop();
  }

  Piece *mark() const { return last; }

  void release(const Piece *mark) {
    while (last != mark)
      pop();
  }

private:
  void pop() {
    char *gone = reinterpret_cast<char *>(last);
    last = last->below; // before its chunk may go
    if (chunk->below && gone == reinterpret_cast<char *>(chunk + 1))
      shrink();
    else
      top = gone;
  }

  bool grow(uint64_t needed) {
    Chunk *next = spare.take(needed + sizeof(Chunk));
    if (!next)
      next = allocate(needed + sizeof(Chunk));
    if (!next)
      return false;
    next->below = chunk;
    chunk = next;
    top = reinterpret_cast<char *>(chunk + 1);
    return true;
  }

  Chunk *allocate(uint64_t needed) const {
    uint64_t bytes = chunk ? 2 * chunk->bytes() : FirstChunk;
    while (bytes < needed)
      bytes *= 2;
    auto *fresh = static_cast<Chunk *>(std::malloc(bytes));
    if (fresh)
      fresh->end = reinterpret_cast<char *>(fresh) + bytes;
    return fresh;
  }

  // Of the chunk that is empty now.
  void shrink() {
    Chunk *empty = chunk;
    chunk = chunk->below;
    top = chunk->end;
    spare.give(empty);
  }

  Spare spare;
  Chunk *chunk = nullptr;
  char *top = nullptr;
  Piece *last = nullptr;
};

thread_local Stack stack;

} // namespace

extern "C" __attribute__((visibility("default"))) void adgen_keep_no_numbers(bool wanted) { holds_no_numbers = wanted; }

void *adgen_kept_alloc(uint64_t bytes) { return stack.push(bytes); }

void adgen_kept_free(void *start) {
  if (start)
    stack.free(start);
}

void *adgen_kept_mark() { return stack.mark(); }

void adgen_kept_release(void *mark) { stack.release(static_cast<Piece *>(mark)); }
