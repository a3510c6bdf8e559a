// SPDX-License-Identifier: Apache-2.0
//
// What became of free pieces, and what had been in them: by the recorded addresses of the requests
// before and after the moment. Two passes over the requests, none over layouts.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/judge/fragmentation/pieces.h"
#include "analyzer/judge/fragmentation/segment_history.h"
#include "analyzer/model/allocator/layout.h"
#include "analyzer/model/allocator/request_log.h"

namespace memtrace::fragmentation {

// Fills in piece::used_again: bytes that served later requests as they were, from the start of the
// piece to the end of the last allocation inside of it, before one reached over its borders (which
// needed it to merge with its neighbours) or its memory went back to the driver.
void mark_used_again(std::vector<piece>& pieces, const allocator::request_log& log,
                     const device_history& history, std::uint32_t request);

// Cuts from each piece what no request has used since its segment was got, and calls that
// never_used. Only of segments that the request could have used and that are not expandable: the
// others are not for it anyway.
[[nodiscard]] std::vector<piece> cut_never_used(const std::vector<piece>& pieces,
                                                const allocator::layout& heap,
                                                const allocator::request_log& log,
                                                const device_history& history,
                                                std::uint32_t request);

}  // namespace memtrace::fragmentation
