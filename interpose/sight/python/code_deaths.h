// SPDX-License-Identifier: Apache-2.0
//
// Which code objects have died: their addresses are used again for other code, so a cache by
// address must forget them. PyCode_Type's tp_dealloc is wrapped; a death costs the program one
// look into a bloom filter, unless the code is in a cache.
//
//   cache: remember(code) when it caches ─► filter ◄─ dealloc: in the filter? ─► ring, count
//   cache: count() changed? ─► died_since(): forget these, or everything when there were many
//
// Threads: any. Deaths hold the GIL, of which there may be one for each interpreter. A code
// object in a caller's stack cannot die during the call, and its address can come back in a
// stack only after a hand-over of the GIL, which orders the death before the next look.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "interpose/sight/python/layout.h"

namespace memtrace::python_stack {

class code_deaths {
 public:
  static constexpr std::uint32_t remembered = 64;

  void remember(address code) noexcept;
  [[nodiscard]] std::uint32_t count() const noexcept {
    return count_.load(std::memory_order_acquire);
  }

  // The addresses that died after the count was `seen`, up to `now`, into `into`. False when
  // there were more than are remembered: everything may be dead.
  [[nodiscard]] bool died_since(std::uint32_t seen, std::uint32_t now,
                                std::array<address, remembered>& into,
                                std::uint32_t& filled) const noexcept;

  // From tp_dealloc, with the GIL.
  void died(address code) noexcept;

 private:
  static constexpr std::size_t filter_bits = 1 << 17;
  [[nodiscard]] static std::size_t bit_of(address code) noexcept {
    return static_cast<std::size_t>((code * 0x9e3779b97f4a7c15u) >> (64 - 17));
  }

  std::array<std::atomic<std::uint64_t>, filter_bits / 64> filter_{};
  std::array<std::atomic<address>, remembered> ring_{};
  std::atomic<std::uint32_t> count_{0};
  std::atomic_flag writing_;
};

extern code_deaths the_code_deaths;

// Wraps tp_dealloc of PyCode_Type; once, with the GIL held.
void watch_code_deaths(address code_type) noexcept;

}  // namespace memtrace::python_stack
