// SPDX-License-Identifier: Apache-2.0
//
// The program's memory since it asked to watch (memtrace_watch_begin): of each device the
// bytes that are still there, and the most that there were at once. Blocks from before do not
// count, nor does their release.
//
// It hears of every allocation, and of every free that leaves something allocated on the device;
// that a free left nothing is known from the next allocation, and from who reads. So an event needs
// no instruction for it while nobody watches: heap_scan_moments::see_usage compares what is
// allocated with a limit anyway, and the limit is 0 while somebody does.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "interpose/ground/recorder/events.h"

namespace memtrace::agent {

class memory_watch {
 public:
  struct watched {
    std::uint64_t now = 0;
    std::uint64_t peak = 0;
  };

  void see(const usage_report& report) noexcept;
  // `allocated` is what the device has allocated now, older blocks included.
  [[nodiscard]] watched of(std::uint32_t device, std::uint64_t allocated) const noexcept;
  // The highest device with an allocation, plus one.
  [[nodiscard]] unsigned devices() const noexcept { return devices_; }
  // False once there was no memory to remember a block.
  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }

 private:
  struct device_blocks {
    std::unordered_map<std::uint64_t, std::uint64_t> bytes_at;
    watched sum;
  };

  std::array<device_blocks, max_devices> of_device_;
  unsigned devices_ = 0;
  bool is_whole_ = true;
};

}  // namespace memtrace::agent
