// SPDX-License-Identifier: Apache-2.0
//
// NVML: start and end, versions, and how devices are found.
#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "simulator/core/config.h"
#include "simulator/core/identity.h"
#include "simulator/libraries/nvml_types.h"

namespace memtrace::simulator::nvml {
namespace {

std::atomic<int> users{0};

constexpr std::array<device, maximum_devices> devices = [] {
  std::array<device, maximum_devices> all{};
  for (int index = 0; index < maximum_devices; ++index) all[index].physical = index;
  return all;
}();

// The oldest drivers that support CUDA 13.0 and 12.4.
constexpr const char* driver_version = CUDART_VERSION >= 13000 ? "580.65.06" : "550.54.14";

const char* describe(int code) {
  switch (code) {
    case success:
      return "Success";
    case uninitialized:
      return "Uninitialized";
    case invalid_argument:
      return "Invalid Argument";
    case not_supported:
      return "Not Supported";
    case not_found:
      return "Not Found";
    case insufficient_size:
      return "Insufficient Size";
    case version_mismatch:
      return "Argument Version Mismatch";
    default:
      return "Unknown Error";
  }
}

// "GPU-6d656d74-7261-6365-7369-6d0000000001"
std::array<char, 48> uuid_text(int physical) {
  const auto bytes = uuid_of(physical);
  std::array<char, 48> text{};
  char* at = text.data() + std::snprintf(text.data(), text.size(), "GPU-");
  for (int index = 0; index < 16; ++index) {
    const bool group_ends = index == 3 || index == 5 || index == 7 || index == 9;
    at += std::snprintf(at, 4, group_ends ? "%02x-" : "%02x", bytes[index]);
  }
  return text;
}

result find(int physical, device_handle* to) {
  if (!initialized()) return uninitialized;
  if (to == nullptr) return invalid_argument;
  *to = handle_of(physical);
  return *to == nullptr ? invalid_argument : success;
}

int initialize() {
  ++users;
  return success;
}

int count(unsigned* to) {
  if (!initialized()) return uninitialized;
  if (to == nullptr) return invalid_argument;
  *to = static_cast<unsigned>(config().devices);
  return success;
}

int find_by_bus_id(const char* text, device_handle* to) {
  if (!initialized()) return uninitialized;
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  if (text == nullptr || std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    return invalid_argument;
  }
  for (int index = 0; index < config().devices; ++index) {
    const pci_location at = pci_location_of(index);
    if (at.domain == domain && at.bus == bus && at.device == slot) return find(index, to);
  }
  return not_found;
}

}  // namespace

bool initialized() {
  return users.load() > 0;
}

device_handle handle_of(int physical) {
  return physical >= 0 && physical < config().devices ? &devices[physical] : nullptr;
}

result check(device_handle handle) {
  if (!initialized()) return uninitialized;
  const auto place = handle - devices.data();
  return place >= 0 && place < config().devices ? success : invalid_argument;
}

result copy_text(const char* text, char* to, unsigned length) {
  if (to == nullptr) return invalid_argument;
  if (std::strlen(text) + 1 > length) return insufficient_size;
  std::strcpy(to, text);
  return success;
}

MEMTRACE_API int nvmlInit() {
  return initialize();
}
MEMTRACE_API int nvmlInit_v2() {
  return initialize();
}
MEMTRACE_API int nvmlInitWithFlags(unsigned) {
  return initialize();
}
MEMTRACE_API int nvmlShutdown() {
  if (!initialized()) return uninitialized;
  --users;
  return success;
}

MEMTRACE_API const char* nvmlErrorString(int code) {
  return describe(code);
}

// Unlike all others, these two need no nvmlInit.
MEMTRACE_API int nvmlSystemGetCudaDriverVersion(int* version) {
  if (version == nullptr) return invalid_argument;
  *version = CUDART_VERSION;
  return success;
}
MEMTRACE_API int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

MEMTRACE_API int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return initialized() ? copy_text(driver_version, version, length) : uninitialized;
}
MEMTRACE_API int nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  if (!initialized()) return uninitialized;
  char text[32];
  std::snprintf(text, sizeof text, "%d.%s", CUDART_VERSION / 1000, driver_version);
  return copy_text(text, version, length);
}

MEMTRACE_API int nvmlDeviceGetCount(unsigned* to) {
  return count(to);
}
MEMTRACE_API int nvmlDeviceGetCount_v2(unsigned* to) {
  return count(to);
}
MEMTRACE_API int nvmlDeviceGetHandleByIndex(unsigned index, device_handle* to) {
  return find(static_cast<int>(index), to);
}
MEMTRACE_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_handle* to) {
  return find(static_cast<int>(index), to);
}
MEMTRACE_API int nvmlDeviceGetHandleByPciBusId(const char* text, device_handle* to) {
  return find_by_bus_id(text, to);
}
MEMTRACE_API int nvmlDeviceGetHandleByPciBusId_v2(const char* text, device_handle* to) {
  return find_by_bus_id(text, to);
}

MEMTRACE_API int nvmlDeviceGetUUID(device_handle handle, char* to, unsigned length) {
  const result checked = check(handle);
  return checked == success ? copy_text(uuid_text(handle->physical).data(), to, length) : checked;
}

MEMTRACE_API int nvmlDeviceGetHandleByUUID(const char* uuid, device_handle* to) {
  if (!initialized()) return uninitialized;
  if (uuid == nullptr) return invalid_argument;
  for (int index = 0; index < config().devices; ++index) {
    if (std::strcmp(uuid_text(index).data(), uuid) == 0) return find(index, to);
  }
  return not_found;
}

}  // namespace memtrace::simulator::nvml
