// SPDX-License-Identifier: Apache-2.0
//
// cuBLAS: products of matrices. C is m × n, columns `ldc` elements apart, and so is what a call
// writes; the product itself is not computed.
#include <cuComplex.h>
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>

#include "simulator/core/export.h"
#include "simulator/libraries/cublas_handle.h"
#include "simulator/libraries/outputs.h"

namespace memtrace::simulator::cublas {
namespace {

struct matrix {
  void* at;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leading;     // elements from column to column
  std::int64_t stride = 0;  // elements from one matrix of the batch to the next
  std::int64_t batch = 1;
};

// Bytes from the first to the last element.
std::size_t extent(const matrix& m, std::size_t element) {
  if (m.rows <= 0 || m.columns <= 0 || m.batch <= 0) return 0;
  const std::int64_t one = (m.columns - 1) * m.leading + m.rows;
  return static_cast<std::size_t>((m.batch - 1) * m.stride + one) * element;
}

int product(const handle* handle, const matrix& result, std::size_t element) {
  if (!valid(handle)) return not_initialized;
  if (result.rows < 0 || result.columns < 0 || result.batch < 0) return invalid_value;
  if (result.leading < result.rows || result.leading < 1) return invalid_value;
  const std::size_t bytes = extent(result, element);
  if (bytes == 0) return success;
  note_written(result.at, bytes);
  return compute(handle);
}

}  // namespace

// The `long long` names of the same functions end in _64; cublas.h of the int names.
#define MEMTRACE_GEMM_OF(name, suffix, integer, type)                                          \
  MEMTRACE_API int cublas##name##gemm_v2##suffix(                                              \
      const handle* handle, int, int, integer m, integer n, integer, const type*, const type*, \
      integer, const type*, integer, const type*, type* c, integer ldc) {                      \
    return product(handle, {c, m, n, ldc}, sizeof(type));                                      \
  }                                                                                            \
  MEMTRACE_API int cublas##name##gemmStridedBatched##suffix(                                   \
      const handle* handle, int, int, integer m, integer n, integer, const type*, const type*, \
      integer, long long, const type*, integer, long long, const type*, type* c, integer ldc,  \
      long long stride, integer batch) {                                                       \
    return product(handle, {c, m, n, ldc, stride, batch}, sizeof(type));                       \
  }                                                                                            \
  MEMTRACE_API int cublas##name##gemmBatched##suffix(const handle* handle) {                   \
    return compute(handle);                                                                    \
  }
#define MEMTRACE_GEMM(name, type)     \
  MEMTRACE_GEMM_OF(name, , int, type) \
  MEMTRACE_GEMM_OF(name, _64, std::int64_t, type)

MEMTRACE_GEMM(S, float)
MEMTRACE_GEMM(D, double)
MEMTRACE_GEMM(C, cuComplex)
MEMTRACE_GEMM(Z, cuDoubleComplex)

MEMTRACE_API int cublasHgemm(const handle* handle, int, int, int m, int n, int, const void*,
                             const void*, int, const void*, int, const void*, void* c, int ldc) {
  return product(handle, {c, m, n, ldc}, 2);
}

#define MEMTRACE_GEMM_EX(suffix, integer)                                                         \
  MEMTRACE_API int cublasGemmEx##suffix(const handle* handle, int, int, integer m, integer n,     \
                                        integer, const void*, const void*, cudaDataType, integer, \
                                        const void*, cudaDataType, integer, const void*, void* c, \
                                        cudaDataType type, integer ldc, int, int) {               \
    return product(handle, {c, m, n, ldc}, element_bytes(type));                                  \
  }                                                                                               \
  MEMTRACE_API int cublasSgemmEx##suffix(const handle* handle, int, int, integer m, integer n,    \
                                         integer, const float*, const void*, cudaDataType,        \
                                         integer, const void*, cudaDataType, integer,             \
                                         const float*, void* c, cudaDataType type, integer ldc) { \
    return product(handle, {c, m, n, ldc}, element_bytes(type));                                  \
  }                                                                                               \
  MEMTRACE_API int cublasGemmStridedBatchedEx##suffix(                                            \
      const handle* handle, int, int, integer m, integer n, integer, const void*, const void*,    \
      cudaDataType, integer, long long, const void*, cudaDataType, integer, long long,            \
      const void*, void* c, cudaDataType type, integer ldc, long long stride, integer batch, int, \
      int) {                                                                                      \
    return product(handle, {c, m, n, ldc, stride, batch}, element_bytes(type));                   \
  }
MEMTRACE_GEMM_EX(, int)
MEMTRACE_GEMM_EX(_64, std::int64_t)

}  // namespace memtrace::simulator::cublas
