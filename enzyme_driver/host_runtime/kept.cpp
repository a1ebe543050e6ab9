// Memory for what gradients of kernels keep: a stack for every thread of the operating system. What is freed out of turn goes when
// all above it has gone; what is never freed goes with the scope that it was taken in.
#include "kept.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace {

constexpr uint64_t Alignment = 16, FirstChunk = 1 << 16;
constexpr int NoNumber = 0xff;

std::atomic<bool> holds_no_numbers{false};

struct alignas(16) Chunk {
  Chunk *below;
  char *end;
};

struct alignas(16) Piece {
  Piece *below;
  bool freed;
};

class Stack {
public:
  ~Stack() {
    release(nullptr);
    std::free(spare);
    std::free(chunk);
  }

  // Null where there is not so much: for a loop that does not run, Enzyme asks for as much as its count, wrapped around, says.
  void *push(uint64_t bytes) {
    const uint64_t needed = sizeof(Piece) + (bytes + Alignment - 1) / Alignment * Alignment;
    if ((!chunk || uint64_t(chunk->end - top) < needed) && !grow(needed))
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
    if (chunk->below && reinterpret_cast<char *>(last) == reinterpret_cast<char *>(chunk + 1))
      shrink();
    else
      top = reinterpret_cast<char *>(last);
    last = last->below;
  }

  bool grow(uint64_t needed) {
    uint64_t bytes = chunk ? 2 * uint64_t(chunk->end - reinterpret_cast<char *>(chunk)) : FirstChunk;
    while (bytes < needed + sizeof(Chunk))
      bytes *= 2;
    Chunk *next = spare;
    spare = nullptr;
    if (!next || uint64_t(next->end - reinterpret_cast<char *>(next)) < bytes) {
      std::free(next);
      next = static_cast<Chunk *>(std::malloc(bytes));
      if (!next)
        return false;
      next->end = reinterpret_cast<char *>(next) + bytes;
    }
    next->below = chunk;
    chunk = next;
    top = reinterpret_cast<char *>(chunk + 1);
    return true;
  }

  // The chunk that is empty now is the next to be used; `last` still lies in it.
  void shrink() {
    std::free(spare);
    spare = chunk;
    chunk = chunk->below;
    top = chunk->end;
  }

  Chunk *chunk = nullptr, *spare = nullptr;
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
