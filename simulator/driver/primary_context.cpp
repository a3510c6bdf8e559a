// SPDX-License-Identifier: Apache-2.0
//
// The primary context of each device, which the runtime uses, as the driver API sees it.
#include <cuda.h>

#include <atomic>

#include "simulator/core/config.h"
#include "simulator/core/device.h"
#include "simulator/core/device_reset.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"

// CUDA renames these to their current version; each version is exported here.
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset

using namespace memtrace::simulator;

namespace {

std::atomic<int> retained[maximum_devices]{};
std::atomic<bool> made_by_retain[maximum_devices]{};
std::atomic<unsigned> context_flags[maximum_devices]{};

// The last release ends the context unless the runtime made it.
CUresult release(CUdevice device) {
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  int count = retained[device].load();
  do {
    if (count == 0) return CUDA_ERROR_INVALID_CONTEXT;
  } while (!retained[device].compare_exchange_weak(count, count - 1));
  if (count > 1 || !made_by_retain[device].exchange(false)) return CUDA_SUCCESS;
  return driver_result(reset_device(device));
}

CUresult reset(CUdevice device) {
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  return driver_result(reset_device(device));
}

}  // namespace

MEMTRACE_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (!context_active(device)) made_by_retain[device].store(true);
  if (const cudaError_t error = activate_context(device); error != cudaSuccess) {
    return driver_result(error);
  }
  ++retained[device];
  *context = primary_context(device);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return release(device);
}

MEMTRACE_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return release(device);
}

MEMTRACE_API CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return reset(device);
}

MEMTRACE_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return reset(device);
}

MEMTRACE_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  context_flags[device].store(flags);
  return CUDA_SUCCESS;
}

// PyTorch calls it on every device switch: no lock.
MEMTRACE_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = context_flags[device].load(std::memory_order_relaxed);
  *active = context_active(device) ? 1 : 0;
  return CUDA_SUCCESS;
}
