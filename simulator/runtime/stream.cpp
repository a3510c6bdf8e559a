// SPDX-License-Identifier: Apache-2.0
//
// Streams of the runtime API, and what captures say of them.
#include <cuda_runtime_api.h>

#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/launches.h"
#include "simulator/core/stream_calls.h"
#include "simulator/core/streams.h"

// CUDA 12 renames this one in its header; here each name is its own function.
#undef cudaStreamGetCaptureInfo

using namespace memtrace::simulator;

MEMTRACE_API cudaError_t cudaStreamCreate(cudaStream_t* result) {
  return remember(stream_calls::create(result, cudaStreamDefault, 0));
}

MEMTRACE_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* result, unsigned flags) {
  return remember(stream_calls::create(result, flags, 0));
}

MEMTRACE_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* result, unsigned flags,
                                                      int priority) {
  return remember(stream_calls::create(result, flags, priority));
}

MEMTRACE_API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return remember(streams::destroy(handle));
}

MEMTRACE_API cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return remember(
      stream_calls::ask<int>(handle, priority, [](const stream& one) { return one.priority; }));
}

MEMTRACE_API cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return remember(
      stream_calls::ask<unsigned>(handle, flags, [](const stream& one) { return one.flags; }));
}

MEMTRACE_API cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return remember(stream_calls::ask<unsigned long long>(
      handle, id, [](const stream& one) -> unsigned long long { return one.id; }));
}

MEMTRACE_API cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return remember(
      stream_calls::ask<int>(handle, device, [](const stream& one) { return one.device; }));
}

MEMTRACE_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return remember(stream_calls::synchronize(handle));
}

MEMTRACE_API cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return remember(stream_calls::query(handle));
}

MEMTRACE_API cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback,
                                               void* data, unsigned flags) {
  if (flags != 0 || !callback) return remember(cudaErrorInvalidValue);
  return remember(stream_calls::callback(
      handle, [=](cudaStream_t stream) { callback(stream, cudaSuccess, data); }));
}

MEMTRACE_API cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function,
                                            void* data) {
  return remember(launches::host_function(streams::find(handle), function, data));
}

MEMTRACE_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void*, std::size_t,
                                                  unsigned) {
  return remember(streams::find(handle) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

MEMTRACE_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  const bool known = streams::find(to) && streams::find(from);
  return remember(known ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

MEMTRACE_API cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaStreamAttrID,
                                                cudaStreamAttrValue* value) {
  if (!value) return remember(cudaErrorInvalidValue);
  *value = {};
  return remember(streams::find(handle) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

MEMTRACE_API cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaStreamAttrID,
                                                const cudaStreamAttrValue*) {
  return remember(streams::find(handle) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

MEMTRACE_API cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                               cudaStreamCaptureStatus* status) {
  return remember(
      stream_calls::capture_info(handle, status, nullptr, nullptr, nullptr, nullptr, nullptr));
}

#if CUDART_VERSION >= 13000
MEMTRACE_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle,
                                                  cudaStreamCaptureStatus* status,
                                                  unsigned long long* id, cudaGraph_t* graph,
                                                  const cudaGraphNode_t** dependencies,
                                                  const cudaGraphEdgeData** edges,
                                                  std::size_t* count) {
  return remember(
      stream_calls::capture_info(handle, status, id, graph, dependencies, edges, count));
}
#else
MEMTRACE_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle,
                                                  cudaStreamCaptureStatus* status,
                                                  unsigned long long* id) {
  return remember(
      stream_calls::capture_info(handle, status, id, nullptr, nullptr, nullptr, nullptr));
}

MEMTRACE_API cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t handle,
                                                     cudaStreamCaptureStatus* status,
                                                     unsigned long long* id, cudaGraph_t* graph,
                                                     const cudaGraphNode_t** dependencies,
                                                     std::size_t* count) {
  return remember(
      stream_calls::capture_info(handle, status, id, graph, dependencies, nullptr, count));
}
#endif

// The form with edge data under the name that CUDA 12 has for it; CUDA 13 dropped the others.
MEMTRACE_API cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t handle,
                                                     cudaStreamCaptureStatus* status,
                                                     unsigned long long* id, cudaGraph_t* graph,
                                                     const cudaGraphNode_t** dependencies,
                                                     const cudaGraphEdgeData** edges,
                                                     std::size_t* count) {
  return remember(
      stream_calls::capture_info(handle, status, id, graph, dependencies, edges, count));
}
