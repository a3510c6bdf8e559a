// SPDX-License-Identifier: Apache-2.0
//
// The input of an exporter: the processes of a run, one after the other, each in the order of its
// trace, and of every block at its birth already what it was after all (feed.h gives it).
//
//   begin(process)
//     earlier(event, block)…             only where a window begins: the allocator's events before
//     it carried(block)…                    then what is allocated when it begins happened(event,
//     block, moment)…    the allocator's events became(block, before, moment)…     an activation
//     that the program kept is an output from here on_phase(…), on_step(…), …         all other
//     records, as trace::record_visitor has them
//   end(process)
//   finish()                             after the last process
//
// Sizes are bytes, times nanoseconds since the trace was created. Ids are of process.names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/attribution/terms.h"
#include "analyzer/model/history/fates.h"
#include "analyzer/run/model/model.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::exporting {

struct process {
  const run::process_report& report;  // with its fates
  const trace::dictionary& names;     // of the whole trace
  std::size_t number = 0;             // among the processes of this export
  // Where the person wants to look: the event of --at; else where memory ran out, if it did.
  std::optional<std::uint64_t> at;
};

// A block that is allocated, or was until this event.
struct block {
  std::uint64_t serial = 0;  // by birth, from 0, in the process
  std::uint32_t device = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;   // of the block
  std::uint64_t asleep = 0;  // of them, at this moment: in no sum (replay/residency.h)
  std::uint64_t requested = 0;
  std::uint64_t stream = 0;
  trace::pool_id pool;
  std::uint64_t born_event = 0;
  std::uint64_t born_ns = 0;
  trace::stack_id stack;                                        // none: no Python frame was running
  trace::thread_id thread;                                      // that allocated
  attribution::category what = attribution::category::unknown;  // at this moment
  attribution::evidence how = attribution::evidence::unknown;
  attribution::phase born_in = attribution::phase::other;
  std::string_view rule;                // a constant
  std::uint32_t module = 0;             // row of the device's modules; 0: none
  const history::fate* fate = nullptr;  // the rest: names, forward, node; valid until end()
  std::optional<std::uint64_t> step;    // in which it was born, from 0
};

// An action of the allocator. `free_completed` of a block that was requested to be freed has no
// block any more. A free whose block is not known has none either.
struct allocator_event {
  std::uint64_t number = 0;  // event, as event:N of the command line
  std::uint64_t time_ns = 0;
  std::uint32_t device = 0;
  trace::thread_id thread;
  format::kind kind{};  // of reported events alloc and free_requested
  std::uint64_t address = 0;
  // As trace_format.h has it: requested of blocks, actual of segments, rounded of oom.
  std::uint64_t size = 0;
  std::uint64_t stream = 0;
  trace::pool_id pool;
  trace::stack_id stack;
  std::uint64_t device_free = 0;  // oom only
  trace::scope scope;
};

// A device right after an event.
struct moment {
  std::uint64_t event = 0;
  std::uint64_t time_ns = 0;
  std::uint32_t device = 0;
  std::uint64_t allocated = 0;  // as the allocator says
  std::uint64_t reserved = 0;
  // Sums to `allocated`. What no recorded block accounts for is unknown.
  attribution::by_category<std::uint64_t> held;
};

class sink : public trace::record_visitor {
 public:
  virtual void begin(const process&) {}
  // As happened(), for who keeps the state of the heap.
  virtual void earlier(const allocator_event&, const block* /*block*/) {}
  virtual void carried(const block&) {}
  // `block`: that was born or died with it; null: none. It is allocated after its birth, and not
  // after its death.
  virtual void happened(const allocator_event&, const block* /*block*/, const moment&) {}
  virtual void became(const block&, attribution::category /*before*/, const moment&) {}
  // The moment after the last event of each device that has any.
  virtual void end(const process&, const std::vector<moment>& /*last*/) {}
  // Everything is to be in the destination. Why it is not, in one sentence; none: it is.
  [[nodiscard]] virtual std::optional<std::string> finish() = 0;

  // The allocator's records come as happened().
  void on_allocator(const trace::event&, const trace::allocator_event&) final {}
  void on_reported(const trace::event&, const trace::reported_event&) final {}
  void on_report(const trace::report_event&) final {}
};

// The module of a block, "Net.encoder.layer.0"; empty: it belongs to none.
[[nodiscard]] std::string module_of(const process& from, const block& one);
// The parameter's name, or what the program annotated it with; empty: none.
[[nodiscard]] std::string_view name_of(const process& from, const block& one);
// From the outermost to the innermost; empty: no Python frame was running.
[[nodiscard]] std::vector<code::source_frame> frames_outermost_first(const process& from,
                                                                     trace::stack_id stack);
// For a place without frames: "thread pt_autograd_0".
[[nodiscard]] std::string thread_words(const process& from, trace::thread_id thread);
// "rank 1 (train.py, pid 4242)"; the rank only where there is one.
[[nodiscard]] std::string process_words(const run::process_report& report);

}  // namespace memtrace::exporting
