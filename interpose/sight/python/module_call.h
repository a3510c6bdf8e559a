// SPDX-License-Identifier: Apache-2.0
//
// Which frames are calls of an nn.Module: those of one code object, the body of Module.__call__,
// whose `self` is the module. The agent, which can ask torch, says which code object it is.
//
//   self: a plain local variable, or (where an inner function uses it too) in a cell
#pragma once

#include <atomic>

#include "interpose/sight/python/layout.h"

namespace memtrace::python_stack {

class module_call {
 public:
  constexpr module_call() noexcept = default;
  // `slot` is the place of self among the frame's variables (below 0x8000).
  module_call(address code, unsigned slot, bool is_cell) noexcept
      : word_(code | static_cast<std::uint64_t>(slot) << 48 |
              static_cast<std::uint64_t>(is_cell ? 1 : 0) << 63) {}

  [[nodiscard]] address code() const noexcept { return word_ & 0x0000'ffff'ffff'ffff; }
  friend bool operator==(const module_call&, const module_call&) = default;

  // The module that this call's frame is running.
  [[nodiscard]] address module_of(const layout& offsets, address frame) const noexcept {
    const std::size_t slot = (word_ >> 48) & 0x7fff;
    const address self = load_reference(frame, offsets.frame_locals + slot * sizeof(address));
    if ((word_ >> 63) == 0 || self == 0) return self;
    return load<address>(self, object::cell_content);
  }

 private:
  std::uint64_t word_ = 0;
};

namespace detail {
extern std::atomic<module_call> watched_call;
extern std::atomic<address> watched_step;
static_assert(std::atomic<module_call>::is_always_lock_free);
}  // namespace detail

// The call that watch_module_call() was given; the one with code 0 before.
[[nodiscard]] inline module_call watched_module_call() noexcept {
  return detail::watched_call.load(std::memory_order_relaxed);
}
// The code object of calls of Optimizer.step, or 0.
[[nodiscard]] inline address watched_step_call() noexcept {
  return detail::watched_step.load(std::memory_order_relaxed);
}

}  // namespace memtrace::python_stack
