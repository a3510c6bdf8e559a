// SPDX-License-Identifier: Apache-2.0
//
// cuSOLVER: how much memory a solver wants. The solvers themselves do nothing.
#include "simulator/libraries/cusolver_work.h"

#include <cuda_runtime_api.h>
#include <library_types.h>

#include "simulator/core/export.h"
#include "simulator/libraries/outputs.h"

namespace memtrace::simulator::cusolver {
namespace {

enum status : int { success = 0, invalid_value = 3 };

int put(int* to, std::int64_t elements) {
  if (to == nullptr) return invalid_value;
  *to = static_cast<int>(std::min<std::int64_t>(elements, 0x7fffffff));
  return success;
}

// The 64-bit API counts bytes, and has a workspace on the host too.
int put(std::size_t* device, std::size_t* host, std::int64_t elements, cudaDataType type) {
  if (device == nullptr || host == nullptr) return invalid_value;
  *device = static_cast<std::size_t>(elements) * element_bytes(type);
  *host = 0;
  return success;
}

}  // namespace

// `name` once for each of S, D, C and Z; `real` for S and D, `complex` for C and Z.
#define MEMTRACE_WORK(letter, name, parameters, elements)             \
  MEMTRACE_API int cusolverDn##letter##name##_bufferSize parameters { \
    return put(to, elements);                                         \
  }
#define MEMTRACE_WORK_TWO(real, complex, parameters, elements) \
  MEMTRACE_WORK(S, real, parameters, elements)                 \
  MEMTRACE_WORK(D, real, parameters, elements)                 \
  MEMTRACE_WORK(C, complex, parameters, elements)              \
  MEMTRACE_WORK(Z, complex, parameters, elements)
#define MEMTRACE_WORK_ALL(name, parameters, elements) \
  MEMTRACE_WORK_TWO(name, name, parameters, elements)

MEMTRACE_WORK_ALL(potrf, (void*, int, int n, void*, int, int* to), panel(n))
MEMTRACE_WORK_ALL(getrf, (void*, int, int n, void*, int, int* to), panel(n))
MEMTRACE_WORK_ALL(geqrf, (void*, int, int n, void*, int, int* to), panel(n))
MEMTRACE_WORK_ALL(sytrf, (void*, int n, void*, int, int* to), panel(n))
MEMTRACE_WORK_TWO(orgqr, ungqr, (void*, int, int n, int, const void*, int, const void*, int* to),
                  panel(n))
MEMTRACE_WORK_TWO(ormqr, unmqr,
                  (void*, int, int, int m, int n, int, const void*, int, const void*, const void*,
                   int, int* to),
                  panel(std::max(m, n)))
MEMTRACE_WORK_ALL(gesvd, (void*, int m, int n, int* to), singular_values(m, n))
MEMTRACE_WORK_TWO(syevd, heevd, (void*, int, int, int n, const void*, int, const void*, int* to),
                  eigenvalues(n))
MEMTRACE_WORK_TWO(syevj, heevj, (void*, int, int, int n, const void*, int, const void*, int* to),
                  eigenvalues(n))
MEMTRACE_WORK_TWO(syevjBatched, heevjBatched,
                  (void*, int, int, int n, const void*, int, const void*, int* to, void*,
                   int batch),
                  eigenvalues(n) * batch)
MEMTRACE_WORK_ALL(gesvdj,
                  (void*, int, int, int m, int n, const void*, int, const void*, const void*, int,
                   const void*, int, int* to),
                  jacobi_singular_values(m, n))
MEMTRACE_WORK_ALL(gesvdjBatched,
                  (void*, int, int m, int n, const void*, int, const void*, const void*, int,
                   const void*, int, int* to, void*, int batch),
                  jacobi_singular_values(m, n) * batch)
MEMTRACE_WORK_ALL(gesvdaStridedBatched,
                  (void*, int, int, int m, int n, const void*, int, long long, const void*,
                   long long, const void*, int, long long, const void*, int, long long, int* to,
                   int batch),
                  jacobi_singular_values(m, n) * batch)

MEMTRACE_API int cusolverDnXpotrf_bufferSize(void*, void*, int, std::int64_t n, cudaDataType,
                                             const void*, std::int64_t, cudaDataType type,
                                             std::size_t* device, std::size_t* host) {
  return put(device, host, panel(n), type);
}
MEMTRACE_API int cusolverDnXgetrf_bufferSize(void*, void*, std::int64_t, std::int64_t n,
                                             cudaDataType, const void*, std::int64_t,
                                             cudaDataType type, std::size_t* device,
                                             std::size_t* host) {
  return put(device, host, panel(n), type);
}
MEMTRACE_API int cusolverDnXgeqrf_bufferSize(void*, void*, std::int64_t, std::int64_t n,
                                             cudaDataType, const void*, std::int64_t, cudaDataType,
                                             const void*, cudaDataType type, std::size_t* device,
                                             std::size_t* host) {
  return put(device, host, panel(n), type);
}
MEMTRACE_API int cusolverDnXsytrs_bufferSize(void*, int, std::int64_t n, std::int64_t,
                                             cudaDataType type, const void*, std::int64_t,
                                             const std::int64_t*, cudaDataType, void*, std::int64_t,
                                             std::size_t* device, std::size_t* host) {
  return put(device, host, panel(n), type);
}
MEMTRACE_API int cusolverDnXsyevd_bufferSize(void*, void*, int, int, std::int64_t n, cudaDataType,
                                             const void*, std::int64_t, cudaDataType, const void*,
                                             cudaDataType type, std::size_t* device,
                                             std::size_t* host) {
  return put(device, host, eigenvalues(n), type);
}
MEMTRACE_API int cusolverDnXsyevBatched_bufferSize(void*, void*, int, int, std::int64_t n,
                                                   cudaDataType, const void*, std::int64_t,
                                                   cudaDataType, const void*, cudaDataType type,
                                                   std::size_t* device, std::size_t* host,
                                                   std::int64_t batch) {
  return put(device, host, eigenvalues(n) * batch, type);
}
MEMTRACE_API int cusolverDnXgeev_bufferSize(void*, void*, int, int, std::int64_t n, cudaDataType,
                                            const void*, std::int64_t, cudaDataType, const void*,
                                            cudaDataType, const void*, std::int64_t, cudaDataType,
                                            const void*, std::int64_t, cudaDataType type,
                                            std::size_t* device, std::size_t* host) {
  return put(device, host, general_eigenvalues(n), type);
}

}  // namespace memtrace::simulator::cusolver
