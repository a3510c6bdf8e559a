// SPDX-License-Identifier: Apache-2.0
//
// A series thinned for people to look at: at most 64 values, one every so many steps.
#pragma once

#include <cstdint>

#include "analyzer/judge/verdicts/verdict.h"

namespace memtrace::verdicts {

class thinned_series {
 public:
  void add(std::uint64_t bytes, std::uint64_t times);
  [[nodiscard]] const series_shown& shown() const { return shown_; }

 private:
  static constexpr std::size_t most = 64;
  series_shown shown_;
  std::uint64_t steps_ = 0;
};

}  // namespace memtrace::verdicts
