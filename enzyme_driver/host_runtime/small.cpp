// Blocks of up to 8 KiB lie in spans of 64 KiB, each of which belongs to a thread and has blocks of one size, in one
// stretch of addresses by which they are told apart from other memory. A span hands out its blocks one behind the
// other, and does so anew as soon as all have come back: the tapes of a recursion, which are very many, are then
// written and read in the order of their addresses, gradient after gradient. What another thread gives back goes to a
// list of that thread's.
#include "small.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <sys/mman.h>

namespace {

constexpr uint64_t Largest = 8 << 10, SpanBytes = 64 << 10;
constexpr uint64_t Unit = 16, Fine = 1 << 10, Coarse = 512; // sizes are multiples of a unit, above 1 KiB coarse ones
constexpr uint64_t FineSizes = Fine / Unit, Sizes = FineSizes + (Largest - Fine) / Coarse;

uint64_t sizeFor(uint64_t bytes) {
  return bytes <= Fine ? (bytes - 1) / Unit : FineSizes + (bytes - Fine - 1) / Coarse;
}

struct Block {
  Block *next;
};

struct List {
  Block *first;
  uint64_t count;

  void push(Block *block) {
    block->next = first;
    first = block;
    ++count;
  }

  Block *pop() {
    Block *block = first;
    if (block) {
      first = block->next;
      --count;
    }
    return block;
  }
};

struct Own;

// Only its thread changes it, or whoever holds the lock where it has none.
struct Span {
  std::atomic<Own *> owner;
  Block *freed;
  char *fresh; // from here on nothing has been handed out
  char *end;   // of the last block
  Span *next;  // in a queue
  uint32_t live, size;
  bool queued;

  uint64_t each() const { return size < FineSizes ? (size + 1) * Unit : Fine + (size - FineSizes + 1) * Coarse; }

  void clear(char *start) {
    freed = nullptr;
    fresh = start;
    end = start + SpanBytes / each() * each();
  }

  Block *take() {
    Block *block = freed;
    if (block) {
      freed = block->next;
    } else {
      if (fresh == end)
        return nullptr;
      block = reinterpret_cast<Block *>(fresh);
      fresh += each();
    }
    ++live;
    return block;
  }

  // A recursion gives back what it took last first: nothing is written then, and what was read only need not be
  // written to memory.
  void put(Block *block) {
    if (reinterpret_cast<char *>(block) + each() == fresh) {
      fresh = reinterpret_cast<char *>(block);
      return;
    }
    block->next = freed;
    freed = block;
  }
};

struct Queue {
  Span *first;

  void push(Span *span) {
    span->next = first;
    first = span;
  }

  Span *pop() {
    Span *span = first;
    if (span)
      first = span->next;
    return span;
  }
};

// What all threads share.
class Spans {
public:
  Spans() {
    void *found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    all = static_cast<Span *>(std::calloc(bytes / SpanBytes, sizeof(Span))); // pages come as they are used
    if (found == MAP_FAILED || !all)
      return;
    start = static_cast<char *>(found);
  }

  // Null where the memory lies in none.
  Span *of(const void *memory) const {
    const auto place = uint64_t(static_cast<const char *>(memory) - start);
    return place < bytes && start ? all + place / SpanBytes : nullptr;
  }

  char *startOf(const Span *span) const { return start + uint64_t(span - all) * SpanBytes; }

  // Of a thread that has ended, maybe with all of its blocks handed out, else a fresh one; null where all are used.
  Span *span(uint64_t size, Own *owner) {
    const std::lock_guard lock(mutex);
    Span *span = left[size].pop();
    if (!span) {
      if (!start || used == bytes / SpanBytes)
        return nullptr;
      span = all + used++;
      span->size = uint32_t(size);
      span->clear(startOf(span));
    }
    span->owner.store(owner, std::memory_order_relaxed);
    return span;
  }

  // Of all spans that were a thread's.
  void leave(const Own *owner) {
    const std::lock_guard lock(mutex);
    for (Span *span = all; span != all + used; ++span)
      if (span->owner.load(std::memory_order_relaxed) == owner) {
        span->owner.store(nullptr, std::memory_order_relaxed);
        span->queued = false;
        left[span->size].push(span);
      }
  }

  void leave(uint64_t size, List &list) {
    if (!list.first)
      return;
    const std::lock_guard lock(mutex);
    while (Block *block = list.pop())
      strays[size].push(block);
  }

  // As many as a span holds at most.
  void adopt(uint64_t size, List &list) {
    const std::lock_guard lock(mutex);
    while (list.count < SpanBytes / Largest) {
      Block *block = strays[size].pop();
      if (!block)
        return;
      list.push(block);
    }
  }

private:
  const uint64_t bytes = mostSpare() / SpanBytes * SpanBytes;
  char *start = nullptr;
  Span *all = nullptr;
  uint64_t used = 0;
  std::array<Queue, Sizes> left{};
  std::array<List, Sizes> strays{};
  std::mutex mutex;
};

Spans &spans() {
  static auto *all = new Spans; // other threads may still run when the process ends
  return *all;
}

// What a thread has.
struct Own {
  std::array<Span *, Sizes> current{};
  std::array<Queue, Sizes> others{}; // spans in which something is free
  std::array<List, Sizes> strays{};  // blocks of other threads' spans

  ~Own() {
    spans().leave(this);
    for (uint64_t size = 0; size < Sizes; ++size)
      spans().leave(size, strays[size]);
    current = {};
  }

  Block *take(uint64_t size) {
    Span *span = current[size];
    Block *block = span ? span->take() : nullptr;
    return block ? block : takeElsewhere(size);
  }

  void give(Span *span, Block *block) {
    if (span->owner.load(std::memory_order_relaxed) != this) {
      strays[span->size].push(block);
      if (strays[span->size].count * span->each() > SpanBytes)
        spans().leave(span->size, strays[span->size]);
      return;
    }
    span->put(block);
    if (--span->live == 0)
      span->clear(spans().startOf(span));
    if (!span->queued && span != current[span->size]) {
      span->queued = true;
      others[span->size].push(span);
    }
  }

private:
  Block *takeElsewhere(uint64_t size) {
    if (Span *span = others[size].pop()) {
      span->queued = false;
      current[size] = span;
      return span->take();
    }
    if (!strays[size].first)
      spans().adopt(size, strays[size]);
    if (Block *block = strays[size].pop())
      return block;
    while (Span *span = spans().span(size, this)) {
      current[size] = span;
      if (Block *block = span->take())
        return block;
    }
    return nullptr;
  }
};

thread_local Own own;

} // namespace

void *takeSmall(uint64_t bytes) { return bytes == 0 || bytes > Largest ? nullptr : own.take(sizeFor(bytes)); }

bool giveSmall(void *memory) {
  Span *span = spans().of(memory);
  if (span)
    own.give(span, static_cast<Block *>(memory));
  return span != nullptr;
}

uint64_t sizeOfSmall(const void *memory) {
  const Span *span = spans().of(memory);
  return span ? span->each() : 0;
}
