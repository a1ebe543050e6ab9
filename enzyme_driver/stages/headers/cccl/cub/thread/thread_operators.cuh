// Operators of CUB that its third version has no more, for files that were written before.
#pragma once
#include_next <cub/thread/thread_operators.cuh>
#if CCCL_MAJOR_VERSION >= 3
#include <cuda/functional>
#include <cuda/std/functional>
namespace cub {
using Sum = ::cuda::std::plus<>;
using Difference = ::cuda::std::minus<>;
using Division = ::cuda::std::divides<>;
using Equality = ::cuda::std::equal_to<>;
using Inequality = ::cuda::std::not_equal_to<>;
using Min = ::cuda::minimum<>;
using Max = ::cuda::maximum<>;
} // namespace cub
#ifndef CUB_MIN
#define CUB_MIN(a, b) (((b) < (a)) ? (b) : (a))
#define CUB_MAX(a, b) (((a) < (b)) ? (b) : (a))
#endif
#endif
