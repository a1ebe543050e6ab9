// What nvcc has built in: atomic functions such as __nv_atomic_load_n, made of the atomics that clang has. Loads and
// stores of one word are atomic; fences are made where the file asks for them.
#pragma once

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 1
#define __NV_THREAD_SCOPE_BLOCK 2
#define __NV_THREAD_SCOPE_CLUSTER 3
#define __NV_THREAD_SCOPE_DEVICE 4
#define __NV_THREAD_SCOPE_SYSTEM 5

namespace adgen_atomics {
template <class T> struct same {
  using type = T;
};
template <int Bytes> struct bits;
template <> struct bits<4> {
  using type = unsigned int;
};
template <> struct bits<8> {
  using type = unsigned long long;
};
template <class T> using bits_of = typename bits<sizeof(T)>::type;
template <class To, class From> __device__ inline To cast(From value) { return __builtin_bit_cast(To, value); }
} // namespace adgen_atomics

template <class T> __device__ inline T __nv_atomic_load_n(const T *from, int, int = __NV_THREAD_SCOPE_SYSTEM) {
  return *const_cast<const volatile T *>(from);
}
template <class T> __device__ inline void __nv_atomic_load(const T *from, T *to, int, int = __NV_THREAD_SCOPE_SYSTEM) {
  *to = *const_cast<const volatile T *>(from);
}
template <class T>
__device__ inline void __nv_atomic_store_n(T *to, typename adgen_atomics::same<T>::type value, int,
                                           int = __NV_THREAD_SCOPE_SYSTEM) {
  *const_cast<volatile T *>(to) = value;
}
template <class T>
__device__ inline void __nv_atomic_store(T *to, const T *from, int, int = __NV_THREAD_SCOPE_SYSTEM) {
  *const_cast<volatile T *>(to) = *from;
}
__device__ inline void __nv_atomic_thread_fence(int, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  scope <= __NV_THREAD_SCOPE_BLOCK ? __threadfence_block() : scope < __NV_THREAD_SCOPE_SYSTEM ? __threadfence() : __threadfence_system();
}
template <class T>
__device__ inline T __nv_atomic_exchange_n(T *at, typename adgen_atomics::same<T>::type value, int,
                                           int = __NV_THREAD_SCOPE_SYSTEM) {
  return atomicExch(at, value);
}
template <class T>
__device__ inline void __nv_atomic_exchange(T *at, T *value, T *old, int, int = __NV_THREAD_SCOPE_SYSTEM) {
  *old = atomicExch(at, *value);
}
template <class T>
__device__ inline bool __nv_atomic_compare_exchange_n(T *at, T *expected, typename adgen_atomics::same<T>::type value,
                                                      bool, int, int, int = __NV_THREAD_SCOPE_SYSTEM) {
  using Bits = adgen_atomics::bits_of<T>;
  const Bits wanted = adgen_atomics::cast<Bits>(*expected);
  const Bits old = atomicCAS(reinterpret_cast<Bits *>(at), wanted, adgen_atomics::cast<Bits>(value));
  *expected = adgen_atomics::cast<T>(old);
  return old == wanted;
}
template <class T>
__device__ inline bool __nv_atomic_compare_exchange(T *at, T *expected, T *value, bool weak, int success, int failure,
                                                    int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange_n(at, expected, *value, weak, success, failure, scope);
}

#define ADGEN_ATOMIC(NAME, CALL) \
  template <class T> \
  __device__ inline T __nv_atomic_fetch_##NAME(T *at, typename adgen_atomics::same<T>::type value, int, \
                                               int = __NV_THREAD_SCOPE_SYSTEM) { \
    return CALL; \
  } \
  template <class T> \
  __device__ inline void __nv_atomic_##NAME(T *at, typename adgen_atomics::same<T>::type value, int, \
                                            int = __NV_THREAD_SCOPE_SYSTEM) { \
    CALL; \
  }
ADGEN_ATOMIC(add, atomicAdd(at, value))
ADGEN_ATOMIC(sub, atomicAdd(at, static_cast<T>(-value)))
ADGEN_ATOMIC(and, atomicAnd(at, value))
ADGEN_ATOMIC(or, atomicOr(at, value))
ADGEN_ATOMIC(xor, atomicXor(at, value))
ADGEN_ATOMIC(min, atomicMin(at, value))
ADGEN_ATOMIC(max, atomicMax(at, value))
#undef ADGEN_ATOMIC
