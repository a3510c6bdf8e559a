// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/frame_decoder.h"

#include "interpose/sight/python/line_table.h"

namespace memtrace::python_stack {

namespace {

bool has_not_begun(const layout& offsets, frame_key key) noexcept {
  if (offsets.code_first_traceable == not_there || key.owner() == owned_by_generator) return false;
  constexpr int code_unit = 2;
  const auto first = load<std::int32_t>(key.code(), offsets.code_first_traceable);
  return instruction_offset(offsets, key) < first * code_unit;
}

bool is_code(const interpreter& python, address code) noexcept {
  const layout& offsets = *python.offsets;
  if (code == 0 || load<address>(code, object::type) != python.code_type) return false;
  const auto lines = load<address>(code, offsets.code_lines);
  return is_text(python, load<address>(code, offsets.code_file)) &&
         is_text(python, load<address>(code, offsets.code_name)) && lines != 0 &&
         load<address>(lines, object::type) == python.bytes_type;
}

}  // namespace

int instruction_offset(const layout& offsets, frame_key key) noexcept {
  if (offsets.code_instructions == not_there) {
    const auto index = static_cast<std::int32_t>(key.instruction);
    return index < 0 ? index : index * offsets.index_scale;
  }
  return static_cast<int>(static_cast<std::int64_t>(key.instruction - key.code()) -
                          offsets.code_instructions);
}

frame_place place_of(const interpreter& python, frame_key key) noexcept {
  const layout& offsets = *python.offsets;
  if (key.owner() >= owned_by_c_stack) return {frame_kind::hidden, 0};
  if (!is_code(python, key.code())) return {frame_kind::not_code, 0};
  if (has_not_begun(offsets, key)) return {frame_kind::hidden, 0};
  const auto table = load<address>(key.code(), offsets.code_lines);
  const auto size = load<std::int64_t>(table, object::size);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(table + object::bytes_data);
  const std::uint32_t line = line_at(
      offsets.lines, {bytes, size > 0 ? static_cast<std::size_t>(size) : 0},
      load<std::int32_t>(key.code(), offsets.code_first_line), instruction_offset(offsets, key));
  return {frame_kind::shown, line};
}

stack_frame decode(const interpreter& python, frame_key key, std::uint32_t line,
                   text_arena& arena) noexcept {
  const layout& offsets = *python.offsets;
  const auto file = load<address>(key.code(), offsets.code_file);
  const auto name = load<address>(key.code(), offsets.code_name);
  return {read_text(offsets, file, arena), read_text(offsets, name, arena), line};
}

}  // namespace memtrace::python_stack
