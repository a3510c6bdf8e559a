// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/device/usage_sums.h"

#include <algorithm>

namespace memtrace::device {

namespace {

[[nodiscard]] std::uint64_t less(std::uint64_t from, std::uint64_t bytes) {
  return from - std::min(from, bytes);
}

class adder {
 public:
  explicit adder(usage& to) : to_(to) {}
  void add(std::string name, std::uint64_t bytes, source how) {
    if (bytes != 0) to_.parts.push_back({std::move(name), bytes, {}, how});
  }

 private:
  usage& to_;
};

// Memory from calls without a known owner is PyTorch's: what its caching allocator reserves and did
// not get in segments that were seen, and where it has no such allocator, all of it.
void add_pytorch(adder& to, const held& known, std::uint64_t without_owner) {
  if (!known.has_allocator) {
    return to.add(part_name::pytorch_allocated, without_owner, source::measured);
  }
  // Tensors of CUDA's own pools lie in no segments.
  const auto in_pools = known.reserved == 0 ? known.in_segments : 0;
  to.add(part_name::pytorch_allocated, std::min(known.allocated, known.reserved) + in_pools,
         source::measured);
  const auto others = less(known.reserved, known.allocated);
  const auto graphs = std::min(known.graph_pools, others);
  to.add(part_name::graph_pool, graphs, source::measured);
  to.add(part_name::pytorch_cached, others - graphs, source::measured);
  to.add(part_name::pytorch_direct, less(without_owner, less(known.reserved, known.in_segments)),
         source::measured);
}

void add_calls(adder& to, const held& known, const trace::dictionary& names) {
  std::uint64_t without_owner = 0;
  const auto how = known.has_estimates ? source::estimated : source::measured;
  for (const auto& [owner, bytes] : known.owners) {
    if (owner.known) {
      to.add(owner_name(owner, names), bytes, how);
    } else {
      without_owner += bytes;
    }
  }
  add_pytorch(to, known, without_owner);
}

// Memory that a capture asked a pool for is a graph's.
void add_pools(adder& to, const counted& told, const held& known) {
  const auto pools = told.pools.value_or(known.from_pools);
  to.add(part_name::pools, less(pools, known.from_pools), source::measured);
  to.add(part_name::graphs, less(told.graphs.value_or(0), less(known.from_pools, pools)),
         source::measured);
}

// All that this process has beside its calls is known: the rest of the device is not its own.
void add_shared(adder& to, const counted& told, const held& known, std::uint64_t calls) {
  const auto own = *told.beside_calls;
  const auto context = std::min(told.context.value_or(own), own);
  to.add(part_name::context, context, source::difference);
  to.add(part_name::modules, std::min(known.modules, own - context), source::difference);
  to.add(part_name::others, less(told.used, calls + own), source::difference);
}

void add_driver(adder& to, const counted& told, const held& known,
                const trace::device_facts& facts) {
  to.add(part_name::modules, known.modules, source::difference);
  if (told.context) {
    to.add(part_name::context, *told.context, source::difference);
    return to.add(part_name::others, told.others.value_or(0), source::measured);
  }
  if (told.others_and_context) {
    return to.add(part_name::context_and_others, *told.others_and_context, source::difference);
  }
  const auto before = facts.free_before_first_segment;
  if (before != 0) {
    to.add(part_name::context_and_others, less(facts.total_bytes, before), source::difference);
  }
}

[[nodiscard]] std::uint64_t sum_of(const usage& made) {
  std::uint64_t sum = 0;
  for (const auto& one : made.parts) sum += one.bytes;
  return sum;
}

void add_own_calls(adder& to, const counted& told, const held& known,
                   const trace::dictionary& names) {
  add_calls(to, known, names);
  add_pools(to, told, known);
  to.add(part_name::rounding, known.rounding, source::rule);
}

}  // namespace

std::uint64_t sum_of_calls(const counted& told, const held& known, const trace::dictionary& names) {
  usage made;
  adder to(made);
  add_own_calls(to, told, known, names);
  return sum_of(made);
}

std::string owner_name(const replay::owner_id& owner, const trace::dictionary& names) {
  if (!owner.known) return part_name::pytorch_direct;
  const auto name = names[owner.name];
  return name.empty() ? std::string(part_name::program) : part_name::library + std::string(name);
}

held held_now(const replay::replayer& replayed, std::uint32_t device) {
  held known;
  if (const auto* const record = replayed.device(device); record != nullptr) {
    const auto& allocator = record->allocator;
    known.has_allocator = record->events != 0;
    known.allocated = allocator.allocated();
    const auto totals = allocator.totals();
    known.graph_pools = totals.graph_pools;
    known.reserved = totals.reserved + static_cast<std::uint64_t>(allocator.reserved_difference());
  }
  const auto* const calls = replayed.driver().device(device);
  if (calls == nullptr) return known;
  known.in_segments = calls->in_segments;
  known.from_pools = calls->from_pools;
  known.modules = calls->modules;
  known.rounding = calls->rounding();
  known.has_estimates = calls->arrays != 0;
  for (const auto& [owner, held] : calls->owners) known.owners.emplace_back(owner, held.bytes);
  return known;
}

usage usage_of(const counted& told, const held& known, const trace::device_facts& facts,
               const trace::dictionary& names) {
  usage made;
  made.used = told.used;
  adder to(made);
  add_own_calls(to, told, known, names);
  if (told.beside_calls) {
    add_shared(to, told, known, sum_of(made));
  } else {
    add_driver(to, told, known, facts);
  }
  std::ranges::stable_sort(made.parts, std::greater(), &part::bytes);
  made.unexplained = static_cast<std::int64_t>(told.used - sum_of(made));
  return made;
}

}  // namespace memtrace::device
