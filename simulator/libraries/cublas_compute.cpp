// SPDX-License-Identifier: Apache-2.0
//
// cuBLAS: everything but matrix products. Vector and matrix operations run as a kernel that does
// nothing; what the host may read at once (sums, error codes) is written.
#include <cuComplex.h>
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <algorithm>

#include "simulator/core/export.h"
#include "simulator/core/streams.h"
#include "simulator/libraries/cublas_handle.h"
#include "simulator/libraries/outputs.h"

namespace memtrace::simulator::cublas {
namespace {

// A single value to host or device, as cublasSetPointerMode says.
int reduction(const handle* handle, void* result, std::size_t bytes) {
  const status done = compute(handle);
  if (done != success) return done;
  if (handle->pointers == host_pointers) {
    write_result(result, bytes);
  } else {
    note_written(result, bytes);
  }
  return success;
}

// Batched solvers: `info` is on the host and says that all arguments were right.
int solver(const handle* handle, int* info) {
  if (info != nullptr) *info = 0;
  return compute(handle);
}

int batch_solver(const handle* handle, const int* codes, int batch) {
  report_solved(codes, static_cast<std::size_t>(std::max(batch, 0)));
  return compute(handle);
}

std::size_t bytes(int elements, int element) {
  return static_cast<std::size_t>(elements) * static_cast<std::size_t>(element);
}

// `columns` pieces of `bytes` bytes.
int copied(const void* from, std::size_t from_step, void* to, std::size_t to_step,
           std::size_t bytes, int columns, cudaMemcpyKind kind, cudaStream_t stream) {
  const cudaError_t done = cudaMemcpy2DAsync(to, to_step, from, from_step, bytes,
                                             static_cast<std::size_t>(columns), kind, stream);
  return done == cudaSuccess ? success : invalid_value;
}

}  // namespace

#define MEMTRACE_CUBLAS(name)                   \
  MEMTRACE_API int name(const handle* handle) { \
    return compute(handle);                     \
  }
#define MEMTRACE_CUBLAS_TYPES(name)   \
  MEMTRACE_CUBLAS(cublasS##name##_v2) \
  MEMTRACE_CUBLAS(cublasD##name##_v2) \
  MEMTRACE_CUBLAS(cublasC##name##_v2) \
  MEMTRACE_CUBLAS(cublasZ##name##_v2)
#include "simulator/libraries/cublas_compute.def"
#undef MEMTRACE_CUBLAS_TYPES
#undef MEMTRACE_CUBLAS

#define MEMTRACE_DOT(name, type)                                                       \
  MEMTRACE_API int name(const handle* handle, int, const void*, int, const void*, int, \
                        type* result) {                                                \
    return reduction(handle, result, sizeof(type));                                    \
  }
MEMTRACE_DOT(cublasSdot_v2, float)
MEMTRACE_DOT(cublasDdot_v2, double)
MEMTRACE_DOT(cublasCdotu_v2, cuComplex)
MEMTRACE_DOT(cublasCdotc_v2, cuComplex)
MEMTRACE_DOT(cublasZdotu_v2, cuDoubleComplex)
MEMTRACE_DOT(cublasZdotc_v2, cuDoubleComplex)

#define MEMTRACE_SUM(name, type)                                                     \
  MEMTRACE_API int name(const handle* handle, int, const void*, int, type* result) { \
    return reduction(handle, result, sizeof(type));                                  \
  }
MEMTRACE_SUM(cublasSnrm2_v2, float)
MEMTRACE_SUM(cublasDnrm2_v2, double)
MEMTRACE_SUM(cublasScnrm2_v2, float)
MEMTRACE_SUM(cublasDznrm2_v2, double)
MEMTRACE_SUM(cublasSasum_v2, float)
MEMTRACE_SUM(cublasDasum_v2, double)
MEMTRACE_SUM(cublasScasum_v2, float)
MEMTRACE_SUM(cublasDzasum_v2, double)
MEMTRACE_SUM(cublasIsamax_v2, int)
MEMTRACE_SUM(cublasIdamax_v2, int)
MEMTRACE_SUM(cublasIcamax_v2, int)
MEMTRACE_SUM(cublasIzamax_v2, int)
MEMTRACE_SUM(cublasIsamin_v2, int)
MEMTRACE_SUM(cublasIdamin_v2, int)
MEMTRACE_SUM(cublasIcamin_v2, int)
MEMTRACE_SUM(cublasIzamin_v2, int)

MEMTRACE_API int cublasDotEx(const handle* handle, int, const void*, cudaDataType, int, const void*,
                             cudaDataType, int, void* result, cudaDataType type, cudaDataType) {
  return reduction(handle, result, element_bytes(type));
}
MEMTRACE_API int cublasDotcEx(const handle* handle, int, const void*, cudaDataType, int,
                              const void*, cudaDataType, int, void* result, cudaDataType type,
                              cudaDataType) {
  return reduction(handle, result, element_bytes(type));
}
MEMTRACE_API int cublasNrm2Ex(const handle* handle, int, const void*, cudaDataType, int,
                              void* result, cudaDataType type, cudaDataType) {
  return reduction(handle, result, element_bytes(type));
}

#define MEMTRACE_SOLVERS(letter)                                                                   \
  MEMTRACE_API int cublas##letter##geqrfBatched(const handle* handle, int, int, void*, int, void*, \
                                                int* info, int) {                                  \
    return solver(handle, info);                                                                   \
  }                                                                                                \
  MEMTRACE_API int cublas##letter##gelsBatched(const handle* handle, int, int, int, int, void*,    \
                                               int, void*, int, int* info, int* codes,             \
                                               int batch) {                                        \
    report_solved(codes, static_cast<std::size_t>(std::max(batch, 0)));                            \
    return solver(handle, info);                                                                   \
  }                                                                                                \
  MEMTRACE_API int cublas##letter##getrsBatched(const handle* handle, int, int, int, const void*,  \
                                                int, const int*, void*, int, int* info, int) {     \
    return solver(handle, info);                                                                   \
  }                                                                                                \
  MEMTRACE_API int cublas##letter##getrfBatched(const handle* handle, int, void*, int, int*,       \
                                                int* codes, int batch) {                           \
    return batch_solver(handle, codes, batch);                                                     \
  }                                                                                                \
  MEMTRACE_API int cublas##letter##getriBatched(const handle* handle, int, const void*, int,       \
                                                const int*, void*, int, int* codes, int batch) {   \
    return batch_solver(handle, codes, batch);                                                     \
  }                                                                                                \
  MEMTRACE_API int cublas##letter##matinvBatched(const handle* handle, int, const void*, int,      \
                                                 void*, int, int* codes, int batch) {              \
    return batch_solver(handle, codes, batch);                                                     \
  }
MEMTRACE_SOLVERS(S)
MEMTRACE_SOLVERS(D)
MEMTRACE_SOLVERS(C)
MEMTRACE_SOLVERS(Z)

#define MEMTRACE_COPIES(verb, kind)                                                                \
  MEMTRACE_API int cublas##verb##VectorAsync(int n, int element, const void* from, int from_step,  \
                                             void* to, int to_step, cudaStream_t stream) {         \
    return copied(from, bytes(from_step, element), to, bytes(to_step, element), bytes(1, element), \
                  n, kind, stream);                                                                \
  }                                                                                                \
  MEMTRACE_API int cublas##verb##MatrixAsync(int rows, int columns, int element, const void* from, \
                                             int from_leading, void* to, int to_leading,           \
                                             cudaStream_t stream) {                                \
    return copied(from, bytes(from_leading, element), to, bytes(to_leading, element),              \
                  bytes(rows, element), columns, kind, stream);                                    \
  }
MEMTRACE_COPIES(Set, cudaMemcpyHostToDevice)
MEMTRACE_COPIES(Get, cudaMemcpyDeviceToHost)

}  // namespace memtrace::simulator::cublas
