// SPDX-License-Identifier: Apache-2.0
//
// Where CPython keeps what a stack needs, by version: byte offsets from its own headers
// (Include/cpython, Include/internal), regular 64-bit builds.
//
//   thread state ─► frame ─► previous frame ─► …        (3.11 and 3.12: through a "cframe")
//                     ├─ code ─► file name, name, first line, line table
//                     └─ instruction: a pointer into the code; up to 3.10 an index
#pragma once

#include <cstdint>
#include <cstring>

namespace memtrace::python_stack {

using address = std::uintptr_t;

inline constexpr std::uint16_t not_there = 0xffff;

enum class line_format : std::uint8_t { lnotab, ranges, locations };  // 3.9, 3.10, 3.11 on

// Where _PyRuntime, which from 3.13 on begins with these offsets for debuggers in other processes
// (Include/internal/pycore_debug_offsets.h), has each of them: words after its cookie.
struct published_words {
  std::uint8_t thread_frame;
  std::uint8_t frame_previous;
  std::uint8_t frame_code;
  std::uint8_t frame_instruction;
  std::uint8_t frame_owner;
  std::uint8_t code_file;
  std::uint8_t code_name;
  std::uint8_t code_lines;
  std::uint8_t code_first_line;
  std::uint8_t code_instructions;
};

struct layout {
  unsigned minor;              // of 3.x
  std::uint16_t thread_frame;  // the frame, or the cframe
  std::uint16_t cframe_frame;  // not_there: the thread state has the frame
  std::uint16_t frame_code;
  std::uint16_t frame_previous;
  std::uint16_t frame_instruction;
  std::uint16_t frame_owner;   // not_there up to 3.10
  std::uint16_t frame_locals;  // the variables: arguments, other locals, cells
  std::uint16_t code_first_line;
  std::uint16_t code_file;
  std::uint16_t code_name;
  std::uint16_t code_lines;
  std::uint16_t code_first_traceable;  // not_there up to 3.10
  std::uint16_t code_instructions;     // not_there: frame_instruction is an index (int)
  std::uint16_t index_scale;           // bytes an index counts, where it is one
  std::uint16_t text_ascii;            // characters of a compact ASCII str
  std::uint16_t text_compact;          // characters of another compact str; else their pointer
  line_format lines;
  const published_words* published;  // nullptr up to 3.12
};

// Same in every version.
namespace object {
inline constexpr std::uint16_t type = 8;
inline constexpr std::uint16_t size = 16;  // of a variable-size object, in items
inline constexpr std::uint16_t bytes_data = 32;
inline constexpr std::uint16_t cell_content = 16;
inline constexpr std::uint16_t text_length = 16;
inline constexpr std::uint16_t text_state = 32;
inline constexpr std::uint16_t type_name = 24;
inline constexpr std::uint16_t type_dealloc = 48;
inline constexpr std::uint16_t type_flags = 168;
inline constexpr unsigned long text_subclass = 1ul << 28;  // Py_TPFLAGS_UNICODE_SUBCLASS
}  // namespace object

// Owners of a frame (3.11 on).
inline constexpr unsigned owned_by_generator = 1;
inline constexpr unsigned owned_by_c_stack = 3;  // and above: by the interpreter itself

// The oldest and the newest version in that table, as sentences name them.
#define MEMTRACE_PYTHONS "3.9 to 3.15"

// nullptr where the version is not in the table.
[[nodiscard]] const layout* layout_of(unsigned major, unsigned minor) noexcept;

template <typename T>
[[nodiscard]] inline T load(address base, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(base + offset), sizeof(T));
  return value;
}

// What a frame's word for its code or for a variable refers to. From 3.14 on these words are
// tagged (_PyStackRef): the two low bits say how the reference is counted, or that it is an integer.
[[nodiscard]] inline address referred_to(address word) noexcept {
  constexpr address tag = 3, integer = 3;
  return (word & tag) == integer ? 0 : word & ~tag;
}
[[nodiscard]] inline address load_reference(address frame, std::size_t offset) noexcept {
  return referred_to(load<address>(frame, offset));
}
// Its code, which is never an integer: an instruction a frame of every walk.
[[nodiscard]] inline address load_code(address frame, std::size_t offset) noexcept {
  return load<address>(frame, offset) & ~address{3};
}

}  // namespace memtrace::python_stack
