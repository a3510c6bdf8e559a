// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/check/findings.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/verdicts/keeper_words.h"

namespace memtrace::check {

namespace {

[[nodiscard]] std::string kept_by(const verdicts::verdict& leak) {
  for (const auto& one : leak.culprits) {
    if (!one.retained_by.empty()) return verdicts::describe(one.retained_by.front());
  }
  return {};
}

[[nodiscard]] std::string line_in_words(const finding& one, const std::string& place) {
  const auto& line = *one.line;
  if (one.leak != nullptr) return "asked for at " + place;
  const auto bytes = bytes_in_words(line.bytes);
  if (one.sizes && one.sizes->baseline) return fmt::format("{} more at {}", bytes, place);
  return fmt::format("the largest line is {} with {}", place, bytes);
}

}  // namespace

std::string_view name_of(outcome value) {
  switch (value) {
    case outcome::ok:
      return "ok";
    case outcome::broken:
      return "broken";
    case outcome::unknown:
      break;
  }
  return "unknown";
}

outcome worst(const std::vector<finding>& findings) {
  if (findings.empty()) return outcome::unknown;
  return std::ranges::max(findings, {}, &finding::result).result;
}

std::string whole_sentence(const finding& one, const std::string& place) {
  auto text = one.sentence;
  if (one.line) text += "; " + line_in_words(one, place);
  if (one.leak == nullptr || one.result != outcome::broken) return text;
  if (const auto keeper = kept_by(*one.leak); !keeper.empty()) text += "; kept by " + keeper;
  return text;
}

std::string bytes_in_words(std::uint64_t bytes) {
  return bytes == 1 ? "1 byte" : text::format_bytes(bytes);
}

}  // namespace memtrace::check
