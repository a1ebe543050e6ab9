// Tensors, of which host code and structs beside kernels speak: declared, and never made. What an operator is given
// does not matter; that clang finds it does, since kernels are asked for behind it.
#pragma once
#include <adgen_torch_dispatch.h>

namespace at {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, COMPILE_TIME_MAX_DEVICE_TYPES = 21 };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
enum Layout : int8_t { kStrided, kSparse };

class Device {
public:
  Device(DeviceType type, int8_t index = -1);
  DeviceType type() const;
  int8_t index() const;
  bool has_index() const;
  bool is_cuda() const;
  bool is_cpu() const;
  bool operator==(const Device &other) const;
  bool operator!=(const Device &other) const;
};

// Whatever an operator is given, also in braces.
struct Anything {
  template <class... T> Anything(T &&...given);
  template <class T> Anything(std::initializer_list<T> given);
};

class Scalar {
public:
  template <class T> Scalar(T number);
  template <class T> T to() const;
  double toDouble() const;
  float toFloat() const;
  int toInt() const;
  int64_t toLong() const;
  bool toBool() const;
};

// The type of a tensor's elements, as it is spelt in three ways.
class TypeMeta {
public:
  operator ScalarType() const;
  ScalarType scalarType() const;
  ScalarType toScalarType() const;
  bool is_cuda() const;
  size_t itemsize() const;
};

struct TensorOptions {
  TensorOptions();
  TensorOptions(ScalarType type);
  TensorOptions(TypeMeta type);
  TensorOptions(Device device);
  TensorOptions(DeviceType device);
  template <class... Type> TensorOptions dtype(Type... type) const;
  template <class... Where> TensorOptions device(Where... where) const;
  template <class Kind> TensorOptions layout(Kind kind) const;
  template <class Format> TensorOptions memory_format(Format format) const;
  TensorOptions requires_grad(bool does = true) const;
  TensorOptions pinned_memory(bool is) const;
};
TensorOptions dtype(ScalarType type);
TensorOptions dtype(TypeMeta type);
template <class... Where> TensorOptions device(Where... where);

template <class T> struct ArrayRef {
  ArrayRef(const T &one);
  ArrayRef(std::initializer_list<T> all);
  ArrayRef(const std::vector<T> &all);
  operator std::vector<T>() const;
  const T &operator[](size_t i) const;
  const T &front() const;
  const T &back() const;
  const T *begin() const;
  const T *end() const;
  const T *data() const;
  size_t size() const;
  bool empty() const;
  std::vector<T> vec() const;
  ArrayRef slice(size_t first, size_t count = 0) const;
  bool operator==(const ArrayRef &other) const;
  bool operator!=(const ArrayRef &other) const;
};
using IntArrayRef = ArrayRef<int64_t>;
using IntList = IntArrayRef;

// Operators that tensors have as methods, and at:: and torch:: as functions of a tensor.
#define ADGEN_OPERATORS(EACH)                                                                                          \
  EACH(abs)                                                                                                            \
  EACH(absolute) EACH(acos) EACH(add) EACH(addcmul) EACH(addmm) EACH(addmv) EACH(all) EACH(amax) EACH(amin) EACH(      \
      any) EACH(argmax) EACH(argmin) EACH(argsort) EACH(asin) EACH(atan) EACH(atan2) EACH(baddbmm) EACH(bernoulli)     \
      EACH(bincount) EACH(bitwise_and) EACH(bitwise_or) EACH(bmm) EACH(ceil) EACH(clamp) EACH(clamp_max) EACH(         \
          clamp_min) EACH(clone) EACH(cos) EACH(cosh) EACH(count_nonzero) EACH(cross) EACH(cumprod) EACH(cumsum)       \
          EACH(detach) EACH(diag) EACH(diagonal) EACH(diff) EACH(div) EACH(dot) EACH(eq) EACH(erf) EACH(exp) EACH(     \
              expm1) EACH(flatten) EACH(flip) EACH(floor) EACH(floor_divide) EACH(fmod) EACH(gather) EACH(ge) EACH(gt) \
              EACH(index) EACH(index_add) EACH(index_copy) EACH(index_fill) EACH(index_put) EACH(index_select)         \
                  EACH(inverse) EACH(isfinite) EACH(isinf) EACH(isnan) EACH(le) EACH(lerp)                             \
                      EACH(log) EACH(log10) EACH(log1p) EACH(log2) EACH(log_softmax) EACH(logical_and)                 \
                          EACH(logical_not) EACH(logical_or) EACH(logsumexp) EACH(lt) EACH(masked_fill) EACH(          \
                              masked_scatter) EACH(masked_select) EACH(matmul) EACH(mean) EACH(mm) EACH(movedim)       \
                              EACH(mul) EACH(multiply) EACH(mv) EACH(narrow) EACH(ne) EACH(neg) EACH(nonzero) EACH(    \
                                  norm) EACH(outer) EACH(permute) EACH(pow) EACH(prod) EACH(ravel) EACH(reciprocal)    \
                                  EACH(relu) EACH(remainder) EACH(repeat_interleave) EACH(reshape)                     \
                                      EACH(roll) EACH(round) EACH(rsqrt) EACH(scatter)                                 \
                                          EACH(scatter_add) EACH(searchsorted) EACH(select) EACH(sigmoid) EACH(sign)   \
                                              EACH(silu) EACH(sin)                                                     \
                                                  EACH(sinh) EACH(slice) EACH(softmax) EACH(sqrt)                      \
                                                      EACH(square) EACH(squeeze) EACH(std) EACH(sub) EACH(subtract)    \
                                                          EACH(sum) EACH(swapaxes) EACH(t) EACH(take)                  \
                                                              EACH(tan) EACH(tanh) EACH(tensordot)                     \
                                                                  EACH(tile) EACH(trace) EACH(transpose) EACH(tril)    \
                                                                      EACH(triu) EACH(true_divide) EACH(trunc)         \
                                                                          EACH(unfold) EACH(unsqueeze) EACH(var)       \
                                                                              EACH(view_as_complex) EACH(view_as_real) \
                                                                                  EACH(where) EACH(zero)
// Methods alone.
#define ADGEN_METHODS(EACH)                                                                                            \
  EACH(bfloat16)                                                                                                       \
  EACH(contiguous) EACH(copy) EACH(cpu) EACH(cuda) EACH(expand) EACH(expand_as) EACH(exponential) EACH(fill)           \
      EACH(grad) EACH(half) EACH(normal) EACH(pin_memory) EACH(random) EACH(repeat) EACH(requires_grad)                \
          EACH(reshape_as) EACH(resize) EACH(resize_as) EACH(set) EACH(to) EACH(toType) EACH(type_as) EACH(uniform)    \
              EACH(values) EACH(indices) EACH(view) EACH(view_as)
// Functions alone, of whatever they make a tensor from.
#define ADGEN_FACTORIES(EACH)                                                                                          \
  EACH(arange)                                                                                                         \
  EACH(cat) EACH(concat) EACH(constant_pad_nd) EACH(einsum) EACH(empty) EACH(empty_like) EACH(empty_strided) EACH(eye) \
      EACH(from_blob) EACH(full) EACH(full_like) EACH(linspace) EACH(ones) EACH(ones_like) EACH(rand) EACH(rand_like)  \
          EACH(randint) EACH(randn) EACH(randn_like) EACH(randperm) EACH(scalar_tensor) EACH(stack) EACH(tensor)       \
              EACH(zeros) EACH(zeros_like)
#define ADGEN_MORE Anything = {}, Anything = {}, Anything = {}, Anything = {}, Anything = {}

class Tensor {
public:
  Tensor();
  Tensor &operator=(const Scalar &value);
  bool defined() const;
  bool is_cuda() const;
  bool is_cpu() const;
  bool is_sparse() const;
  bool is_floating_point() const;
  bool is_complex() const;
  bool is_same(const Tensor &other) const;
  Device device() const;
  ScalarType scalar_type() const;
  TensorOptions options() const;
  Layout layout() const;
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  bool is_non_overlapping_and_dense() const;
  MemoryFormat suggest_memory_format() const;
  int64_t dim() const;
  int64_t ndimension() const;
  int64_t numel() const;
  int64_t nbytes() const;
  int64_t element_size() const;
  int64_t itemsize() const;
  int64_t storage_offset() const;
  int64_t size(int64_t axis) const;
  int64_t stride(int64_t axis) const;
  IntArrayRef sizes() const;
  IntArrayRef strides() const;
  TypeMeta dtype() const;
  TypeMeta type() const;
  int get_device() const;
  bool requires_grad() const;
  Scalar item() const;
  template <class T> T item() const;
  void reset();
  void backward(ADGEN_MORE) const;
  Tensor operator[](int64_t index) const;
  void *data_ptr() const;
  const void *const_data_ptr() const;
  void *mutable_data_ptr() const;
  template <class T> T *data_ptr() const;
  template <class T> T *data() const;
  Tensor data() const;
  template <class T> const T *const_data_ptr() const;
  template <class T> T *mutable_data_ptr() const;
  template <class T, size_t N> TensorAccessor<T, N> accessor() const;
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, Traits> packed_accessor32() const;
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, Traits> packed_accessor64() const;
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t>
  GenericPackedTensorAccessor<T, N, Traits, Index> packed_accessor() const;
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t>
  GenericPackedTensorAccessor<T, N, Traits, Index> generic_packed_accessor() const;
#define ADGEN_METHOD(NAME)                                                                                             \
  Tensor NAME(ADGEN_MORE) const;                                                                                       \
  Tensor NAME##_(ADGEN_MORE) const;
  ADGEN_OPERATORS(ADGEN_METHOD)
  ADGEN_METHODS(ADGEN_METHOD)
#undef ADGEN_METHOD
  Tensor max() const;
  Tensor min() const;
  Tensor max(const Tensor &other) const;
  Tensor min(const Tensor &other) const;
  Tensor median() const;
#define ADGEN_PAIR(NAME) std::tuple<Tensor, Tensor> NAME(int64_t axis, ADGEN_MORE) const;
  ADGEN_PAIR(max)
  ADGEN_PAIR(min) ADGEN_PAIR(median) ADGEN_PAIR(kthvalue) ADGEN_PAIR(topk) ADGEN_PAIR(mode) ADGEN_PAIR(cummax)
      ADGEN_PAIR(cummin) ADGEN_PAIR(sort)
#undef ADGEN_PAIR
          std::tuple<Tensor, Tensor> sort() const;
  std::vector<Tensor> split(ADGEN_MORE) const;
  std::vector<Tensor> chunk(ADGEN_MORE) const;
  std::vector<Tensor> unbind(ADGEN_MORE) const;
  std::vector<Tensor> tensor_split(ADGEN_MORE) const;
#define ADGEN_INTO(SIGN) Tensor operator SIGN(const Anything &other) const;
  ADGEN_INTO(+=)
  ADGEN_INTO(-=) ADGEN_INTO(*=) ADGEN_INTO(/=)
#undef ADGEN_INTO
      Tensor operator-() const;
  Tensor operator~() const;
  Tensor operator!() const;
};
using TensorList = ArrayRef<Tensor>;

#define ADGEN_BINARY(SIGN)                                                                                             \
  Tensor operator SIGN(const Tensor &a, const Tensor &b);                                                              \
  Tensor operator SIGN(const Tensor &a, const Scalar &b);                                                              \
  Tensor operator SIGN(const Scalar &a, const Tensor &b);
ADGEN_BINARY(+)
ADGEN_BINARY(-) ADGEN_BINARY(*) ADGEN_BINARY(/) ADGEN_BINARY(%) ADGEN_BINARY(&) ADGEN_BINARY(|) ADGEN_BINARY(^)
    ADGEN_BINARY(<) ADGEN_BINARY(<=) ADGEN_BINARY(>) ADGEN_BINARY(>=) ADGEN_BINARY(==) ADGEN_BINARY(!=)
#undef ADGEN_BINARY
#define ADGEN_FUNCTION(NAME) Tensor NAME(const Tensor &of, ADGEN_MORE);
        ADGEN_OPERATORS(ADGEN_FUNCTION)
#undef ADGEN_FUNCTION
#define ADGEN_FACTORY(NAME) Tensor NAME(const Anything &of, ADGEN_MORE);
            ADGEN_FACTORIES(ADGEN_FACTORY)
#undef ADGEN_FACTORY
#define ADGEN_PAIR(NAME) std::tuple<Tensor, Tensor> NAME(const Tensor &of, int64_t axis, ADGEN_MORE);
                ADGEN_PAIR(max) ADGEN_PAIR(min) ADGEN_PAIR(topk) ADGEN_PAIR(sort)
#undef ADGEN_PAIR
                    std::tuple<Tensor, Tensor> sort(const Tensor &of);
Tensor max(const Tensor &of);
Tensor min(const Tensor &of);
Tensor max(const Tensor &a, const Tensor &b);
Tensor min(const Tensor &a, const Tensor &b);
std::vector<Tensor> split(const Tensor &of, ADGEN_MORE);
int64_t numel(const Tensor &of);
#undef ADGEN_OPERATORS
#undef ADGEN_METHODS
#undef ADGEN_FACTORIES
#undef ADGEN_MORE

template <class T> using optional = std::optional<T>;
inline constexpr std::nullopt_t nullopt = std::nullopt;
template <class T> using List = std::vector<T>;
std::optional<Device> device_of(const Tensor &tensor);

// What checks of arguments are given.
using CheckedFrom = const char *;
struct TensorArg {
  TensorArg(const Tensor &tensor, const char *name, int position);
  const Tensor *operator->() const;
  const Tensor &operator*() const;
};
template <class... Given> void checkAllSameGPU(CheckedFrom from, Given &&...given);
void checkAllSameGPU(CheckedFrom from, std::initializer_list<TensorArg> tensors);
void checkAllSameType(CheckedFrom from, std::initializer_list<TensorArg> tensors);
void checkAllSame(CheckedFrom from, std::initializer_list<TensorArg> tensors);
class Context {
public:
  void alertNotDeterministic(const char *name) const;
  bool deterministicAlgorithms() const;
};
Context &globalContext();

namespace indexing {
struct Slice {
  template <class... T> Slice(T... bounds);
};
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis{};
inline constexpr std::nullopt_t None = std::nullopt;
} // namespace indexing

struct DeviceGuard {
  template <class... Where> explicit DeviceGuard(Where &&...where);
  template <class Where> void set_device(Where where);
};
using OptionalDeviceGuard = DeviceGuard;
struct NoGradGuard {};

namespace cuda {
using CUDAGuard = DeviceGuard;
using OptionalCUDAGuard = DeviceGuard;
struct CUDAStreamGuard {
  template <class Stream> explicit CUDAStreamGuard(Stream stream);
};
int current_device();
int MaybeSetDevice(int device);
int ExchangeDevice(int device);
void set_device(int device);
int device_count();
} // namespace cuda

} // namespace at
