// SPDX-License-Identifier: Apache-2.0
//
// Records what PyTorch's global optimizer hooks report: the phase, gradients that autograd did not
// tell of, the optimizer's states when they have changed, the step. Reads addresses only; nothing
// of the program is kept.
#include <unordered_map>

#include "interpose/ground/recorder/told_storages.h"
#include "interpose/sight/agent/bridge.h"
#include "interpose/sight/agent/optimizer_values.h"
#include "interpose/sight/agent/published_memory.h"
#include "interpose/sight/agent/running_steps.h"
#include "interpose/sight/agent/seen_optimizer.h"
#include "interpose/sight/agent/storage_batch.h"
#include "interpose/sight/agent/tensor_names.h"
#include "interpose/sight/python/python_stack.h"

namespace memtrace::agent {

namespace {

using format::storage_role;

// As it was at its last step.
struct seen_optimizer {
  seen_parameters parameters;
  bool has_new_parameters = false;       // since gradients were recorded
  std::uint64_t parameter_removals = 0;  // of published_memory
  std::uint64_t parameter_names = 0;     // version
  seen_states states;
  std::uint64_t state_removals = 0;
  std::uint64_t state_names = 0;
};

// Never destroyed: threads outlive exit().
std::unordered_map<std::uint64_t, seen_optimizer>& all_optimizers =
    *new std::unordered_map<std::uint64_t, seen_optimizer>;

seen_optimizer& seen_at(recorder& to, std::uint64_t optimizer) {
  if (the_tensor_names().follow(to)) all_optimizers.clear();
  return all_optimizers[optimizer];
}

// Whether blocks that stand in the recording were freed since; then some of these may be gone.
bool are_published(const std::vector<std::uint64_t>& addresses, std::uint64_t& seen_removals) {
  const std::uint64_t removals = the_published_memory.removals();
  if (removals == seen_removals) return true;
  seen_removals = removals;
  return the_published_memory.has(addresses);
}

void record_states(recorder& to, std::uint64_t optimizer, py groups, py state) {
  const tensor_names& names = the_tensor_names();
  std::vector<storage_event> events;
  const std::uint32_t object = to.object_id(optimizer);
  for_each_state(groups, state, [&](py owner, std::string_view key, py tensor) {
    for_each_storage(tensor, [&](const gpu_storage& storage) {
      events.push_back({.role = storage_role::optimizer_state,
                        .address = storage.address,
                        .bytes = storage.bytes,
                        .name = names.find(address_of(owner)),
                        .detail = key.empty() ? 0 : to.text_id(key),
                        .object = object});
      the_published_memory.add(storage.address);
    });
  });
  to.storages(events);
}

bool is_told(std::uint64_t gradient) {
  return the_told_storages.contains(gradient, storage_role::leaf_gradient) ||
         the_told_storages.contains(gradient, storage_role::gradient);
}

}  // namespace

bool begin_step(recorder& to, py optimizer, std::string_view type, py groups) {
  const std::uint64_t address = address_of(optimizer);
  // This one's call is on the stack; others that are not have been ended by exceptions.
  const unsigned calls = python_stack::capture_place(to).steps;
  if (calls != 0 && calls != python_stack::unknown_steps) abandon_steps(to, calls - 1);
  begin_running_step(to, address, to.text_id(type));
  if (!autograd::is_confirmed()) return false;
  seen_optimizer& seen = seen_at(to, address);
  const bool same = seen.parameters.are_in(groups);
  if (same && are_published(seen.parameters.addresses(), seen.parameter_removals)) return false;
  if (!same) seen.parameters.keep(groups);
  seen.has_new_parameters = true;
  return true;
}

void record_nameless(recorder& to, py optimizer, py groups) {
  if (!autograd::is_confirmed()) return;
  tensor_names& names = the_tensor_names();
  names.begin_root(address_of(optimizer));
  storage_batch batch;
  for_each_parameter(groups, [&](py parameter, const parameter_place& place) {
    if (names.find(address_of(parameter)) != 0) return;
    const std::string name = place.name();
    names.add(address_of(parameter), to.text_id(name));
    for_each_storage(parameter, [&](const gpu_storage& storage) {
      batch.add({storage_role::parameter, storage, name, {}, format::storage_trainable});
    });
  });
  batch.record(to, 0);
}

// Autograd tells of those that it accumulates, by the leaf: what is left are those that the program
// sets, and all of them where the leaf may have had no name then.
void record_gradients(recorder& to, py optimizer, py groups) {
  if (!autograd::is_confirmed()) return;
  seen_optimizer& seen = seen_at(to, address_of(optimizer));
  const tensor_names& names = the_tensor_names();
  const bool all = seen.has_new_parameters || seen.parameter_names != names.version();
  seen.has_new_parameters = false;
  seen.parameter_names = names.version();
  std::vector<storage_event> events;
  for_each_parameter(groups, [&](py parameter, const parameter_place&) {
    for_each_gradient(parameter, [&](const gpu_storage& storage) {
      if (!all && is_told(storage.address)) return;
      events.push_back({.role = storage_role::gradient,
                        .address = storage.address,
                        .bytes = storage.bytes,
                        .name = names.find(address_of(parameter))});
    });
  });
  if (events.empty() || !to.storages(events)) return;
  for (const storage_event& event : events) the_told_storages.add(event.address, event.role);
}

void end_step(recorder& to, py optimizer, std::string_view type, py groups, py state) {
  const std::uint64_t address = address_of(optimizer);
  if (autograd::is_confirmed()) {
    seen_optimizer& seen = seen_at(to, address);
    const std::uint64_t names = the_tensor_names().version();
    const bool same = seen.states.are_in(groups, state);
    if (!same) seen.states.keep(groups, state);
    const bool published = are_published(seen.states.addresses(), seen.state_removals);
    if (!same || !published || names != seen.state_names) {
      record_states(to, address, groups, state);
      seen.state_names = names;
    }
  }
  end_running_step(to, address);
  to.step({.source = format::step_source::optimizer,
           .object = to.object_id(address),
           .name = to.text_id(type)});
}

}  // namespace memtrace::agent
