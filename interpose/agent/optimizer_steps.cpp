// SPDX-License-Identifier: Apache-2.0
#include "interpose/agent/optimizer_steps.h"

#include <unordered_map>

#include "interpose/agent/optimizer_values.h"
#include "interpose/agent/published_memory.h"
#include "interpose/agent/running_steps.h"
#include "interpose/agent/storage_batch.h"
#include "interpose/agent/tensor_names.h"
#include "interpose/python/python_stack.h"

namespace memtrace::agent {

namespace {

using format::storage_role;

// As they were at the optimizer's last step.
struct seen_optimizer {
  std::uint64_t parameters = 0;  // hashes
  std::uint64_t states = 0;
  std::uint64_t removals = 0;  // of published_memory
  std::uint64_t names = 0;     // version
};

std::unordered_map<std::uint64_t, seen_optimizer>& seen_optimizers() {
  // Never destroyed: threads outlive exit().
  static auto& seen = *new std::unordered_map<std::uint64_t, seen_optimizer>;
  return seen;
}

class address_hash {
 public:
  void add(std::uint64_t word) noexcept {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15u;
    value_ ^= value_ >> 29;
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0x243f6a8885a308d3u;
};

std::uint64_t hash_of_parameters(py groups) {
  address_hash hash;
  for_each_parameter(groups, [&](py parameter, const parameter_place&) {
    hash.add(address_of(parameter));
    for_each_storage(parameter, [&](const gpu_storage& storage) { hash.add(storage.address); });
  });
  return hash.value();
}

std::uint64_t hash_of_states(py groups, py state) {
  address_hash hash;
  for_each_state(groups, state, [&](py, std::string_view, py tensor) {
    hash.add(address_of(tensor));
    for_each_storage(tensor, [&](const gpu_storage& storage) { hash.add(storage.address); });
  });
  return hash.value();
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

}  // namespace

bool begin_step(recorder& to, py optimizer, std::string_view type, py groups) {
  const std::uint64_t address = address_of(optimizer);
  // This one's call is on the stack; others that are not have been ended by exceptions.
  const unsigned calls = python_stack::capture_place(to).steps;
  if (calls != 0 && calls != python_stack::unknown_steps) abandon_steps(to, calls - 1);
  begin_running_step(to, address, to.text_id(type));
  if (!autograd::is_confirmed()) return false;
  if (the_tensor_names().follow(to)) seen_optimizers().clear();
  seen_optimizer& seen = seen_optimizers()[address];
  const std::uint64_t now = hash_of_parameters(groups);
  const bool changed = seen.parameters != now;
  seen.parameters = now;
  return changed;
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

void record_gradients(recorder& to, py groups) {
  if (!autograd::is_confirmed()) return;
  const tensor_names& names = the_tensor_names();
  std::vector<storage_event> events;
  for_each_parameter(groups, [&](py parameter, const parameter_place&) {
    for_each_gradient(parameter, [&](const gpu_storage& storage) {
      events.push_back({.role = storage_role::gradient,
                        .address = storage.address,
                        .bytes = storage.bytes,
                        .name = names.find(address_of(parameter))});
    });
  });
  to.storages(events);
}

void end_step(recorder& to, py optimizer, std::string_view type, py groups, py state) {
  const std::uint64_t address = address_of(optimizer);
  if (autograd::is_confirmed()) {
    const tensor_names& names = the_tensor_names();
    the_tensor_names().follow(to);
    seen_optimizer& seen = seen_optimizers()[address];
    const std::uint64_t now = hash_of_states(groups, state);
    const std::uint64_t removals = the_published_memory.removals();
    if (now != seen.states || removals != seen.removals || names.version() != seen.names) {
      record_states(to, address, groups, state);
    }
    seen.states = now;
    seen.removals = removals;
    seen.names = names.version();
  }
  end_running_step(to, address);
  to.step({.source = format::step_source::optimizer,
           .object = to.object_id(address),
           .name = to.text_id(type)});
}

}  // namespace memtrace::agent
