// SPDX-License-Identifier: Apache-2.0
//
// The names of an enumeration's values as the source has them, from the compiler: a list of them
// beside the enumeration would be the same names once more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace memtrace::text {

// Empty for a value that the enumeration does not have: there compilers write "(type)7".
template <auto Value>
[[nodiscard]] consteval std::string_view name_of_value() {
  std::string_view text = __PRETTY_FUNCTION__;  // "… [with auto Value = space::type::name; …]"
  text.remove_prefix(text.find("Value = ") + 8);
  text = text.substr(0, text.find_first_of(";]"));
  return text.starts_with('(') ? std::string_view() : text.substr(text.rfind(':') + 1);
}

// The names of the values below 32.
template <class Enum>
inline constexpr auto enum_names = []<std::size_t... Values>(std::index_sequence<Values...>) {
  return std::array{name_of_value<static_cast<Enum>(Values)>()...};
}
(std::make_index_sequence<32>());

template <class Enum>
[[nodiscard]] constexpr std::string_view enum_name(Enum value) {
  const auto number = static_cast<std::uint64_t>(value);
  return number < enum_names<Enum>.size() ? enum_names<Enum>[number] : std::string_view();
}

}  // namespace memtrace::text
