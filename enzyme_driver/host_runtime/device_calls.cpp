// What device code calls and the host has to provide: printf with CUDA's packed arguments, and failed assertions.
#include "failure.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

// Walks over arguments that lie one behind the other, each aligned to its own size.
class PackedArguments {
public:
  explicit PackedArguments(const void *start) : at(reinterpret_cast<uintptr_t>(start)) {}

  template <class T> T next() {
    at = (at + sizeof(T) - 1) & ~uintptr_t(sizeof(T) - 1);
    T value;
    std::memcpy(&value, reinterpret_cast<const void *>(at), sizeof(T));
    at += sizeof(T);
    return value;
  }

private:
  uintptr_t at;
};

template <class T> void append(std::string &text, const std::string &conversion, T value) {
  char part[512];
  std::snprintf(part, sizeof(part), conversion.c_str(), value);
  text += part;
}

bool isLong(const std::string &conversion) { return conversion.find_first_of("lzjt") != std::string::npos; }

// One conversion such as "%8.3f"; a width or precision given as * was replaced before.
void format(std::string &text, const std::string &conversion, PackedArguments &arguments) {
  switch (conversion.back()) {
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X':
  case 'o':
  case 'c':
    return isLong(conversion) ? append(text, conversion, arguments.next<int64_t>())
                              : append(text, conversion, arguments.next<int32_t>());
  case 's':
    return append(text, conversion, arguments.next<const char *>());
  case 'p':
    return append(text, conversion, arguments.next<void *>());
  default:
    return append(text, conversion, arguments.next<double>());
  }
}

} // namespace

extern "C" __attribute__((visibility("hidden"))) int vprintf_device(const char *text, const void *packed) {
  PackedArguments arguments(packed);
  std::string line;
  while (*text) {
    if (*text != '%' || text[1] == '%') {
      line += *text;
      text += *text == '%' ? 2 : 1;
      continue;
    }
    std::string conversion(1, *text++);
    while (*text && !std::strchr("diuxXocsfFeEgGaAp", *text)) {
      if (*text == '*')
        conversion += std::to_string(arguments.next<int32_t>());
      else
        conversion += *text;
      ++text;
    }
    if (*text)
      format(line, conversion + *text++, arguments);
  }
  return int(std::fwrite(line.data(), 1, line.size(), stdout));
}

extern "C" __attribute__((visibility("hidden"))) void adgen_assertion_failed(const char *what, const char *file,
                                                                             uint32_t line) {
  adgen_fail(std::string(file) + ":" + std::to_string(line) + ": assertion failed: " + what);
}

extern "C" __attribute__((visibility("hidden"))) void adgen_trapped() { adgen_fail("the kernel ran into __trap()"); }
