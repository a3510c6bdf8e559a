// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/audit/collector.h"

namespace memtrace::audit {

namespace {

using format::cuda_effect;

// An effect for which CUPTI has no memory record by its documentation, in words. Null: it has one.
[[nodiscard]] const char* only_hooks_see(cuda_effect effect) {
  switch (effect) {
    case cuda_effect::registered:
      return "registered host memory";
    case cuda_effect::physical:
      return "physical memory (cuMemCreate)";
    case cuda_effect::map:
      return "mapped memory (cuMemMap)";
    case cuda_effect::array:
      return "arrays";
    case cuda_effect::foreign:
    case cuda_effect::foreign_physical:
      return "memory of other processes";
    case cuda_effect::graph_memory:
      return "memory of graphs";
    default:
      return nullptr;
  }
}

[[nodiscard]] const char* only_cupti_sees(memory_kind kind) {
  switch (kind) {
    case memory_kind::pinned:
    case memory_kind::device:
    case memory_kind::managed:
      return nullptr;
    case memory_kind::array:
      return "arrays";
    case memory_kind::device_static:
    case memory_kind::managed_static:
      return "variables of modules";
    default:
      return "memory of an unknown kind";
  }
}

}  // namespace

void collector::on_cuda_call(const trace::event& at, const trace::cuda_call_event& call) {
  if (call.error != 0) return;
  const auto api = names_[call.api];
  const auto effect = format::effect_of(api);
  if (const char* const words = only_hooks_see(effect)) {
    auto& other = found_.only_hooks[words];
    ++other.count;
    other.bytes += call.size;
    return;
  }
  switch (effect) {
    case cuda_effect::device:
    case cuda_effect::managed:
    case cuda_effect::pinned:
    case cuda_effect::pool_memory:
      add_ours(at, call, false);
      break;
    case cuda_effect::release:
    case cuda_effect::pool_release:
      // Unregistering: the program's own memory stays.
      if (!format::base_name(api).ends_with("Unregister")) add_ours(at, call, true);
      break;
    case cuda_effect::pool:
      ++found_.pools_made[0];
      break;
    case cuda_effect::pool_end:
      ++found_.pools_destroyed[0];
      break;
    default:
      break;
  }
}

void collector::add_ours(const trace::event& at, const trace::cuda_call_event& call,
                         bool is_release) {
  if (call.address == 0) return;  // nothing was asked for, or nothing freed
  if (is_release) {
    released_[call.address] = found_.ours.size();
  } else {
    released_.erase(call.address);
  }
  found_.ours.push_back({.address = call.address,
                         .bytes = call.size,
                         .time_ns = bounded_time(at.time_ns),
                         .device = at.device,
                         .is_release = is_release,
                         .event = at.number,
                         .api = call.api,
                         .owner = call.owner,
                         .has_owner = call.has_owner,
                         .stack = call.stack});
}

void collector::on_cuda_undo(const trace::event&, const trace::cuda_undo_event& undo) {
  const auto effect = format::effect_of(names_[undo.api]);
  if (effect == cuda_effect::pool_end && found_.pools_destroyed[0] > 0) {
    --found_.pools_destroyed[0];
  }
  const auto last = released_.find(undo.address);
  if (undo.address == 0 || last == released_.end()) return;
  found_.ours[last->second].taken_back = true;
  released_.erase(last);
}

void collector::on_operation(const trace::event& at, const trace::operation_event& what) {
  switch (static_cast<format::operation>(what.operation)) {
    case format::operation::witness:
      witness(at, what);
      break;
    case format::operation::witness_state:
      state(what);
      break;
    default:
      break;
  }
}

void collector::witness(const trace::event& at, const trace::operation_event& what) {
  const auto text = parse_witness(what.text, header_);
  if (!text) {
    ++found_.unreadable;
    return;
  }
  constexpr std::uint64_t pools = format::witness_pool_operation;
  if (text->operation == pools + 1) ++found_.pools_made[1];
  if (text->operation == pools + 2) ++found_.pools_destroyed[1];
  if (text->operation != 1 && text->operation != 2) return;
  const bool is_release = text->operation == 2;
  if (const char* const words = only_cupti_sees(text->kind)) {
    auto& other = found_.only_cupti[words];
    if (is_release) return;
    ++other.count;
    other.bytes += what.b;
    return;
  }
  found_.theirs.push_back({.address = what.a,
                           .bytes = what.b,
                           .time_ns = text->time_ns,
                           .device = at.device,
                           .is_release = is_release,
                           .event = at.number,
                           .api = {},
                           .owner = {},
                           .stack = {},
                           .kind = text->kind,
                           .correlation = text->correlation});
}

void collector::state(const trace::operation_event& what) {
  auto text = parse_state(what.text, header_);
  if (!text) {
    ++found_.unreadable;
    return;
  }
  found_.version = text->version;
  found_.lost = what.b;
  if (what.a == 1) {
    found_.has_witness = true;
    found_.begin_ns = text->time_ns;
    found_.end_ns.reset();
    return;
  }
  found_.reason = std::move(text->reason);
  if (found_.has_witness) found_.end_ns = text->time_ns;
}

void collector::on_counter(const trace::event&, const trace::counter_event& counter) {
  (void)device::add_counter(found_.devices, names_[counter.name], counter.value);
}

}  // namespace memtrace::audit
