// SPDX-License-Identifier: Apache-2.0
//
// What a report says by the model of PyTorch's allocator: why memory is fragmented, and what to
// change. Collects while a trace is read; concludes once, after the last pass.
#pragma once

#include <map>
#include <string>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/judge/blocks/gather.h"
#include "analyzer/judge/fragmentation/segment_history.h"
#include "analyzer/run/model/model.h"

namespace memtrace::run {

class allocator_pass {
 public:
  explicit allocator_pass(const trace::dictionary& names);
  allocator_pass(const allocator_pass&) = delete;
  allocator_pass& operator=(const allocator_pass&) = delete;

  using observers = trace::observers<blocks::gatherer::observers, fragmentation::segment_history,
                                     fragmentation::host_copies>;
  [[nodiscard]] observers& records() { return observers_; }
  [[nodiscard]] attribution::life_observer& lives() { return gathered_.lives(); }

  // Fills in fragmentation, pinned host memory and advice. Habits that a replay judged better are
  // taken out of the findings.
  void conclude(const replay::replayer& replayed, const attribution::result& attributed,
                process_report& report, const advice::on_replayed_t& on_replayed);

 private:
  const trace::dictionary& names_;
  blocks::gatherer gathered_;
  fragmentation::segment_history history_;
  fragmentation::host_copies copies_;
  observers observers_;
};

}  // namespace memtrace::run
