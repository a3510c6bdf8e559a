// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/segment_history.h"

#include <algorithm>

#include "analyzer/model/allocator/settings.h"
#include "analyzer/model/replay/driver_memory.h"

namespace memtrace::fragmentation {

namespace {

constexpr std::size_t most_kept = std::size_t{1} << 20;

}  // namespace

segment_history::device_state& segment_history::at(std::uint32_t device) {
  if (latest_ == nullptr || latest_index_ != device) {
    latest_ = &devices_[device];
    latest_index_ = device;
  }
  return *latest_;
}

const device_history& segment_history::device(std::uint32_t index) const {
  static const device_history none;
  const auto found = devices_.find(index);
  return found == devices_.end() ? none : found->second.found;
}

void segment_history::on_allocator(const trace::event& head, const trace::allocator_event& record) {
  using format::kind;
  switch (record.kind) {
    case kind::alloc:
    case kind::oom:
      if (auto& device = at(head.device); device.touched || record.kind == kind::oom) {
        finish(device, head, record.kind == kind::oom);
      }
      break;
    case kind::segment_alloc:
    case kind::segment_map:
    case kind::segment_free:
    case kind::segment_unmap:
      segment(head, record);
      break;
    default:
      break;
  }
}

void segment_history::segment(const trace::event& head, const trace::allocator_event& record) {
  auto& device = at(head.device);
  auto& found = device.found;
  const bool got =
      record.kind == format::kind::segment_alloc || record.kind == format::kind::segment_map;
  if (found.changes.size() < most_kept) {
    found.changes.push_back({head.number, record.address, record.size, got});
  } else {
    found.complete = false;
  }
  ++found.pressure.driver_calls;
  if (got) {
    ++found.pressure.segments_got;
    found.pressure.bytes_got += record.size;
    found.reserved += record.size;
    found.most_segments = std::max(found.most_segments, ++found.segments);
    device.touched = true;
    device.now.got += record.size;
    device.now.large = device.now.large || record.size > allocator::small_buffer;
    return;
  }
  found.reserved -= std::min(found.reserved, record.size);
  found.segments -= std::min<std::size_t>(found.segments, 1);
  if (is_emptying(head.thread)) return;
  if (device.now.freed_segments == 0 && !device.now.refused) device.now.began_ns = head.time_ns;
  device.touched = true;
  ++device.now.freed_segments;
  device.now.freed_bytes += record.size;
}

void segment_history::on_operation(const trace::event& head, const trace::operation_event& record) {
  using format::operation;
  const auto is = [&](operation which) {
    return record.operation == static_cast<std::uint64_t>(which);
  };
  if (is(operation::empty_cache_begin)) emptying_[head.thread] = true;
  if (is(operation::empty_cache_end)) emptying_[head.thread] = false;
  if (is(operation::event_synchronize) && !is_emptying(head.thread)) refuse(at(head.device), head);
}

bool segment_history::is_emptying(trace::thread_id thread) const {
  const auto found = emptying_.find(thread);
  return found != emptying_.end() && found->second;
}

void segment_history::on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) {
  if (call.error == 0 || call.release) return;
  if (replay::place_of(names_[call.api]) != replay::memory_place::device) return;
  auto& device = at(head.device);
  ++device.found.pressure.driver_calls;
  refuse(device, head);
}

void segment_history::refuse(device_state& device, const trace::event& head) {
  device.touched = true;
  if (device.now.refused) return;
  device.now.refused = true;
  device.now.began_ns = head.time_ns;
}

void segment_history::finish(device_state& device, const trace::event& head, bool out_of_memory) {
  auto& found = device.found;
  const auto& now = device.now;
  if (found.reserved > found.peak_reserved) {
    found.peak_reserved = found.reserved;
    found.peak_event = head.number;
  }
  if (now.got != 0 || out_of_memory) {
    ++found.reserving_requests;
    if (found.reserving.size() < most_kept) {
      found.reserving.push_back({head.number, now.got, now.large, out_of_memory});
    }
  }
  auto& pressure = found.pressure;
  const auto took = head.time_ns - std::min(head.time_ns, now.began_ns);
  if (now.refused || out_of_memory) {
    ++pressure.retries;
    if (now.refused || now.freed_segments != 0) pressure.retry_ns += took;
  } else if (now.freed_segments != 0) {
    ++pressure.collections;
    pressure.collection_ns += took;
  }
  pressure.segments_freed += now.freed_segments;
  pressure.bytes_freed += now.freed_bytes;
  device.now = {};
  device.touched = false;
}

}  // namespace memtrace::fragmentation
