// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/text/units.h"

#include <fmt/core.h>

#include <array>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace memtrace::text {

namespace {

constexpr std::string_view number_marks = "0123456789.";

// Bytes of one "GiB", "G" (binary) or "GB" (SI); empty: no unit.
[[nodiscard]] std::optional<double> bytes_of_unit(std::string_view unit) {
  if (unit.empty() || unit == "B") return 1;
  constexpr std::string_view prefixes = "kmgt";
  const auto power =
      prefixes.find(static_cast<char>(std::tolower(static_cast<unsigned char>(unit[0]))));
  if (power == prefixes.npos) return std::nullopt;
  const auto rest = unit.substr(1);
  const bool is_binary = rest.empty() || rest == "iB" || rest == "ib" || rest == "i";
  if (!is_binary && rest != "B") return std::nullopt;
  double bytes = 1;
  for (std::size_t i = 0; i <= power; ++i) bytes *= is_binary ? 1024 : 1000;
  return bytes;
}

[[nodiscard]] bool is_number(std::string_view text) {
  return !text.empty() && text[0] != '.' && text.find('.') == text.rfind('.');
}

// A size of at least 1 KiB in the largest unit of which it has one.
struct scaled {
  double value = 0;
  const char* unit = nullptr;
};
[[nodiscard]] scaled in_its_unit(std::uint64_t bytes) {
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return {value, units[unit]};
}

// At most so many digits after the point, and none that says nothing: 64, not 64.00.
[[nodiscard]] std::string in_digits(const scaled& size, int digits) {
  auto number = fmt::format("{:.{}f}", size.value, digits);
  if (number.find('.') != number.npos) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.ends_with('.')) number.pop_back();
  }
  return fmt::format("{} {}", number, size.unit);
}

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  return in_digits(in_its_unit(bytes), 2);
}

std::string brief_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return format_bytes(bytes);
  const auto size = in_its_unit(bytes);
  return in_digits(size, size.value < 9.995 ? 2 : size.value < 99.95 ? 1 : 0);
}

std::string format_seconds(std::uint64_t ns) {
  const auto seconds = static_cast<double>(ns) / 1e9;
  if (seconds < 120) return fmt::format("{:.2f} s", seconds);
  const auto whole = ns / 1'000'000'000;
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string format_count(std::uint64_t number) {
  auto digits = std::to_string(number);
  for (auto at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

bool has_no_unit(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789. ") == text.npos;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const auto number = text.substr(0, text.find_first_not_of(number_marks));
  if (!is_number(number)) return std::nullopt;
  auto unit = text.substr(number.size());
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const bool is_in_bytes = unit.empty() || unit == "B";
  if (is_in_bytes && number.find('.') != number.npos) return std::nullopt;
  const auto one = bytes_of_unit(unit);
  if (!one) return std::nullopt;
  const auto bytes = std::strtod(std::string(number).c_str(), nullptr) * *one;
  constexpr double most = 1e15;
  if (!(bytes >= 1 && bytes <= most)) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace memtrace::text
