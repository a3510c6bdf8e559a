// SPDX-License-Identifier: Apache-2.0
//
// A plan for a person (a table, and sentences below it), for tools, and as a page.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

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

// memtrace-fit/1: what tools read. Sizes are bytes, times seconds; what is not known is null.

// `dry_runs`: that were really made; others were kept from before.
[[nodiscard]] nlohmann::ordered_json to_json(const wishes& wanted, const plan& made,
                                             std::uint64_t dry_runs);

// What a variant has of each axis, by the axes' names.
[[nodiscard]] nlohmann::ordered_json flags_of(const std::vector<std::string>& axes,
                                              const variant& chosen);

// The grid as one HTML file that needs nothing else: GPUs across, lengths and variants down, each
// cell the largest batch, coloured by it; below, what each cell says.
[[nodiscard]] std::string to_html(const wishes& wanted, const plan& made);

}  // namespace memtrace::fit
