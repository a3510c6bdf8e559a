// SPDX-License-Identifier: Apache-2.0
//
// What the pieces save together: replayed, not added up.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/judge/advice/prove.h"

namespace memtrace::advice {

// Of ranked pieces of one device; empty where no two of them are better than the first alone.
[[nodiscard]] std::optional<combination> combine(const std::vector<piece>& ranked,
                                                 const prover& by);

}  // namespace memtrace::advice
