// SPDX-License-Identifier: Apache-2.0
//
// The GPU memory in a trace of torch.profiler's (Kineto): a row for each block that was
// allocated or freed, with the allocator's totals after it, and the marks of steps and optimizers.
// Sizes are bytes, of blocks as the allocator rounds them; times are nanoseconds on its clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/error.h"

namespace memtrace::snapshot {

struct profiler_event {
  std::uint64_t time_ns = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;  // negative: freed
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
  std::uint32_t device = 0;
  std::uint32_t thread = 0;  // number in `threads`
};

struct profiler_mark {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::string optimizer;  // its class; empty: a step of the profiler's
};

struct profiler_device {
  std::string name;
  std::uint64_t total_bytes = 0;
};

struct profiler_contents {
  static constexpr std::size_t most_events = std::size_t{1} << 25;
  static constexpr std::size_t most_marks = std::size_t{1} << 20;
  static constexpr std::size_t most_threads = 4096;

  std::vector<profiler_event> events;  // as the file has them, which is not by time
  std::vector<profiler_mark> marks;
  std::map<std::uint64_t, std::uint32_t> threads;  // number by the system's id; 0: any other
  std::set<std::uint64_t> autograd;                // threads that ran nodes of a backward pass
  std::set<std::uint64_t> programs;                // threads with marks: the program's own
  std::map<std::uint32_t, profiler_device> devices;
  std::optional<std::uint64_t> base_ns;  // since 1970, when the clock was 0
  std::optional<std::uint64_t> rank;
  std::optional<std::uint64_t> world_size;
  std::uint64_t others = 0;   // memory events of other devices than GPUs: the CPU
  std::uint64_t skipped = 0;  // memory events that lack what they need
};

// Reads what prof.export_chrome_trace() writes, from its start to its end without ever holding it:
// of each event what memory needs, and nothing else. Other JSON is refused with what it is.
// Errors: corrupt_snapshot, not_a_snapshot.
[[nodiscard]] trace::status read_profiler_trace(
    trace::byte_source& source, profiler_contents& to,
    const std::function<void(std::uint64_t, std::uint64_t)>& on_progress = {});

}  // namespace memtrace::snapshot
