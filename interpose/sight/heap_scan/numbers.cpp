// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/numbers.h"

#include "interpose/sight/heap_scan/instance_values.h"

namespace memtrace::heap_scan {

namespace {

constexpr std::size_t digits = 24;
constexpr unsigned digit_bits = 30;
constexpr std::size_t longest_name = 40;
// An object has few attributes that matter; a module may have thousands of names.
constexpr std::int64_t most_entries = 512;

// A positive int of one or two digits; 0: it is something else. Up to 3.11 the number of digits has
// the sign, from 3.12 on a tag holds both.
std::int64_t value_of(const python_objects& python, address object) noexcept {
  if (object == 0 || !has_flag(object, type_flag::integer)) return 0;
  if (name_of_type(type_of(object)) != "int") return 0;  // bool, enumerations
  const auto word = load<std::int64_t>(object, python_stack::object::size);
  const bool tagged = python.layout->minor >= 12;
  constexpr std::int64_t sign = 3, tag_bits = 3;
  if (word <= 0 || (tagged && (word & sign) != 0)) return 0;
  const auto count = tagged ? word >> tag_bits : word;
  if (count < 1 || count > 2) return 0;
  std::int64_t value = load<std::uint32_t>(object, digits);
  if (count == 2) {
    value |= static_cast<std::int64_t>(load<std::uint32_t>(object, digits + 4)) << digit_bits;
  }
  return value;
}

bool is_false(const python_objects& python, address object) noexcept {
  if (object == 0 || !has_flag(object, type_flag::integer)) return false;
  if (name_of_type(type_of(object)) != "bool") return false;
  const auto word = load<std::int64_t>(object, python_stack::object::size);
  constexpr std::int64_t sign = 3, zero = 1;
  return python.layout->minor >= 12 ? (word & sign) == zero : word == 0;
}

bool is_namespace(address object) noexcept {
  const std::string_view type = name_of_type(type_of(object));
  return type == "Namespace" || type == "SimpleNamespace";
}

}  // namespace

void number_notes::add(std::string_view name, std::string_view value) {
  if (!to_.empty()) to_ += ',';
  to_ += name;
  to_ += '=';
  to_ += value;
}

bool number_notes::note(address name, address value) {
  const bool is_off = switches_left_ > 0 && is_false(python_, value);
  const std::int64_t number = is_off ? 0 : value_of(python_, value);
  if (!is_off && (number < least_ || left_ == 0)) return true;
  const std::string_view text = plain_text(python_, name);
  if (text.empty() || text.size() > longest_name) return true;
  add(text, is_off ? "False" : std::to_string(number));
  --(is_off ? switches_left_ : left_);
  return left_ > 0 || switches_left_ > 0;
}

void number_notes::of_dictionary(address dict) {
  begin();
  if (dict == 0 || !has_flag(dict, type_flag::dict)) return;
  if (load<std::int64_t>(dict, offset::item_count) > most_entries) return;
  for_each_pair(python_, dict, [&](address name, address value) { return note(name, value); });
}

void number_notes::of_attributes(address object) {
  begin();
  if (object == 0) return;
  for_each_inline_value(python_, object,
                        [&](address name, address value) { return note(name, value); });
  const address dict = instance_dict(python_, object);
  if (dict != 0) of_dictionary(dict);
}

void number_notes::of_frame(const read_frame& frame) {
  begin();
  for_each_variable(python_, frame, [&](address name, address value) { return note(name, value); });
  for_each_variable(python_, frame, [&](address, address value) {
    if (is_namespace(value)) of_attributes(value);
    return true;
  });
}

}  // namespace memtrace::heap_scan
