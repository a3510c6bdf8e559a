// SPDX-License-Identifier: Apache-2.0
//
// Errors and versions of the runtime API.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/errors.h"
#include "simulator/core/export.h"

using namespace memtrace::simulator;

MEMTRACE_API cudaError_t cudaGetLastError(void) {
  return take_last_error();
}

MEMTRACE_API cudaError_t cudaPeekAtLastError(void) {
  return peek_last_error();
}

MEMTRACE_API const char* cudaGetErrorName(cudaError_t error) {
  const error_description* found = describe_error(error);
  if (!found || !found->runtime_name) return "unrecognized error code";
  return found->runtime_name;
}

MEMTRACE_API const char* cudaGetErrorString(cudaError_t error) {
  const error_description* found = describe_error(error);
  if (!found || !found->runtime_name) return "unrecognized error code";
  return found->text;
}

// The simulated driver is always as new as the runtime.
MEMTRACE_API cudaError_t cudaDriverGetVersion(int* version) {
  if (!version) return remember(cudaErrorInvalidValue);
  *version = CUDA_VERSION;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaRuntimeGetVersion(int* version) {
  if (!version) return remember(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}
