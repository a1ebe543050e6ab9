// Read before every CUDA file, after clang's own headers: what nvcc has and those leave out.
#define __ADGEN__ 1 // for adgen.h
#undef __CUDACC__
#define __CUDACC__ 1 // nvcc gives it a value, which #if asks for
// Files ask for nvcc's version before they use what is new in it.
#define __CUDACC_VER_MAJOR__ (CUDA_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDA_VERSION % 1000 / 10)
#define __CUDACC_VER_BUILD__ 0
#define CCCL_DISABLE_NVTX // whose header may be missing; it is for host code

// nvcc has read these before every file.
#include <assert.h>
#include <new>
#include <stdio.h>
#include <time.h>

template <class T> struct adgen_stored {
  using type = T;
};
#define ADGEN_STORE(NAME) \
  template <class T> static __device__ inline void NAME(T *to, typename adgen_stored<T>::type value) { *to = value; }
ADGEN_STORE(__stwb)
ADGEN_STORE(__stcg)
ADGEN_STORE(__stcs)
#undef ADGEN_STORE
template <class T> static __device__ inline T __ldca(const T *from) { return *from; }
template <class T> static __device__ inline T __ldlu(const T *from) { return *from; }

// Of a shared variable whose type has a constructor, see dialect.py.
template <class T> union adgen_room {
  T value;
  __device__ adgen_room() {}
  __device__ ~adgen_room() {}
};

// The smaller and the larger of two numbers, in code of the host.
#define ADGEN_HOST_EXTREME(TYPE) \
  static inline __host__ TYPE min(TYPE a, TYPE b) { return b < a ? b : a; } \
  static inline __host__ TYPE max(TYPE a, TYPE b) { return a < b ? b : a; }
ADGEN_HOST_EXTREME(int)
ADGEN_HOST_EXTREME(unsigned)
ADGEN_HOST_EXTREME(long)
ADGEN_HOST_EXTREME(unsigned long)
ADGEN_HOST_EXTREME(long long)
ADGEN_HOST_EXTREME(unsigned long long)
ADGEN_HOST_EXTREME(float)
ADGEN_HOST_EXTREME(double)
#undef ADGEN_HOST_EXTREME

static inline __device__ double nan(const char *) { return __builtin_nan(""); }
static inline __device__ float nanf(const char *) { return __builtin_nanf(""); }

#undef __managed__
#define __managed__ __device__ // clang knows no managed memory
#include "headers/adgen_atomics.h"
#include "headers/adgen_textures.h"
void adgen_host_code_left_out(); // stands for host code that clang cannot read; kernels may not call it
