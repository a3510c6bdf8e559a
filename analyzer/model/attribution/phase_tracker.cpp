// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/phase_tracker.h"

#include <algorithm>
#include <cstddef>

#include "analyzer/model/replay/replay.h"

namespace memtrace::attribution {

namespace {

constexpr std::size_t deepest_nesting = 64;  // of phases in a thread; a damaged trace's limit

// Between the modules of a checkpointed function. A backward pass inside a checkpoint (the
// re-entrant kind) has its frames, too, but records no gradient.
[[nodiscard]] bool recomputes(const trace::event& head, const stack_marks& marks) {
  return (marks.any & mark::checkpoint) != 0 && (head.scope.flags & format::scope_grad) != 0;
}

}  // namespace

phase_tracker::thread_state& phase_tracker::of(trace::thread_id thread) {
  if (thread.value >= threads_.size()) threads_.resize(thread.value + std::size_t{1});
  auto& state = threads_[thread.value];
  if (!state.named) {
    state.named = true;
    state.is_autograd = replay::is_backward_thread(names_, thread);
  }
  return state;
}

bool phase_tracker::in_backward(const trace::event& head) {
  return head.scope.in_backward() || of(head.thread).is_autograd;
}

bool phase_tracker::module_runs(const trace::event& head, const stack_marks& marks,
                                bool backward) const {
  if (!scoped_) return (marks.any & mark::module_call) != 0;
  if (!head.scope.root && !head.scope.module) return false;
  return !backward || (head.scope.flags & format::scope_recompute) != 0;
}

// Calls of the same root one after another without an event in between look like one.
void phase_tracker::follow_call(const trace::event& head, thread_state& thread, bool runs) {
  const auto root = runs ? head.scope.root : trace::object_id{};
  if (root == thread.root) return;
  thread.root = root;
  thread.call = root ? ++last_call_ : 0;
  thread.call_records = false;
  if (root) ++passes_.calls;
}

void phase_tracker::follow_backward(bool backward) {
  if (open_backwards_ != 0) return;
  if (backward == unannounced_backward_) return;
  unannounced_backward_ = backward;
  ++(backward ? passes_.backwards_begun : passes_.backwards_ended);
}

// Compiled code of which a backward pass will be asked: it runs in a Function of its own, which
// records no gradients, and without frames of modules.
[[nodiscard]] bool trains_compiled(const stack_marks& marks) {
  constexpr auto both = mark::compiled_forward | mark::custom_function;
  return (marks.any & both) == both;
}

// Inside a call that records gradients some things run without: custom Functions, checkpointed
// regions, FSDP's hooks.
phase phase_tracker::in_model(const trace::event& head, const stack_marks& marks,
                              const thread_state& thread) const {
  const bool grad = !scoped_ || thread.call_records || trains_compiled(marks) ||
                    (head.scope.flags & format::scope_grad) != 0;
  const bool inference = (head.scope.flags & format::scope_inference) != 0;
  return grad && !inference ? phase::forward : phase::evaluation;
}

phase phase_tracker::classify(const trace::event& head, const stack_marks& marks,
                              const thread_state& thread) {
  const bool backward = head.scope.in_backward() || thread.is_autograd;
  const bool steps = (head.scope.flags & format::scope_optimizer) != 0;
  if (backward) {
    const bool inner =
        steps && !thread.open.empty() && thread.open.back() == format::phase_source::optimizer_step;
    return inner ? phase::optimizer : phase::backward;
  }
  const bool runs = module_runs(head, marks, false);
  const bool in_call = marks.activity == mark::module_call || (!steps && marks.activity == 0);
  if (in_call && (runs || trains_compiled(marks))) {
    return in_model(head, marks, thread);
  }
  if (marks.activity == mark::zero_grad) return phase::zero_grad;
  if (marks.activity == mark::data_loading) return phase::data_loading;
  if (marks.activity == mark::optimizer || marks.activity == mark::update_helper) {
    return phase::optimizer;
  }
  if (steps) return forward_goes_on(thread) ? phase::forward : phase::optimizer;
  if (forward_goes_on(thread)) return phase::forward;
  return started_ ? phase::other : phase::setup;
}

// Outside of modules, too.
bool phase_tracker::evaluates(const trace::event& head, phase now, thread_state& thread) const {
  if (now == phase::evaluation) {
    thread.evaluated = true;
  } else if (now != phase::other && now != phase::data_loading) {
    thread.evaluated = false;
  }
  return thread.evaluated && scoped_ && now == phase::other &&
         (head.scope.flags & format::scope_grad) == 0;
}

void phase_tracker::follow_phase(phase now, thread_state& thread, bool runs) {
  const bool was_optimizer = thread.optimizer;
  thread.optimizer = now == phase::optimizer;
  if (now == phase::forward) {
    thread.call_records = true;
    if (!forward_goes_on(thread) && !runs) ++passes_.calls;
    thread.forward = true;
    thread.forward_since = passes_.backwards_begun;
  } else if (now != phase::backward) {
    thread.forward = false;
  }
  const bool told =
      std::ranges::find(thread.open, format::phase_source::optimizer_step) != thread.open.end();
  if (thread.optimizer && !was_optimizer && !told) ++passes_.optimizer_steps;
  if (now != phase::other && now != phase::setup && now != phase::data_loading) started_ = true;
}

place phase_tracker::at_allocation(const trace::event& head, const stack_marks& marks) {
  scoped_ = scoped_ || head.scope.flags != 0 || head.scope.root;
  auto& thread = of(head.thread);
  const bool backward = head.scope.in_backward() || thread.is_autograd;
  const bool runs = module_runs(head, marks, backward);
  follow_backward(backward);
  follow_call(head, thread, runs);
  place found;
  found.during = classify(head, marks, thread);
  follow_phase(found.during, thread, runs);
  found.evaluating = evaluates(head, found.during, thread);
  if (runs && (head.scope.flags & format::scope_autocast) != 0) autocast_seen_ = true;
  found.recompute = found.during == phase::backward && (runs || recomputes(head, marks));
  found.call = thread.call;
  found.passes = passes_;
  return found;
}

place phase_tracker::at_free(const trace::event& head, const stack_marks& marks) {
  auto& thread = of(head.thread);
  const bool backward = head.scope.in_backward() || thread.is_autograd;
  follow_backward(backward);
  follow_call(head, thread, module_runs(head, marks, backward));
  place found;
  found.during = classify(head, marks, thread);
  found.call = thread.call;
  found.passes = passes_;
  return found;
}

void phase_tracker::on_phase(const trace::event& head, const trace::phase_event& record) {
  const bool backward = record.source == format::phase_source::backward;
  if (!backward && record.source != format::phase_source::optimizer_step) return;
  auto& thread = of(head.thread);
  started_ = true;
  thread.evaluated = false;
  if (record.action == format::phase_action::begin) {
    if (thread.open.size() < deepest_nesting) thread.open.push_back(record.source);
    if (!backward) {
      ++passes_.optimizer_steps;
      return;
    }
    // A model that was running has returned (or goes on later, as another call).
    thread.root = {};
    thread.call = 0;
    if (open_backwards_++ == 0 && !unannounced_backward_) ++passes_.backwards_begun;
    unannounced_backward_ = false;
  } else if (record.action == format::phase_action::end) {
    if (!thread.open.empty() && thread.open.back() == record.source) thread.open.pop_back();
    if (backward && open_backwards_ != 0 && --open_backwards_ == 0) ++passes_.backwards_ended;
  }
}

void phase_tracker::on_saved(const trace::event& next) {
  auto& thread = of(next.thread);
  if (thread.is_autograd || open_backwards_ != 0 || unannounced_backward_) return;
  if (!forward_goes_on(thread) && thread.call == 0) ++passes_.calls;
  thread.forward = true;
  thread.forward_since = passes_.backwards_begun;
  started_ = true;
}

}  // namespace memtrace::attribution
