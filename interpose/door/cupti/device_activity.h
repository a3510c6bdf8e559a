// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's counts on each device, as counters of the trace (memtrace/host_samples.h). Not
// thread-safe.
#pragma once

#include <array>
#include <memory>

#include "interpose/door/cupti/busy_time.h"
#include "interpose/ground/recorder/recorder.h"

namespace memtrace::cupti {

class device_activity {
 public:
  void kernel(std::uint32_t device, std::uint64_t start, std::uint64_t end) noexcept;
  void migrated(std::uint32_t device, bool to_device, std::uint64_t bytes) noexcept;
  void faulted(std::uint32_t device, std::uint64_t groups) noexcept;

  // The counters that have changed.
  void record(recorder& to) noexcept;

 private:
  struct counts {
    busy_time busy;
    std::uint64_t kernels = 0;
    std::uint64_t migrated_in = 0;
    std::uint64_t migrated_out = 0;
    std::uint64_t faults = 0;
    bool has_kernels = false;  // changed since they were recorded
    bool has_migration = false;
  };
  [[nodiscard]] counts* of(std::uint32_t device) noexcept;

  std::array<std::unique_ptr<counts>, max_devices> devices_{};
};

}  // namespace memtrace::cupti
