// SPDX-License-Identifier: Apache-2.0
//
// A tensor that is made longer, where the function that makes it hands on its last, or first, part
// alone:
//
//   known = torch.cat([cache, x], 1) … return out, known[:, -LEFT_CONTEXT:]
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/verdicts/program_text.h"
#include "analyzer/verdicts/verdict.h"

namespace memtrace::verdicts {

// `line`: of the program's text, from 1, that allocates. `numbers`: as a census has written them.
// None: it hands on the whole, too, or nobody knows how much it cuts off.
[[nodiscard]] std::optional<shown_bound> cut_where_made(const program_text& program,
                                                        std::uint32_t line,
                                                        std::string_view numbers);

}  // namespace memtrace::verdicts
