// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/trace_maker.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "analyzer/model/replay/graph_pools.h"
#include "analyzer/model/snapshot/keys.h"

namespace memtrace::snapshot {

namespace {

using format::kind;
namespace known_key = format::info_key;

constexpr std::uint64_t ns_per_us = 1000;

// The snapshot has no version of PyTorch: as the newest known reads them.
[[nodiscard]] allocator::settings settings_of(const contents& from) {
  auto parsed = allocator::parse_settings(from.settings, {});
  if (const auto* const refused = std::get_if<allocator::refusal>(&parsed)) return refused->left;
  return std::get<allocator::settings>(parsed);
}

// The time of the first event, 0: not known.
[[nodiscard]] std::uint64_t first_time(contents& from) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const auto& part : from.traces) {
    event_log::reader rows(from.events, part.first, part.count);
    if (const auto* const row = rows.next(); row != nullptr) first = std::min(first, row->time_us);
  }
  return first == std::numeric_limits<std::uint64_t>::max() ? 0 : first;
}

// The log may hold more: since PyTorch 2.15 a snapshot has the history of pinned host memory, too.
[[nodiscard]] bool has_history(const contents& from) {
  return std::ranges::any_of(from.traces, [](const range& one) { return one.count != 0; });
}

}  // namespace

trace_maker::trace_maker(contents& from, trace::output& to)
    : from_(from),
      settings_(settings_of(from)),
      to_(trace::header_of(first_time(from) * ns_per_us), to),
      names_(from.known, to_),
      start_us_(from.has_times ? first_time(from) : 0) {}

void trace_maker::collect_devices() {
  std::set<std::uint32_t> numbers;
  for (const auto& one : from_.segments) numbers.insert(one.device);
  for (std::uint32_t i = 0; i < from_.traces.size(); ++i) {
    if (from_.traces[i].count != 0) numbers.insert(i);
  }
  for (const auto number : numbers) {
    if (number >= trace::decoder::max_devices) continue;
    device_state made{number, find_start(from_, number), device_heap(settings_), {}, {}, {}, {}};
    const auto part = number < from_.traces.size() ? from_.traces[number] : range{};
    made.rows = std::make_unique<event_log::reader>(from_.events, part.first, part.count);
    made.next = made.rows->next();
    for (const auto& one : from_.segments) {
      if (one.device == number) made.segments.push_back(&one);
    }
    std::ranges::sort(made.segments, {}, [](const segment* one) { return one->address; });
    devices_.push_back(std::move(made));
  }
}

void trace_maker::write_head() {
  to_.info(known_key::event_source, "snapshot");
  to_.info(known_key::source, "pytorch_snapshot");
  if (!from_.settings.empty()) to_.info(known_key::alloc_conf, from_.settings);
  auto& held = held_at_start_;
  std::uint64_t contradictions = 0;
  for (const auto& one : devices_) {
    held += one.start.allocated();
    contradictions += one.start.contradictions;
  }
  const bool history = has_history(from_);
  const auto& known = from_.known;
  to_.info(known_key::snapshot_history, !history ? "none" : held == 0 ? "whole" : "late");
  to_.info(known_key::snapshot_held, fmt::format("{}", held));
  to_.info(known_key::snapshot_stacks, known.has_cpp()      ? "all"
                                       : known.has_python() ? "python"
                                                            : "none");
  to_.info(known_key::snapshot_backward, known.has_engine() ? "frames"
                                         : known.trains()   ? "assumed"
                                                            : "");
  to_.info(known_key::snapshot_times, from_.has_times || !history ? "yes" : "no");
  to_.info(known_key::snapshot_contradictions, fmt::format("{}", contradictions));
  to_.info(known_key::snapshot_skipped, fmt::format("{}", from_.unknown_events));
  for (const auto& one : devices_) {
    trace::device_facts facts;
    facts.device = one.number;
    to_.device(facts);
  }
}

trace::pool_id trace_maker::pool_of(const device_state& device, const event_row& row) const {
  if (row.has_pool || row.kind == kind::oom) return {row.pool_first, row.pool_second};
  const auto behind = std::ranges::upper_bound(device.segments, row.address, {},
                                               [](const segment* one) { return one->address; });
  if (behind == device.segments.begin()) return {};
  const auto& around = **std::prev(behind);
  if (row.address >= around.address + around.bytes) return {};
  if (!around.expandable) {
    const bool is_new = row.kind == kind::segment_alloc;
    const auto begin = is_new ? std::optional(row.address) : device.heap.segment_of(row.address);
    const auto returns = device.start.returns.find(around.address);
    const bool stays = returns == device.start.returns.end() || returns->second == 0;
    if (begin != around.address || !stays) return {};
  }
  return {around.pool_first, around.pool_second};
}

void trace_maker::report(const device_state& device, std::uint64_t address, std::int64_t bytes) {
  to_.report({device.number, address, bytes, device.heap.allocated(), device.heap.reserved()});
}

void trace_maker::write_held(device_state& device, const held_segment& one) {
  trace::allocator_event event;
  event.kind = one.expandable ? kind::segment_map : kind::segment_alloc;
  event.address = one.address;
  event.size = one.bytes;
  event.stream = one.stream;
  event.pool = {one.pool_first, one.pool_second};
  event.stack = names_.stack(one.stack);
  device.heap.add_segment(one.address, one.bytes, one.expandable);
  to_.allocator(0, device.number, {}, event);
}

void trace_maker::write_held(device_state& device, const held_block& one) {
  const auto thread = one.stack == 0 ? trace::thread_id{} : names_.thread(one.stack);
  trace::allocator_event event;
  event.kind = kind::alloc;
  event.address = one.address;
  event.size = one.requested;
  event.stream = one.stream;
  event.pool = {one.pool_first, one.pool_second};
  event.stack = names_.stack(one.stack);
  const auto bytes = device.heap.allocate(one.address, one.requested, one.bytes);
  to_.allocator(0, device.number, thread, event);
  report(device, one.address, static_cast<std::int64_t>(bytes));
  if (!one.pending) return;
  event.kind = kind::free_requested;
  const auto freed = device.heap.request_free(one.address);
  to_.allocator(0, device.number, thread, event);
  report(device, one.address, -static_cast<std::int64_t>(freed));
}

// The segments come before the blocks, but for one, so that where most is reserved right at the
// start, that moment is one with what was allocated then.
void trace_maker::write_start(device_state& device) {
  const auto& segments = device.start.segments;
  const auto& blocks = device.start.blocks;
  const auto in = [&](const held_segment& one) {
    const auto from = std::ranges::lower_bound(blocks, one.address, {}, &held_block::address);
    const auto to =
        std::ranges::lower_bound(blocks, one.address + one.bytes, {}, &held_block::address);
    return std::span<const held_block>(from, to);
  };
  const held_segment* last = nullptr;
  for (const auto& one : segments) {
    const auto count = in(one).size();
    if (count != 0 && (last == nullptr || count < in(*last).size())) last = &one;
  }
  for (const auto& one : segments) {
    if (&one != last) write_held(device, one);
  }
  const auto at_last = [&](const held_block& one) {
    return last != nullptr && one.address >= last->address &&
           one.address < last->address + last->bytes;
  };
  for (const auto& one : blocks) {
    if (!at_last(one)) write_held(device, one);
  }
  if (last == nullptr) return;
  write_held(device, *last);
  for (const auto& one : in(*last)) write_held(device, one);
}

// A snapshot does not tell when a private pool is begun and ended: at its first allocation, and at
// the next that goes elsewhere.
void trace_maker::follow_pool(device_state& device, std::uint64_t time_us, trace::thread_id thread,
                              const trace::pool_id& pool) {
  if (pool == device.pool) return;
  const auto tell = [&](format::operation what, const trace::pool_id& of) {
    if (!of.is_private()) return;
    to_.operation(time_us, device.number, thread,
                  {static_cast<std::uint64_t>(what), of.first, of.second, replay::worked_out});
  };
  tell(format::operation::pool_end, device.pool);
  tell(format::operation::pool_begin, pool);
  device.pool = pool;
}

void trace_maker::write_block_events(device_state& device, const event_row& row,
                                     std::uint64_t time_us, trace::allocator_event& event) {
  const auto thread = names_.thread(row.stack);
  if (row.kind == kind::alloc) {
    follow_pool(device, time_us, thread, event.pool);
    const auto bytes = device.heap.allocate(row.address, row.size);
    to_.allocator(time_us, device.number, thread, event);
    report(device, row.address, static_cast<std::int64_t>(bytes));
    if (row.metadata == 0 && row.category == 0) return;
    trace::storage_event named;
    named.role = format::storage_role::user;
    named.address = row.address;
    named.bytes = row.size;
    // A program names memory and says nothing of what it is. What memtrace has exported says what
    // it is, and has words for the viewer where a program has a name.
    const auto unknown = static_cast<std::uint32_t>(key::unknown);
    if (row.category == 0) named.name = names_.text(row.metadata);
    named.detail = names_.text(row.category == 0 ? unknown : row.category);
    to_.storage(named);
    return;
  }
  const auto freed = row.kind == kind::free_requested ? device.heap.request_free(row.address) : 0;
  if (row.kind == kind::free_completed) device.heap.complete_free(row.address);
  to_.allocator(time_us, device.number, thread, event);
  if (freed != 0) report(device, row.address, -static_cast<std::int64_t>(freed));
}

void trace_maker::write(device_state& device, const event_row& row, std::uint64_t time_us) {
  trace::allocator_event event;
  event.kind = row.kind;
  event.address = row.kind == kind::oom ? 0 : row.address;
  event.device_free = row.kind == kind::oom ? row.address : 0;
  event.size = row.size;
  event.stream = row.stream;
  event.pool = pool_of(device, row);
  event.stack = names_.stack(row.stack);
  switch (row.kind) {
    case kind::alloc:
    case kind::free_requested:
    case kind::free_completed:
      write_block_events(device, row, time_us, event);
      return;
    case kind::segment_alloc:
    case kind::segment_map:
      device.heap.add_segment(row.address, row.size, row.kind == kind::segment_map);
      follow_pool(device, time_us, names_.thread(row.stack), event.pool);
      break;
    case kind::segment_free:
    case kind::segment_unmap:
      device.heap.remove_segment(row.address, row.size, row.kind == kind::segment_unmap);
      if (row.kind == kind::segment_free) --device.start.returns[row.address];
      break;
    default:
      break;
  }
  to_.allocator(time_us, device.number, names_.thread(row.stack), event);
}

// PyTorch marks an optimizer's step so: "Optimizer.step#AdamW.step".
void trace_maker::write_mark(const mark& one) {
  constexpr std::string_view head = "Optimizer.step#";
  constexpr std::string_view tail = ".step";
  const auto name = from_.known.text_of(one.name);
  const auto time = one.time_us - std::min(one.time_us, start_us_);
  const bool is_step = name.starts_with(head) && name.ends_with(tail);
  // PyTorch's other marks are no phases of the program; frames tell as much.
  if (!is_step && (name.starts_with("Optimizer.") || name.starts_with("enumerate(DataLoader)"))) {
    return;
  }
  const auto text =
      is_step ? to_.text(name.substr(head.size(), name.size() - head.size() - tail.size()))
              : names_.text(one.name);
  trace::phase_event event;
  event.action = one.begins ? format::phase_action::begin : format::phase_action::end;
  event.source = is_step ? format::phase_source::optimizer_step : format::phase_source::nvtx;
  event.name = text;
  to_.phase(time, one.device, event);
  if (is_step && !one.begins) {
    to_.step(time, one.device, {format::step_source::optimizer, {}, text});
  }
}

std::uint64_t trace_maker::time_of(const device_state& device) const {
  if (!from_.has_times) return events_;
  return device.next->time_us - std::min(device.next->time_us, start_us_);
}

void trace_maker::write_events() {
  auto& marks = from_.marks;
  std::ranges::stable_sort(marks, {}, &mark::time_us);
  auto mark_at = marks.begin();
  // Marks of before the history say nothing of it.
  while (mark_at != marks.end() && mark_at->time_us < start_us_) ++mark_at;
  for (;;) {
    device_state* first = nullptr;
    for (auto& one : devices_) {
      if (one.next != nullptr && (first == nullptr || time_of(one) < time_of(*first))) first = &one;
    }
    if (first == nullptr) break;
    const auto time = time_of(*first);
    for (; from_.has_times && mark_at != marks.end() && mark_at->time_us - start_us_ <= time;
         ++mark_at) {
      if (mark_at->device < trace::decoder::max_devices) write_mark(*mark_at);
    }
    write(*first, *first->next, time);
    ++events_;
    first->next = first->rows->next();
  }
}

// The segments are what the events leave: the one thing in a snapshot that can be checked.
bool trace_maker::agrees_at_end() const {
  return std::ranges::all_of(devices_, [&](const device_state& device) {
    std::uint64_t reserved = 0;
    for (const auto* const one : device.segments) {
      reserved += one->bytes;
      for (std::uint32_t i = 0; i < one->blocks; ++i) {
        const auto& block = from_.blocks[one->first_block + i];
        const auto held = device.heap.block_at(block.address);
        if (block.state == block_state::inactive) continue;
        if (!held || held->bytes != block.bytes ||
            held->pending != (block.state == block_state::pending)) {
          return false;
        }
      }
    }
    return reserved == device.heap.reserved();
  });
}

bool trace_maker::make() {
  collect_devices();
  write_head();
  for (auto& one : devices_) write_start(one);
  if (!has_history(from_)) {
    to_.message(0, 1, "the snapshot has no history: what led to it is not known");
  } else if (held_at_start_ != 0) {
    to_.message(0, 1, "the snapshot's history begins late: what led to its start is not known");
  }
  write_events();
  to_.info(known_key::snapshot_end, agrees_at_end() ? "equal" : "different");
  to_.end();
  return !to_.failed() && std::ranges::none_of(devices_, [](const device_state& one) {
    return one.start.failed || one.rows->failed();
  });
}

}  // namespace memtrace::snapshot
