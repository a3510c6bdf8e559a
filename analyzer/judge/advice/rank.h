// SPDX-License-Identifier: Apache-2.0
//
// Which pieces are worth saying, and in what order: what keeps the program from running out of
// memory first, then by bytes saved, which count half where the results would be others; among
// about equal ones the cheap and safe before those that change the program, and what was replayed
// before what was estimated.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/judge/advice/piece.h"

namespace memtrace::advice {

// Whether it saves anything worth a word: device memory from `least` on, or host memory, time,
// capacity or retries.
[[nodiscard]] bool is_worth_it(const piece& of, std::uint64_t least);

void rank(std::vector<piece>& pieces);

}  // namespace memtrace::advice
