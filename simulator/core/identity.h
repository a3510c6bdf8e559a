// SPDX-License-Identifier: Apache-2.0
//
// By what names a simulated GPU is known on the machine. cudaDeviceProp, cuDeviceGetPCIBusId, the
// UUIDs and NVML must agree on them: PyTorch looks the device up in NVML by its bus id.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>

namespace memtrace::simulator {

struct pci_location {
  std::uint32_t domain;
  std::uint32_t bus;
  std::uint32_t device;
};

// `physical`: index among all simulated GPUs, before CUDA_VISIBLE_DEVICES.
[[nodiscard]] constexpr pci_location pci_location_of(int physical) {
  return {0, static_cast<std::uint32_t>(physical) + 1, 0};
}

// "00000000:01:00.0", as cudaDeviceGetPCIBusId and nvmlPciInfo_t::busId write it.
[[nodiscard]] inline std::array<char, 32> pci_bus_id_of(int physical) {
  const pci_location at = pci_location_of(physical);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%08X:%02X:%02X.0", at.domain, at.bus, at.device);
  return text;
}

[[nodiscard]] constexpr std::array<std::uint8_t, 16> uuid_of(int physical) {
  return {'m', 'e', 'm', 't', 'r', 'a', 'c', 'e',
          's', 'i', 'm', 0,   0,   0,   0,   static_cast<std::uint8_t>(physical)};
}

}  // namespace memtrace::simulator
