// SPDX-License-Identifier: Apache-2.0
//
// Hints about managed memory, in the driver and the runtime API. Managed pages do not move here, so
// prefetching, advice and discarding have nothing to do but to refuse other memory.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/device_memory.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/streams.h"

// CUDA renames these to their current version; each version is exported here.
#undef cuMemAdvise
#undef cuMemPrefetchAsync

using namespace memtrace::simulator;

namespace {

CUresult hint(CUdeviceptr address, std::size_t bytes) {
  const bool managed = bytes != 0 && find(address).kind == memory_kind::managed;
  return managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult hint(CUdeviceptr address, std::size_t bytes, CUstream stream) {
  return streams::find(stream) ? hint(address, bytes) : CUDA_ERROR_INVALID_HANDLE;
}

#if CUDA_VERSION >= 13000
CUresult hints(const CUdeviceptr* addresses, const std::size_t* sizes, std::size_t count,
               unsigned long long flags) {
  if (!addresses || !sizes || count == 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    if (const CUresult error = hint(addresses[i], sizes[i]); error != CUDA_SUCCESS) return error;
  }
  return CUDA_SUCCESS;
}
#endif

}  // namespace

MEMTRACE_API CUresult cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice,
                                         CUstream stream) {
  return hint(address, bytes, stream);
}

MEMTRACE_API CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr address, std::size_t bytes, CUdevice,
                                              CUstream stream) {
  return hint(address, bytes, stream);
}

MEMTRACE_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t bytes, CUmemLocation,
                                            unsigned, CUstream stream) {
  return hint(address, bytes, stream);
}

MEMTRACE_API CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, std::size_t bytes,
                                                 CUmemLocation, unsigned, CUstream stream) {
  return hint(address, bytes, stream);
}

MEMTRACE_API CUresult cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise, CUdevice) {
  return hint(address, bytes);
}

MEMTRACE_API CUresult cuMemAdvise_v2(CUdeviceptr address, std::size_t bytes, CUmem_advise,
                                     CUmemLocation) {
  return hint(address, bytes);
}

#if CUDA_VERSION >= 13000
#define MEMTRACE_BATCHES(suffix)                                                                   \
  MEMTRACE_API CUresult cuMemPrefetchBatchAsync##suffix(                                           \
      CUdeviceptr* addresses, std::size_t* sizes, std::size_t count, CUmemLocation* locations,     \
      std::size_t* indices, std::size_t location_count, unsigned long long flags, CUstream) {      \
    if (!locations || !indices || location_count == 0) return CUDA_ERROR_INVALID_VALUE;            \
    return hints(addresses, sizes, count, flags);                                                  \
  }                                                                                                \
  MEMTRACE_API CUresult cuMemDiscardBatchAsync##suffix(CUdeviceptr* addresses, std::size_t* sizes, \
                                                       std::size_t count,                          \
                                                       unsigned long long flags, CUstream) {       \
    return hints(addresses, sizes, count, flags);                                                  \
  }                                                                                                \
  MEMTRACE_API CUresult cuMemDiscardAndPrefetchBatchAsync##suffix(                                 \
      CUdeviceptr* addresses, std::size_t* sizes, std::size_t count, CUmemLocation* locations,     \
      std::size_t* indices, std::size_t location_count, unsigned long long flags, CUstream) {      \
    if (!locations || !indices || location_count == 0) return CUDA_ERROR_INVALID_VALUE;            \
    return hints(addresses, sizes, count, flags);                                                  \
  }
MEMTRACE_BATCHES()
MEMTRACE_BATCHES(_ptsz)
#endif

MEMTRACE_API CUresult cuStreamAttachMemAsync_ptsz(CUstream stream, CUdeviceptr, std::size_t,
                                                  unsigned) {
  return streams::find(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

#if CUDART_VERSION >= 13000
namespace {

cudaError_t runtime_hints(void** pointers, const std::size_t* sizes, std::size_t count,
                          unsigned long long flags) {
  const auto* const addresses = reinterpret_cast<const CUdeviceptr*>(pointers);
  return remember(static_cast<cudaError_t>(hints(addresses, sizes, count, flags)));
}

}  // namespace

#define MEMTRACE_RUNTIME_BATCHES(suffix)                                                          \
  MEMTRACE_API cudaError_t cudaMemPrefetchBatchAsync##suffix(                                     \
      void** pointers, std::size_t* sizes, std::size_t count, cudaMemLocation* locations,         \
      std::size_t* indices, std::size_t location_count, unsigned long long flags, cudaStream_t) { \
    const bool placed = locations && indices && location_count != 0;                              \
    if (!placed) return remember(cudaErrorInvalidValue);                                          \
    return runtime_hints(pointers, sizes, count, flags);                                          \
  }                                                                                               \
  MEMTRACE_API cudaError_t cudaMemDiscardBatchAsync##suffix(                                      \
      void** pointers, std::size_t* sizes, std::size_t count, unsigned long long flags,           \
      cudaStream_t) {                                                                             \
    return runtime_hints(pointers, sizes, count, flags);                                          \
  }                                                                                               \
  MEMTRACE_API cudaError_t cudaMemDiscardAndPrefetchBatchAsync##suffix(                           \
      void** pointers, std::size_t* sizes, std::size_t count, cudaMemLocation* locations,         \
      std::size_t* indices, std::size_t location_count, unsigned long long flags, cudaStream_t) { \
    const bool placed = locations && indices && location_count != 0;                              \
    if (!placed) return remember(cudaErrorInvalidValue);                                          \
    return runtime_hints(pointers, sizes, count, flags);                                          \
  }
MEMTRACE_RUNTIME_BATCHES()
MEMTRACE_RUNTIME_BATCHES(_ptsz)
#endif

#if CUDART_VERSION >= 13000
MEMTRACE_API cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t bytes,
                                                   cudaMemLocation, unsigned, cudaStream_t stream) {
  return remember(
      static_cast<cudaError_t>(hint(reinterpret_cast<CUdeviceptr>(pointer), bytes, stream)));
}
#else
MEMTRACE_API cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t bytes, int,
                                                   cudaStream_t stream) {
  return remember(
      static_cast<cudaError_t>(hint(reinterpret_cast<CUdeviceptr>(pointer), bytes, stream)));
}
#endif

MEMTRACE_API cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void*, std::size_t,
                                                       unsigned) {
  return remember(streams::find(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
