#include "races.h"

#include <algorithm>
#include <cstring>
#include <pthread.h>

#define HIDDEN extern "C" __attribute__((visibility("hidden")))
#define VISIBLE extern "C" __attribute__((visibility("default")))

static thread_local std::unique_ptr<Races> watched_races;

Races *Races::watched() { return watched_races.get(); }

Unwatched::Unwatched() : before(watched_races.release()) {}
Unwatched::~Unwatched() { watched_races.reset(before); }

void Races::enter(uint64_t a_block, uint32_t thread, uint32_t count) {
  if (block != a_block) {
    block = a_block;
    threads.assign(count, Thread());
    gone.assign(count, 0);
    for (std::vector<Arrival> &each : arrivals)
      each.clear();
    passes.clear();
    shared[0] = shared[1] = Memory();
    acquired = false;
  }
  current = thread;
}

void Races::add(Clock &to, const Known &known) const {
  for (size_t i = 0; known && i < to.size(); ++i)
    to[i] = std::max(to[i], (*known)[i]);
}

void Races::meet(const std::vector<uint32_t> &met) {
  Clock all(threads.size(), 0);
  const Clock *last = nullptr;
  for (uint32_t thread : met) {
    if (threads[thread].known.get() != last)
      add(all, threads[thread].known);
    last = threads[thread].known.get();
  }
  for (uint32_t thread : met)
    all[thread] = threads[thread].now++;
  const Known known = std::make_shared<const Clock>(std::move(all));
  for (uint32_t thread : met)
    threads[thread].known = known;
}

void Races::arrive(uint32_t barrier, uint32_t thread) {
  arrivals[barrier].push_back({threads[thread].known, thread, threads[thread].now++});
}

void Races::release(uint32_t barrier, const std::vector<uint32_t> &waiting) {
  Clock all = gone;
  const Clock *last = nullptr;
  for (const Arrival &each : arrivals[barrier]) {
    if (each.known.get() != last)
      add(all, each.known);
    last = each.known.get();
  }
  for (const Arrival &each : arrivals[barrier])
    all[each.thread] = std::max(all[each.thread], each.now);
  arrivals[barrier].clear();
  const Known known = std::make_shared<const Clock>(std::move(all));
  for (uint32_t thread : waiting)
    threads[thread].known = known;
}

void Races::leave(uint32_t thread) {
  add(gone, threads[thread].known);
  gone[thread] = threads[thread].now;
}

bool Races::isBefore(const Access &access) const {
  if (access.block != block)
    return acquired;
  const Thread &own = threads[current];
  return access.thread == current || (own.known && (*own.known)[access.thread] >= access.now);
}

void Races::report(adgen_race_kind kind, const Access &before, const char *address, const char *where) {
  race = {kind, before.block == block, where, before.where, block, before.block, current, before.thread, address};
}

bool Races::isStack(const char *address) const {
  static thread_local const char *begin = nullptr, *end = nullptr;
  if (pthread_attr_t attributes; !end && !pthread_getattr_np(pthread_self(), &attributes)) {
    void *start;
    size_t size;
    pthread_attr_getstack(&attributes, &start, &size);
    pthread_attr_destroy(&attributes);
    begin = static_cast<const char *>(start), end = begin + size;
  }
  return (address >= begin && address < end) || (address >= stacks_begin && address < stacks_end);
}

Races::Memory &Races::memoryOf(const char *address, uint64_t granule) {
  const bool is_shared = address >= shared_begin && address < shared_end;
  return (is_shared ? shared : global)[granule == 1];
}

// Whole words where the access consists of them, else bytes.
template <class Visit> void Races::visit(const char *address, uint64_t bytes, const Visit &each) {
  if (found() || threads.empty() || isStack(address))
    return;
  const uint64_t granule = uintptr_t(address) % 4 || bytes % 4 ? 1 : 4;
  Memory &memory = memoryOf(address, granule);
  for (uint64_t at = 0; at < bytes && !found(); at += granule) {
    const uintptr_t key = uintptr_t(address + at);
    if (memory.elements.size() < MostElements || memory.elements.count(key))
      each(memory, key, at, granule);
  }
}

void Races::read(const char *address, uint64_t bytes, const char *where) {
  visit(address, bytes,
        [&](Memory &memory, uintptr_t key, uint64_t at, uint64_t) { readElement(memory, key, address + at, where); });
}

void Races::readElement(Memory &memory, uintptr_t key, const char *address, const char *where) {
  Element &element = memory.elements[key];
  if (element.writer.now && !isBefore(element.writer)) {
    const auto others = memory.others.find(key);
    const bool is_same = others != memory.others.end() && std::any_of(others->second.begin(), others->second.end(),
                                                                      [&](const Access &a) { return isBefore(a); });
    if (!is_same)
      return report(ReadAfterWrite, element.writer, address, where);
  }
  if (!isOwn(element.readers[0]))
    element.readers[1] = element.readers[0];
  element.readers[0] = here(where);
}

void Races::write(const char *address, const char *value, uint64_t bytes, const char *where) {
  visit(address, bytes, [&](Memory &memory, uintptr_t key, uint64_t at, uint64_t granule) {
    writeElement(memory, key, address + at, std::memcmp(address + at, value + at, granule) != 0, where);
  });
}

// Equal values may be stored by several threads, and what stays as it is has been read right.
void Races::writeElement(Memory &memory, uintptr_t key, const char *address, bool changes, const char *where) {
  Element &element = memory.elements[key];
  const bool follows = !element.writer.now || isBefore(element.writer);
  if (!follows && changes)
    return report(WriteAfterWrite, element.writer, address, where);
  for (const Access &reader : element.readers)
    if (changes && reader.now && !isBefore(reader))
      return report(WriteAfterRead, reader, address, where);
  if (!follows) {
    std::vector<Access> &others = memory.others[key];
    if (!others.empty() && others.front().block != block)
      others.clear();
    others.push_back(here(where));
    return;
  }
  memory.others.erase(key);
  element.writer = here(where);
  if (changes)
    element.readers[0] = element.readers[1] = Access();
}

void Races::pass(const char *address, uint64_t bytes, bool orders) {
  if (threads.empty())
    return;
  for (uint64_t granule : {1, 4}) {
    Memory &memory = memoryOf(address, granule);
    for (uintptr_t key = uintptr_t(address) & ~uintptr_t(granule - 1); key < uintptr_t(address) + bytes; key += granule)
      memory.elements.erase(key), memory.others.erase(key);
  }
  if (!orders)
    return;
  acquired = true;
  Thread &own = threads[current];
  Clock all(threads.size(), 0);
  add(all, own.known);
  add(all, passes[address]);
  own.known = std::make_shared<const Clock>(all);
  all[current] = own.now++;
  passes[address] = std::make_shared<const Clock>(std::move(all));
}

// Of the launches of this thread from now on.
VISIBLE void adgen_watch_races(bool wanted) { watched_races.reset(wanted ? new Races : nullptr); }
// The first one that was found, or null.
VISIBLE const adgen_race *adgen_race_found() { return watched_races ? watched_races->found() : nullptr; }

// What adgen-record-accesses puts into kernels, before what each speaks of.
HIDDEN void adgen_record_thread(uint64_t block, uint32_t thread, uint32_t threads) {
  if (Races *races = Races::watched())
    races->enter(block, thread, threads);
}
HIDDEN void adgen_record_read(const char *address, uint64_t bytes, const char *where) {
  if (Races *races = Races::watched())
    races->read(address, bytes, where);
}
HIDDEN void adgen_record_write(const char *address, const char *value, uint64_t bytes, const char *where) {
  if (Races *races = Races::watched())
    races->write(address, value, bytes, where);
}
HIDDEN void adgen_record_pass(const char *address, uint64_t bytes, bool orders) {
  if (Races *races = Races::watched())
    races->pass(address, bytes, orders);
}
