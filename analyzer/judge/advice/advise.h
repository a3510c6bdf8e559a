// SPDX-License-Identifier: Apache-2.0
//
// All pieces asked, what they propose proved, what saves nothing dropped, the rest ranked, and the
// best of it replayed together.
//
//   evidence ─► pieces ─► proposals ─► prover ─► is_worth_it ─► rank ─► combine ─► advice_found
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/judge/advice/prove.h"
#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/blocks/gather.h"
#include "analyzer/model/estimate/expected.h"

namespace memtrace::advice {

// For all devices of a process. Proposals are proved side by side, in an order that shows nowhere.
[[nodiscard]] advice_found advise(const std::map<std::uint32_t, blocks::device_evidence>& devices,
                                  const on_replayed_t& on_replayed = {});

// Which pieces are worth saying, and in what order: what keeps the program from running out of
// memory first, then by bytes saved; among about equal ones what keeps the results before what
// changes them, settings before changes of the program, what was replayed before estimates.

// Whether it saves anything worth a word: device memory from `least` on, or host memory, time,
// capacity or retries.
[[nodiscard]] bool is_worth_it(const piece& of, std::uint64_t least);

void rank(std::vector<piece>& pieces);

// Drops all but the best of what was tried in many ways: of the allocator's settings the best stays,
// and beside it expandable segments, whose saving does not hang on addresses; of places for
// empty_cache the best. `ranked`: as rank() leaves it.
void keep_best(std::vector<piece>& ranked);

// The saving of the pieces together, replayed, not added up: for ranked pieces of one device; empty
// where no two of them are better than the first alone.
[[nodiscard]] std::optional<combination> combine(const std::vector<piece>& ranked,
                                                 const prover& by);

// Very long runs are looked at through a window: each piece is replayed some ten times, and what a
// change does to the peak shows in the steps around it.
//
//   requests  0 ────────────── from ─────────── peak ── to ─────────── end
//   window    what was alive there, then all requests of   [from, to)

// At most about `most` requests: the first ones where the peak lies among them, else those up to
// the step after the peak. Empty: it is no longer than that anyway.
[[nodiscard]] std::optional<blocks::device_evidence> shorten(const blocks::evidence& of,
                                                             std::size_t most);

// How much of the peak grows with the batch, and how much activations take by formula.
[[nodiscard]] estimate::step_share step_share_of(const blocks::evidence& of);

}  // namespace memtrace::advice
