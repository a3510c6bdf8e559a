// SPDX-License-Identifier: Apache-2.0
//
// Green contexts: a share of the device's multiprocessors. No memory of their own: they hold the
// device's primary context.
#include <cuda.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "simulator/core/config.h"
#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/streams.h"

using namespace memtrace::simulator;

namespace {

// A share below this many multiprocessors is rounded up to them (headers: "at least 2 … 8").
constexpr unsigned smallest_share = 8;

struct green_context {
  CUdevice device;
  CUcontext context;
  CUdevResource resource;
};

struct description {
  CUdevResource resource;
};

struct state_type {
  std::mutex mutex;
  std::map<CUgreenCtx, std::unique_ptr<green_context>> contexts;
  std::map<CUdevResourceDesc, std::unique_ptr<description>> descriptions;
};

state_type& state() {
  static state_type* const instance = new state_type;
  return *instance;
}

CUdevResource share(unsigned multiprocessors) {
  CUdevResource resource{};
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm.smCount = multiprocessors;
  return resource;
}

// With the mutex.
green_context* find_green(CUgreenCtx handle) {
  const auto found = state().contexts.find(handle);
  return found == state().contexts.end() ? nullptr : found->second.get();
}

}  // namespace

MEMTRACE_API CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource,
                                             CUdevResourceType type) {
  if (!resource) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  *resource = share(static_cast<unsigned>(config().model.multiprocessors));
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned* groups,
                                                  const CUdevResource* input,
                                                  CUdevResource* remaining, unsigned,
                                                  unsigned least) {
  if (!groups || !input || input->type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_VALUE;
  const unsigned each = least < smallest_share ? smallest_share : least;
  const unsigned most = input->sm.smCount / each;
  if (most == 0) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  const unsigned count = !result || *groups > most ? most : *groups;
  for (unsigned i = 0; result && i < count; ++i) result[i] = share(each);
  if (remaining) *remaining = share(input->sm.smCount - count * each);
  *groups = count;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* result, CUdevResource* resources,
                                                unsigned count) {
  if (!result || !resources || count == 0) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<description>(description{resources[0]});
  const std::lock_guard lock(state().mutex);
  *result = reinterpret_cast<CUdevResourceDesc>(made.get());
  state().descriptions[*result] = std::move(made);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuGreenCtxCreate(CUgreenCtx* result, CUdevResourceDesc how, CUdevice device,
                                       unsigned flags) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!result || flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  CUdevResource resource{};
  {
    const std::lock_guard lock(state().mutex);
    const auto known = state().descriptions.find(how);
    if (known == state().descriptions.end()) return CUDA_ERROR_INVALID_VALUE;
    resource = known->second->resource;
  }
  CUcontext primary = nullptr;
  const CUresult retained = cuDevicePrimaryCtxRetain(&primary, device);
  if (retained != CUDA_SUCCESS) return retained;
  auto made = std::make_unique<green_context>(green_context{device, primary, resource});
  const std::lock_guard lock(state().mutex);
  *result = reinterpret_cast<CUgreenCtx>(made.get());
  state().contexts[*result] = std::move(made);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
  CUdevice device = 0;
  {
    const std::lock_guard lock(state().mutex);
    const green_context* const one = find_green(handle);
    if (!one) return CUDA_ERROR_INVALID_VALUE;
    device = one->device;
    state().contexts.erase(handle);
  }
  return cuDevicePrimaryCtxRelease(device);
}

// Its work runs in the primary context here: shares of multiprocessors change no memory.
MEMTRACE_API CUresult cuCtxFromGreenCtx(CUcontext* result, CUgreenCtx handle) {
  const std::lock_guard lock(state().mutex);
  const green_context* const one = find_green(handle);
  if (!result || !one) return CUDA_ERROR_INVALID_VALUE;
  *result = one->context;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* resource,
                                               CUdevResourceType type) {
  const std::lock_guard lock(state().mutex);
  const green_context* const one = find_green(handle);
  if (!resource || !one) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  *resource = one->resource;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuCtxGetDevResource(CUcontext context, CUdevResource* resource,
                                          CUdevResourceType type) {
  const int device = context_device(context);
  if (device < 0) return CUDA_ERROR_INVALID_CONTEXT;
  return cuDeviceGetDevResource(device, resource, type);
}
