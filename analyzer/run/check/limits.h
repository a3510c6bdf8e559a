// SPDX-License-Identifier: Apache-2.0
//
// The limits that a run must keep to. Sizes are bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/run/model/model.h"

namespace memtrace::check {

// How much more than the baseline may be used.
struct tolerance {
  std::uint64_t bytes = 0;
  double percent = 0;  // of the baseline; added to the bytes, of which one is 0

  [[nodiscard]] std::uint64_t most(std::uint64_t baseline) const;
};

struct limits {
  std::optional<std::uint64_t> max_peak;      // allocated
  std::optional<std::uint64_t> max_reserved;  // at its own peak
  bool no_leaks = false;
  const run::run_report* against = nullptr;
  check::tolerance tolerance;
};

// "20GiB" or "20 GB"; empty: not a size, or one without a unit. A limit that somebody believes to
// be in MiB and that is taken as bytes would be broken by every run, so that a unit must be there.
[[nodiscard]] std::optional<std::uint64_t> parse_limit(std::string_view text);

// "2%", "0.5 %" or "64MiB"; empty: neither.
[[nodiscard]] std::optional<tolerance> parse_tolerance(std::string_view text);

}  // namespace memtrace::check
