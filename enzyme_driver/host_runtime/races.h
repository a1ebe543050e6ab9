// Finds races in a launch whose blocks, and the threads in them, run one after the other on one thread of the operating
// system: what the witness of a gradient does (adgen-record-accesses).
//
// Every thread of a block has a clock, which every meeting of threads moves on; what a thread knows of the others'
// clocks says which of their accesses lie before its own, in whatever order they run.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

extern "C" {

enum adgen_race_kind : uint32_t { WriteAfterWrite, ReadAfterWrite, WriteAfterRead };

// What adgen_race_found gives: two accesses of one element, the later one first, with their places in the source.
struct adgen_race {
  uint32_t kind, same_block;
  const char *where, *before;
  uint64_t block, block_before;
  uint32_t thread, thread_before;
  const void *address;
};
}

// While it lives, this thread of the operating system looks for no races.
class Unwatched {
public:
  Unwatched();
  ~Unwatched();
  Unwatched(const Unwatched &) = delete;
  Unwatched &operator=(const Unwatched &) = delete;

private:
  class Races *const before;
};

class Races {
public:
  // The races that are looked for by this thread of the operating system; null where none are.
  static Races *watched();

  // A thread of a block begins.
  void enter(uint64_t block, uint32_t thread, uint32_t threads);
  // A thread goes on.
  void goOn(uint32_t thread) { current = thread; }
  // Memory of one block alone.
  void ofBlock(const char *begin, const char *end) { shared_begin = begin, shared_end = end; }
  // Stacks of threads, which no other thread sees.
  void notOf(const char *begin, const char *end) { stacks_begin = begin, stacks_end = end; }

  // Threads meet: what each has done lies before what all do next.
  void meet(const std::vector<uint32_t> &threads);
  // The same at a barrier, at which some only arrive; those that have returned count as arrived.
  void arrive(uint32_t barrier, uint32_t thread);
  void release(uint32_t barrier, const std::vector<uint32_t> &waiting);
  void leave(uint32_t thread);

  void read(const char *address, uint64_t bytes, const char *where);
  void write(const char *address, const char *value, uint64_t bytes, const char *where);
  // An atomic or volatile access, which is no race. Where it `orders`, what came before it in the thread lies before
  // what comes behind the next one at this place.
  void pass(const char *address, uint64_t bytes, bool orders);

  const adgen_race *found() const { return race.where ? &race : nullptr; }

private:
  using Clock = std::vector<uint32_t>;
  using Known = std::shared_ptr<const Clock>;

  struct Thread {
    Known known; // the clocks of the others; null: nothing
    uint32_t now = 1;
  };

  struct Access {
    uint64_t block = 0;
    uint32_t thread = 0, now = 0; // 0: none
    const char *where = nullptr;
  };

  struct Element {
    Access writer, readers[2];
  };

  struct Memory {
    std::unordered_map<uintptr_t, Element> elements;
    std::unordered_map<uintptr_t, std::vector<Access>> others; // that wrote the same as the writer, unordered
  };

  struct Arrival {
    Known known;
    uint32_t thread, now;
  };

  static constexpr size_t MostElements = size_t(1) << 21;
  static constexpr unsigned Barriers = 16;

  Access here(const char *where) const { return {block, current, threads[current].now, where}; }
  bool isBefore(const Access &access) const;
  bool isOwn(const Access &access) const { return access.block == block && access.thread == current; }
  void add(Clock &to, const Known &known) const;
  bool isStack(const char *address) const;
  Memory &memoryOf(const char *address, uint64_t granule);
  template <class Visit> void visit(const char *address, uint64_t bytes, const Visit &visit);
  void readElement(Memory &memory, uintptr_t key, const char *address, const char *where);
  void writeElement(Memory &memory, uintptr_t key, const char *address, bool changes, const char *where);
  void report(adgen_race_kind kind, const Access &before, const char *address, const char *where);

  std::vector<Thread> threads;
  std::vector<Arrival> arrivals[Barriers];
  Clock gone; // of threads that have returned
  std::unordered_map<const char *, Known> passes;
  Memory global[2], shared[2]; // words, and single bytes
  uint64_t block = UINT64_MAX;
  uint32_t current = 0;
  bool acquired = false; // what other blocks did may lie before what this one does
  const char *shared_begin = nullptr, *shared_end = nullptr, *stacks_begin = nullptr, *stacks_end = nullptr;
  adgen_race race = {};
};
