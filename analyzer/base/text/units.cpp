// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/text/units.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>

namespace memtrace::text {

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{:.2f} {}", value, units[unit]);
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

}  // namespace memtrace::text
