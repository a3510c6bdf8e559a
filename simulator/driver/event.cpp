// SPDX-License-Identifier: Apache-2.0
//
// Events of the driver API.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/events.h"
#include "simulator/core/export.h"

// Both versions of this are defined here: they differ in nothing that the simulator does.
#undef cuEventElapsedTime

using namespace memtrace::simulator;

namespace {

CUresult elapsed(float* milliseconds, CUevent start, CUevent end) {
  if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
  return driver_result(events::elapsed(*milliseconds, start, end));
}

}  // namespace

MEMTRACE_API CUresult cuEventCreate(CUevent* result, unsigned flags) {
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t error = ensure_context();
  if (error != cudaSuccess) return driver_result(error);
  return driver_result(events::create(current_device(), flags, *result));
}

MEMTRACE_API CUresult cuEventDestroy(CUevent event) {
  return driver_result(events::destroy(event));
}

MEMTRACE_API CUresult cuEventRecord(CUevent event, CUstream stream) {
  return driver_result(events::record(event, streams::find(stream), cudaEventRecordDefault));
}

MEMTRACE_API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return driver_result(events::record(event, streams::find(stream), flags));
}

MEMTRACE_API CUresult cuEventQuery(CUevent event) {
  return driver_result(events::query(event));
}

MEMTRACE_API CUresult cuEventSynchronize(CUevent event) {
  return driver_result(events::synchronize(event));
}

MEMTRACE_API CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}

extern "C" __attribute__((visibility("default"))) CUresult cuEventElapsedTime_v2(
    float* milliseconds, CUevent start, CUevent end);
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}

MEMTRACE_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return driver_result(events::wait(streams::find(stream), event, flags));
}
