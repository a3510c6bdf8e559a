// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/api/open_phases.h"

#include <algorithm>

#include "interpose/ground/session/session.h"

namespace memtrace::open_phases {
namespace {

using format::phase_action;
using format::phase_source;

struct stack {
  phase_source source;
  std::uint32_t depth = 0;
  std::uint32_t recorded = 0;    // that many of the outer ones
  std::uint32_t generation = 0;  // of the recording that has them
  const names::name* open[max_depth]{};
};

thread_local constinit stack of_api{.source = phase_source::user};
thread_local constinit stack of_nvtx{.source = phase_source::nvtx};

stack& stack_of(phase_source source) noexcept {
  return source == phase_source::nvtx ? of_nvtx : of_api;
}

void tell(recorder& to, const stack& phases, std::uint32_t level, phase_action action) noexcept {
  to.phase(
      {.action = action, .source = phases.source, .name = names::text_id(to, phases.open[level])});
}

void record_open(recorder& to, stack& phases) noexcept {
  if (phases.generation != to.generation()) phases.recorded = 0;
  phases.generation = to.generation();
  const std::uint32_t kept = std::min(phases.depth, max_depth);
  for (; phases.recorded < kept; ++phases.recorded) {
    tell(to, phases, phases.recorded, phase_action::begin);
  }
}

}  // namespace

void begin(phase_source source, const names::name* name) noexcept {
  stack& phases = stack_of(source);
  if (phases.depth < max_depth) phases.open[phases.depth] = name;
  ++phases.depth;
  if (recorder* const to = session::active(); to != nullptr) record_open(*to, phases);
}

void end(phase_source source) noexcept {
  stack& phases = stack_of(source);
  if (phases.depth == 0) return;
  --phases.depth;
  if (phases.recorded <= phases.depth) return;
  phases.recorded = phases.depth;
  recorder* const to = session::active();
  if (to == nullptr || to->generation() != phases.generation) return;
  tell(*to, phases, phases.depth, phase_action::end);
}

void record_earlier(recorder& to) noexcept {
  record_open(to, of_api);
  record_open(to, of_nvtx);
}

}  // namespace memtrace::open_phases
