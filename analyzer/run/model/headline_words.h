// SPDX-License-Identifier: Apache-2.0
//
// Parts of a headline: of a program that ran out of memory all of it (headline_of_failure.cpp), and what
// that shares with the others (headline.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/run/model/model.h"

namespace memtrace::run {

// The first verdict that a person has to know of, of this device or of any; null: there is none.
[[nodiscard]] const verdicts::verdict* first_told(const process_report& process,
                                                  std::optional<std::uint32_t> device);
// What grows most, of what nobody expects; null: there is no such line.
[[nodiscard]] const verdicts::suspect* largest_suspect(const verdicts::verdict& about);
// "1.3 MiB a step at train.py:18", "kept by `history`"
[[nodiscard]] std::vector<std::string> growth_parts(const process_report& process,
                                                    const verdicts::verdict& about);

// A setting as it is set, where it fits into a line; empty: the change is none.
[[nodiscard]] std::string setting_of(const change& cure);
// "fix (checked by replay): PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
[[nodiscard]] std::string fix_words(const change& cure);
// What was refused and where, why, and what to change: at least the first.
[[nodiscard]] std::vector<std::string> out_of_memory_parts(const process_report& process,
                                                           const oom_report& oom);

}  // namespace memtrace::run
