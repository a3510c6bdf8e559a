// SPDX-License-Identifier: Apache-2.0
#include "simulator/libraries/cudnn_backend.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "simulator/core/config.h"
#include "simulator/libraries/cudnn_types.h"

namespace memtrace::simulator::cudnn {
namespace {

using state_pointer = std::shared_ptr<descriptor_state>;

state_pointer finalized(int kind) {
  auto state = std::make_shared<descriptor_state>();
  state->kind = kind;
  state->finalized = true;
  return state;
}

// One engine for every graph.
state_pointer engine_of(const descriptor_state& heuristics) {
  state_pointer engine = finalized(engine_descriptor);
  const std::int64_t index = 0;
  engine->values.set(engine_global_index, type_int64, 1, &index, sizeof index);
  if (const auto graph = heuristics.children.find(heuristics_operation_graph);
      graph != heuristics.children.end()) {
    engine->children[engine_operation_graph] = graph->second;
  }
  return engine;
}

// Attributes that nobody set, but that a finalized descriptor answers all the same.
std::vector<state_pointer> derived_children(const descriptor_state& state, int name) {
  if (state.kind != heuristics_descriptor || name != heuristics_results) return {};
  state_pointer config = finalized(engine_config_descriptor);
  config->children[config_engine] = {engine_of(state)};
  return {config};
}

// True if the attribute is one that the library finds out by itself.
bool derived_number(int name, std::int64_t& to) {
  switch (name) {
    case plan_workspace_bytes:
    case config_workspace_bytes:
      to = static_cast<std::int64_t>(constant(constant_id::cudnn_workspace));
      return true;
    case graph_engine_count:
      to = 1;
      return true;
    case config_shared_memory_bytes:
    case engine_global_index:
      to = 0;
      return true;
    default:
      return false;
  }
}

int put_bytes(const void* from, std::int64_t available, std::size_t element, std::int64_t requested,
              std::int64_t* count, void* to) {
  const std::int64_t copied = std::clamp<std::int64_t>(requested, 0, available);
  // As documented: asking for none tells how many there are.
  if (count != nullptr) *count = available;
  if (to != nullptr) std::memcpy(to, from, static_cast<std::size_t>(copied) * element);
  return success;
}

// The program made the descriptors that are filled.
int put_children(const std::vector<state_pointer>& from, std::int64_t requested,
                 std::int64_t* count, void* to) {
  if (count != nullptr) *count = static_cast<std::int64_t>(from.size());
  auto* const descriptors = static_cast<backend_descriptor**>(to);
  if (descriptors == nullptr) return success;
  const auto filled = std::min<std::size_t>(
      from.size(), static_cast<std::size_t>(std::max<std::int64_t>(requested, 0)));
  for (std::size_t index = 0; index < filled; ++index) {
    if (descriptors[index] == nullptr) return null_pointer;
    descriptors[index]->state = from[index];
  }
  return success;
}

}  // namespace

std::size_t attribute_bytes(int type) {
  switch (type) {
    case type_descriptor:
      return 0;
    case type_handle:
    case type_int64:
    case type_double:
    case type_void_pointer:
    case type_fraction:
      return 8;
    case type_boolean:
    case type_char:
      return 1;
    default:
      return 4;  // floats, 32-bit integers and all the enumerations
  }
}

int set_attribute(descriptor_state& state, int name, int type, std::int64_t count,
                  const void* from) {
  if (state.finalized) return not_initialized;
  if (count < 0 || (count > 0 && from == nullptr)) return bad_param;
  if (type != type_descriptor) {
    state.values.set(name, type, count, from,
                     static_cast<std::size_t>(count) * attribute_bytes(type));
    return success;
  }
  std::vector<state_pointer> children;
  const auto* const descriptors = static_cast<backend_descriptor* const*>(from);
  for (std::int64_t index = 0; index < count; ++index) {
    if (descriptors[index] == nullptr) return null_pointer;
    if (!descriptors[index]->state->finalized) return not_finalized;
    children.push_back(descriptors[index]->state);
  }
  state.children[name] = std::move(children);
  return success;
}

int get_attribute(const descriptor_state& state, int name, int type, std::int64_t requested,
                  std::int64_t* count, void* to) {
  if (!state.finalized) return not_finalized;
  if (type == type_descriptor) {
    const auto set = state.children.find(name);
    return put_children(set == state.children.end() ? derived_children(state, name) : set->second,
                        requested, count, to);
  }
  if (const attribute_value* value = state.values.get(name)) {
    if (value->type != type) return wrong_attribute_type;
    return put_bytes(value->bytes.data(), value->count, attribute_bytes(type), requested, count,
                     to);
  }
  const bool integer = type == type_int64 || type == type_int32;
  if (std::int64_t number = 0; integer && derived_number(name, number)) {
    return put_bytes(&number, 1, attribute_bytes(type), requested, count, to);
  }
  if (name == plan_json && type == type_char) {
    constexpr std::string_view text{"{}\0", 3};
    return put_bytes(text.data(), static_cast<std::int64_t>(text.size()), 1, requested, count, to);
  }
  if (count != nullptr) *count = 0;  // no notes, no knobs, nothing intermediate
  return success;
}

MEMTRACE_API int cudnnBackendCreateDescriptor(int kind, backend_descriptor** to) {
  if (to == nullptr) return null_pointer;
  auto state = std::make_shared<descriptor_state>();
  state->kind = kind;
  *to = new backend_descriptor{std::move(state)};
  return success;
}
MEMTRACE_API int cudnnBackendDestroyDescriptor(backend_descriptor* descriptor) {
  return destroy(descriptor);
}
MEMTRACE_API int cudnnBackendInitialize(backend_descriptor* descriptor) {
  return descriptor == nullptr ? null_pointer : success;
}
MEMTRACE_API int cudnnBackendFinalize(backend_descriptor* descriptor) {
  if (descriptor == nullptr) return null_pointer;
  descriptor->state->finalized = true;
  return success;
}
MEMTRACE_API int cudnnBackendSetAttribute(backend_descriptor* descriptor, int name, int type,
                                          std::int64_t count, const void* from) {
  return descriptor == nullptr ? null_pointer
                               : set_attribute(*descriptor->state, name, type, count, from);
}
MEMTRACE_API int cudnnBackendGetAttribute(const backend_descriptor* descriptor, int name, int type,
                                          std::int64_t requested, std::int64_t* count, void* to) {
  return descriptor == nullptr
             ? null_pointer
             : get_attribute(*descriptor->state, name, type, requested, count, to);
}
MEMTRACE_API int cudnnBackendExecute(const handle* handle, const backend_descriptor* plan,
                                     const backend_descriptor* pack) {
  if (plan == nullptr || pack == nullptr) return null_pointer;
  if (!plan->state->finalized || !pack->state->finalized) return not_finalized;
  return compute(handle);
}

}  // namespace memtrace::simulator::cudnn
