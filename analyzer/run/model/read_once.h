// SPDX-License-Identifier: Apache-2.0
//
// One pass over a trace: all who observe its records, and the report of what they saw. What needs
// the requests of the whole run (`allocators`) is concluded after the last pass.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/model/attribution/attributor.h"
#include "analyzer/model/replay/replay.h"
#include "analyzer/run/model/allocator_pass.h"
#include "analyzer/run/model/model.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::run {

using on_progress_t = std::function<void(const trace::progress&)>;

// Where verdicts see steps end, in programs that do not tell.
struct steps_given {
  std::vector<std::uint64_t> ends;  // events
  std::string unit = "step";
};

struct pass {
  // What its findings refer to.
  std::unique_ptr<trace::reader> reader;  // null: the caller's
  std::unique_ptr<replay::replayer> replayed;
  std::unique_ptr<allocator_pass> allocators;
  attribution::result attributed;
  process_report report;
  std::uint64_t allocations = 0;
  std::uint64_t last_allocation = 0;  // its event
};

// What goes into the report beside what it says.
struct also_kept {
  bool history = false;
  bool fates = false;
};

// The reader's first reading.
[[nodiscard]] pass read_once(const std::string& path, trace::reader& reader,
                             attribution::options wanted, const steps_given& given, also_kept also,
                             const on_progress_t& on_progress);

}  // namespace memtrace::run
