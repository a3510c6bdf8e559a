// SPDX-License-Identifier: Apache-2.0
//
// What NVML says of the processes on a device. The library is opened where it is there, at the
// first question, and never closed; it keeps open files, so that only threads of the program ask,
// within a CUDA call of theirs: our own thread has other file descriptors.
#pragma once

#include <cstdint>

namespace memtrace::nvml {

struct process_bytes {
  bool known = false;
  std::uint64_t own = 0;     // of this process
  std::uint64_t others = 0;  // of all others together
};

// `pci_bus_id` as cuDeviceGetPCIBusId writes it. Not known without NVML, for a part of a GPU (MIG),
// and where this process is not among those listed: in a container NVML may show the host's process
// ids.
[[nodiscard]] process_bytes of_device(const char* pci_bus_id) noexcept;

void in_forked_child() noexcept;

}  // namespace memtrace::nvml
