// SPDX-License-Identifier: Apache-2.0
//
// Calls of torch.cuda.empty_cache() left out of a program's requests, or put into them. Positions
// are event numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/allocator/request_log.h"

namespace memtrace::advice {

void remove_empty_cache(allocator::request_log& log);

// Right before the first request of each of these events (ascending) or a later one.
void add_empty_cache(allocator::request_log& log, const std::vector<std::uint64_t>& before);

}  // namespace memtrace::advice
