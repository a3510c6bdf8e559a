// SPDX-License-Identifier: Apache-2.0
//
// The model of a run, worked out once; the terminal and the JSON only render it. Sizes are
// bytes, times nanoseconds; what is not known is empty.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/judge/fragmentation/diagnosis.h"
#include "analyzer/judge/fragmentation/pinned_host.h"
#include "analyzer/judge/host/samples.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/model/device/activity.h"
#include "analyzer/model/device/shared_memory.h"
#include "analyzer/model/device/usage.h"
#include "analyzer/model/estimate/expected.h"
#include "analyzer/model/history/fates.h"
#include "analyzer/model/history/recorded.h"
#include "analyzer/model/replay/replay.h"
#include "analyzer/run/model/change.h"
#include "analyzer/run/model/memory_view.h"
#include "analyzer/run/model/program_records.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/code/unknown_sizes.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::run {

// Which of the parts that can run in the traced process (memtrace/capabilities.h) did.
struct recording_facts {
  std::string mode;                       // minimal, standard, full
  std::vector<std::string> capabilities;  // that were on
  // Those of them that were off after all, and why.
  std::vector<std::pair<std::string, std::string>> refused;
};

// A snapshot of PyTorch's, or a trace of its profiler, that stands for a recording: what it
// holds, and how far it can be trusted. See info_key::snapshot_*.
struct snapshot_facts {
  bool of_profiler = false;
  std::string history;     // "none", "whole", "late"
  std::uint64_t held = 0;  // bytes that were allocated when its history begins
  std::string stacks;      // frames: "none", "python", "all"
  std::string backward;    // how that phase is known: "frames", "threads", "assumed"; empty: not
  bool times = true;
  bool agrees = true;  // its events leave the segments and blocks, or totals, that it lists
  std::uint64_t contradictions = 0;
  std::uint64_t skipped = 0;  // events of unknown kinds
};

struct run_facts {
  std::vector<std::string> command;
  std::uint64_t pid = 0;
  std::optional<std::uint64_t> rank;
  std::optional<std::uint64_t> local_rank;
  std::optional<std::uint64_t> world_size;
  std::vector<std::uint64_t> running_ranks;  // of a dry run that played the others; empty: all
  std::string host;
  std::uint64_t started_ns = 0;  // since 1970
  std::uint64_t duration_ns = 0;
  std::optional<std::uint64_t> allocated_before;  // bytes, where a running process was recorded
  std::optional<std::uint64_t> exit_status;       // where the program ended by itself
  std::string torch;
  std::string cuda;  // 13.0
  std::string python;
  std::string alloc_conf;
  // Sentences about settings of the allocator that PyTorch has not read, or not in time.
  std::vector<std::string> settings_without_effect;
  std::string simulated_gpu;  // empty: a real one
  // What the dry run needs beyond is not known: sizes that hang on values which it has not.
  std::vector<code::unknown_size> unknown_sizes;
  std::string python_stacks;  // "on", or why they are off
  std::string event_source;
  std::string agent;                         // "on", or why not; empty: the recorder did not say
  std::string autograd;                      // the same
  std::optional<recording_facts> recording;  // nothing in older traces
  std::optional<snapshot_facts> snapshot;    // nothing in a recording
  // The variables of memtrace/environment.h that were set, by name; empty values included.
  std::vector<std::pair<std::string, std::string>> environment;
};

// A holder of device memory that is not PyTorch's pool. At the moment of device_report::used where
// there is one, else at the peak of what PyTorch had allocated.
struct outside_holder {
  std::string owner;  // device::part_name
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> peak;
  device::source how{};
};

// A CUDA graph's capture.
struct captured_graph {
  replay::graph_capture facts;
  std::uint64_t pool = 0;                  // the same number: the same pool; from 0
  std::vector<code::source_frame> frames;  // of the first block asked for in it
  std::string place;                       // the same in words
};

struct captured_graphs {
  std::uint64_t count = 0;
  std::uint64_t pools = 0;
  std::uint64_t added = 0;          // bytes of all segments that they got for their pools
  std::vector<captured_graph> all;  // in their order; the first few hundred
};

struct phase_report {
  attribution::phase which = attribution::phase::other;
  std::uint64_t allocated = 0;  // bytes, summed over its allocations
  std::uint64_t freed = 0;
  memory_view at_peak;  // the highest total while it ran
};

// A phase that the program named, or a range of NVTX.
struct named_phase_report {
  std::string name;
  attribution::named_phase found;
};

// 32-bit tensors that autograd keeps although autocast is on.
struct fp32_place {
  std::vector<code::source_frame> frames;
  std::string thread;
  std::string module;  // path; empty: in none
  std::uint64_t bytes = 0;
};

// Memory that slept: its addresses and owners stayed, and what is behind them was taken away.
struct sleep_report {
  replay::sleep_facts facts;
  std::vector<call_site> sites;   // of what was asleep when most was; most bytes first
  std::uint64_t blocks = 0;       // of them
  std::uint64_t at_end = 0;       // bytes that are still asleep when the recording ends
  std::uint64_t used_at_end = 0;  // of the device then, by calls and its context; 0: not known
};

struct device_report {
  trace::device_facts facts;
  std::optional<std::uint64_t> allowed;  // bytes that the program lets PyTorch reserve; else all
  std::string name;
  std::uint64_t events = 0;
  // No event of PyTorch's allocators was recorded: the peak is that of the CUDA calls.
  bool from_cuda_calls = false;
  std::vector<call_site> never_freed;  // of such calls: what was held at the end, most bytes first
  replay::moment peak_allocated;
  replay::moment peak_reserved;
  memory_view at_peak;
  std::optional<memory_view> at;  // at the moment that was asked for
  std::vector<phase_report> phases;
  std::vector<named_phase_report> named_phases;
  std::vector<attribution::parameter_row> parameters;
  attribution::steps_found steps;
  std::vector<fp32_place> fp32_under_autocast;  // most bytes first, at the peak
  std::vector<outside_holder> outside;
  std::optional<sleep_report> asleep;               // nothing where nothing slept
  std::optional<device::usage> used;                // nothing where the driver was not asked
  std::optional<device::device_activity> activity;  // where CUPTI was asked
  captured_graphs graphs;
  std::uint64_t retries = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t unknown_frees = 0;
  bool checked = false;  // the allocator's totals were there to compare with

  // Bytes that the allocator reserved at most; nothing where it reserves none of its own, as with
  // backend:cudaMallocAsync, or was not seen.
  [[nodiscard]] std::optional<std::uint64_t> reserved() const {
    const auto most = peak_reserved.totals.reserved;
    if (from_cuda_calls || most == 0) return std::nullopt;
    return most;
  }
};

struct oom_report {
  replay::out_of_memory facts;
  std::optional<std::uint64_t> capacity;  // of the device, or what the program allows itself
  std::vector<code::source_frame> frames;
  std::vector<code::source_frame> forward;  // in backward: the call whose gradient is computed
  std::string thread;
  std::vector<call_site> holders;   // most bytes first
  std::optional<memory_view> held;  // the same by category and module, where it was looked at
  // Of the decisive one: what kept the memory, most first, as far as a heap scan saw it.
  std::vector<verdicts::retainer> retained_by;
  std::optional<verdicts::remedy> fix;  // of one of these
  std::size_t fix_is_for = 0;           // which one
};

// A request beside PyTorch's pool that CUDA refused, and after which nothing more was taken.
struct outside_refusal_report {
  replay::outside_refusal facts;
  std::string library;  // "libnccl.so.2"; empty: the program itself
  std::vector<code::source_frame> frames;
};

// Steps that were found in the recurrence of allocations.
struct inferred_steps_report {
  std::uint64_t count = 0;
  double confidence = 0;  // 0…1
  std::vector<code::source_frame> begins_at;
};

// How the model was trained.
struct training_report {
  bool autocast = false;
  std::vector<attribution::checkpointed_module> checkpointed;
  std::uint64_t parameters = 0;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t trainable_bytes = 0;
};

// How a program stands with its memory, the worst first.
enum class standing : std::uint8_t { out_of_memory, leaks, fits_so_far, fits, no_gpu_memory };

// The answer in one line: headline.h.
struct headline {
  standing what = standing::no_gpu_memory;
  std::vector<std::string> parts;       // after it, what matters most first
  std::optional<std::uint32_t> device;  // that it is about
};

// The model of one trace.
struct process_report {
  std::string path;
  headline answer;
  run_facts run;
  trace::completeness completeness;
  replay::stack_counts stacks;
  std::vector<device_report> devices;
  std::vector<oom_report> ooms;
  training_report training;
  std::optional<outside_refusal_report> outside_refusal;
  std::optional<inferred_steps_report> inferred_steps;
  std::vector<program_counter> counters;
  std::vector<optimizer_class> optimizers;
  std::vector<std::string> warnings;  // what the recorder said is missing
  std::vector<replay::unknown_entry_point> unknown_entry_points;
  std::uint64_t pinned_peak = 0;
  fragmentation::pinned_host pinned;
  std::vector<fragmentation::diagnosis> fragmentation;  // by device
  advice::advice_found advice;
  std::vector<estimate::step_share> step_shares;  // by device, where requests were replayed
  host::host_samples host;
  device::shared_memory shared;
  verdicts::findings findings;
  std::vector<change> changes;  // of the pieces of advice, of remedies and habits: the best first
  std::map<trace::stack_id, std::vector<code::source_frame>> verdict_frames;  // of its stacks
  std::optional<history::run_history> history;  // where it was asked for
  std::optional<history::run_fates> fates;      // the same
};

// The models of all traces of a run.
using run_report = std::vector<process_report>;

// The one that ended the program, if one did; else the first; null where there is none.
[[nodiscard]] const oom_report* decisive_oom(const process_report& process);

// The device ran out of memory, and the program did not go on.
[[nodiscard]] bool ran_out(const process_report& process, std::uint32_t device);

// The frames of a stack of the verdicts or of a piece of advice, innermost first; none: not known.
[[nodiscard]] const std::vector<code::source_frame>& frames_at(const process_report& process,
                                                               trace::stack_id stack);

// Null where there is none.
[[nodiscard]] const fragmentation::diagnosis* fragmentation_of(const process_report& process,
                                                               std::uint32_t device);

}  // namespace memtrace::run
