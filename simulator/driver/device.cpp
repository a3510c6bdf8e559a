// SPDX-License-Identifier: Apache-2.0
//
// Initialisation, versions, errors and devices of the driver API.
#include <cuda.h>

#include <cstdio>
#include <cstring>

#include "simulator/core/attributes.h"
#include "simulator/core/config.h"
#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/identity.h"

// CUDA 12 renames it to its second version, which says the same here; both are exported.
#undef cuDeviceGetUuid

using namespace memtrace::simulator;

namespace {

CUresult uuid(CUuuid* result, CUdevice device) {
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const auto bytes = uuid_of(physical_device(device));
  std::memcpy(result->bytes, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

}  // namespace

MEMTRACE_API CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (unusable_after_fork()) return CUDA_ERROR_NOT_INITIALIZED;
  set_initialized();
  return device_count() == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuGetErrorName(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  const error_description* found = describe_error(error);
  *text = found ? found->driver_name : nullptr;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MEMTRACE_API CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  const error_description* found = describe_error(error);
  *text = found && found->driver_name ? found->text : nullptr;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MEMTRACE_API CUresult cuDeviceGetCount(int* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = device_count();
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDeviceGetName(char* text, int length, CUdevice device) {
  if (!text || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(text, static_cast<std::size_t>(length), "%s", config().model.name);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDeviceGetUuid(CUuuid* result, CUdevice device) {
  return uuid(result, device);
}

MEMTRACE_API CUresult cuDeviceGetUuid_v2(CUuuid* result, CUdevice device) {
  return uuid(result, device);
}

MEMTRACE_API CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = total_bytes(device);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                           CUdevice device) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const auto answer = device_attribute(attribute, device);
  if (!answer) return CUDA_ERROR_INVALID_VALUE;
  *value = *answer;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *major = config().model.capability_major;
  *minor = config().model.capability_minor;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  if (!text || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const pci_location at = pci_location_of(physical_device(device));
  std::snprintf(text, static_cast<std::size_t>(length), "%04X:%02X:%02X.0", at.domain, at.bus,
                at.device);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  if (!can) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device) || !valid_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
  *can = device != peer ? 1 : 0;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute,
                                              CUdevice device, CUdevice peer) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device) || !valid_device(peer) || device == peer) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ? 1 : 0;
  return CUDA_SUCCESS;
}
