// SPDX-License-Identifier: Apache-2.0
//
// Finds the period of a stretch of allocations: the place in the program that they pass once a
// period, so that what lies between two passes is always the same.
//
//   line 12  12  14  14  15  │ 12  12  14  14  15  │ 12  12  14 …      one step: 12 12 14 14 15
//            └ anchor: entered here                └ and here
//
// Every place whose code runs repeatedly is a candidate: a frame of the stacks (with all that it
// calls), a whole stack, and where there are no stacks, a size. The intervals between its
// entries are compared as bags of tokens with their median: order within a step does not matter,
// and neither does a step now and then that does more (an evaluation, a log line).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::attribution {

// One allocation, as the search needs it.
struct period_item {
  std::uint64_t event = 0;
  std::uint64_t live = 0;         // allocated bytes before it, as far as known
  trace::stack_id stack;          // none: on a thread of autograd, or without Python
  std::uint32_t token = 0;        // what it is compared by, numbered from 0
  std::uint32_t size_number = 0;  // of its exact size, for those without a stack; 0: not used
  std::uint32_t frees = 0;        // so far
  trace::thread_id thread;
  std::uint32_t call = 0;      // of a model, by number, in which it happened; 0: in none
  std::uint32_t backward = 0;  // the backward pass, likewise
  bool in_module = false;      // an nn.Module was running
};

struct period_anchor {
  enum class kind { frame, stack, size };
  kind by{};
  std::uint32_t number = 0;  // of the stack, or of the size
  std::uint64_t entries = 0;
  double explained = 0;  // share of the allocations between entries that the median step has too
};

// Nothing where no place explains most of what is between its entries.
[[nodiscard]] std::optional<period_anchor> find_period(const trace::dictionary& names,
                                                       std::span<const period_item> items);

// Whether the anchor's code runs in an allocation.
class anchor_test {
 public:
  anchor_test(const trace::dictionary& names, const period_anchor& anchor)
      : names_(&names), anchor_(anchor) {}
  // True when this allocation enters it; to be asked in order.
  [[nodiscard]] bool enters(const period_item& item);

 private:
  [[nodiscard]] bool is_below(trace::stack_id stack);

  const trace::dictionary* names_;
  period_anchor anchor_;
  std::vector<std::uint8_t> below_;   // by stack: 0 not asked yet, 1 no, 2 yes
  std::vector<std::uint8_t> inside_;  // by thread: its latest allocation was in the anchor
};

}  // namespace memtrace::attribution
