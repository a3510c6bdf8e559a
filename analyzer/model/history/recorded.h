// SPDX-License-Identifier: Apache-2.0
//
// What is kept of a whole run so that a person can look at any moment of it. Sizes are bytes, times
// nanoseconds since the trace was created; nothing refers to the trace any more.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/attribution/result.h"
#include "analyzer/model/history/bands.h"
#include "analyzer/model/history/marks.h"
#include "analyzer/model/history/timeline.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::history {

// Call stacks as a tree; node 0 is the root, the parent of a node is its caller.
struct stack_tree {
  struct node {
    std::uint32_t parent = 0;
    std::uint32_t frame = 0;
  };
  std::vector<node> nodes;
  std::vector<code::source_frame> frames;
};

struct block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requested = 0;  // before rounding; 0: not known
  std::uint64_t born_event = 0;
  std::uint64_t died_event = never;  // never: it lived to the end
  std::uint64_t born_ns = 0;
  std::uint64_t died_ns = 0;  // of those: the end
  std::uint64_t stream = 0;
  std::uint32_t stack = 0;    // nodes of the tree; 0: none
  std::uint32_t forward = 0;  // made in backward: the call whose gradient it was made for
  std::uint32_t module = 0;   // row of device_history::modules
  attribution::category what = attribution::category::unknown;
  attribution::evidence how = attribution::evidence::unknown;
  attribution::phase born_in = attribution::phase::other;
  std::string_view rule;  // a constant
  std::string name;       // of the parameter that it belongs to, …
  [[nodiscard]] double weight() const {
    return static_cast<double>(bytes) * static_cast<double>(died_ns - born_ns);
  }
};

// Blocks that are not kept, by their stack.
struct left_out {
  std::uint32_t stack = 0;
  std::uint64_t blocks = 0;
  std::uint64_t most_bytes = 0;  // the largest of them
  double byte_ns = 0;
};

struct device_history {
  std::uint64_t blocks_recorded = 0;
  std::vector<moment> moments;
  // Of each category at each moment. What no recorded block accounts for is unknown.
  std::vector<attribution::by_category<std::uint64_t>> held;
  std::vector<block> blocks;  // the largest by bytes times lifetime, ascending born_event
  std::vector<left_out> others;
  std::vector<attribution::module_row> modules;  // of which only the names are filled in
  std::vector<band> phases;
  std::vector<mark> marks;
  std::uint64_t marks_left_out = 0;
};

// Of one trace.
struct run_history {
  stack_tree stacks;
  std::map<std::uint32_t, device_history> devices;
  std::uint64_t end_ns = 0;
};

}  // namespace memtrace::history
