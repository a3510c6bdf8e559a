// SPDX-License-Identifier: Apache-2.0
//
// What became of each check: the text, the JSON, JUnit's XML and GitHub's annotations only render
// it. Sizes are bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/run/check/blame.h"
#include "analyzer/run/check/limits.h"
#include "analyzer/run/model/model.h"

namespace memtrace::check {

enum class outcome : std::uint8_t { ok, unknown, broken };  // the graver, the later

[[nodiscard]] std::string_view name_of(outcome value);

// A size that was compared; of a leak there is none.
struct comparison {
  std::uint64_t measured = 0;
  std::uint64_t limit = 0;
  std::optional<std::uint64_t> baseline;

  [[nodiscard]] std::uint64_t beyond() const { return measured > limit ? measured - limit : 0; }
};

struct finding {
  std::string check;    // max-peak, max-reserved, no-leaks, against-peak, against-reserved, trace
  std::string subject;  // device:0, host, …, as the report's verdicts have it; of a trace: its path
  std::string who;      // "device 0", "rank 1 device 0"
  const run::process_report* process = nullptr;  // null: its trace could not be read
  outcome result = outcome::unknown;
  std::string sentence;  // what was measured, without the line
  std::optional<comparison> sizes;
  const verdicts::verdict* leak = nullptr;  // what no-leaks looked at
  std::optional<blamed_line> line;          // of what is broken
};

// The gravest; of none: unknown.
[[nodiscard]] outcome worst(const std::vector<finding>& findings);

// The sentence with the line to look at; `place` names that line.
[[nodiscard]] std::string whole_sentence(const finding& one, const std::string& place);

// 1.20 GiB, or "1 byte".
[[nodiscard]] std::string bytes_in_words(std::uint64_t bytes);

}  // namespace memtrace::check
