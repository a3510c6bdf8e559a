// SPDX-License-Identifier: Apache-2.0
//
// NVML: sensors and settings. A simulated GPU is busy, cool and unchanging; clocks are the model's.
// How devices are connected: through the same PCIe switch, able to reach each other, without
// NVLink.
#include "simulator/core/config.h"
#include "simulator/libraries/nvml_types.h"

namespace memtrace::simulator::nvml {
namespace {

// Watts and degrees of no particular GPU; programs only log them.
constexpr unsigned power_milliwatts = 250'000;
constexpr unsigned power_limit_milliwatts = 350'000;
constexpr unsigned temperature_celsius = 50;

int put(device_handle handle, unsigned* to, unsigned value) {
  const result checked = check(handle);
  if (checked != success) return checked;
  if (to == nullptr) return invalid_argument;
  *to = value;
  return success;
}

int unsupported(device_handle handle) {
  const result checked = check(handle);
  return checked == success ? not_supported : checked;
}

enum clock_domain { graphics = 0, multiprocessor = 1, memory = 2, video = 3 };

int clock_of(device_handle handle, int domain, unsigned* to) {
  if (domain < graphics || domain > video) return invalid_argument;
  const gpu_model& model = config().model;
  const int khz = domain == memory ? model.memory_clock_khz : model.clock_khz;
  return put(handle, to, static_cast<unsigned>(khz / 1000));
}

// NVML_DEVICE_ARCH_*: Volta 5, Turing 6, Ampere 7, Ada 8, Hopper 9, Blackwell 10.
unsigned architecture() {
  const gpu_model& model = config().model;
  switch (model.capability_major) {
    case 7:
      return model.capability_minor >= 5 ? 6 : 5;
    case 8:
      return model.capability_minor >= 9 ? 8 : 7;
    case 9:
      return 9;
    case 10:
    case 12:
      return 10;
    default:
      return 0xffffffff;
  }
}

}  // namespace

MEMTRACE_API int nvmlDeviceGetUtilizationRates(device_handle handle, utilization* to) {
  const result checked = check(handle);
  if (checked == success) *to = {100, 50};
  return checked;
}
MEMTRACE_API int nvmlDeviceGetTemperature(device_handle handle, int, unsigned* to) {
  return put(handle, to, temperature_celsius);
}
MEMTRACE_API int nvmlDeviceGetPowerUsage(device_handle handle, unsigned* to) {
  return put(handle, to, power_milliwatts);
}
MEMTRACE_API int nvmlDeviceGetPowerManagementLimit(device_handle handle, unsigned* to) {
  return put(handle, to, power_limit_milliwatts);
}
MEMTRACE_API int nvmlDeviceGetEnforcedPowerLimit(device_handle handle, unsigned* to) {
  return put(handle, to, power_limit_milliwatts);
}
MEMTRACE_API int nvmlDeviceGetTotalEnergyConsumption(device_handle handle, unsigned long long* to) {
  const result checked = check(handle);
  if (checked == success) *to = 0;
  return checked;
}
MEMTRACE_API int nvmlDeviceGetClockInfo(device_handle handle, int domain, unsigned* to) {
  return clock_of(handle, domain, to);
}
MEMTRACE_API int nvmlDeviceGetMaxClockInfo(device_handle handle, int domain, unsigned* to) {
  return clock_of(handle, domain, to);
}
MEMTRACE_API int nvmlDeviceGetMemoryBusWidth(device_handle handle, unsigned* to) {
  return put(handle, to, static_cast<unsigned>(config().model.bus_bits));
}
MEMTRACE_API int nvmlDeviceGetArchitecture(device_handle handle, unsigned* to) {
  return put(handle, to, architecture());
}
MEMTRACE_API int nvmlDeviceGetPerformanceState(device_handle handle, unsigned* to) {
  return put(handle, to, 0);
}
MEMTRACE_API int nvmlDeviceGetPersistenceMode(device_handle handle, unsigned* to) {
  return put(handle, to, 1);
}
MEMTRACE_API int nvmlDeviceGetComputeMode(device_handle handle, unsigned* to) {
  return put(handle, to, 0);
}
MEMTRACE_API int nvmlDeviceGetCurrPcieLinkGeneration(device_handle handle, unsigned* to) {
  return put(handle, to, 4);
}
MEMTRACE_API int nvmlDeviceGetCurrPcieLinkWidth(device_handle handle, unsigned* to) {
  return put(handle, to, 16);
}
MEMTRACE_API int nvmlDeviceGetFanSpeed(device_handle handle, unsigned*) {
  return unsupported(handle);
}
MEMTRACE_API int nvmlDeviceGetEccMode(device_handle handle, unsigned*, unsigned*) {
  return unsupported(handle);
}
MEMTRACE_API int nvmlDeviceGetMigMode(device_handle handle, unsigned*, unsigned*) {
  return unsupported(handle);
}
MEMTRACE_API int nvmlDeviceSetCpuAffinity(device_handle handle) {
  return check(handle);
}
MEMTRACE_API int nvmlDeviceClearCpuAffinity(device_handle handle) {
  return check(handle);
}

MEMTRACE_API int nvmlDeviceGetP2PStatus(device_handle one, device_handle other, int capability,
                                        int* status) {
  if (const result checked = check(one); checked != success) return checked;
  if (const result checked = check(other); checked != success) return checked;
  constexpr int nvlink = 2;
  constexpr int ok = 0;
  constexpr int unsupported_status = 5;  // a GPU without NVLink
  if (status == nullptr || capability < 0 || capability > 4) return invalid_argument;
  *status = capability == nvlink ? unsupported_status : ok;
  return success;
}
MEMTRACE_API int nvmlDeviceGetTopologyCommonAncestor(device_handle one, device_handle other,
                                                     int* level) {
  if (const result checked = check(other); checked != success) return checked;
  constexpr int single_switch = 10;
  return put(one, reinterpret_cast<unsigned*>(level), single_switch);
}
MEMTRACE_API int nvmlDeviceGetGpuFabricInfoV(device_handle handle, void*) {
  return unsupported(handle);
}
MEMTRACE_API int nvmlDeviceGetNvLinkState(device_handle handle, unsigned, unsigned*) {
  return unsupported(handle);
}
MEMTRACE_API int nvmlDeviceGetNvLinkRemoteDeviceType(device_handle handle, unsigned, unsigned*) {
  return unsupported(handle);
}
MEMTRACE_API int nvmlDeviceGetNvLinkRemotePciInfo(device_handle handle, unsigned, pci_info*) {
  return unsupported(handle);
}
MEMTRACE_API int nvmlDeviceGetNvLinkRemotePciInfo_v2(device_handle handle, unsigned, pci_info*) {
  return unsupported(handle);
}

}  // namespace memtrace::simulator::nvml
