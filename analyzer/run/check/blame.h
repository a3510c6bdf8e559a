// SPDX-License-Identifier: Apache-2.0
//
// Which line of the user's program to look at first. Sizes are bytes.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/run/model/model.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::check {

struct blamed_line {
  code::source_frame where;
  std::uint64_t bytes = 0;    // it holds, or has more than before
  double bytes_per_step = 0;  // of a leak
};

// Of the user's lines the one that holds most; nothing where no stack leads to the user's code.
// What a backward pass holds is of the line whose gradient it computes.
[[nodiscard]] std::optional<blamed_line> largest_line(const run::memory_view& view);

// The one that holds more than in the run before, by most. Lines go by the names of their files,
// since the two runs may lie in different folders; lines that moved are found again.
[[nodiscard]] std::optional<blamed_line> most_grown_line(const run::memory_view& before,
                                                         const run::memory_view& after);

// Of the culprits of a leak the first that leads to the user's code.
[[nodiscard]] std::optional<blamed_line> leaking_line(const run::process_report& process,
                                                      const verdicts::verdict& leak);

}  // namespace memtrace::check
