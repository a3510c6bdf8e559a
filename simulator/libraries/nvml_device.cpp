// SPDX-License-Identifier: Apache-2.0
//
// NVML: what a device is, its memory and the processes on it, from the same counters as
// cudaMemGetInfo.
#include <cstdio>
#include <cstring>

#include "simulator/core/capacity.h"
#include "simulator/core/config.h"
#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/identity.h"
#include "simulator/libraries/nvml_types.h"

namespace memtrace::simulator::nvml {
namespace {

// The CUDA device of this process behind a physical one; -1 if CUDA_VISIBLE_DEVICES hides it.
int visible_index(device_handle handle) {
  for (int device = 0; device < device_count(); ++device) {
    if (physical_device(device) == handle->physical) return device;
  }
  return -1;
}

memory_v2 memory_of(device_handle handle) {
  const std::uint64_t total = config().model.nvml_bytes;
  const int visible = visible_index(handle);
  const std::uint64_t usable = visible < 0 ? config().model.total_bytes : total_bytes(visible);
  const std::uint64_t used = visible < 0 ? 0 : used_bytes(visible);
  return {memory_v2_version, total, total - usable, usable - used, used};
}

// Those of the session that hold memory there. `room` in: places in `to`; out: processes.
template <typename Process, typename Fill>
int processes(device_handle handle, unsigned* room, Process* to, Fill fill) {
  const result checked = check(handle);
  if (checked != success) return checked;
  if (room == nullptr) return invalid_argument;
  struct list {
    Process* next;
    unsigned places;
    unsigned found;
    Fill fill;
  } found{to, to == nullptr ? 0 : *room, 0, fill};
  const int visible = visible_index(handle);
  const auto add = [](std::int32_t pid, std::uint64_t bytes, void* context) {
    auto& into = *static_cast<list*>(context);
    if (into.found++ >= into.places) return;
    into.fill(*into.next++, static_cast<std::uint32_t>(pid), bytes);
  };
  if (visible >= 0) capacity::processes(visible, add, &found);
  *room = found.found;
  return found.found > found.places ? insufficient_size : success;
}

int processes_v1(device_handle handle, unsigned* room, process_v1* to) {
  return processes(handle, room, to, [](process_v1& at, std::uint32_t pid, std::uint64_t bytes) {
    at = {pid, bytes};
  });
}

int processes_v2(device_handle handle, unsigned* room, process_v2* to) {
  return processes(handle, room, to, [](process_v2& at, std::uint32_t pid, std::uint64_t bytes) {
    at = {pid, bytes, no_instance, no_instance};
  });
}

int no_processes(device_handle handle, unsigned* room) {
  const result checked = check(handle);
  if (checked != success) return checked;
  if (room == nullptr) return invalid_argument;
  *room = 0;
  return success;
}

int pci_of(device_handle handle, pci_info* to) {
  const result checked = check(handle);
  if (checked != success) return checked;
  if (to == nullptr) return invalid_argument;
  const pci_location at = pci_location_of(handle->physical);
  *to = {};
  to->domain = at.domain;
  to->bus = at.bus;
  to->device = at.device;
  to->device_and_vendor = 0x10de;  // vendor NVIDIA in the low half; no device number is claimed
  std::snprintf(to->legacy_bus_id, sizeof to->legacy_bus_id, "%04X:%02X:%02X.0", at.domain & 0xffff,
                at.bus & 0xff, at.device & 0xff);
  std::memcpy(to->bus_id, pci_bus_id_of(handle->physical).data(), sizeof to->bus_id);
  return success;
}

}  // namespace

MEMTRACE_API int nvmlDeviceGetName(device_handle handle, char* to, unsigned length) {
  const result checked = check(handle);
  return checked == success ? copy_text(config().model.name, to, length) : checked;
}

MEMTRACE_API int nvmlDeviceGetIndex(device_handle handle, unsigned* to) {
  const result checked = check(handle);
  if (checked == success) *to = static_cast<unsigned>(handle->physical);
  return checked;
}
MEMTRACE_API int nvmlDeviceGetMinorNumber(device_handle handle, unsigned* to) {
  return nvmlDeviceGetIndex(handle, to);
}

MEMTRACE_API int nvmlDeviceGetCudaComputeCapability(device_handle handle, int* major, int* minor) {
  const result checked = check(handle);
  if (checked == success) {
    *major = config().model.capability_major;
    *minor = config().model.capability_minor;
  }
  return checked;
}

MEMTRACE_API int nvmlDeviceGetPciInfo(device_handle handle, pci_info* to) {
  return pci_of(handle, to);
}
MEMTRACE_API int nvmlDeviceGetPciInfo_v2(device_handle handle, pci_info* to) {
  return pci_of(handle, to);
}
MEMTRACE_API int nvmlDeviceGetPciInfo_v3(device_handle handle, pci_info* to) {
  return pci_of(handle, to);
}

// Version 1 counts what the driver keeps for itself as used; version 2 tells it apart.
MEMTRACE_API int nvmlDeviceGetMemoryInfo(device_handle handle, memory_v1* to) {
  const result checked = check(handle);
  if (checked != success) return checked;
  const memory_v2 all = memory_of(handle);
  *to = {all.total, all.free, all.used + all.reserved};
  return success;
}
MEMTRACE_API int nvmlDeviceGetMemoryInfo_v2(device_handle handle, memory_v2* to) {
  const result checked = check(handle);
  if (checked != success) return checked;
  if (to->version != memory_v2_version) return version_mismatch;
  *to = memory_of(handle);
  return success;
}

MEMTRACE_API int nvmlDeviceGetComputeRunningProcesses(device_handle handle, unsigned* room,
                                                      process_v1* to) {
  return processes_v1(handle, room, to);
}
MEMTRACE_API int nvmlDeviceGetComputeRunningProcesses_v2(device_handle handle, unsigned* room,
                                                         process_v2* to) {
  return processes_v2(handle, room, to);
}
MEMTRACE_API int nvmlDeviceGetComputeRunningProcesses_v3(device_handle handle, unsigned* room,
                                                         process_v2* to) {
  return processes_v2(handle, room, to);
}
MEMTRACE_API int nvmlDeviceGetGraphicsRunningProcesses_v3(device_handle handle, unsigned* room,
                                                          process_v2*) {
  return no_processes(handle, room);
}
MEMTRACE_API int nvmlDeviceGetMPSComputeRunningProcesses_v3(device_handle handle, unsigned* room,
                                                            process_v2*) {
  return no_processes(handle, room);
}

}  // namespace memtrace::simulator::nvml
