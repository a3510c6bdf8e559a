// SPDX-License-Identifier: Apache-2.0
//
// A moment of a run that a person asks for, other than the peak: as it is written, and its event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/model/attribution/result.h"

namespace memtrace::run {

struct wanted_moment {
  std::optional<std::uint64_t> event;    // right after it
  std::optional<std::uint64_t> step;     // where that step was highest; from 0
  std::optional<attribution::phase> in;  // of the step: only where it was in this phase
};

// event:N, step:N, step:N/PHASE
[[nodiscard]] std::optional<wanted_moment> parse_moment(const std::string& text);

// The event on the device that was highest then; empty: the run has no such moment.
[[nodiscard]] std::optional<std::uint64_t> event_of(const wanted_moment& moment,
                                                    const attribution::result& found);

}  // namespace memtrace::run
