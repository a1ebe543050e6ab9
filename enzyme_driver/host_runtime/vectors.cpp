#include "vectors.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

// Where a caller who does not know the size asks for the elements: memory that is freed by std::free.
struct Taken {
  void *elements;
  uint64_t bytes;
};

thread_local std::string misfit;

void say(std::string what) {
  misfit = std::move(what);
  adgen_misfits = true;
}

} // namespace

__thread bool adgen_misfits = false;

std::string adgen_misfit() { return std::exchange(misfit, {}); }

extern "C" {

// The array that was given for a vector begins and ends there; one that begins at null ends at a Taken.
__attribute__((visibility("hidden"))) void adgen_other_size(uint64_t begin, uint64_t end, const void *elements,
                                                            uint64_t bytes, uint64_t element, const char *name) {
  auto *taken = reinterpret_cast<Taken *>(end);
  if (begin == 0 && taken) {
    taken->elements = std::malloc(bytes ? bytes : 1);
    taken->bytes = bytes;
    if (taken->elements && bytes)
      std::memcpy(taken->elements, elements, bytes);
    else if (!taken->elements)
      say("there is no memory for what is returned");
  } else if (!adgen_misfits) {
    say("'" + std::string(name) + "' has " + std::to_string(bytes / element) + " elements, the array for it " +
        std::to_string((end - begin) / element));
  }
}
}
