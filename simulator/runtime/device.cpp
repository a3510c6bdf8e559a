// SPDX-License-Identifier: Apache-2.0
//
// Devices of the runtime API.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

#include "simulator/core/attributes.h"
#include "simulator/core/device.h"
#include "simulator/core/device_reset.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/identity.h"
#include "simulator/core/limits.h"
#include "simulator/core/memory_calls.h"
#include "simulator/core/nccl_watchdog.h"
#include "simulator/core/streams.h"

// CUDA 12 renames it in its header to the version of its structure; both names are exported.
#undef cudaGetDeviceProperties

using namespace memtrace::simulator;

namespace {

cudaError_t properties(cudaDeviceProp* result, int device) {
  if (!result) return cudaErrorInvalidValue;
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  *result = device_properties(device);
  return cudaSuccess;
}

}  // namespace

MEMTRACE_API cudaError_t cudaGetDeviceCount(int* count) {
  if (!count) return remember(cudaErrorInvalidValue);
  *count = device_count();
  if (unusable_after_fork()) return remember(cudaErrorInitializationError);
  return remember(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

MEMTRACE_API cudaError_t cudaGetDevice(int* device) {
  if (!device) return remember(cudaErrorInvalidValue);
  *device = current_device();
  return cudaSuccess;
}

// Creates the context, as since CUDA 12.
MEMTRACE_API cudaError_t cudaSetDevice(int device) {
  if (const cudaError_t error = ensure_context(device); error != cudaSuccess) {
    return remember(error);
  }
  set_current_device(device);
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  if (!valid_device(device)) return remember(cudaErrorInvalidDevice);
  return remember(activate_context(device));
}

MEMTRACE_API cudaError_t cudaSetValidDevices(int*, int) {
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  if (!device) return remember(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* result, int device) {
  return remember(properties(result, device));
}

MEMTRACE_API cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* result, int device) {
  return remember(properties(result, device));
}

MEMTRACE_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!value) return remember(cudaErrorInvalidValue);
  if (!valid_device(device)) return remember(cudaErrorInvalidDevice);
  const auto answer = device_attribute(attribute, device);
  if (!answer) return remember(cudaErrorInvalidValue);
  *value = *answer;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!text || length <= 0) return remember(cudaErrorInvalidValue);
  if (!valid_device(device)) return remember(cudaErrorInvalidDevice);
  const pci_location at = pci_location_of(physical_device(device));
  std::snprintf(text, static_cast<std::size_t>(length), "%04X:%02X:%02X.0", at.domain, at.bus,
                at.device);
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  unsigned domain = 0, bus = 0, slot = 0;
  if (!device || !text) return remember(cudaErrorInvalidValue);
  if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) < 3) {
    return remember(cudaErrorInvalidValue);
  }
  for (int one = 0; one < device_count(); ++one) {
    const pci_location at = pci_location_of(physical_device(one));
    if (at.domain != domain || at.bus != bus || at.device != slot) continue;
    *device = one;
    return cudaSuccess;
  }
  return remember(cudaErrorInvalidDevice);
}

MEMTRACE_API cudaError_t cudaDeviceSynchronize(void) {
  const cudaError_t error = memory_calls::synchronize_device(current_device());
  if (error == cudaSuccess) nccl_watchdog::let_look();
  return remember(error);
}

MEMTRACE_API cudaError_t cudaDeviceReset(void) {
  return remember(reset_device(current_device()));
}

MEMTRACE_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = greatest_priority;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!can) return remember(cudaErrorInvalidValue);
  if (!valid_device(device) || !valid_device(peer)) return remember(cudaErrorInvalidDevice);
  *can = device != peer ? 1 : 0;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return remember(peer_access::enable(current_device(), peer, flags));
}

MEMTRACE_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return remember(peer_access::disable(current_device(), peer));
}

MEMTRACE_API cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute,
                                                   int device, int peer) {
  if (!value) return remember(cudaErrorInvalidValue);
  if (!valid_device(device) || !valid_device(peer) || device == peer) {
    return remember(cudaErrorInvalidDevice);
  }
  *value = attribute == cudaDevP2PAttrAccessSupported ? 1 : 0;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return remember(limits::set(static_cast<int>(limit), value));
}

MEMTRACE_API cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  if (!value) return remember(cudaErrorInvalidValue);
  return remember(limits::get(static_cast<int>(limit), *value));
}

MEMTRACE_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  if (!config) return remember(cudaErrorInvalidValue);
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaSetDeviceFlags(unsigned) {
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  if (!flags) return remember(cudaErrorInvalidValue);
  *flags = cudaDeviceMapHost;
  return cudaSuccess;
}
