// SPDX-License-Identifier: Apache-2.0
//
// The verdicts of a run, for those who want no leaks.
#pragma once

#include <string>

#include "analyzer/run/check/findings.h"

namespace memtrace::check {

// Devices that are used, and the host where there is a verdict on it, whatever it is; the rest
// (reserved memory, phases, what is outside of PyTorch's pool) where it grows. Call sites and
// categories are in the verdict on their device.
[[nodiscard]] bool is_checked_for_leaks(const run::process_report& process,
                                        const verdicts::verdict& verdict);

[[nodiscard]] std::string subject_of(const verdicts::verdict& verdict);  // device:0
[[nodiscard]] std::string words_of(const verdicts::verdict& verdict);    // device 0

void judge_verdict(const run::process_report& process, const verdicts::verdict& verdict,
                   finding& to);

}  // namespace memtrace::check
