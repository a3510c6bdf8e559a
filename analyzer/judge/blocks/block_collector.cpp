// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/blocks/block_collector.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <utility>

#include "analyzer/base/text/numbers.h"
#include "analyzer/judge/verdicts/held_path.h"
#include "analyzer/model/attribution/kept_block.h"
#include "analyzer/model/estimate/optimizers.h"

namespace memtrace::blocks {

std::uint8_t bits_of_scalar_type(std::uint32_t type) {
  // Numbers 0 (Byte) to 29 (UInt64); quantized and bit types below a byte are left out.
  constexpr std::array<std::uint8_t, 30> bits = {8,   8, 16, 32, 64, 16, 32, 64, 32, 64,
                                                 128, 8, 8,  8,  32, 16, 0,  0,  0,  0,
                                                 0,   8, 16, 8,  8,  8,  8,  16, 32, 64};
  return type < bits.size() ? bits[type] : std::uint8_t{0};
}

std::uint8_t bits_of_dtype(std::string_view name) {
  constexpr std::string_view prefix = "torch.";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  constexpr std::array<std::pair<std::string_view, std::uint8_t>, 10> known = {{
      {"float32", std::uint8_t{32}},
      {"bfloat16", std::uint8_t{16}},
      {"float16", std::uint8_t{16}},
      {"float64", std::uint8_t{64}},
      {"int64", std::uint8_t{64}},
      {"int32", std::uint8_t{32}},
      {"int8", std::uint8_t{8}},
      {"uint8", std::uint8_t{8}},
      {"bool", std::uint8_t{8}},
      {"complex64", std::uint8_t{64}},
  }};
  for (const auto& [dtype, bits] : known) {
    if (name == dtype) return bits;
  }
  return name.starts_with("float8_") ? std::uint8_t{8} : std::uint8_t{0};
}

namespace {

using attribution::category;
using attribution::phase;
using format::storage_role;

constexpr std::uint32_t least_score_dimensions = 3;

[[nodiscard]] std::uint32_t narrowed(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

// Whether what follows belongs to an evaluation; empty: it changes nothing.
[[nodiscard]] std::optional<bool> evaluates(phase now) {
  switch (now) {
    case phase::evaluation:
      return true;
    case phase::forward:
    case phase::backward:
    case phase::optimizer:
    case phase::zero_grad:
      return false;
    default:
      return std::nullopt;
  }
}

void note_name(const attribution::block_life& block, const trace::dictionary& names,
               block_facts& facts) {
  facts.name = block.name;
  facts.detail = block.detail;
  const bool of_model =
      block.named_by == storage_role::parameter || block.named_by == storage_role::copy ||
      block.named_by == storage_role::buffer || block.named_by == storage_role::leaf_gradient ||
      block.named_by == storage_role::gradient;
  if (of_model && block.object) facts.root = block.object;
  if (of_model) facts.element_bits = bits_of_dtype(names[block.detail]);
}

// Which request gave each block back.
void note_frees(const allocator::request_log& log, fact_list& facts) {
  for (std::size_t i = 0; i < log.requests.size(); ++i) {
    const auto& request = log.requests[i];
    if (request.what() != allocator::action::free || request.block >= facts.size()) continue;
    facts.set_free_request(request.block, static_cast<std::uint32_t>(i));
  }
}

// The optimizer names what its states belong to, but not in which model.
void find_roots_of_states(fact_list& facts) {
  std::unordered_map<std::uint32_t, trace::object_id> roots;  // by name
  for (const auto one : facts) {
    if (one.what == category::weights && one.name && one.root) roots[one.name.value] = one.root;
  }
  facts.change_all([&](block_facts& kind) {
    if (kind.what != category::optimizer_states) return;
    const auto found = roots.find(kind.name.value);
    if (found != roots.end()) kind.root = found->second;
  });
}

// By block_number. Lives and requests are both in the order of the trace's events.
[[nodiscard]] fact_list join(const allocator::request_log& log,
                             const std::vector<std::uint64_t>& born, fact_list lives) {
  const auto event_of = [&](std::size_t block) { return log.events[log.allocations[block]]; };
  std::size_t alike = 0;
  while (alike < std::min(born.size(), log.blocks()) && born[alike] == event_of(alike)) ++alike;
  if (alike == log.blocks()) {
    lives.resize(alike);
    return lives;
  }
  fact_list joined;
  joined.resize(log.blocks());
  std::size_t next = 0;
  for (std::size_t block = 0; block < log.blocks(); ++block) {
    const auto event = event_of(block);
    while (next < born.size() && born[next] < event) ++next;
    if (next == born.size()) break;
    if (born[next] == event) joined.set(block, lives[next]);
  }
  return joined;
}

}  // namespace

namespace {

// What a graph, a gradient or nothing with a name keeps is not freed by a copy of the part.
[[nodiscard]] std::uint8_t share_of_views(const trace::storage_event& record,
                                          const trace::dictionary& names) {
  constexpr auto others = format::held_graph | format::held_has_graph | format::held_gradient |
                          format::held_unreachable;
  if ((record.flags & format::held_view) == 0 || (record.flags & others) != 0) return held_whole;
  // Traces of older versions do not say it: less than half.
  using verdicts::held_field;
  const auto detail = names[record.detail];
  auto used = text::number_in(verdicts::field_of(detail, held_field::used));
  if (!used) used = text::number_in(verdicts::field_of(detail, held_field::also));
  if (!used || *used >= record.bytes / 2) return 128;
  return static_cast<std::uint8_t>(*used * 256 / std::max<std::uint64_t>(record.bytes, 1) + 1);
}

}  // namespace

namespace {

// "AdamW", "SGD,momentum": which of the optimizers whose states are known, from 1; 0: none.
[[nodiscard]] std::uint8_t trainer_of(const trace::storage_event& record,
                                      const trace::dictionary& names) {
  const auto text = verdicts::field_of(names[record.detail], verdicts::held_field::trainer);
  const auto* const known = text == "SGD,momentum" ? estimate::optimizer_named("sgd-momentum")
                                                   : estimate::optimizer_of_class(text);
  const auto all = estimate::optimizers();
  return known == nullptr ? 0 : static_cast<std::uint8_t>(known - all.data() + 1);
}

}  // namespace

block_facts block_collector::facts_at_birth(const attribution::block_life& block) {
  if (const auto now = evaluates(block.born.during)) evaluates_ = *now;
  block_facts facts;
  facts.born_in = block.born.during;
  facts.evaluation = evaluates_;
  facts.recomputed = block.born.recompute;
  facts.call = block.born.call;
  facts.module = block.scope.module;
  facts.root = block.scope.root;
  facts.stack = block.stack;
  facts.forward = block.scope.forward;
  facts.node = block.scope.node;
  return facts;
}

void block_collector::born(std::uint32_t device, const attribution::block_life& block) {
  softmaxes_.on_allocation(block.scope);
  const auto facts = facts_at_birth(block);
  if (room_ == 0) return;
  --room_;
  auto& known = devices_[device];
  if (const auto* const before = known.live.find(block.address); before != nullptr) {
    known.facts.set(before->index, before->facts);  // its end is missing
  }
  known.live.insert(block.address) = {static_cast<std::uint32_t>(known.born.size()), facts};
  known.born.push_back(block.born_event);
  known.facts.push_back({});
}

void block_collector::refused(std::uint32_t device, const attribution::block_life& block) {
  const auto facts = facts_at_birth(block);
  if (room_ == 0) return;
  --room_;
  auto& known = devices_[device];
  known.born.push_back(block.born_event);
  known.facts.push_back(facts);
}

bool block_collector::ended(std::uint32_t device, const attribution::block_life& block,
                            const attribution::life_end&) {
  const auto known = devices_.find(device);
  return known != devices_.end() && known->second.live.find(block.address) != nullptr;
}

void block_collector::judged(std::uint32_t device, const attribution::block_life& block,
                             const attribution::life_end& how,
                             const attribution::classification& found) {
  const auto known = devices_.find(device);
  if (known == devices_.end()) return;
  const auto* const live = known->second.live.find(block.address);
  if (live == nullptr) return;
  auto [index, facts] = *live;
  known->second.live.erase(block.address);
  facts.what = found.what;
  facts.freed_in_backward = !how.alive && how.in_backward;
  facts.cast_copy = block.has(storage_role::cast);
  facts.seen_by_optimizer = block.has(storage_role::gradient);
  facts.unused_copy = block.has(storage_role::copy) && !block.has(storage_role::parameter);
  note_name(block, names_, facts);
  if (block.saved.times != 0) note_saved(block, found, facts);
  known->second.facts.set(index, facts);
}

void block_collector::held(std::uint32_t device, const attribution::block_life* block,
                           const trace::storage_event& record) {
  const auto known = devices_.find(device);
  if (block == nullptr || known == devices_.end()) return;
  auto* const live = known->second.live.find(block->address);
  if (live == nullptr) return;
  live->facts.view_share = share_of_views(record, names_);
  live->facts.viewed_by = live->facts.view_share == held_whole ? trace::text_id{} : record.name;
  if (!is_failing_) return;
  const auto shape = verdicts::field_of(names_[record.detail], verdicts::held_field::shape);
  live->facts.first = text::number_in<std::uint32_t>(shape.substr(0, shape.find(','))).value_or(0);
  live->facts.in_optimizer = (record.flags & format::held_trained) != 0;
  live->facts.is_state = (record.flags & format::held_state) != 0;
  live->facts.trainer = trainer_of(record, names_);
  live->facts.in_no_optimizer = !live->facts.in_optimizer && block->has(storage_role::parameter) &&
                                (block->role_flags & format::storage_trainable) != 0;
}

void block_collector::census(const trace::event&, const trace::heap_scan_event& record) {
  is_failing_ = record.reason == format::census_reason::out_of_memory &&
                record.action == format::census_action::begin;
}

void block_collector::note_saved(const attribution::block_life& block,
                                 const attribution::classification& found, block_facts& facts) {
  facts.kept_by_autograd = true;
  facts.dimensions = static_cast<std::uint8_t>(std::min(block.saved.dimensions, 255u));
  facts.rows = narrowed(block.saved.rows);
  facts.columns = narrowed(block.saved.columns);
  if (facts.element_bits == 0) facts.element_bits = bits_of_scalar_type(block.saved.scalar_type);
  if (facts.dimensions < least_score_dimensions) return;
  const auto kept = attribution::keep(block, found);
  scores_.learn(kept, place_of(kept.where.module), softmaxes_, marks_);
}

void block_collector::on_module(const trace::event&, const trace::module_event& record) {
  auto& facts = modules_[record.object];
  // A part of a model that is called by itself stays a part of it.
  const bool is_part = facts.root && facts.root != record.object;
  if (!is_part || record.root != record.object) {
    facts.root = record.root;
    facts.path = record.path;
  }
  facts.type = record.type;
  facts.checkpointed = facts.checkpointed || (record.flags & format::module_checkpointed) != 0;
}

void block_collector::on_saved(const trace::event& next, const trace::saved_event& record) {
  const auto known = devices_.find(next.device);
  if (known == devices_.end() || room_ == 0) return;
  const auto* const live = known->second.live.find(record.address);
  if (live == nullptr) return;
  known->second.keepings.push_back({known->second.born[live->index], next.number,
                                    (record.flags & format::saved_output) != 0,
                                    (record.flags & format::saved_requires_grad) != 0});
}

void block_collector::on_phase(const trace::event& next, const trace::phase_event& record) {
  const bool begins = record.source == format::phase_source::optimizer_step &&
                      record.action == format::phase_action::begin;
  if (begins) steps_.push_back({next.number, record.object});
}

// An optimizer tells of the gradients that it finds when its step begins.
void block_collector::on_storage(const trace::event& next, const trace::storage_event& record) {
  if (record.role != storage_role::gradient || steps_.empty()) return;
  const auto known = devices_.find(next.device);
  if (known == devices_.end()) return;
  auto* const live = known->second.live.find(record.address);
  if (live != nullptr) live->facts.optimizer = steps_.back().optimizer;
}

std::vector<keeping> block_collector::keepings_of(std::uint32_t device) {
  const auto known = devices_.find(device);
  if (known == devices_.end()) return {};
  return std::move(known->second.keepings);
}

attribution::module_place block_collector::place_of(trace::object_id module) const {
  const auto known = modules_.find(module);
  if (known == modules_.end()) return {module, {}};
  return {known->second.root, names_[known->second.path]};
}

bool block_collector::are_scores(const block_facts& facts) const {
  if (!facts.kept_by_autograd || facts.dimensions < least_score_dimensions) return false;
  attribution::kept_block block;
  block.found.what = facts.what;
  block.where.module = facts.module;
  block.saved.dimensions = facts.dimensions;
  block.saved.rows = facts.rows;
  block.saved.columns = facts.columns;
  return scores_.are_scores(block, place_of(facts.module));
}

fact_list block_collector::facts_of(const allocator::request_log& log) {
  const auto known = devices_.find(log.device);
  fact_list facts;
  if (known != devices_.end()) {
    auto& from = known->second;
    from.live.for_each(
        [&](std::uint64_t, const live_block& one) { from.facts.set(one.index, one.facts); });
    facts = join(log, from.born, std::move(from.facts));
    devices_.erase(known);
  }
  facts.resize(log.blocks());
  facts.change_all([&](block_facts& kind) { kind.attention_scores = are_scores(kind); });
  note_frees(log, facts);
  find_roots_of_states(facts);
  return facts;
}

}  // namespace memtrace::blocks
