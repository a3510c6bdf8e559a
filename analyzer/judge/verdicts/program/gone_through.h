// SPDX-License-Identifier: Apache-2.0
//
// Whether the run goes through a container once, from its first element to its last:
//
//   for batch in batches(sentences): embed(batch)        each sentence gets what it keeps here
//   for model in models: explain(model)
//
// Its elements are the work of the run, then, not a number of places that fill and are used again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

// `lines`: of the calls that lead to an allocation, from 1, the innermost first.
[[nodiscard]] bool is_gone_through_once(const program_text& program, const std::string& container,
                                        const std::vector<std::uint32_t>& lines);

}  // namespace memtrace::verdicts
