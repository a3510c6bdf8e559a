// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/memory_watch.h"

#include <algorithm>
#include <new>

namespace memtrace::agent {

void memory_watch::see(const usage_report& report) noexcept {
  const std::uint32_t device = report.device % max_devices;
  device_blocks& blocks = of_device_[device];
  if (report.block_bytes <= 0) {
    const auto freed = blocks.bytes_at.find(report.address);
    if (freed == blocks.bytes_at.end()) return;
    blocks.sum.now -= freed->second;
    blocks.bytes_at.erase(freed);
    return;
  }
  const auto bytes = static_cast<std::uint64_t>(report.block_bytes);
  if (report.allocated == bytes) {  // nothing was left before
    blocks.bytes_at.clear();
    blocks.sum.now = 0;
  }
  try {
    blocks.bytes_at[report.address] = bytes;
  } catch (const std::bad_alloc&) {
    is_whole_ = false;
    return;
  }
  blocks.sum.now += bytes;
  blocks.sum.peak = std::max(blocks.sum.peak, blocks.sum.now);
  devices_ = std::max(devices_, device + 1);
}

memory_watch::watched memory_watch::of(std::uint32_t device,
                                       std::uint64_t allocated) const noexcept {
  const watched& sum = of_device_[device % max_devices].sum;
  return {.now = allocated == 0 ? 0 : sum.now, .peak = sum.peak};
}

}  // namespace memtrace::agent
