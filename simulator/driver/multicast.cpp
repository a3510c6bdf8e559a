// SPDX-License-Identifier: Apache-2.0
//
// Multicast objects, which join memory of several devices. Simulated machines have no NVSwitch, as
// attribute 132 says; with MEMTRACE_SIM_CONSTANTS=multicast=1 they have. An object costs nothing.
#include <cuda.h>

#include <mutex>
#include <set>
#include <unordered_map>

#include "simulator/core/config.h"
#include "simulator/core/device.h"
#include "simulator/core/export.h"
#include "simulator/core/vmm.h"

using namespace memtrace::simulator;

namespace {

struct object {
  std::size_t bytes;
  unsigned devices;
  std::set<CUdevice> added;
};

struct state_type {
  std::mutex mutex;
  std::unordered_map<vmm::handle_t, object> objects;
};

state_type& state() {
  static state_type* const instance = new state_type;
  return *instance;
}

CUresult check() {
  return constant(constant_id::multicast) != 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

bool fits(const object& one, std::size_t offset, std::size_t bytes) {
  return bytes != 0 && offset <= one.bytes && bytes <= one.bytes - offset &&
         offset % vmm::granularity == 0 && bytes % vmm::granularity == 0;
}

// Only when all its devices have joined.
CUresult bind(vmm::handle_t handle, std::size_t offset, std::size_t bytes,
              unsigned long long flags) {
  if (const CUresult error = check(); error != CUDA_SUCCESS) return error;
  const std::lock_guard lock(state().mutex);
  const auto found = state().objects.find(handle);
  if (found == state().objects.end() || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!fits(found->second, offset, bytes)) return CUDA_ERROR_INVALID_VALUE;
  const bool complete = found->second.added.size() == found->second.devices;
  return complete ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace

MEMTRACE_API CUresult cuMulticastCreate(CUmemGenericAllocationHandle* handle,
                                        const CUmulticastObjectProp* prop) {
  if (const CUresult error = check(); error != CUDA_SUCCESS) return error;
  const bool valid = handle && prop && prop->flags == 0 && prop->numDevices != 0 &&
                     prop->size != 0 && prop->size % vmm::granularity == 0;
  if (!valid) return CUDA_ERROR_INVALID_VALUE;
  const CUresult error = vmm::create_multicast(*handle, prop->size);
  if (error != CUDA_SUCCESS) return error;
  const std::lock_guard lock(state().mutex);
  state().objects[*handle] = {prop->size, prop->numDevices, {}};
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device) {
  if (const CUresult error = check(); error != CUDA_SUCCESS) return error;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(state().mutex);
  const auto found = state().objects.find(handle);
  if (found == state().objects.end()) return CUDA_ERROR_INVALID_VALUE;
  object& one = found->second;
  if (one.added.size() == one.devices) return CUDA_ERROR_INVALID_VALUE;
  return one.added.insert(device).second ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MEMTRACE_API CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, std::size_t offset,
                                         CUmemGenericAllocationHandle memory, std::size_t,
                                         std::size_t bytes, unsigned long long flags) {
  std::size_t has = 0;
  const CUresult error = bind(handle, offset, bytes, flags);
  return error == CUDA_SUCCESS ? vmm::size_of(memory, has) : error;
}

MEMTRACE_API CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, std::size_t offset,
                                          CUdeviceptr address, std::size_t bytes,
                                          unsigned long long flags) {
  const CUresult error = bind(handle, offset, bytes, flags);
  if (error != CUDA_SUCCESS) return error;
  return find(address).mapped_vmm ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MEMTRACE_API CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device,
                                        std::size_t offset, std::size_t bytes) {
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  return bind(handle, offset, bytes, 0);
}

MEMTRACE_API CUresult cuMulticastGetGranularity(std::size_t* bytes,
                                                const CUmulticastObjectProp* prop,
                                                CUmulticastGranularity_flags) {
  if (const CUresult error = check(); error != CUDA_SUCCESS) return error;
  if (!bytes || !prop) return CUDA_ERROR_INVALID_VALUE;
  *bytes = vmm::granularity;
  return CUDA_SUCCESS;
}
