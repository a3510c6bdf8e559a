// SPDX-License-Identifier: Apache-2.0
//
// Very long runs are looked at through a window: each piece is replayed some ten times, and what a
// change does to the peak shows in the steps around it.
//
//   requests  0 ────────────── from ─────────── peak ── to ─────────── end
//   window    what was alive there, then all requests of   [from, to)
#pragma once

#include <cstddef>
#include <optional>

#include "analyzer/judge/blocks/gather.h"

namespace memtrace::advice {

// At most about `most` requests: the first ones where the peak lies among them, else those up to
// the step after the peak. Empty: it is no longer than that anyway.
[[nodiscard]] std::optional<blocks::device_evidence> shorten(const blocks::evidence& of,
                                                             std::size_t most);

}  // namespace memtrace::advice
