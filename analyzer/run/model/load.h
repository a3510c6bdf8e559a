// SPDX-License-Identifier: Apache-2.0
//
// From an open trace to its report: read, replayed, attributed, summed up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/judge/verdicts/expectations.h"
#include "analyzer/run/model/model.h"
#include "analyzer/run/model/wanted_moment.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::run {

struct load_options {
  std::optional<wanted_moment> at =
      std::nullopt;      // none: where the program ran out of memory, if it did
  bool blocks = false;   // list every block of the moments that are shown
  bool history = false;  // what was held over the whole run
  bool fates = false;    // what every block was after all
  bool advice = true;    // false: verdicts are all that is wanted, and nothing is replayed
  std::vector<verdicts::expectation> suppressions = {};  // growth that is expected, from a file
  advice::on_replayed_t on_replayed = {};
  // After each part of the work, with what it was: how long that took is the caller's to measure.
  std::function<void(std::string_view)> on_done = {};
};

// Looks for steps first, up to the first one that the program marks. Reads the trace more than once
// where what is wanted is only known after a pass: the event of a step's peak, or the one where
// memory ran out; and windows of events, where there are no steps.
// Damage and truncation are in the report's completeness.
[[nodiscard]] process_report load(
    const std::string& path, trace::reader& reader, const load_options& options = {},
    const std::function<void(const trace::progress&)>& on_progress = {});

}  // namespace memtrace::run
