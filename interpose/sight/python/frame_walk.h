// SPDX-License-Identifier: Apache-2.0
//
// The frames of the calling thread as addresses and numbers: what identifies a stack cheaply.
// Only frames of the calling thread are read: they stand still while it is in here, whether or
// not it holds the GIL, and keep their code objects alive.
#pragma once

#include "interpose/sight/python/layout.h"

namespace memtrace::python_stack {

struct frame_key {
  std::uint64_t code_and_owner;  // address, and the owner in the top byte
  std::uint64_t instruction;     // address, or index up to 3.10

  [[nodiscard]] address code() const noexcept { return code_and_owner & 0x00ff'ffff'ffff'ffff; }
  [[nodiscard]] unsigned owner() const noexcept {
    return static_cast<unsigned>(code_and_owner >> 56);
  }
  friend bool operator==(const frame_key&, const frame_key&) = default;
};

// The thread's innermost frame, or 0.
[[nodiscard]] inline address innermost_frame(const layout& offsets, address thread) noexcept {
  const auto first = load<address>(thread, offsets.thread_frame);
  if (first == 0 || offsets.cframe_frame == not_there) return first;
  return load<address>(first, offsets.cframe_frame);
}

[[nodiscard]] inline address previous_frame(const layout& offsets, address frame) noexcept {
  return load<address>(frame, offsets.frame_previous);
}

[[nodiscard]] inline frame_key read_frame(const layout& offsets, address frame) noexcept {
  const auto code = load_code(frame, offsets.frame_code);
  if (offsets.frame_owner == not_there) {
    const auto index = load<std::int32_t>(frame, offsets.frame_instruction);
    return {code, static_cast<std::uint32_t>(index)};
  }
  const auto owner = load<std::uint8_t>(frame, offsets.frame_owner);
  return {code | static_cast<std::uint64_t>(owner) << 56,
          load<std::uint64_t>(frame, offsets.frame_instruction)};
}

}  // namespace memtrace::python_stack
