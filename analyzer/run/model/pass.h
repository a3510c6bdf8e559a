// SPDX-License-Identifier: Apache-2.0
//
// One pass over a trace, and the model of the run that comes of it:
//
//   trace ─► reader ─┬─► attributor, replayer ─► lives of blocks ─► verdicts, requests, history
//                    └─► counters, optimizers, host, devices, …
//                                   │
//                       report() ◄──┘  each who listened fills in its part (parts.h)
//
// The members are all who listen. The memory of those whose part is made is given back before the
// replays of the allocator, which need much.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/judge/blocks/gather.h"
#include "analyzer/judge/fragmentation/segment_history.h"
#include "analyzer/judge/verdicts/collector.h"
#include "analyzer/judge/verdicts/empty_cache_use.h"
#include "analyzer/model/attribution/attributor.h"
#include "analyzer/model/attribution/life_observer.h"
#include "analyzer/model/device/shared_memory.h"
#include "analyzer/model/device/usage_collector.h"
#include "analyzer/model/history/collector.h"
#include "analyzer/model/history/fates.h"
#include "analyzer/model/replay/replay.h"
#include "analyzer/run/model/load.h"
#include "analyzer/run/model/model.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::run {

using on_progress_t = std::function<void(const trace::progress&)>;

// Where verdicts see steps end, in programs that do not mark them.
struct steps_given {
  std::vector<std::uint64_t> ends;  // events
  std::string unit = "step";
};

// The parts of a report that are made only where they are asked for.
struct also_kept {
  bool history = false;
  bool fates = false;
};

class pass {
 public:
  // Reads the trace, once. `reader` must outlive this.
  // `has_blocks_of_calls`: the trace has no allocator's (replay/blocks_of_calls.h).
  pass(trace::reader& reader, attribution::options wanted, steps_given given,
       bool has_blocks_of_calls, also_kept also, const on_progress_t& on_progress);
  pass(const pass&) = delete;
  pass& operator=(const pass&) = delete;

  [[nodiscard]] const replay::replayer& replayed() const { return replayed_; }
  [[nodiscard]] const attribution::result& attributed() const { return attributed_; }
  [[nodiscard]] std::uint64_t allocations() const { return lives_->births(); }
  [[nodiscard]] std::uint64_t last_allocation() const { return lives_->last_birth(); }  // its event

  // The model of the run, once. `steps`: those that were found before this pass.
  [[nodiscard]] process_report report(const std::string& path,
                                      std::optional<inferred_steps_report> steps,
                                      const load_options& options);

 private:
  trace::reader& reader_;
  const trace::dictionary& names_;
  steps_given given_;
  trace::completeness completeness_;
  bool has_blocks_of_calls_;
  replay::replayer replayed_;
  attribution::result attributed_;

  // Who listens to the lives of blocks, and beside that perhaps to records.
  std::optional<verdicts::collector> lives_;
  blocks::gatherer requests_;
  std::optional<history::collector> history_;  // only where they are wanted
  std::optional<history::fate_collector> fates_;
  // Who listens to records.
  program_counters counters_;
  optimizer_names optimizers_;
  host::host_collector host_;
  device::usage_collector uses_;
  device::activity_collector activity_;
  device::shared_memory_collector shared_;
  remedies::empty_cache_use cache_use_;
  fragmentation::segment_history segments_;
  fragmentation::host_copies copies_;
};

}  // namespace memtrace::run
