// SPDX-License-Identifier: Apache-2.0
//
// The end of the time that a search may take, by the clock on the wall: the program waits for it,
// whatever it is that takes long (objects, memory that has to come back from a disk). Only what the
// thread waits for a processor is not counted, up to nine times as much: that it would wait anyway.
#pragma once

#include <algorithm>
#include <cstdint>

#include "interpose/ground/base/read_clock.h"

namespace memtrace::heap_scan {

// How long the calling thread waits for a processor that others have, from now on. What it waits
// for a disk (swapped memory) is not in it. 0 where the kernel does not tell.
class waiting_time {
 public:
  waiting_time() noexcept;
  [[nodiscard]] std::uint64_t so_far_ns() const noexcept;

 private:
  std::uint64_t before_ns_;
};

class deadline {
 public:
  explicit deadline(std::uint64_t nanoseconds) noexcept
      : looked_ns_(read_clock(CLOCK_MONOTONIC)),
        end_ns_(looked_ns_ + nanoseconds),
        most_waiting_ns_(waiting_share * nanoseconds) {}

  // To be asked at each object. Once true it stays true.
  [[nodiscard]] bool is_over() noexcept {
    if (--left_ > 0) return over_;
    look();
    return over_;
  }
  [[nodiscard]] bool was_over() const noexcept { return over_; }
  // Some more time, for what is done with the findings.
  void extend(std::uint64_t nanoseconds) noexcept {
    end_ns_ += nanoseconds;
    most_waiting_ns_ += waiting_share * nanoseconds;
    over_ = false;
    look();
  }

 private:
  static constexpr std::uint64_t waiting_share = 9;
  static constexpr std::uint32_t objects_between_looks = 8;
  static constexpr std::uint64_t slow_ns = 200'000;

  // Objects that come slowly are counted one by one.
  void look() noexcept {
    const std::uint64_t now = read_clock(CLOCK_MONOTONIC);
    left_ = now - looked_ns_ > slow_ns ? 1 : objects_between_looks;
    looked_ns_ = now;
    if (over_ || now < end_ns_) return;
    const std::uint64_t waited = std::min(waiting_.so_far_ns(), most_waiting_ns_);
    over_ = now >= end_ns_ + waited - waited_ns_;
    end_ns_ += waited - waited_ns_;
    waited_ns_ = waited;
  }

  std::uint64_t looked_ns_;
  std::uint64_t end_ns_;
  const waiting_time waiting_;
  std::uint64_t most_waiting_ns_;
  std::uint64_t waited_ns_ = 0;  // that is in the end already
  std::uint32_t left_ = 1;
  bool over_ = false;
};

}  // namespace memtrace::heap_scan
