// SPDX-License-Identifier: Apache-2.0
//
// In which phase of training each thread is, event by event: from the scope of the event, the
// phase records and the frames of its stack. Phases nest (a closure runs forward and backward
// inside an optimizer's step): the innermost counts.
//
//   setup ─► forward ──────────────────────► backward ─► optimizer ─► other ─► forward …
//            a module runs │ loss, outside
//                          │ of modules, counts as forward until backward begins
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/attribution/block_life.h"
#include "analyzer/model/attribution/frame_marks.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::attribution {

class phase_tracker {
 public:
  explicit phase_tracker(const trace::dictionary& names) : names_(names) {}

  // In the order of the trace; `marks` are those of the event's stack.
  [[nodiscard]] place at_allocation(const trace::event& head, const stack_marks& marks);
  [[nodiscard]] place at_free(const trace::event& head, const stack_marks& marks);
  void on_phase(const trace::event& head, const trace::phase_event& record);
  void on_saved(const trace::event& next);  // autograd keeps a tensor: a forward runs
  void on_refusal() { ++passes_.refusals; }

  [[nodiscard]] const pass_counts& passes() const { return passes_; }
  [[nodiscard]] bool call_runs(trace::thread_id thread, std::uint32_t call) const {
    return call != 0 && thread.value < threads_.size() && threads_[thread.value].call == call;
  }
  [[nodiscard]] bool in_backward(const trace::event& head);
  [[nodiscard]] bool autocast_seen() const { return autocast_seen_; }
  [[nodiscard]] bool backward_seen() const { return passes_.backwards_begun != 0; }

 private:
  struct thread_state {
    trace::object_id root;
    std::uint32_t call = 0;
    bool call_records = false;  // gradients, somewhere in this call
    bool named = false;         // is_autograd is known
    bool is_autograd = false;
    bool evaluated = false;  // a model, since it trained last
    bool forward = false;    // runs, and has run since backwards_begun was
    std::uint32_t forward_since = 0;
    bool optimizer = false;                  // its latest allocation was made in an optimizer
    std::vector<format::phase_source> open;  // backward and optimizer_step, innermost last
  };

  [[nodiscard]] thread_state& of(trace::thread_id thread);
  [[nodiscard]] phase classify(const trace::event& head, const stack_marks& marks,
                               const thread_state& thread);
  [[nodiscard]] phase in_model(const trace::event& head, const stack_marks& marks,
                               const thread_state& thread) const;
  [[nodiscard]] bool module_runs(const trace::event& head, const stack_marks& marks,
                                 bool backward) const;
  void follow_call(const trace::event& head, thread_state& thread, bool runs);
  void follow_backward(bool backward);
  [[nodiscard]] bool evaluates(const trace::event& head, phase now, thread_state& thread) const;
  void follow_phase(phase now, thread_state& thread, bool runs);
  [[nodiscard]] bool forward_goes_on(const thread_state& thread) const {
    return thread.forward && thread.forward_since == passes_.backwards_begun;
  }

  const trace::dictionary& names_;
  std::vector<thread_state> threads_;
  pass_counts passes_;
  std::uint32_t last_call_ = 0;
  std::uint32_t open_backwards_ = 0;   // by records
  bool unannounced_backward_ = false;  // one runs that no record told of
  bool started_ = false;               // setup is over
  bool scoped_ = false;                // events have scopes: the recorder knows modules
  bool autocast_seen_ = false;
};

}  // namespace memtrace::attribution
