// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's counts on each device, as counters of the trace (memtrace/host_samples.h). Not
// thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::cupti {

// Time in which at least one of several overlapping intervals ran, as they come: nearly in order of
// time, but not quite, since streams run side by side.
class busy_time {
 public:
  void add(std::uint64_t start, std::uint64_t end) noexcept;
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

 private:
  struct interval {
    std::uint64_t start;
    std::uint64_t end;
  };
  void insert(std::size_t position, std::size_t last_merged, const interval& one) noexcept;
  void forget_oldest() noexcept;

  // The latest ones, disjoint and in order. An interval that comes later than that many others is
  // counted only as far as it lies after what has been forgotten.
  static constexpr std::size_t kept = 512;
  std::array<interval, kept> latest_{};
  std::size_t count_ = 0;
  std::uint64_t forgotten_until_ = 0;
  std::uint64_t total_ = 0;
};

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
