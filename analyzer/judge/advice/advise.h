// SPDX-License-Identifier: Apache-2.0
//
// All pieces asked, what they propose proved, what saves nothing dropped, the rest ranked, and the
// best of it replayed together.
//
//   evidence ─► pieces ─► proposals ─► prover ─► is_worth_it ─► rank ─► combine ─► advice_found
#pragma once

#include <cstdint>
#include <map>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/judge/advice/replay_progress.h"
#include "analyzer/judge/blocks/gather.h"

namespace memtrace::advice {

// Of all devices of a process. Proposals are proved side by side, in an order that shows nowhere.
[[nodiscard]] advice_found advise(const std::map<std::uint32_t, blocks::device_evidence>& devices,
                                  const on_replayed_t& on_replayed = {});

}  // namespace memtrace::advice
