// SPDX-License-Identifier: Apache-2.0
//
// The parts that live with this process's recording, and the library's constructor, which knows
// them all. A part stands behind those that it builds on at any moment:
//
//   open     what the run is, before anything that happens in it
//   start    what happened before the recording, then whoever records on its own account
//   finish   the sampler's thread first, so that nothing comes behind the parts' last words; the
//            program's source last, which they may still name files of
//   fork     in any order: each forgets what is its own
#include "interpose/ground/session/parts.h"

#include "interpose/door/api/expectations.h"
#include "interpose/door/api/nvtx.h"
#include "interpose/door/api/open_phases.h"
#include "interpose/door/cupti/witness.h"
#include "interpose/door/entry/allocator_calls.h"
#include "interpose/door/entry/run_facts.h"
#include "interpose/door/sampler/sampler.h"
#include "interpose/ground/driver/known_memory.h"
#include "interpose/ground/driver/native_stack.h"
#include "interpose/ground/loader/unknown_names.h"
#include "interpose/ground/session/refusals.h"
#include "interpose/sight/agent/agent.h"
#include "interpose/sight/agent/heap_scan_moments.h"
#include "interpose/sight/autograd/running_node.h"
#include "interpose/sight/autograd/status.h"

namespace memtrace {
namespace {

constexpr session::part parts[] = {
    {.name = "run facts",
     .load = note_environment,
     .open = record_run_facts,
     .finish = record_own_settings},
    {.name = "refusals", .start = refusals::record_earlier},
    {.name = "allocator settings", .open = allocator_settings::record_earlier},
    {.name = "known memory", .in_forked_child = known_memory::in_forked_child},
    {.name = "native stacks", .in_forked_child = native_stack::in_forked_child},
    {.name = "nvtx", .load = nvtx::offer},
    {.name = "phases", .start = open_phases::record_earlier},
    {.name = "expectations", .start = expectations::record_earlier},
    {.name = "unknown names", .start = unknown_names::record_earlier},
    {.name = "sampler",
     .load = sampler::load,
     .in_forked_child = sampler::in_forked_child,
     .start = sampler::start,
     .finish = sampler::finish},
    {.name = "cupti",
     .load = cupti::load,
     .in_forked_child = cupti::in_forked_child,
     .start = cupti::record_state},
    {.name = "python stacks", .finish = record_python_news},
    {.name = "agent", .in_forked_child = agent::in_forked_child, .finish = agent::record_at_end},
    {.name = "census",
     .load = heap_scan_moments::load,
     .in_forked_child = heap_scan_moments::in_forked_child},
    {.name = "autograd",
     .in_forked_child = autograd::in_forked_child,
     .finish = autograd::status::record_at_end},
    {.name = "source",
     .load = program_sources::load,
     .in_forked_child = program_sources::in_forked_child,
     .open = program_sources::open,
     .finish = program_sources::finish},
};

[[gnu::constructor]] void on_load() {
  session::load(parts);
}

}  // namespace
}  // namespace memtrace
