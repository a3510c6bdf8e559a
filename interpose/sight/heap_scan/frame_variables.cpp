// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/frame_variables.h"

namespace memtrace::heap_scan {

namespace {

constexpr std::size_t local_count = 28;  // of a code object up to 3.10
constexpr signed char frame_is_cleared = 4;

std::size_t size_of(address tuple) noexcept {
  const auto size = load<std::int64_t>(tuple, offset::item_count);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

}  // namespace

read_frame frame_at(const python_objects& python, address frame) noexcept {
  if (frame == 0) return {};
  const auto code = load<address>(frame, python.interpreter->offsets->frame_code);
  if (code == 0 || type_of(code) != python.interpreter->code_type) return {};
  return {frame, code};
}

read_frame frame_of_object(const python_objects& python, address object) noexcept {
  if (python.layout->minor < 11) return frame_at(python, object);
  return frame_at(python, load<address>(object, offset::frame_of_object));
}

read_frame frame_of_generator(const python_objects& python, address generator) noexcept {
  const object_layout& layout = *python.layout;
  if (layout.minor < 11) return frame_at(python, load<address>(generator, layout.generator_frame));
  if (load<signed char>(generator, layout.generator_state) >= frame_is_cleared) return {};
  return frame_at(python, generator + layout.generator_frame);
}

detail::variable_ranges detail::ranges_of(const python_objects& python, address code) noexcept {
  const object_layout& layout = *python.layout;
  const auto names = load<address>(code, layout.code_variables);
  if (layout.code_variable_count != not_there) {
    const auto count = load<std::int32_t>(code, layout.code_variable_count);
    return {{{names, 0, count > 0 ? static_cast<std::size_t>(count) : 0}, {}, {}}};
  }
  const auto cells = load<address>(code, layout.code_cells);
  const auto free = load<address>(code, layout.code_free);
  const auto locals = static_cast<std::size_t>(load<std::int32_t>(code, local_count));
  return {{{names, 0, locals},
           {cells, locals, size_of(cells)},
           {free, locals + size_of(cells), size_of(free)}}};
}

}  // namespace memtrace::heap_scan
