// SPDX-License-Identifier: Apache-2.0
//
// memtrace-fit/1: what tools read. Sizes are bytes, times seconds; what is not known is null.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/plan/fit/plan.h"

namespace memtrace::fit {

// `dry_runs`: that were really made; others were kept from before.
[[nodiscard]] std::string to_json(const wishes& wanted, const plan& made, std::uint64_t dry_runs);

}  // namespace memtrace::fit
