// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/held_path.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "analyzer/text/utf8.h"

namespace memtrace::verdicts {

namespace {

constexpr char separator = '\x1f';

template <class Number>
[[nodiscard]] Number number_in(std::string_view text) {
  Number value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size() ? value : Number{0};
}

}  // namespace

held_path parse_held(std::string_view name, std::string_view detail) {
  std::array<std::string_view, 6> fields;
  for (auto& field : fields) {
    const auto end = std::min(detail.find(separator), detail.size());
    field = detail.substr(0, end);
    detail.remove_prefix(std::min(end + 1, detail.size()));
  }
  held_path made;
  made.path = text::valid_utf8(name);
  made.container = text::valid_utf8(fields[0]);
  made.length = number_in<std::uint64_t>(fields[1]);
  made.owner = text::valid_utf8(fields[2]);
  made.file = text::valid_utf8(fields[3]);
  made.line = number_in<std::uint32_t>(fields[4]);
  made.holder = text::valid_utf8(fields[5]);
  return made;
}

std::string held_path::identity() const {
  std::string key;
  for (const auto* const part : {&path, &container, &owner, &file, &holder}) {
    key += *part;
    key += separator;
  }
  return key + std::to_string(line);
}

std::uint64_t limit_of(std::string_view container) {
  const auto equals = container.find('=');
  const auto close = container.find(')', std::min(equals, container.size()));
  if (equals == container.npos || close == container.npos) return 0;
  return number_in<std::uint64_t>(container.substr(equals + 1, close - equals - 1));
}

}  // namespace memtrace::verdicts
