// SPDX-License-Identifier: Apache-2.0
//
// Contexts of the driver API: the thread's current one, its stack, and what is asked of it.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <vector>

#include "simulator/core/device.h"
#include "simulator/core/device_reset.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/limits.h"
#include "simulator/core/memory_calls.h"
#include "simulator/core/streams.h"

// CUDA renames these to their current version; each version is exported here.
#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuCtxPopCurrent
#undef cuCtxPushCurrent
#undef cuCtxCreate_v3
#undef cuCtxGetDevice
#undef cuCtxSynchronize

using namespace memtrace::simulator;

namespace {

// The contexts below the current one.
thread_local std::vector<CUcontext> below;

CUresult create(CUcontext* context, CUdevice device, unsigned version = new_context) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const cudaError_t error = create_context(device, *context, version);
  if (error != cudaSuccess) return driver_result(error);
  below.push_back(current_context());
  set_current_context(*context);
  return CUDA_SUCCESS;
}

CUresult require_context() {
  return current_context() == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

CUresult push(CUcontext context) {
  if (context_device(context) < 0) return CUDA_ERROR_INVALID_CONTEXT;
  below.push_back(current_context());
  set_current_context(context);
  return CUDA_SUCCESS;
}

CUresult pop(CUcontext* context) {
  if (!current_context() || below.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context) *context = current_context();
  set_current_context(below.back());
  below.pop_back();
  return CUDA_SUCCESS;
}

// The thread that has it current loses it from its stack; in others it stays, destroyed.
CUresult destroy(CUcontext context) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  const bool current = current_context() == context;
  const CUresult result = driver_result(end_context(context));
  if (result != CUDA_SUCCESS || !current) return result;
  set_current_context(below.empty() ? nullptr : below.back());
  if (!below.empty()) below.pop_back();
  return CUDA_SUCCESS;
}

}  // namespace

MEMTRACE_API CUresult cuCtxCreate(CUcontext* context, unsigned, CUdevice device) {
  return create(context, device, old_context);
}

MEMTRACE_API CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) {
  return create(context, device);
}

MEMTRACE_API CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int, unsigned,
                                     CUdevice device) {
  return create(context, device);
}

#if CUDA_VERSION >= 12050
MEMTRACE_API CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned,
                                     CUdevice device) {
  return create(context, device);
}
#endif

MEMTRACE_API CUresult cuCtxDestroy(CUcontext context) {
  return destroy(context);
}

MEMTRACE_API CUresult cuCtxDestroy_v2(CUcontext context) {
  return destroy(context);
}

MEMTRACE_API CUresult cuCtxGetCurrent(CUcontext* context) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = current_context();
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuCtxSetCurrent(CUcontext context) {
  if (context && context_device(context) < 0) return CUDA_ERROR_INVALID_CONTEXT;
  set_current_context(context);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuCtxPushCurrent(CUcontext context) {
  return push(context);
}

MEMTRACE_API CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return push(context);
}

MEMTRACE_API CUresult cuCtxPopCurrent(CUcontext* context) {
  return pop(context);
}

MEMTRACE_API CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return pop(context);
}

MEMTRACE_API CUresult cuCtxGetDevice(CUdevice* device) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = require_context(); error != CUDA_SUCCESS) return error;
  *device = context_device(current_context());
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  const int found = context_device(context ? context : current_context());
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (found < 0) return CUDA_ERROR_INVALID_CONTEXT;
  *device = found;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuCtxSynchronize(void) {
  if (const CUresult error = require_context(); error != CUDA_SUCCESS) return error;
  return driver_result(memory_calls::synchronize_device(context_device(current_context())));
}

MEMTRACE_API CUresult cuCtxSynchronize_v2(CUcontext context) {
  const int device = context_device(context ? context : current_context());
  if (device < 0) return CUDA_ERROR_INVALID_CONTEXT;
  return driver_result(memory_calls::synchronize_device(device));
}

MEMTRACE_API CUresult cuCtxGetFlags(unsigned* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = require_context(); error != CUDA_SUCCESS) return error;
  *flags = CU_CTX_SCHED_AUTO;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  const unsigned found = context_version(context ? context : current_context());
  if (found == 0) return CUDA_ERROR_INVALID_CONTEXT;
  *version = found;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  const int device = context_device(context ? context : current_context());
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  if (device < 0) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *id = static_cast<unsigned long long>(device) + 1;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  return driver_result(limits::set(static_cast<int>(limit), value));
}

MEMTRACE_API CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  return driver_result(limits::get(static_cast<int>(limit), *value));
}

MEMTRACE_API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = greatest_priority;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return driver_result(peer_access::enable(current_device(), context_device(peer), flags));
}

MEMTRACE_API CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return driver_result(peer_access::disable(current_device(), context_device(peer)));
}

MEMTRACE_API CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  *config = CU_FUNC_CACHE_PREFER_NONE;
  return CUDA_SUCCESS;
}
