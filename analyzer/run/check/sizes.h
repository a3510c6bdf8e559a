// SPDX-License-Identifier: Apache-2.0
//
// The peaks of a device, held against a limit, or against those of an earlier run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/run/check/findings.h"

namespace memtrace::check {

struct measured_peak {
  std::optional<std::uint64_t> bytes;    // nothing: the recording cannot say
  std::string what;                      // "allocated" or "reserved"
  std::string missing;                   // why the run's own peak may be higher; empty: it is not
  const run::memory_view* at = nullptr;  // who held it
};

[[nodiscard]] measured_peak allocated_of(const run::process_report& process,
                                         const run::device_report& device);
// Who held it is told of the allocated peak: lines ask for what is allocated.
[[nodiscard]] measured_peak reserved_of(const run::process_report& process,
                                        const run::device_report& device);

void hold_against(const measured_peak& peak, std::uint64_t limit, finding& to);

// "2.4 %" or "140 %": of a few, tenths count.
[[nodiscard]] std::string percent_in_words(std::uint64_t part, std::uint64_t whole);

// ", limit 3 GiB: 0.21 GiB (7.0 %) beyond"; a limit of nothing has no percents.
[[nodiscard]] std::string against_limit(const comparison& sizes);

// The device of an earlier run of the same program to compare with.
struct baseline {
  const run::process_report* process = nullptr;
  const run::device_report* device = nullptr;  // null: it has none to compare with
  std::string why_not;
};

// Processes go by their rank; those that say none can be told apart only where each run has one.
[[nodiscard]] baseline find_baseline(const run::run_report& before, const run::run_report& now,
                                     const run::process_report& process,
                                     const run::device_report& device);

using peak_of = measured_peak (*)(const run::process_report&, const run::device_report&);

void compare(const baseline& before, peak_of take, const run::process_report& process,
             const run::device_report& device, const tolerance& allowed, finding& to);

}  // namespace memtrace::check
