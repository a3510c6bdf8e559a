// SPDX-License-Identifier: Apache-2.0
//
// The types of NVML's C interface that the simulator fills, as nvml.h lays them out, and the
// simulated device behind an nvmlDevice_t.
#pragma once

#include <cstdint>

#include "simulator/core/export.h"

namespace memtrace::simulator::nvml {

enum result : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  insufficient_size = 7,
  version_mismatch = 25,
};

struct device {
  int physical;  // index among all simulated GPUs
};
using device_handle = const device*;

inline constexpr std::uint32_t no_instance = 0xffffffff;  // not a MIG instance

struct pci_info {
  char legacy_bus_id[16];
  std::uint32_t domain;
  std::uint32_t bus;
  std::uint32_t device;
  std::uint32_t device_and_vendor;
  std::uint32_t subsystem;
  char bus_id[32];
};

struct memory_v1 {
  std::uint64_t total;
  std::uint64_t free;
  std::uint64_t used;
};

struct memory_v2 {
  std::uint32_t version;
  std::uint64_t total;
  std::uint64_t reserved;
  std::uint64_t free;
  std::uint64_t used;
};
inline constexpr std::uint32_t memory_v2_version = sizeof(memory_v2) | 2u << 24;

struct process_v1 {
  std::uint32_t pid;
  std::uint64_t used_bytes;
};

struct process_v2 {
  std::uint32_t pid;
  std::uint64_t used_bytes;
  std::uint32_t gpu_instance;
  std::uint32_t compute_instance;
};

struct utilization {
  std::uint32_t gpu;     // percent
  std::uint32_t memory;  // percent
};

// True between nvmlInit and the matching nvmlShutdown.
[[nodiscard]] bool initialized();
// The status that a call on this handle must return before it does anything: success if it may go
// on.
[[nodiscard]] result check(device_handle handle);
// The handle of a physical index; null if there is none.
[[nodiscard]] device_handle handle_of(int physical);
// Copies with the terminating zero: insufficient_size if it does not fit, invalid_argument if null.
[[nodiscard]] result copy_text(const char* text, char* to, unsigned length);

}  // namespace memtrace::simulator::nvml
