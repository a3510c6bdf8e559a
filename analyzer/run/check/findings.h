// SPDX-License-Identifier: Apache-2.0
//
// A run held against its limits, and what became of each check: the text, the JSON, JUnit's XML and
// GitHub's annotations only render it. Sizes are bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/text/enum_name.h"
#include "analyzer/run/check/limits.h"
#include "analyzer/run/model/model.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::check {

// The line of the user's program to look at first.
struct blamed_line {
  code::source_frame where;
  std::uint64_t bytes = 0;    // it holds, or has more than before
  double bytes_per_step = 0;  // of a leak
};

// The one of the user's lines that holds most; nothing where no stack leads to the user's code. The
// memory of a backward pass counts for the line whose gradient it computes.
[[nodiscard]] std::optional<blamed_line> largest_line(const run::memory_view& view);

// The one that holds more than in the run before, by most. Lines go by the names of their files,
// since the two runs may lie in different folders; lines that moved are found again.
[[nodiscard]] std::optional<blamed_line> most_grown_line(const run::memory_view& before,
                                                         const run::memory_view& after);

// The line of the first of a leak's suspects that leads to the user's code.
[[nodiscard]] std::optional<blamed_line> leaking_line(const run::process_report& process,
                                                      const verdicts::verdict& leak);

enum class outcome : std::uint8_t { ok, unknown, broken };  // the graver, the later

[[nodiscard]] constexpr std::string_view name_of(outcome value) {
  return text::enum_name(value);
}

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

// 1.2 GiB, or "1 byte".
[[nodiscard]] std::string bytes_in_words(std::uint64_t bytes);

// Holds a run against its limits. The missing part of a trace may have held more memory: a limit
// that is broken without it is broken, and any other cannot be told. The findings keep
// references to the run. None: no device of the run had memory of PyTorch's.
[[nodiscard]] std::vector<finding> judge(const run::run_report& processes, const limits& wanted);

// PyTorch, or the program by itself, had memory on it.
[[nodiscard]] bool is_used(const run::device_report& device);

// Why the run may have been other than its trace: "the trace is cut off"; empty: it was not.
[[nodiscard]] std::string what_is_missing(const run::process_report& process);

}  // namespace memtrace::check
