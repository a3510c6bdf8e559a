// SPDX-License-Identifier: Apache-2.0
//
// What a report says, worked out once; the terminal and the JSON only render it. Sizes are
// bytes, times nanoseconds; what is not known is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/replay/replay.h"
#include "analyzer/report/frames.h"
#include "analyzer/trace/reader.h"

namespace memtrace::report {

struct run_facts {
  std::vector<std::string> command;
  std::uint64_t pid = 0;
  std::optional<std::uint64_t> rank;
  std::optional<std::uint64_t> local_rank;
  std::optional<std::uint64_t> world_size;
  std::string host;
  std::uint64_t started_ns = 0;  // since 1970
  std::uint64_t duration_ns = 0;
  std::string torch;
  std::string cuda;  // 13.0
  std::string python;
  std::string alloc_conf;
  std::string simulated_gpu;  // empty: a real one
  std::string python_stacks;  // "on", or why they are off
  std::string event_source;
};

// Memory by the place in the program that asked for it.
struct call_site {
  std::vector<source_frame> frames;  // innermost first; empty: no Python frame was running
  std::string thread;                // name, where there are no frames
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t sites = 1;  // more: the smallest ones together, without frames, as the last entry
};

struct outside_holder {
  std::string owner;
  std::uint64_t bytes = 0;
};

struct device_report {
  trace::device_facts facts;
  std::string name;
  std::uint64_t events = 0;
  // No allocator event was recorded, as with the cudaMallocAsync backend: the peak is that of the
  // CUDA calls, and what is reserved is not known.
  bool from_cuda_calls = false;
  replay::moment peak_allocated;
  replay::moment peak_reserved;
  std::vector<call_site> at_peak;        // most bytes first
  std::uint64_t unattributed_bytes = 0;  // of the peak: allocated before the recording, or lost
  std::vector<outside_holder> outside;
  std::uint64_t retries = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t unknown_frees = 0;
  bool checked = false;  // the allocator's totals were there to compare with
};

struct oom_report {
  replay::out_of_memory facts;
  std::optional<std::uint64_t> capacity;
  std::vector<source_frame> frames;
  std::string thread;
  std::vector<call_site> holders;  // most bytes first
};

// Of one trace.
struct process_report {
  std::string path;
  run_facts run;
  trace::completeness completeness;
  replay::stack_counts stacks;
  std::vector<device_report> devices;
  std::vector<oom_report> ooms;
  std::vector<std::string> warnings;  // what the recorder said is missing
  std::uint64_t pinned_peak = 0;
};

// Of all traces of a run.
using run_report = std::vector<process_report>;

[[nodiscard]] process_report build_process(const std::string& path, const trace::reader& reader,
                                           const trace::completeness& completeness,
                                           const replay::replayer& replayed);

}  // namespace memtrace::report
