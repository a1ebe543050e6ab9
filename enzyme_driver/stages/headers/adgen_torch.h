// What kernels of PyTorch extensions take from its headers, where those are not installed: tensors as arguments, loops, macros.
// Host code that needs more is left out.
#pragma once
#if __cplusplus < 201703L
#error PyTorch requires at least C++17
#endif
#include <adgen_torch_dispatch.h>
#include <adgen_torch_numbers.h>
#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#define C10_HOST __host__
#define C10_DEVICE __device__
#define C10_HOST_DEVICE __host__ __device__
#define C10_UNUSED __attribute__((__unused__))
#define C10_RESTRICT __restrict__
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(THREADS) __launch_bounds__(THREADS)
#define C10_LAUNCH_BOUNDS_2(THREADS, BLOCKS) __launch_bounds__(THREADS, BLOCKS)
#define C10_WARP_SIZE 32
#define CUDA_KERNEL_ASSERT(CONDITION) static_cast<void>(0)
#define TORCH_CHECK(...) static_cast<void>(0)
#define TORCH_INTERNAL_ASSERT(...) static_cast<void>(0)
#define AT_ASSERT(...) static_cast<void>(0)
#define AT_ASSERTM(...) static_cast<void>(0)
#define TORCH_WARN(...) static_cast<void>(0)
#define TORCH_CHECK_VALUE(...) static_cast<void>(0)
#define TORCH_CHECK_NOT_IMPLEMENTED(...) static_cast<void>(0)
#define AT_ERROR(...) static_cast<void>(0)
#define C10_CUDA_CHECK(...) static_cast<void>(__VA_ARGS__)
#define AT_CUDA_CHECK(...) static_cast<void>(__VA_ARGS__)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() static_cast<void>(0)
#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 9
#ifndef CUDA_KERNEL_LOOP
#define CUDA_KERNEL_LOOP_TYPE(i, n, INDEX) \
    for (INDEX i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < (n); i += static_cast<int64_t>(blockDim.x) * gridDim.x)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
#endif

namespace at {

using namespace c10;
using c10::BFloat16;
using c10::Half;

template <class T> struct DefaultPtrTraits {
    using PtrType = T *;
};
template <class T> struct RestrictPtrTraits {
    using PtrType = T *__restrict__;
};

// A tensor's memory, with the sizes and strides of those dimensions that are left.
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t> class TensorAccessor {
public:
    using PtrType = typename Traits<T>::PtrType;

    __host__ __device__ TensorAccessor(PtrType data, const Index *sizes, const Index *strides)
        : data_(data), sizes_(sizes), strides_(strides)
    {
    }
    __host__ __device__ Index size(Index i) const { return sizes_[i]; }
    __host__ __device__ Index stride(Index i) const { return strides_[i]; }
    __host__ __device__ PtrType data() const { return data_; }
    __host__ __device__ decltype(auto) operator[](Index i) const
    {
        PtrType at = data_ + strides_[0] * i;
        if constexpr (N == 1)
            return static_cast<T &>(*at);
        else
            return TensorAccessor<T, N - 1, Traits, Index>(at, sizes_ + 1, strides_ + 1);
    }

private:
    PtrType data_;
    const Index *sizes_;
    const Index *strides_;
};

// The same as an argument of a kernel.
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t>
class GenericPackedTensorAccessor {
public:
    using PtrType = typename Traits<T>::PtrType;

    __host__ __device__ Index size(Index i) const { return sizes_[i]; }
    __host__ __device__ Index stride(Index i) const { return strides_[i]; }
    __host__ __device__ PtrType data() const { return data_; }
    __host__ __device__ decltype(auto) operator[](Index i) const
    {
        return TensorAccessor<T, N, Traits, Index>(data_, sizes_, strides_)[i];
    }

private:
    PtrType data_;
    Index sizes_[N];
    Index strides_[N];
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Traits, Index>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;

} // namespace at

#include <adgen_torch_tensor.h>

namespace at {

// The type in which a kernel adds up.
template <class T, bool OnDevice> struct AccumulateType {
    using type = T;
};
template <bool OnDevice> struct AccumulateType<Half, OnDevice> {
    using type = float;
};
template <bool OnDevice> struct AccumulateType<BFloat16, OnDevice> {
    using type = float;
};
template <class T, bool OnDevice> using acc_type = typename AccumulateType<T, OnDevice>::type;
// The type in which a kernel computes.
template <class T> using opmath_type = acc_type<T, true>;

namespace cuda {
class CUDAStream {
public:
    operator cudaStream_t() const;
    cudaStream_t stream() const;
};
CUDAStream getCurrentCUDAStream(int device = -1);
cudaDeviceProp *getCurrentDeviceProperties();

template <class T> __host__ __device__ constexpr T ATenCeilDiv(T a, T b) { return (a + b - 1) / b; }

namespace detail {
// A tensor of any number of dimensions as an argument of a kernel.
template <class T, class Index> struct TensorInfo {
    T *data;
    Index sizes[25];
    Index strides[25];
    int dims;
};

// Where the element of this number lies, in rows one after another; the number of dimensions is -1 where only the
// tensor knows it.
template <class T, class Index, int Dimensions> struct IndexToOffset {
    static __host__ __device__ Index get(Index element, const TensorInfo<T, Index> &tensor)
    {
        Index offset = 0;
        for (int axis = (Dimensions < 0 ? tensor.dims : Dimensions) - 1; axis > 0; --axis) {
            offset += element % tensor.sizes[axis] * tensor.strides[axis];
            element /= tensor.sizes[axis];
        }
        return offset + element * tensor.strides[0];
    }
};
template <class T, class Index> TensorInfo<T, Index> getTensorInfo(const Tensor &tensor);
bool canUse32BitIndexMath(const Tensor &tensor, int64_t largest = INT32_MAX);
} // namespace detail
} // namespace cuda

} // namespace at

namespace c10 {
using namespace at;
}
namespace torch {
using namespace at;
}

template <class T> __device__ T gpuAtomicAdd(T *to, T value) { return atomicAdd(to, value); }
template <class T> __device__ void gpuAtomicAddNoReturn(T *to, T value) { atomicAdd(to, value); }
