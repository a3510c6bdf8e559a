// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/code_names.h"

namespace memtrace::heap_scan {

namespace {

// In a code object.
constexpr std::size_t argument_count_to_310 = 16;
constexpr std::size_t argument_count_311 = 56;
constexpr std::size_t argument_count_from_312 = 52;
constexpr std::size_t free_count_311 = 92;
constexpr std::size_t free_count_from_312 = 88;

std::ptrdiff_t size_of(address tuple) noexcept {
  return load<std::int64_t>(tuple, offset::item_count);
}

address item_of(address tuple, std::ptrdiff_t number) noexcept {
  if (tuple == 0 || number < 0 || number >= size_of(tuple)) return 0;
  return load<address>(tuple,
                       offset::tuple_items + static_cast<std::size_t>(number) * sizeof(address));
}

std::ptrdiff_t argument_count(const python_objects& python, address code) noexcept {
  const unsigned minor = python.layout->minor;
  return load<std::int32_t>(code, minor <= 10   ? argument_count_to_310
                                  : minor == 11 ? argument_count_311
                                                : argument_count_from_312);
}

}  // namespace

std::ptrdiff_t number_of_item(address tuple, address item) noexcept {
  for (std::ptrdiff_t i = 0; i < size_of(tuple); ++i) {
    if (item_of(tuple, i) == item) return i;
  }
  return -1;
}

address free_variable(const python_objects& python, address code, std::ptrdiff_t number) noexcept {
  const object_layout& layout = *python.layout;
  if (number < 0) return 0;
  if (layout.minor < 11) return item_of(load<address>(code, layout.code_free), number);
  // The last of all variables.
  const auto count =
      load<std::int32_t>(code, layout.minor == 11 ? free_count_311 : free_count_from_312);
  const auto names = load<address>(code, layout.code_variables);
  return item_of(names, size_of(names) - count + number);
}

address argument_with_default(const python_objects& python, address code, address defaults,
                              std::ptrdiff_t number) noexcept {
  if (number < 0) return 0;
  const std::ptrdiff_t first = argument_count(python, code) - size_of(defaults);
  return item_of(load<address>(code, python.layout->code_variables), first + number);
}

}  // namespace memtrace::heap_scan
