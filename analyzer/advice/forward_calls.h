// SPDX-License-Identifier: Apache-2.0
//
// In which order the modules of a forward pass made their blocks, and how long a block would live
// if autograd did not keep it: as long as the module that made it and the one that runs next, which
// uses it. Positions are event numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/advice/evidence.h"

namespace memtrace::advice {

// By block_number: the event at which what comes after the next module begins, in the same call
// of a root module; 0 for blocks that are not made in such a call.
[[nodiscard]] std::vector<std::uint64_t> ends_of_use_in_forward(const evidence& of);

}  // namespace memtrace::advice
