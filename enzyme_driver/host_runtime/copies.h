// Copies of a shadow, one for each thread of a team, so that the threads add to it without meeting.
#pragma once

#include <cstdint>
#include <vector>

// Which pages of this process are there, in memory or swapped out.
class PageMap {
public:
  PageMap();
  ~PageMap();
  PageMap(const PageMap &) = delete;

  // A flag for each page from `memory` on; all are set where the system does not tell.
  void find(const char *memory, uint64_t pages, char *there) const;

private:
  int file;
};

// The copies are memory that the system gives page by page as they are touched: where threads accumulate into different
// parts of an array, they take about as much as the array itself.
class Copies {
public:
  // `element`: bytes of a number, 4 or 8. `after_forks`: added up after each fork that uses them, not at the end.
  Copies(char *shadow, uint64_t bytes, uint32_t element, bool after_forks, uint32_t threads);
  ~Copies();
  Copies(const Copies &) = delete;

  char *const shadow;
  const bool after_forks;

  bool areThere() const { return memory != nullptr; }
  bool areUsed() const;
  bool holds(const char *address) const { return shadow <= address && address < shadow + bytes; }
  bool overlaps(const char *first, uint64_t count) const { return first < shadow + bytes && shadow < first + count; }
  // Whether something may come to the shadow by this pointer: also one behind its end, or one before its beginning
  // where arrays begin with 1.
  bool mayLeadTo(const char *pointer) const { return shadow - element <= pointer && pointer <= shadow + bytes; }
  // That of a thread of the team; the shadow where there are more threads than copies.
  char *of(uint32_t thread);

  // Adds all of them to their shadows, element by element in the order of the threads: the same bits each time. They
  // are zero afterwards.
  static void addUp(const std::vector<Copies *> &all);

private:
  const uint64_t bytes;
  const uint32_t element, threads;
  const int64_t pages;       // of one copy
  const uint64_t size;       // bytes of all
  std::vector<char> used;    // a line of the cache for each thread
  std::vector<char> touched; // for each thread a flag a page
  uint64_t most_touched = 0;
  char *const memory;

  char *take() const;
  uint64_t pagesInUse() const;
  void findTouched(const PageMap &map);
  void addPages();
  void addPage(uint64_t page, char *copy) const;
  void countTouched();
};
