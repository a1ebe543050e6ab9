// Host code in a user's own header, which clang does not read as it stands.
#pragma once
#include <library/that_is_not_there.h>
using library::Tensor;
inline int blocks(int n) { return min((n + 511) / 512, 4096); }
inline void check(const Tensor &x) { TORCH_CHECK(x.is_cuda(), "x"); }
#ifdef __NVCC__
#define OF_BOTH __host__ __device__
#endif
OF_BOTH inline float smaller(float a, float b) { return min(a, b); }
