// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/held_path.h"

#include <algorithm>
#include <array>

#include "analyzer/base/text/numbers.h"

namespace memtrace::verdicts {

namespace {

constexpr char separator = '\x1f';

}  // namespace

held_path parse_held(std::string_view name, std::string_view detail) {
  std::array<std::string_view, 8> fields;
  for (auto& field : fields) {
    const auto end = std::min(detail.find(separator), detail.size());
    field = detail.substr(0, end);
    detail.remove_prefix(std::min(end + 1, detail.size()));
  }
  held_path made;
  made.path = std::string(name);
  made.container = std::string(fields[0]);
  made.length = text::number_in(fields[1]).value_or(0);
  made.owner = std::string(fields[2]);
  made.file = std::string(fields[3]);
  made.line = text::number_in<std::uint32_t>(fields[4]).value_or(0);
  made.holder = std::string(fields[5]);
  made.numbers = std::string(fields[6]);
  made.levels = parse_levels(fields[7]);
  return made;
}

std::string held_path::identity() const {
  std::string key;
  for (const auto* const part : {&path, &owner, &file}) {
    key += *part;
    key += separator;
  }
  // Of containers in one another the longest is told: another one after some steps.
  const bool are_several =
      levels.size() > 1 || (!levels.empty() && levels.front().inner.length != 0);
  if (!are_several) key += container + separator + holder + separator;
  return key + std::to_string(line);
}

std::uint64_t limit_of(std::string_view container) {
  const auto equals = container.find('=');
  const auto close = container.find(')', std::min(equals, container.size()));
  if (equals == container.npos || close == container.npos) return 0;
  return text::number_in(container.substr(equals + 1, close - equals - 1)).value_or(0);
}

}  // namespace memtrace::verdicts
