// SPDX-License-Identifier: Apache-2.0
//
// Occupancy and libraries of device code in the runtime API.
#include "simulator/core/attributes.h"

#include <cuda_runtime_api.h>

#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/modules.h"

using namespace memtrace::simulator;

MEMTRACE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                       const void* function,
                                                                       int block,
                                                                       std::size_t shared) {
  if (!blocks || !function) return remember(cudaErrorInvalidValue);
  *blocks = occupancy_blocks(block, shared);
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block, std::size_t shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block, shared);
}

MEMTRACE_API cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                        const cudaLaunchConfig_t* call) {
  if (!clusters || !function || !call) return remember(cudaErrorInvalidValue);
  const int block = static_cast<int>(call->blockDim.x * call->blockDim.y * call->blockDim.z);
  *clusters = occupancy_blocks(block, call->dynamicSmemBytes);
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                                   const void* function, int, int) {
  if (!bytes || !function) return remember(cudaErrorInvalidValue);
  *bytes = 48 << 10;
  return cudaSuccess;
}

#if CUDART_VERSION >= 13000
MEMTRACE_API cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code,
                                             cudaJitOption*, void**, unsigned, cudaLibraryOption*,
                                             void**, unsigned) {
  if (!library || !code) return remember(cudaErrorInvalidValue);
  *library = reinterpret_cast<cudaLibrary_t>(modules::load());
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path,
                                                 cudaJitOption*, void**, unsigned,
                                                 cudaLibraryOption*, void**, unsigned) {
  if (!library || !path) return remember(cudaErrorInvalidValue);
  *library = reinterpret_cast<cudaLibrary_t>(modules::load());
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  const bool known = modules::unload(reinterpret_cast<CUmodule>(library));
  return remember(known ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

MEMTRACE_API cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library,
                                              const char* name) {
  if (!kernel || !name) return remember(cudaErrorInvalidValue);
  CUfunction function = modules::function(reinterpret_cast<CUmodule>(library), name);
  *kernel = reinterpret_cast<cudaKernel_t>(function);
  return remember(function ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
#endif
