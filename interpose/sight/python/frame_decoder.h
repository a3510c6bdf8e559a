// SPDX-License-Identifier: Apache-2.0
//
// From what identifies a frame to its file, function and line. Every object is checked to be of
// the type that it must be before it is read further.
#pragma once

#include "interpose/ground/recorder/stack_table.h"
#include "interpose/sight/python/frame_walk.h"
#include "interpose/sight/python/text.h"

namespace memtrace::python_stack {

enum class frame_kind : std::uint8_t {
  shown,
  hidden,    // C code's own frame, or a call that has not begun: PyTorch and Python skip it too
  not_code,  // not what it should be: this interpreter is not read rightly
};

struct frame_place {
  frame_kind kind;
  std::uint32_t line;  // of a shown frame; 0 unknown
};

[[nodiscard]] frame_place place_of(const interpreter& python, frame_key key) noexcept;

// For a frame that place_of() calls shown. Views into the code's names and the arena.
[[nodiscard]] stack_frame decode(const interpreter& python, frame_key key, std::uint32_t line,
                                 text_arena& arena) noexcept;

// Byte offset of the instruction in its code, as f_lasti says.
[[nodiscard]] int instruction_offset(const layout& offsets, frame_key key) noexcept;

}  // namespace memtrace::python_stack
