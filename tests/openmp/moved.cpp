#include "moved.h"

#define FUNCTION(NAME, T, N)                                                                                           \
    void NAME##_of_##N(const T *x, T *out, int n)                                                                      \
    {                                                                                                                  \
        for (int i = 0; i < n; i++)                                                                                    \
            out[i] = NAME<T, N>(x + N * i);                                                                            \
    }
FUNCTIONS(FUNCTION)
