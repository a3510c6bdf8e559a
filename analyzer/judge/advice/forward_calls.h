// SPDX-License-Identifier: Apache-2.0
//
// In which order the modules of a forward pass made their blocks, and how long a block would live
// if autograd did not keep it: until the call returns that was given it, of the module that runs
// next. Positions are event numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"

namespace memtrace::advice {

// By block_number: the event of the first block after that, in the same call of a root module; 0
// where there is none.
[[nodiscard]] std::vector<std::uint64_t> ends_of_use_in_forward(const blocks::evidence& of);

}  // namespace memtrace::advice
