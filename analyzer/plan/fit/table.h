// SPDX-License-Identifier: Apache-2.0
//
// What fit found, for a person: a table, and below it what needs a sentence.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/base/text/page.h"
#include "analyzer/plan/fit/plan.h"

namespace memtrace::fit {

[[nodiscard]] text::page show(const wishes& wanted, const plan& made);
// "1 dry run", "2 dry runs"
[[nodiscard]] std::string dry_runs(std::uint64_t count);
// "rtx3090, length 128"
[[nodiscard]] std::string name_of(const wishes& wanted, const row& one);
// "rtx3090: batch 37 fits, 38 does not (6 dry runs)"
[[nodiscard]] std::string one_line(const wishes& wanted, const row& one);

}  // namespace memtrace::fit
