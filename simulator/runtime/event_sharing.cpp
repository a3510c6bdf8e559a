// SPDX-License-Identifier: Apache-2.0
//
// Events shared between processes. Each process has a clock of its own, so that an event of another
// process is taken for ready: work is done as soon as it is given.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/events.h"
#include "simulator/core/export.h"

using namespace memtrace::simulator;

namespace {

constexpr unsigned shared_flags = cudaEventDisableTiming | cudaEventInterprocess;

cudaError_t check_shared(cudaEvent_t handle) {
  const event* const one = events::find(handle);
  if (!one) return cudaErrorInvalidResourceHandle;
  const bool shared = (one->flags & cudaEventInterprocess) != 0;
  return shared ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t open(cudaEvent_t* result) {
  if (!result) return cudaErrorInvalidValue;
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return error;
  return events::create(current_device(), shared_flags, *result);
}

}  // namespace

MEMTRACE_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* result, cudaEvent_t event) {
  if (!result) return remember(cudaErrorInvalidValue);
  *result = {};
  return remember(check_shared(event));
}

MEMTRACE_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* result, cudaIpcEventHandle_t) {
  return remember(open(result));
}

MEMTRACE_API CUresult cuIpcGetEventHandle(CUipcEventHandle* result, CUevent event) {
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  *result = {};
  return driver_result(check_shared(event));
}

MEMTRACE_API CUresult cuIpcOpenEventHandle(CUevent* result, CUipcEventHandle) {
  return driver_result(open(result));
}
