// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/live_bytes.h"

#include <algorithm>

#include "analyzer/model/allocator/settings.h"

namespace memtrace::fragmentation {

namespace {

using allocator::action;
using allocator::request;
using allocator::request_log;

enum class stage : std::uint8_t { unborn, live, pending, dead };

class counter {
 public:
  explicit counter(const request_log& log)
      : log_(log), stages_(log.blocks(), stage::unborn), completes_(log.blocks(), false) {
    found.freed.assign(log.blocks(), never);
    for (const auto& one : log.requests) {
      if (one.what() == action::complete && one.block < completes_.size()) {
        completes_[one.block] = true;
      }
    }
  }

  void take(std::uint32_t index) {
    const auto& one = log_.requests[index];
    if (one.block >= stages_.size()) return;
    switch (one.what()) {
      case action::allocate:
        allocate(one);
        break;
      case action::free:
        give_back(one, index);
        break;
      case action::complete:
        if (stages_[one.block] == stage::pending) end(one.block);
        break;
      default:
        break;
    }
  }
  [[nodiscard]] std::uint64_t active() const { return active_; }

  live_bytes found;

 private:
  [[nodiscard]] std::uint64_t bytes_of(allocator::block_number block) const {
    return least_block(log_.requests[log_.allocations[block]].size);
  }
  void allocate(const request& one) {
    const bool refused = one.block < log_.addresses.size() && log_.addresses[one.block] == 0;
    if (refused || stages_[one.block] != stage::unborn) return;
    stages_[one.block] = stage::live;
    const auto bytes = least_block(one.size);
    live_ += bytes;
    active_ += bytes;
    found.most = std::max(found.most, live_);
    found.most_active = std::max(found.most_active, active_);
    found.most_blocks = std::max(found.most_blocks, ++blocks_);
  }
  void give_back(const request& one, std::uint32_t index) {
    if (stages_[one.block] != stage::live) return;
    live_ -= bytes_of(one.block);
    found.freed[one.block] = index;
    if (completes_[one.block]) {
      stages_[one.block] = stage::pending;
    } else {
      end(one.block);
    }
  }
  void end(allocator::block_number block) {
    active_ -= bytes_of(block);
    --blocks_;
    stages_[block] = stage::dead;
  }

  const request_log& log_;
  std::vector<stage> stages_;
  std::vector<bool> completes_;
  std::uint64_t live_ = 0;
  std::uint64_t active_ = 0;
  std::size_t blocks_ = 0;
};

}  // namespace

std::uint64_t least_block(std::uint64_t requested) {
  constexpr auto unit = allocator::min_block_size;
  if (requested > allocator::unlimited - unit) return allocator::unlimited / unit * unit;
  return std::max(unit, (requested + unit - 1) / unit * unit);
}

live_bytes measure_live_bytes(const request_log& log, std::size_t windows) {
  counter count(log);
  const auto requests = static_cast<std::uint32_t>(log.requests.size());
  const auto parts = std::min<std::size_t>(windows, requests);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    const auto end = static_cast<std::uint32_t>(std::uint64_t{requests} * (i + 1) / parts);
    std::uint32_t fullest = next;
    std::uint64_t most = 0;
    for (; next < end; ++next) {
      count.take(next);
      if (count.active() <= most) continue;
      most = count.active();
      fullest = next;
    }
    count.found.fullest.push_back(fullest);
  }
  return std::move(count.found);
}

}  // namespace memtrace::fragmentation
