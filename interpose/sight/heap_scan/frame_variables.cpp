// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/frame_variables.h"

namespace memtrace::heap_scan {

namespace {

constexpr std::size_t local_count = 28;  // of a code object up to 3.10

std::size_t size_of(address tuple) noexcept {
  const auto size = load<std::int64_t>(tuple, offset::item_count);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

// In a code object.
constexpr std::size_t argument_count_to_310 = 16;
constexpr std::size_t argument_count_311 = 56;
constexpr std::size_t argument_count_from_312 = 52;
constexpr std::size_t free_count_311 = 92;
constexpr std::size_t free_count_from_312 = 88;

std::ptrdiff_t length_of(address tuple) noexcept {
  return load<std::int64_t>(tuple, offset::item_count);
}

address item_of(const python_objects& python, address tuple, std::ptrdiff_t number) noexcept {
  if (tuple == 0 || number < 0 || number >= length_of(tuple)) return 0;
  return load<address>(
      tuple, python.layout->tuple_items + static_cast<std::size_t>(number) * sizeof(address));
}

std::ptrdiff_t argument_count(const python_objects& python, address code) noexcept {
  const unsigned minor = python.layout->minor;
  return load<std::int32_t>(code, minor <= 10   ? argument_count_to_310
                                  : minor == 11 ? argument_count_311
                                                : argument_count_from_312);
}

}  // namespace

read_frame frame_at(const python_objects& python, address frame) noexcept {
  if (frame == 0) return {};
  const address code = python_stack::load_reference(frame, python.interpreter->offsets->frame_code);
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
  if (load<signed char>(generator, layout.generator_state) >= layout.frame_cleared) return {};
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

std::ptrdiff_t number_of_item(const python_objects& python, address tuple, address item) noexcept {
  for (std::ptrdiff_t i = 0; i < length_of(tuple); ++i) {
    if (item_of(python, tuple, i) == item) return i;
  }
  return -1;
}

address free_variable(const python_objects& python, address code, std::ptrdiff_t number) noexcept {
  const object_layout& layout = *python.layout;
  if (number < 0) return 0;
  if (layout.minor < 11) return item_of(python, load<address>(code, layout.code_free), number);
  // The last of all variables.
  const auto count =
      load<std::int32_t>(code, layout.minor == 11 ? free_count_311 : free_count_from_312);
  const auto names = load<address>(code, layout.code_variables);
  return item_of(python, names, length_of(names) - count + number);
}

address argument_with_default(const python_objects& python, address code, address defaults,
                              std::ptrdiff_t number) noexcept {
  if (number < 0) return 0;
  const std::ptrdiff_t first = argument_count(python, code) - length_of(defaults);
  return item_of(python, load<address>(code, python.layout->code_variables), first + number);
}

}  // namespace memtrace::heap_scan
