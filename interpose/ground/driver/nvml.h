// SPDX-License-Identifier: Apache-2.0
//
// The processes on a device, according to NVML. From one thread of our own only: opening it takes
// tens of milliseconds, a question up to some. The library is opened where it is there, once, and
// stays; what it opens is the process's, because the program may use it, too.
#pragma once

#include <cstdint>

namespace memtrace::nvml {

// Takes the dynamic linker's lock, as any dlopen. False where there is none.
[[nodiscard]] bool load() noexcept;
// After that. False where it cannot be used.
[[nodiscard]] bool start() noexcept;

struct process_bytes {
  bool known = false;
  std::uint64_t own = 0;     // of this process
  std::uint64_t others = 0;  // of all others together
};

// After start(). `pci_bus_id` as cuDeviceGetPCIBusId writes it. Not known for a part of a GPU
// (MIG), and where this process is not among those listed: in a container NVML may show the host's
// process ids.
[[nodiscard]] process_bytes of_device(const char* pci_bus_id) noexcept;

}  // namespace memtrace::nvml
