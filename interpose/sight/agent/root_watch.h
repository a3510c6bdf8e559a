// SPDX-License-Identifier: Apache-2.0
//
// The modules that were met as the outermost of a stack, and which of them are due to be looked
// at: at the 1st, 2nd, 4th, 8th, … time, and when memory of a parameter was freed since the last
// look. Any thread, under the allocator's mutex; forgotten when a new recording begins.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "interpose/ground/base/small_lock.h"

namespace memtrace::agent {

class root_watch {
 public:
  // The root was met again; true when it is due now. Then it stays in wanted() until answered.
  [[nodiscard]] bool see(std::uint64_t root, std::uint32_t generation) noexcept;

  struct wanted_root {
    std::uint64_t address;
    std::uint32_t misses;  // so often it was not running when it was wanted, in a row
  };
  [[nodiscard]] std::vector<wanted_root> wanted() noexcept;
  // A wanted root was looked at for so long, or could not be found: then the next time is due.
  void looked(std::uint64_t root, bool found, std::uint64_t nanoseconds) noexcept;
  // Whether nothing is wanted.
  [[nodiscard]] bool is_idle() noexcept;

  // The module is no more.
  void forget(std::uint64_t root) noexcept;
  // A parameter's memory was freed.
  void parameters_moved() noexcept;

  // In a forked child, where the parent's threads may have been in the middle of it.
  void restart() noexcept;

 private:
  struct known_root {
    std::uint32_t times = 0;
    std::uint32_t next_look = 1;  // at this many times
    std::uint32_t misses = 0;     // in a row
    std::uint64_t moves = 0;      // moves_ at the last look
    std::uint64_t rest_until_ns = 0;
    bool is_wanted = false;
  };
  [[nodiscard]] bool is_due(const known_root& root) const noexcept;

  small_lock lock_;
  std::unordered_map<std::uint64_t, known_root> roots_;
  std::vector<std::uint64_t> wanted_;
  std::uint64_t moves_ = 0;
  std::uint32_t generation_ = 0;
};

// Never destroyed: other threads may allocate until the process is gone.
extern root_watch& the_root_watch;

}  // namespace memtrace::agent
