// SPDX-License-Identifier: Apache-2.0
//
//   3.9, 3.10   dictionary at the class's dictoffset
//   3.11        before the object: values ─► array, or dictionary
//   3.12        before the object: one word, values (odd, one less than their address) or
//   dictionary 3.13        values behind the object, for as long as the byte `valid` says so
#include "interpose/sight/heap_scan/instance_values.h"

namespace memtrace::heap_scan {

namespace {

// PyDictKeysObject from 3.11 on.
constexpr std::size_t index_bytes_log2 = 9;
constexpr std::size_t entry_count = 24;
constexpr std::size_t indices = 32;
// Values behind the object in 3.13: capacity, size, embedded, valid, padding.
constexpr std::size_t values_header = 8;
constexpr std::size_t is_valid = 3;
// PyMemberDef
constexpr std::size_t member_bytes = 40;
constexpr std::size_t member_type = 8;
constexpr std::size_t member_offset = 16;
constexpr int object_member = 6;      // T_OBJECT
constexpr int object_member_ex = 16;  // T_OBJECT_EX

bool is_managed(address type) noexcept {
  return (flags_of(type) & type_flag::managed_dict) != 0;
}

address values_of(const python_objects& python, address object, address type) noexcept {
  const object_layout& layout = *python.layout;
  if (layout.minor >= 13) {
    if ((flags_of(type) & type_flag::inline_values) == 0) return 0;
    if (instance_dict(python, object) != 0) return 0;
    const address header =
        object + static_cast<address>(load<std::int64_t>(type, offset::basic_size));
    return load<unsigned char>(header, is_valid) != 0 ? header + values_header : 0;
  }
  const auto word = load<address>(object + static_cast<address>(layout.values), 0);
  if (layout.minor == 11) return word;
  return (word & 1) != 0 ? word + 1 : 0;
}

}  // namespace

address instance_dict(const python_objects& python, address object) noexcept {
  const address type = type_of(object);
  if (python.layout->minor >= 11 && is_managed(type)) {
    const auto word = load<address>(object + static_cast<address>(python.layout->managed_dict), 0);
    return python.layout->minor == 12 && (word & 1) != 0 ? 0 : word;
  }
  const auto offset_of_dict = load<std::int64_t>(type, offset::dict_offset);
  return offset_of_dict > 0 ? load<address>(object, static_cast<std::size_t>(offset_of_dict)) : 0;
}

address instance_value(const python_objects& python, address object,
                       std::string_view name) noexcept {
  if (const address dict = instance_dict(python, object); dict != 0) {
    return has_flag(dict, type_flag::dict) ? value_of_key(python, dict, name) : 0;
  }
  address found = 0;
  for_each_inline_value(python, object, [&](address key, address value) {
    if (plain_text(python, key) == name) found = value;
    return found == 0;
  });
  return found;
}

detail::value_array detail::inline_values(const python_objects& python, address object) noexcept {
  const object_layout& layout = *python.layout;
  const address type = type_of(object);
  if (layout.minor < 11 || !is_managed(type)) return {};
  if ((flags_of(type) & type_flag::heap_type) == 0) return {};
  const address values = values_of(python, object, type);
  const auto keys = load<address>(type, layout.cached_keys);
  if (values == 0 || keys == 0) return {};
  const unsigned log2 = load<unsigned char>(keys, index_bytes_log2);
  return {values, keys + indices + (std::size_t{1} << log2),
          load<std::uint64_t>(keys, entry_count)};
}

std::string_view member_holding(address object, address value) noexcept {
  for (address type = type_of(object); type != 0; type = load<address>(type, offset::base)) {
    auto member = load<address>(type, offset::members);
    if (member == 0) continue;
    for (; load<const char*>(member, 0) != nullptr; member += member_bytes) {
      const int what = load<int>(member, member_type);
      if (what != object_member && what != object_member_ex) continue;
      const auto place = load<std::int64_t>(member, member_offset);
      if (load<address>(object + static_cast<address>(place), 0) == value) {
        return load<const char*>(member, 0);
      }
    }
  }
  return {};
}

}  // namespace memtrace::heap_scan
