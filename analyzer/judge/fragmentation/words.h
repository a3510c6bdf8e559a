// SPDX-License-Identifier: Apache-2.0
//
// One cause, and one sentence, out of all figures.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/judge/fragmentation/diagnosis.h"

namespace memtrace::fragmentation {

// What is reserved beyond what any allocator needs for what the program had not given back.
[[nodiscard]] std::uint64_t excess_of(const diagnosis& found);

// Fills in why, matters and summary. `capacity`: of the device; 0: not known.
void conclude(diagnosis& found, std::uint64_t capacity);

}  // namespace memtrace::fragmentation
