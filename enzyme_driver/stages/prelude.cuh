// Read before every CUDA file, after clang's own headers: stores with a hint for the caches, which those leave out.
#define __ADGEN__ 1 // for adgen.h
template <class T> struct adgen_stored {
  using type = T;
};
#define ADGEN_STORE(NAME) \
  template <class T> static __device__ inline void NAME(T *to, typename adgen_stored<T>::type value) { *to = value; }
ADGEN_STORE(__stwb)
ADGEN_STORE(__stcg)
ADGEN_STORE(__stcs)
#undef ADGEN_STORE
#undef __managed__
#define __managed__ __device__ // clang knows no managed memory
void adgen_host_code_left_out(); // stands for host code that clang cannot read; kernels may not call it
