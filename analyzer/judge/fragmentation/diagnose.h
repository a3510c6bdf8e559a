// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/fragmentation/diagnosis.h"
#include "analyzer/judge/fragmentation/segment_history.h"

namespace memtrace::fragmentation {

// Replays the log once, at the recorded addresses, and looks at the layout at about a thousand
// moments at most. Where the log has doubts, the totals are all there is.
[[nodiscard]] diagnosis diagnose(const blocks::evidence& of, const segment_history& history);

// Of a device without a request log; `why`: a sentence.
[[nodiscard]] diagnosis diagnose_totals(std::uint32_t device, const replay::replayer& replayed,
                                        const segment_history& history, std::string why);

}  // namespace memtrace::fragmentation
