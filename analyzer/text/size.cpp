// SPDX-License-Identifier: Apache-2.0
#include "analyzer/text/size.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

namespace memtrace::text {

namespace {

[[nodiscard]] bool is_size(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
  if (digits == 0 || text[0] == '.') return false;
  if (text.substr(0, digits).find_first_of("123456789") == text.npos) return false;
  auto unit = text.substr(digits);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit.empty()) return text.find('.') == text.npos;
  constexpr std::string_view prefixes = "KMGTkmgt";
  if (prefixes.find(unit[0]) == prefixes.npos) return false;
  const auto rest = unit.substr(1);
  return rest.empty() || rest == "iB" || rest == "ib" || rest == "B" || rest == "i";
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  if (!is_size(text)) return std::nullopt;
  const std::string number(text);
  char* end = nullptr;
  auto bytes = std::strtod(number.c_str(), &end);
  while (*end == ' ') ++end;
  constexpr std::string_view prefixes = "kmgt";
  const auto unit =
      prefixes.find(static_cast<char>(std::tolower(static_cast<unsigned char>(*end))));
  if (*end != '\0' && unit != prefixes.npos) {
    for (std::size_t i = 0; i <= unit; ++i) bytes *= 1024;
  }
  constexpr double most = 1e15;
  if (!(bytes >= 1 && bytes <= most)) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace memtrace::text
