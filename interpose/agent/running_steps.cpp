// SPDX-License-Identifier: Apache-2.0
#include "interpose/agent/running_steps.h"

#include "interpose/autograd/optimizer_depth.h"

namespace memtrace::agent {

namespace {

struct running_step {
  std::uint64_t optimizer;
  std::uint32_t type;
};

// Deeper ones are not told apart.
constexpr unsigned most_nested = 8;
thread_local constinit running_step running[most_nested]{};
thread_local constinit unsigned count = 0;

void record_phase(recorder& to, format::phase_action action, const running_step& step) noexcept {
  to.phase({.action = action,
            .source = format::phase_source::optimizer_step,
            .object = to.object_id(step.optimizer),
            .name = step.type});
}

unsigned depth_of(std::uint64_t optimizer) noexcept {
  for (unsigned i = 0; i < count; ++i) {
    if (running[i].optimizer == optimizer) return i;
  }
  return count;
}

}  // namespace

void begin_running_step(recorder& to, std::uint64_t optimizer, std::uint32_t type) noexcept {
  abandon_steps(to, depth_of(optimizer));
  if (count == most_nested) return;
  running[count] = {optimizer, type};
  record_phase(to, format::phase_action::begin, running[count++]);
  autograd::enter_optimizer();
}

void end_running_step(recorder& to, std::uint64_t optimizer) noexcept {
  abandon_steps(to, depth_of(optimizer));
}

unsigned running_steps() noexcept {
  return count;
}

void abandon_steps(recorder& to, unsigned depth) noexcept {
  while (count > depth) {
    record_phase(to, format::phase_action::end, running[--count]);
    autograd::leave_optimizer();
  }
}

}  // namespace memtrace::agent
