// Read before every file in C++ or C. Where libstdc++ may not use C's complex functions, std::exp, std::sqrt, std::pow,
// ... of std::complex are its own templates, which Enzyme can see into; cexp, csqrt, cpow, ... are in libm.
#define __ADGEN__ 1 // for adgen.h
#ifdef __cplusplus
#include <cstddef>
#endif
#ifdef __GLIBCXX__
#undef _GLIBCXX_USE_C99_COMPLEX
#define _GLIBCXX_USE_C99_COMPLEX 0
#endif
