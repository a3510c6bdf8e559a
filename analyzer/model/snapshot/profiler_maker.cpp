// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/profiler_maker.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace memtrace::snapshot {

namespace {

namespace known_key = format::info_key;
constexpr std::uint64_t ns_per_us = 1000;
// As PyTorch names the threads of its engine.
constexpr char autograd_thread[] = "pt_autograd_0";
constexpr std::size_t most_optimizers = 1000;  // that are told by name

// The file's events come by thread.
[[nodiscard]] std::uint64_t sort_by_time(std::vector<profiler_event>& events) {
  std::ranges::stable_sort(events, {}, &profiler_event::time_ns);
  return events.empty() ? 0 : events.front().time_ns;
}

[[nodiscard]] std::uint64_t before(const profiler_event& event) {
  return event.allocated - static_cast<std::uint64_t>(event.bytes);
}

}  // namespace

profiler_maker::profiler_maker(profiler_contents& from, trace::output& to)
    : from_(from),
      start_ns_(sort_by_time(from.events)),
      to_(trace::header_of(from.base_ns ? *from.base_ns + start_ns_ : 0), to) {
  has_steps_ = std::ranges::any_of(from_.marks,
                                   [](const profiler_mark& one) { return one.optimizer.empty(); });
}

std::uint64_t profiler_maker::time_us(std::uint64_t time_ns) const {
  return (time_ns - std::min(time_ns, start_ns_)) / ns_per_us;
}

trace::thread_id profiler_maker::thread_of(std::uint32_t number) const {
  return number < threads_.size() ? threads_[number] : trace::thread_id{};
}

// Each total is the one before it and the event's own bytes, on each device: what does not fit was
// not seen by the profiler, or is not of one process.
void profiler_maker::find_starts() {
  struct seen {
    std::uint64_t allocated = 0;
    std::unordered_set<std::uint64_t> addresses;
  };
  std::map<std::uint32_t, seen> all;
  for (const auto& event : from_.events) {
    const auto [at, is_first] = all.try_emplace(event.device);
    auto& device = at->second;
    if (is_first) {
      devices_[event.device] = {before(event), event.reserved, {}};
    } else if (before(event) != device.allocated) {
      ++contradictions_;
    }
    device.allocated = event.allocated;
    const bool is_known = !device.addresses.insert(event.address).second;
    if (is_known || event.bytes > 0) continue;
    auto held = event;
    held.bytes = -event.bytes;
    devices_[event.device].blocks.push_back(held);
  }
}

void profiler_maker::write_head() {
  to_.info(known_key::event_source, "reports");
  to_.info(known_key::source, "profiler_trace");
  if (from_.rank) to_.info(known_key::rank, fmt::format("{}", *from_.rank));
  if (from_.world_size) to_.info(known_key::world_size, fmt::format("{}", *from_.world_size));
  // Nodes of the backward pass run on threads of their own; a program's own thread may run some,
  // and does other work as well.
  threads_.resize(from_.threads.size() + 1);
  for (const auto& [id, number] : from_.threads) {
    if (!from_.autograd.contains(id) || from_.programs.contains(id)) continue;
    threads_[number] = to_.thread(to_.text(autograd_thread));
    has_backward_ = true;
  }
  std::uint64_t held = 0;
  for (const auto& [number, device] : devices_) held += device.allocated;
  to_.info(known_key::snapshot_history, held == 0 ? "whole" : "late");
  to_.info(known_key::snapshot_held, fmt::format("{}", held));
  to_.info(known_key::snapshot_stacks, "none");
  to_.info(known_key::snapshot_backward, has_backward_ ? "threads" : "");
  to_.info(known_key::snapshot_times, "yes");
  to_.info(known_key::snapshot_contradictions, fmt::format("{}", contradictions_));
  to_.info(known_key::snapshot_skipped, fmt::format("{}", from_.skipped));
  for (const auto& [number, device] : devices_) {
    trace::device_facts facts;
    facts.device = number;
    if (const auto known = from_.devices.find(number); known != from_.devices.end()) {
      facts.total_bytes = known->second.total_bytes;
      facts.name = to_.text(known->second.name);
    }
    to_.device(facts);
  }
  if (held != 0) {
    to_.message(0, 1, "the profiler began late: what led to its start is not known");
  }
}

// Memory that was there besides, and stays, is in the totals alone.
void profiler_maker::write_starts() {
  for (const auto& [number, device] : devices_) {
    std::uint64_t known = 0;
    for (const auto& one : device.blocks) known += static_cast<std::uint64_t>(one.bytes);
    auto now = device.allocated - std::min(device.allocated, known);
    for (auto one : device.blocks) {
      now += static_cast<std::uint64_t>(one.bytes);
      one.allocated = now;
      one.reserved = device.reserved;
      one.thread = 0;
      write(one, 0);
    }
  }
}

void profiler_maker::write(const profiler_event& event, std::uint64_t time_us) {
  const auto bytes = static_cast<std::uint64_t>(event.bytes);
  trace::reported_event told;
  told.is_alloc = event.bytes > 0;
  told.address = event.address;
  told.block_bytes = told.is_alloc ? bytes : ~bytes + 1;
  to_.reported(time_us, event.device, thread_of(event.thread), told);
  to_.report({event.device, event.address, event.bytes, event.allocated, event.reserved});
}

std::vector<profiler_maker::moment> profiler_maker::moments() const {
  std::vector<moment> found;
  for (std::uint32_t i = 0; i < from_.marks.size(); ++i) {
    const auto& mark = from_.marks[i];
    if (mark.end_ns <= start_ns_) continue;  // says nothing of what was recorded
    if (!mark.optimizer.empty()) found.push_back({mark.begin_ns, i, true});
    found.push_back({mark.end_ns, i, false});
  }
  std::ranges::stable_sort(found, {}, &moment::time_ns);
  return found;
}

void profiler_maker::write(const moment& when) {
  const auto& mark = from_.marks[when.mark];
  const auto time = time_us(when.time_ns);
  const auto device = devices_.begin()->first;
  if (mark.optimizer.empty()) {
    to_.step(time, device, {format::step_source::user, {}, {}});
    return;
  }
  const auto [known, is_new] = optimizers_.try_emplace(mark.optimizer);
  if (is_new && optimizers_.size() <= most_optimizers) known->second = to_.text(mark.optimizer);
  const auto name = known->second;
  trace::phase_event event;
  event.action = when.begins ? format::phase_action::begin : format::phase_action::end;
  event.source = format::phase_source::optimizer_step;
  event.name = name;
  to_.phase(time, device, event);
  if (!when.begins && !has_steps_) {
    to_.step(time, device, {format::step_source::optimizer, {}, name});
  }
}

void profiler_maker::write_events() {
  const auto marks = moments();
  auto next = marks.begin();
  for (const auto& event : from_.events) {
    for (; next != marks.end() && next->time_ns <= event.time_ns; ++next) write(*next);
    write(event, time_us(event.time_ns));
  }
  for (; next != marks.end(); ++next) write(*next);
}

bool profiler_maker::make() {
  find_starts();
  write_head();
  write_starts();
  write_events();
  to_.info(known_key::snapshot_end, contradictions_ == 0 ? "equal" : "different");
  to_.end();
  return !to_.failed();
}

}  // namespace memtrace::snapshot
