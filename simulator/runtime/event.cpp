// SPDX-License-Identifier: Apache-2.0
//
// Events of the runtime API.
#include <cuda_runtime_api.h>

#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/events.h"
#include "simulator/core/export.h"

using namespace memtrace::simulator;

namespace {

cudaError_t create(cudaEvent_t* result, unsigned flags) {
  if (!result) return cudaErrorInvalidValue;
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return error;
  return events::create(current_device(), flags, *result);
}

}  // namespace

MEMTRACE_API cudaError_t cudaEventCreate(cudaEvent_t* result) {
  return remember(create(result, cudaEventDefault));
}

MEMTRACE_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* result, unsigned flags) {
  return remember(create(result, flags));
}

MEMTRACE_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return remember(events::destroy(event));
}

MEMTRACE_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return remember(events::record(event, streams::find(stream), cudaEventRecordDefault));
}

MEMTRACE_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                  unsigned flags) {
  return remember(events::record(event, streams::find(stream), flags));
}

MEMTRACE_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  return remember(events::query(event));
}

MEMTRACE_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return remember(events::synchronize(event));
}

MEMTRACE_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                             unsigned flags) {
  return remember(events::wait(streams::find(stream), event, flags));
}

MEMTRACE_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                              cudaEvent_t end) {
  if (!milliseconds) return remember(cudaErrorInvalidValue);
  return remember(events::elapsed(*milliseconds, start, end));
}
