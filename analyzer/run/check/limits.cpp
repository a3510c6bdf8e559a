// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/check/limits.h"

#include <cmath>
#include <cstdlib>

#include "analyzer/base/text/units.h"

namespace memtrace::check {

namespace {

[[nodiscard]] bool is_plain_number(std::string_view text) {
  constexpr std::string_view digits = "0123456789";
  return !text.empty() && digits.find(text.front()) != text.npos &&
         text.find_first_not_of("0123456789.") == text.npos && text.find('.') == text.rfind('.');
}

}  // namespace

std::uint64_t tolerance::most(std::uint64_t baseline) const {
  const auto share = std::floor(static_cast<double>(baseline) * percent / 100);
  return baseline + bytes + static_cast<std::uint64_t>(share);
}

std::optional<std::uint64_t> parse_limit(std::string_view text) {
  if (text.find_first_not_of("0123456789. ") == text.npos) return std::nullopt;
  return text::parse_size(text);
}

std::optional<tolerance> parse_tolerance(std::string_view text) {
  if (!text.ends_with('%')) {
    const auto bytes = parse_limit(text);
    if (!bytes) return std::nullopt;
    return tolerance{*bytes, 0};
  }
  text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  constexpr double most_percent = 1000;
  if (!is_plain_number(text)) return std::nullopt;
  const auto percent = std::strtod(std::string(text).c_str(), nullptr);
  if (percent > most_percent) return std::nullopt;
  return tolerance{0, percent};
}

}  // namespace memtrace::check
