// SPDX-License-Identifier: Apache-2.0
//
// Streams and captures of the driver API. Where the header renames a function to its current
// version, the version is what is defined here.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/capture.h"
#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/launches.h"
#include "simulator/core/stream_calls.h"

// Each version of these is its own function here.
#undef cuStreamGetCaptureInfo
#undef cuStreamGetCaptureInfo_v2
#undef cuStreamUpdateCaptureDependencies

using namespace memtrace::simulator;

namespace {

CUresult capture_info(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                      CUgraph* graph, const CUgraphNode** dependencies, std::size_t* count) {
  auto state = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  const cudaError_t error =
      stream_calls::capture_info(handle, &state, &number, graph, dependencies, nullptr, count);
  if (error != cudaSuccess) return driver_result(error);
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  *status = static_cast<CUstreamCaptureStatus>(state);
  if (id) *id = number;
  return CUDA_SUCCESS;
}

}  // namespace

MEMTRACE_API CUresult cuStreamCreate(CUstream* result, unsigned flags) {
  return driver_result(stream_calls::create(result, flags, 0));
}

MEMTRACE_API CUresult cuStreamCreateWithPriority(CUstream* result, unsigned flags, int priority) {
  return driver_result(stream_calls::create(result, flags, priority));
}

MEMTRACE_API CUresult cuGreenCtxStreamCreate(CUstream* result, CUgreenCtx, unsigned flags,
                                             int priority) {
  return driver_result(stream_calls::create(result, flags, priority));
}

MEMTRACE_API CUresult cuStreamDestroy(CUstream handle) {
  return driver_result(streams::destroy(handle));
}

MEMTRACE_API CUresult cuStreamQuery(CUstream handle) {
  return driver_result(stream_calls::query(handle));
}

MEMTRACE_API CUresult cuStreamSynchronize(CUstream handle) {
  return driver_result(stream_calls::synchronize(handle));
}

MEMTRACE_API CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  return driver_result(
      stream_calls::ask<int>(handle, priority, [](const stream& one) { return one.priority; }));
}

MEMTRACE_API CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  return driver_result(
      stream_calls::ask<unsigned>(handle, flags, [](const stream& one) { return one.flags; }));
}

MEMTRACE_API CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  return driver_result(stream_calls::ask<unsigned long long>(
      handle, id, [](const stream& one) -> unsigned long long { return one.id; }));
}

MEMTRACE_API CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  return driver_result(
      stream_calls::ask<int>(handle, device, [](const stream& one) { return one.device; }));
}

MEMTRACE_API CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  return driver_result(stream_calls::ask<CUcontext>(
      handle, context, [](const stream& one) { return primary_context(one.device); }));
}

MEMTRACE_API CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* context, CUgreenCtx* green) {
  if (green) *green = nullptr;
  return cuStreamGetCtx(handle, context);
}

MEMTRACE_API CUresult cuStreamGetGreenCtx(CUstream handle, CUgreenCtx* green) {
  return driver_result(stream_calls::ask<CUgreenCtx>(
      handle, green, [](const stream&) -> CUgreenCtx { return nullptr; }));
}

MEMTRACE_API CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void* data,
                                          unsigned flags) {
  if (flags != 0 || !function) return CUDA_ERROR_INVALID_VALUE;
  return driver_result(stream_calls::callback(
      handle, [=](cudaStream_t stream) { function(stream, CUDA_SUCCESS, data); }));
}

MEMTRACE_API CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  return driver_result(launches::host_function(streams::find(handle), function, data));
}

MEMTRACE_API CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr, std::size_t, unsigned) {
  return streams::find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

MEMTRACE_API CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return streams::find(to) && streams::find(from) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

MEMTRACE_API CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID,
                                           CUstreamAttrValue* value) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  *value = {};
  return streams::find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

MEMTRACE_API CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID,
                                           const CUstreamAttrValue*) {
  return streams::find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

MEMTRACE_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  auto same = static_cast<cudaStreamCaptureMode>(*mode);
  const cudaError_t error = capture::exchange_mode(same);
  *mode = static_cast<CUstreamCaptureMode>(same);
  return driver_result(error);
}

MEMTRACE_API CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  return driver_result(
      stream_calls::begin_capture(handle, static_cast<cudaStreamCaptureMode>(mode)));
}

MEMTRACE_API CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph,
                                                  const CUgraphNode* after, const CUgraphEdgeData*,
                                                  std::size_t count, CUstreamCaptureMode mode) {
  return driver_result(stream_calls::begin_capture(handle, static_cast<cudaStreamCaptureMode>(mode),
                                                   graph, after, count));
}

MEMTRACE_API CUresult cuStreamEndCapture(CUstream handle, CUgraph* result) {
  return driver_result(stream_calls::end_capture(handle, result));
}

MEMTRACE_API CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return capture_info(handle, status, nullptr, nullptr, nullptr, nullptr);
}

MEMTRACE_API CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status,
                                             cuuint64_t* id) {
  return capture_info(handle, status, id, nullptr, nullptr, nullptr);
}

MEMTRACE_API CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status,
                                                cuuint64_t* id, CUgraph* graph,
                                                const CUgraphNode** dependencies,
                                                std::size_t* count) {
  return capture_info(handle, status, id, graph, dependencies, count);
}

MEMTRACE_API CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status,
                                                cuuint64_t* id, CUgraph* graph,
                                                const CUgraphNode** dependencies,
                                                const CUgraphEdgeData** edges, std::size_t* count) {
  if (edges) *edges = nullptr;
  return capture_info(handle, status, id, graph, dependencies, count);
}

MEMTRACE_API CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* nodes,
                                                        std::size_t count, unsigned flags) {
  return driver_result(stream_calls::update_capture(handle, nodes, count, flags));
}

MEMTRACE_API CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* nodes,
                                                           const CUgraphEdgeData*,
                                                           std::size_t count, unsigned flags) {
  return driver_result(stream_calls::update_capture(handle, nodes, count, flags));
}
