// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/running_steps.h"

#include "interpose/sight/autograd/scope.h"

namespace memtrace::agent {

thread_local constinit unsigned detail::running_step_count = 0;

namespace {

using detail::running_step_count;

struct running_step {
  std::uint64_t optimizer;
  std::uint32_t type;
};

// Deeper ones are not told apart.
constexpr unsigned most_nested = 8;
thread_local constinit running_step running[most_nested]{};

void record_phase(recorder& to, format::phase_action action, const running_step& step) noexcept {
  to.phase({.action = action,
            .source = format::phase_source::optimizer_step,
            .object = to.object_id(step.optimizer),
            .name = step.type});
}

unsigned depth_of(std::uint64_t optimizer) noexcept {
  for (unsigned i = 0; i < running_step_count; ++i) {
    if (running[i].optimizer == optimizer) return i;
  }
  return running_step_count;
}

}  // namespace

void begin_running_step(recorder& to, std::uint64_t optimizer, std::uint32_t type) noexcept {
  abandon_steps(to, depth_of(optimizer));
  if (running_step_count == most_nested) return;
  running[running_step_count] = {optimizer, type};
  record_phase(to, format::phase_action::begin, running[running_step_count++]);
  autograd::enter_optimizer();
}

void end_running_step(recorder& to, std::uint64_t optimizer) noexcept {
  abandon_steps(to, depth_of(optimizer));
}

void abandon_steps(recorder& to, unsigned depth) noexcept {
  while (running_step_count > depth) {
    record_phase(to, format::phase_action::end, running[--running_step_count]);
    autograd::leave_optimizer();
  }
}

}  // namespace memtrace::agent
