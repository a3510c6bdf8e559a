// SPDX-License-Identifier: Apache-2.0
//
// All pieces asked, what they propose proved, what saves nothing dropped, the rest ranked, and the
// best of it replayed together.
//
//   evidence ─► pieces ─► proposals ─► prover ─► is_worth_it ─► rank ─► combine ─► advice_found
#pragma once

#include <cstdint>
#include <map>

#include "analyzer/advice/piece.h"
#include "analyzer/blocks/gather.h"

namespace memtrace::advice {

// Of all devices of a process.
[[nodiscard]] advice_found advise(const std::map<std::uint32_t, blocks::device_evidence>& devices);

}  // namespace memtrace::advice
