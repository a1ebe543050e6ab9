// What the headers of newer C and C++ libraries ask for beyond glibc 2.28 and GCC 8. The plugin has it itself, so that
// one that was compiled on a newer system loads on an older one; where the library has it, nothing of this is used but
// what says the same.
#include <cstdlib>
#include <memory>
#include <new>
#include <typeinfo>

#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE >= 9
// Whether two types are the one of make_shared, asked only where there is no run-time type information.
bool std::_Sp_make_shared_tag::_S_eq(const std::type_info &) noexcept { return false; }
#endif

#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE >= 11
void std::__throw_bad_array_new_length() { std::abort(); }

// Threads may be running: counts of owners are atomic.
extern "C" char __libc_single_threaded;
char __libc_single_threaded = 0;
#endif
