// SPDX-License-Identifier: Apache-2.0
//
// A picture of the heap in few words: bounded, whatever the layout.
#pragma once

#include <string>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/fragmentation/diagnosis.h"
#include "analyzer/model/allocator/layout.h"

namespace memtrace::fragmentation {

inline constexpr std::size_t most_runs = 4096;  // of blocks, in one map
inline constexpr std::size_t most_map_sites = 64;

[[nodiscard]] heap_map draw(const allocator::layout& heap, const blocks::evidence& of,
                            std::string when, std::uint64_t event);

}  // namespace memtrace::fragmentation
