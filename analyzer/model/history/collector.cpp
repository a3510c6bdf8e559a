// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/history/collector.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/model/attribution/settled.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::history {

namespace {

using attribution::category;

[[nodiscard]] double weight_of(std::uint64_t bytes, std::uint64_t nanoseconds) {
  return static_cast<double>(bytes) * static_cast<double>(nanoseconds);
}

[[nodiscard]] std::string_view words_of(format::census_reason why) {
  switch (why) {
    case format::census_reason::high_water:
      return "more memory was allocated than ever before";
    case format::census_reason::step:
      return "at the end of a step";
    case format::census_reason::out_of_memory:
      return "the device ran out of memory";
    case format::census_reason::exit:
      return "the program ended";
    case format::census_reason::signal:
      return "a signal asked for it";
    case format::census_reason::program:
      return "the program asked for it";
    case format::census_reason::interval:
      return "at an interval";
  }
  return "";
}

}  // namespace

collector::of_device& collector::at(std::uint32_t device) {
  auto& known = devices_[device];
  if (known == nullptr) known = std::make_unique<of_device>(most_);
  return *known;
}

void collector::before(const trace::event& head) {
  event_ = head.number;
  time_ns_ = head.time_ns;
  const auto known = devices_.find(head.device);
  if (known != devices_.end()) settle(head.device, *known->second);
}

// Takes over the device's totals after the latest allocation.
void collector::settle(std::uint32_t device, of_device& known) {
  if (!std::exchange(known.grown, false)) return;
  const auto* const record = replayed_.device(device);
  if (record == nullptr) return;
  const auto& allocator = record->allocator;
  auto now = known.latest;
  now.allocated = allocator.allocated();
  now.reserved =
      allocator.totals().reserved + static_cast<std::uint64_t>(allocator.reserved_difference());
  known.line.grew(now);
  if (record->retries == known.retries) return;
  known.retries = record->retries;
  note(known, {mark::kind::retry, now.event, now.time_ns, now.reserved, {}});
}

void collector::born(std::uint32_t device, const attribution::block_life& block) {
  auto& known = at(device);
  ++known.recorded;
  known.live.insert(block.address) = {time_ns_, 0, 0};
  known.grown = true;
  known.latest = {};
  known.latest.event = block.born_event;
  known.latest.time_ns = time_ns_;
  known.latest.backwards_ended = block.born.passes.backwards_ended;
  if (known.has_phase && known.during == block.born.during) return;
  if (known.has_phase) {
    known.phases.add({known.during_since, time_ns_, std::string(name_of(known.during))});
  }
  known.has_phase = true;
  known.during = block.born.during;
  known.during_since = time_ns_;
}

// What is asleep takes no memory: the block counts as several, one for each time that it is awake.
void collector::slept(std::uint32_t device, const attribution::block_life& block,
                      std::uint64_t difference) {
  auto& known = at(device);
  auto& spans = known.slept[block.address];
  const auto before = block.resident() + difference;
  const auto* const begun = known.live.find(block.address);
  if (spans.empty()) {
    spans.push_back({block.born_event, begun == nullptr ? time_ns_ : begun->time_ns, before});
  }
  spans.push_back({event_, time_ns_, block.resident()});
  if (block.resident() <= before) return;
  known.grown = true;
  known.latest.event = event_;
  known.latest.time_ns = time_ns_;
}

bool collector::ended(std::uint32_t, const attribution::block_life&, const attribution::life_end&) {
  return true;
}

void collector::judged(std::uint32_t device, const attribution::block_life& block,
                       const attribution::life_end& how, const attribution::classification& found) {
  auto& known = at(device);
  if (how.alive) settle(device, known);
  kept one;
  one.what = attribution::keep(block, found);
  if (const auto* const begun = known.live.find(block.address)) one.at = *begun;
  known.live.erase(block.address);
  one.died_event = how.alive ? never : event_;
  one.died_ns = time_ns_;
  const auto slept = known.slept.find(block.address);
  if (slept == known.slept.end()) return add(known, std::move(one), found);
  const auto spans = std::move(slept->second);
  known.slept.erase(slept);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].bytes == 0) continue;
    auto part = one;
    part.what.bytes = spans[i].bytes;
    part.what.born_event = spans[i].since_event;
    part.at.time_ns = spans[i].since_ns;
    if (i + 1 < spans.size()) {
      part.died_event = spans[i + 1].since_event;
      part.died_ns = spans[i + 1].since_ns;
    }
    ++known.recorded;
    add(known, std::move(part), found);
  }
  if (known.recorded != 0) --known.recorded;  // the block itself was counted when it was made
}

void collector::add(of_device& known, kept one, const attribution::classification& found) {
  life lived;
  lived.born = one.what.born_event;
  lived.died = one.died_event;
  lived.bytes = one.what.bytes;
  lived.kind = known.kinds.of(one.what);
  lived.until_backward = found.until_backward;
  lived.later_kind = static_cast<std::uint32_t>(category::outputs);
  known.line.lived(lived);
  const auto weight = weight_of(one.what.bytes, one.died_ns - one.at.time_ns);
  if (!known.blocks.takes(weight)) {
    return leave_out(known, one.what.where.site, one.what.bytes, weight);
  }
  if (const auto gone = known.blocks.add(weight, std::move(one))) {
    leave_out(known, gone->what.where.site, gone->what.bytes,
              weight_of(gone->what.bytes, gone->died_ns - gone->at.time_ns));
  }
}

void collector::leave_out(of_device& known, replay::site_id site, std::uint64_t bytes,
                          double weight) {
  auto& sums = known.others[site.is_thread ? 0 : site.number];
  ++sums.blocks;
  sums.most_bytes = std::max(sums.most_bytes, bytes);
  sums.byte_ns += weight;
}

void collector::note(of_device& known, mark one) {
  known.marks.try_emplace(one.what, most_.marks).first->second.add(std::move(one));
}

void collector::census(const trace::event& head, const trace::heap_scan_event& record) {
  if (record.action != format::census_action::end) return;
  for (auto& [device, known] : devices_) {
    note(*known,
         {mark::kind::census, head.number, head.time_ns, 0, std::string(words_of(record.reason))});
  }
}

void collector::on_allocator(const trace::event& head, const trace::allocator_event& record) {
  auto& known = at(head.device);
  if (record.kind == format::kind::oom) {
    note(known, {mark::kind::out_of_memory, head.number, head.time_ns, record.size, {}});
  }
  if (record.kind != format::kind::alloc) return;
  if (auto* const begun = known.live.find(record.address)) {
    begun->requested = record.size;
    begun->stream = record.stream;
  }
}

void collector::on_operation(const trace::event& head, const trace::operation_event& record) {
  const auto begins = static_cast<std::uint64_t>(format::operation::empty_cache_begin);
  if (record.operation != begins) return;
  note(at(head.device), {mark::kind::empty_cache, head.number, head.time_ns, 0, {}});
}

// Only those that have a name: the phases of training follow from the blocks.
void collector::on_phase(const trace::event& head, const trace::phase_event& record) {
  using format::phase_source;
  if (record.source != phase_source::user && record.source != phase_source::nvtx) return;
  auto& open = open_[{head.thread.value, record.name.value}];
  if (record.action == format::phase_action::begin) {
    open.push_back(head.time_ns);
  } else if (!open.empty()) {
    for (auto& [device, known] : devices_) {
      known->phases.add({open.back(), head.time_ns, std::string(names_[record.name])});
    }
    open.pop_back();
  }
}

std::uint32_t collector::node_of(trace::stack_id stack) {
  auto& nodes = made_.stacks.nodes;
  if (nodes.empty()) nodes.emplace_back();
  std::vector<trace::stack_id> missing;
  auto here = stack;
  while (here && !nodes_.contains(here.value)) {
    missing.push_back(here);
    here = names_[here].parent;
  }
  auto parent = here ? nodes_[here.value] : 0;
  for (; !missing.empty(); missing.pop_back()) {
    const auto frame = names_[missing.back()].innermost;
    const auto [known, is_new] =
        frames_.try_emplace(frame.value, static_cast<std::uint32_t>(made_.stacks.frames.size()));
    if (is_new) {
      const auto facts = names_[frame];
      made_.stacks.frames.push_back({std::string(names_[facts.file]), facts.line,
                                     std::string(names_[facts.function]),
                                     code::is_user_code(names_[facts.file])});
    }
    nodes.push_back({parent, known->second});
    parent = static_cast<std::uint32_t>(nodes.size() - 1);
    nodes_.emplace(missing.back().value, parent);
  }
  return parent;
}

block collector::shown(const kept& one, attribution::settled_blocks& blocks) {
  auto what = one.what;
  what.found = blocks.classification_of(what);
  block made;
  made.address = what.address;
  made.bytes = what.bytes;
  made.requested = one.at.requested;
  made.born_event = what.born_event;
  made.died_event = one.died_event;
  made.born_ns = one.at.time_ns;
  made.died_ns = one.died_ns;
  made.stream = one.at.stream;
  made.stack = node_of(what.where.site.is_thread ? trace::stack_id{}
                                                 : trace::stack_id{what.where.site.number});
  made.forward = node_of(what.where.forward);
  made.module = blocks.row_of(what);
  made.what = what.found.what;
  made.how = what.found.how;
  made.born_in = what.where.born_in;
  made.rule = what.found.rule;
  made.name = names_[what.name];
  return made;
}

void collector::finished(std::uint32_t device, attribution::settled_blocks& blocks) {
  auto& known = at(device);
  settle(device, known);
  known.line.finish();
  auto& made = known.made;
  made.blocks_recorded = known.recorded;
  made.moments = known.line.moments();
  made.held.resize(made.moments.size());
  for (std::uint32_t kind = 0; kind < known.line.kinds(); ++kind) {
    const auto place = kind - kinds_seen::first_place;
    const auto what = kind < kinds_seen::first_place
                          ? static_cast<category>(kind)
                          : blocks.classification_of(known.kinds.places()[place]).what;
    const auto bytes = known.line.bytes_of(kind);
    for (std::size_t i = 0; i < bytes.size(); ++i) made.held[i][what] += bytes[i];
  }
  for (std::size_t i = 0; i < made.held.size(); ++i) {
    std::uint64_t recorded = 0;
    for (const auto bytes : made.held[i].values) recorded += bytes;
    auto& total = made.moments[i].allocated;
    total = std::max(total, recorded);
    made.held[i][category::unknown] += total - recorded;
  }
  auto heaviest = known.blocks.take();
  std::ranges::sort(heaviest, {}, [](const kept& one) { return one.what.born_event; });
  made.blocks.reserve(heaviest.size());
  for (const auto& one : heaviest) made.blocks.push_back(shown(one, blocks));
  for (auto& [stack, sums] : known.others) {
    sums.stack = node_of(trace::stack_id{stack});
    made.others.push_back(sums);
  }
  std::ranges::sort(made.others, std::greater(), &left_out::byte_ns);
  made.modules = blocks.rows().take();
  if (known.has_phase) {
    known.phases.add({known.during_since, time_ns_, std::string(name_of(known.during))});
  }
  made.phases = known.phases.take();
}

run_history collector::take() {
  if (made_.stacks.nodes.empty()) made_.stacks.nodes.emplace_back();
  for (auto& [device, known] : devices_) {
    auto& made = known->made;
    for (auto& [kind, marks] : known->marks) {
      made.marks_left_out += marks.seen();
      std::ranges::move(marks.take(), std::back_inserter(made.marks));
    }
    made.marks_left_out -= made.marks.size();
    std::ranges::stable_sort(made.marks, {}, &mark::event);
    made_.devices.emplace(device, std::move(made));
  }
  for (const auto& [file, found] : names_.sources()) {
    if (const auto text = code::source_of(names_, file)) made_.sources.emplace(file, *text);
  }
  made_.end_ns = time_ns_;
  return std::move(made_);
}

}  // namespace memtrace::history
