// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/drop_recovery.h"

#include <algorithm>
#include <utility>

namespace memtrace::trace {

using format::kind;

namespace {

constexpr std::size_t deepest_nesting = 64;  // of phases; a damaged trace's limit

[[nodiscard]] std::uint64_t least_block(std::uint64_t requested) {
  return std::max<std::uint64_t>((requested + 511) / 512 * 512, 512);
}

}  // namespace

drop_recovery::device_blocks& drop_recovery::at(const event& head) {
  auto& device = devices_[head.device];
  device.seen = head;
  return device;
}

void drop_recovery::add(device_blocks& device, std::uint64_t address, std::uint64_t bytes,
                        bool reported) {
  device.live[address] = {bytes, ++births_, gaps_.size(), false, reported};
  device.allocated += bytes;
  device.latest = address;
}

void drop_recovery::tell_free(device_blocks& device, const event& head, std::uint64_t address) {
  const auto place = device.live.find(address);
  if (place == device.live.end()) return;
  const auto gone = place->second;
  if (!gone.pending) device.allocated -= gone.bytes;
  device.live.erase(place);
  event now = head;
  now.scope = {};
  if (gone.reported) {
    to_.on_reported(now, {.is_alloc = false, .address = address, .block_bytes = gone.bytes});
    return;
  }
  allocator_event record;
  record.address = address;
  record.size = gone.bytes;
  record.kind = kind::free_requested;
  if (!gone.pending) to_.on_allocator(now, record);
  record.kind = kind::free_completed;
  to_.on_allocator(now, record);
}

void drop_recovery::free_overlapping(device_blocks& device, const event& head,
                                     std::uint64_t address, std::uint64_t bytes) {
  if (gaps_.empty()) return;
  auto place = device.live.lower_bound(address);
  if (place != device.live.begin()) {
    const auto before = std::prev(place);
    if (address - before->first < before->second.bytes) place = before;
  }
  std::vector<std::uint64_t> gone;
  for (; place != device.live.end() && (place->first < address || place->first - address < bytes);
       ++place) {
    if (place->second.gaps != gaps_.size()) gone.push_back(place->first);
  }
  for (const auto one : gone) tell_free(device, head, one);
}

// Keeps the books of an end that is known; false: of a block that came in a gap.
bool drop_recovery::is_known_end(device_blocks& device, const allocator_event& record) {
  const auto place = device.live.find(record.address);
  if (place == device.live.end()) return gaps_.empty();
  if (!std::exchange(place->second.pending, true)) device.allocated -= place->second.bytes;
  if (record.kind == kind::free_completed) device.live.erase(place);
  return true;
}

void drop_recovery::on_allocator(const event& head, const allocator_event& record) {
  auto& device = at(head);
  switch (record.kind) {
    case kind::alloc:
      free_overlapping(device, head, record.address, least_block(record.size));
      add(device, record.address, least_block(record.size), false);
      break;
    case kind::free_requested:
    case kind::free_completed:
      if (!is_known_end(device, record)) return;
      break;
    case kind::segment_alloc:
    case kind::segment_map:
    case kind::segment_free:
    case kind::segment_unmap:
      free_overlapping(device, head, record.address, record.size);
      break;
    default:
      break;
  }
  to_.on_allocator(head, record);
}

void drop_recovery::on_reported(const event& head, const reported_event& record) {
  auto& device = at(head);
  if (record.is_alloc) {
    free_overlapping(device, head, record.address, record.block_bytes);
    add(device, record.address, record.block_bytes, true);
  } else {
    const auto place = device.live.find(record.address);
    if (place == device.live.end() && !gaps_.empty()) return;
    if (place != device.live.end()) {
      device.allocated -= place->second.bytes;
      device.live.erase(place);
    }
  }
  to_.on_reported(head, record);
}

void drop_recovery::on_report(const report_event& report) {
  auto& device = devices_[report.device];
  const auto latest = device.live.find(report.address);
  if (report.block_bytes > 0 && latest != device.live.end() && report.address == device.latest) {
    const auto bytes = static_cast<std::uint64_t>(report.block_bytes);
    device.allocated += bytes - latest->second.bytes;
    latest->second.bytes = bytes;
    free_overlapping(device, device.seen, report.address, bytes);
  }
  while (!device.in_doubt.empty() && device.allocated > report.allocated) {
    const auto youngest = device.in_doubt.back();
    device.in_doubt.pop_back();
    const auto place = device.live.find(youngest.address);
    if (place != device.live.end() && place->second.born == youngest.born) {
      tell_free(device, device.seen, youngest.address);
    }
  }
  to_.on_report(report);
}

void drop_recovery::begin_doubt(const event& head, const operation_event& record) {
  const auto since = std::max(record.b, start_ns_) - start_ns_;
  gaps_.push_back({record.a, std::min(since, head.time_ns), head.time_ns});
  for (auto& [index, device] : devices_) {
    device.seen.number = head.number;
    device.seen.time_ns = head.time_ns;
    device.in_doubt.clear();
    for (const auto& [address, one] : device.live) device.in_doubt.push_back({address, one.born});
    std::ranges::sort(device.in_doubt, {}, &doubtful::born);
  }
  for (auto& [thread, open] : phases_) {
    for (; !open.empty(); open.pop_back()) {
      event now = head;
      now.thread.value = thread;
      now.device = open.back().device;
      auto end = open.back().record;
      end.action = format::phase_action::end;
      to_.on_phase(now, end);
    }
  }
}

void drop_recovery::on_operation(const event& head, const operation_event& record) {
  if (record.operation == static_cast<std::uint64_t>(format::operation::gap)) {
    begin_doubt(head, record);
  }
  to_.on_operation(head, record);
}

void drop_recovery::on_phase(const event& head, const phase_event& record) {
  auto& open = phases_[head.thread.value];
  if (record.action == format::phase_action::begin && open.size() < deepest_nesting) {
    open.push_back({record, head.device});
  } else if (record.action == format::phase_action::end) {
    const auto same = std::find_if(open.rbegin(), open.rend(), [&](const open_phase& one) {
      return one.record.source == record.source && one.record.name == record.name;
    });
    if (same == open.rend()) {
      if (!gaps_.empty()) return;
    } else {
      open.erase(std::next(same).base());
    }
  }
  to_.on_phase(head, record);
}

#define MEMTRACE_PASSES_ON(handler, type)                              \
  void drop_recovery::handler(const event& head, const type& record) { \
    to_.handler(head, record);                                         \
  }
MEMTRACE_PASSES_ON(on_cuda_call, cuda_call_event)
MEMTRACE_PASSES_ON(on_cuda_undo, cuda_undo_event)
MEMTRACE_PASSES_ON(on_message, message_event)
MEMTRACE_PASSES_ON(on_module, module_event)
MEMTRACE_PASSES_ON(on_storage, storage_event)
MEMTRACE_PASSES_ON(on_saved, saved_event)
MEMTRACE_PASSES_ON(on_step, step_event)
MEMTRACE_PASSES_ON(on_counter, counter_event)
MEMTRACE_PASSES_ON(on_heap_scan, heap_scan_event)
MEMTRACE_PASSES_ON(on_length, length_event)
#undef MEMTRACE_PASSES_ON

}  // namespace memtrace::trace
