// Declarations in place of cuBLAS, where it is not installed: host code is only parsed, so any arguments will do.
#pragma once
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <library_types.h>

typedef struct cublasContext *cublasHandle_t;
enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS,
  CUBLAS_STATUS_NOT_INITIALIZED,
  CUBLAS_STATUS_ALLOC_FAILED,
  CUBLAS_STATUS_INVALID_VALUE,
  CUBLAS_STATUS_ARCH_MISMATCH,
  CUBLAS_STATUS_MAPPING_ERROR,
  CUBLAS_STATUS_EXECUTION_FAILED,
  CUBLAS_STATUS_INTERNAL_ERROR,
  CUBLAS_STATUS_NOT_SUPPORTED,
  CUBLAS_STATUS_LICENSE_ERROR
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_TF32_TENSOR_OP_MATH };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };

#define ADGEN_CUBLAS(NAME) template <class... Arguments> cublasStatus_t cublas##NAME(Arguments &&...);
#define ADGEN_CUBLAS_OF_TYPES(NAME)                                                                                    \
  ADGEN_CUBLAS(S##NAME) ADGEN_CUBLAS(D##NAME) ADGEN_CUBLAS(C##NAME) ADGEN_CUBLAS(Z##NAME)
ADGEN_CUBLAS(Create)
ADGEN_CUBLAS(Destroy) ADGEN_CUBLAS(SetStream) ADGEN_CUBLAS(GetStream) ADGEN_CUBLAS(SetPointerMode)
    ADGEN_CUBLAS(SetMathMode) ADGEN_CUBLAS(SetVector) ADGEN_CUBLAS(GetVector) ADGEN_CUBLAS(SetMatrix)
        ADGEN_CUBLAS(GetMatrix) ADGEN_CUBLAS(GemmEx) ADGEN_CUBLAS(GemmStridedBatchedEx) ADGEN_CUBLAS(Hgemm)
            ADGEN_CUBLAS(Isamax) ADGEN_CUBLAS(Idamax) ADGEN_CUBLAS_OF_TYPES(gemm) ADGEN_CUBLAS_OF_TYPES(gemmBatched)
                ADGEN_CUBLAS_OF_TYPES(gemmStridedBatched) ADGEN_CUBLAS_OF_TYPES(gemv) ADGEN_CUBLAS_OF_TYPES(axpy)
                    ADGEN_CUBLAS_OF_TYPES(dot) ADGEN_CUBLAS_OF_TYPES(nrm2) ADGEN_CUBLAS_OF_TYPES(asum)
                        ADGEN_CUBLAS_OF_TYPES(scal) ADGEN_CUBLAS_OF_TYPES(copy) ADGEN_CUBLAS_OF_TYPES(swap)
                            ADGEN_CUBLAS_OF_TYPES(ger) ADGEN_CUBLAS_OF_TYPES(geam) ADGEN_CUBLAS_OF_TYPES(trsm)
                                ADGEN_CUBLAS_OF_TYPES(trsv) ADGEN_CUBLAS_OF_TYPES(symm) ADGEN_CUBLAS_OF_TYPES(syrk)
#undef ADGEN_CUBLAS
#undef ADGEN_CUBLAS_OF_TYPES
                                    const char *cublasGetStatusString(cublasStatus_t status);
