// SPDX-License-Identifier: Apache-2.0
//
// Steps of programs that say nothing about theirs (no optimizer, no call of memtrace_step),
// inferred from the recurrence of their allocations in one pass.
//
// It stops at the first step that the program does mark. What comes back within one call of a model
// (its layers, while its first forward runs out of memory) is no step.
//
//   collect ─► the window is full, or the end ─► find_period ─► follow the anchor
//      ▲                                             │ none        │ it does not come back
//      └─────────────────────────────────────────────┴─────────────┘
//
// Memory: a window of allocations, and eight bytes a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/model/attribution/period_search.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::attribution {

struct inferred_steps {
  std::vector<std::uint64_t> begins;  // event numbers, ascending; empty: no period was found
  std::uint64_t end = 0;              // of the last step: the last event
  double confidence = 0;              // 0…1
  trace::stack_id anchor;             // the innermost frame of this stack begins a step
  // Events at which calls of a model begin, for a program in which nothing comes back: an
  // evaluation that frees next to nothing.
  std::vector<std::uint64_t> calls;
  // A model was called, but no more than twice: nothing can have come back yet.
  bool has_few_calls = false;
  [[nodiscard]] std::uint64_t count() const { return begins.size(); }
  // Allocations before the first step are taken to be part of it, as with steps that are marked.
  [[nodiscard]] std::vector<std::uint64_t> ends() const;
};

class periodicity final : public trace::record_visitor {
 public:
  explicit periodicity(const trace::dictionary& names, std::size_t window = std::size_t{1} << 19)
      : names_(names), window_(window) {}

  void on_allocator(const trace::event& head, const trace::allocator_event& record) override;
  void on_reported(const trace::event& head, const trace::reported_event& record) override;
  void on_report(const trace::report_event& report) override;
  void on_step(const trace::event& head, const trace::step_event& record) override;
  // The program marks a step: nothing is found any more.
  [[nodiscard]] bool is_marked() const { return marked_; }
  [[nodiscard]] inferred_steps finish();

 private:
  [[nodiscard]] std::uint32_t number_of(std::uint64_t key);
  [[nodiscard]] period_item item_of(const trace::event& head, trace::stack_id stack,
                                    std::uint64_t size);
  void allocated(const trace::event& head, trace::stack_id stack, std::uint64_t size);
  [[nodiscard]] bool is_own_layer(const trace::event& head, trace::stack_id stack) const;
  void see_calls(const trace::event& head, trace::stack_id stack);
  void see_layer(const trace::event& head, trace::stack_id stack, std::uint64_t size);
  [[nodiscard]] std::vector<std::uint64_t> calls_of_layer() const;
  bool search();
  void step_begins(const period_item& item);

  const trace::dictionary& names_;
  std::size_t window_;
  std::vector<period_item> items_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // of tokens and sizes
  bool marked_ = false;                                       // the program marks its steps
  std::uint32_t frees_ = 0;
  std::uint64_t live_ = 0;  // as the allocator last said of any device
  std::uint64_t last_event_ = 0;
  std::optional<anchor_test> follow_;
  period_anchor anchor_;
  std::uint64_t since_entry_ = 0;  // allocations, while following
  std::vector<std::uint64_t> begins_;
  std::uint32_t calls_ = 0;        // of a model, begun, as far as allocator events tell
  std::uint32_t calls_apart_ = 0;  // of them, with an event between it and the one before
  std::uint32_t backwards_ = 0;    // passes that began
  bool in_backward_ = false;
  bool in_call_ = false;
  trace::stack_id call_stack_;  // of the first allocation of this call, in this module
  trace::object_id call_module_;
  std::vector<std::uint64_t> call_begins_;
  struct request {
    std::uint64_t event = 0;
    std::uint64_t size = 0;
  };
  trace::stack_id layer_stack_;  // of a layer that is called by itself: an RNN
  std::vector<request> layer_;   // what it asks for there
  std::uint32_t last_call_ = 0;  // in which the latest step begins
  std::uint32_t last_backward_ = 0;
  std::uint64_t within_backwards_ = 0;  // as within_calls_
  std::uint64_t within_calls_ = 0;      // steps that begin in the call in which the one before does
};

}  // namespace memtrace::attribution
