// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/feed.h"

#include <algorithm>

namespace memtrace::exporting {

feed::feed(const process& from, sink& to, window wanted) : from_(from), to_(to), window_(wanted) {
  to_.begin(from_);
}

device_blocks& feed::at(std::uint32_t device) {
  auto& known = devices_[device];
  if (known != nullptr) return *known;
  const history::device_fates* fates = nullptr;
  if (from_.report.fates) {
    const auto found = from_.report.fates->devices.find(device);
    if (found != from_.report.fates->devices.end()) fates = &found->second;
  }
  const auto& devices = from_.report.devices;
  const auto report = std::ranges::find(
      devices, device, [](const run::device_report& one) { return one.facts.device; });
  known = std::make_unique<device_blocks>(device, fates,
                                          report == devices.end() ? nullptr : &report->steps);
  return *known;
}

// Blocks that live when the window begins.
void feed::enter(std::uint64_t event) {
  if (has_entered_ || event < window_.from) return;
  has_entered_ = true;
  if (window_.from == 0) return;
  std::vector<block> living;
  for (const auto& [index, device] : devices_) device->add_living(living);
  std::ranges::sort(living, {}, &block::serial);
  for (const auto& one : living) to_.carried(one);
}

bool feed::is_next_told(std::uint64_t event) {
  tell();
  enter(event);
  is_behind_ = is_behind_ || event > window_.to;
  return is_in_window(event);
}

void feed::tell() {
  if (!waiting_) return;
  const auto& [event, one] = *waiting_;
  auto& device = *devices_.at(event.device);
  device.last = device.now(event.number, event.time_ns);
  device.has_last = true;
  to_.happened(event, one ? &*one : nullptr, device.last);
  waiting_.reset();
}

// Activations that the program kept are outputs once backward is over.
void feed::pass_backwards(const allocator_event& event) {
  if (!from_.report.fates) return;
  const auto& ends = from_.report.fates->backwards_ended;
  bool passed = false;
  for (; backwards_seen_ < ends.size() && ends[backwards_seen_].first <= event.number;
       ++backwards_seen_) {
    passed = true;
  }
  if (!passed) return;
  for (auto& [index, device] : devices_) {
    for (const auto& [one, before] : device->become(ends[backwards_seen_ - 1].second)) {
      if (!is_in_window(event.number)) continue;
      to_.became(one, before, device->now(ends[backwards_seen_ - 1].first, event.time_ns));
    }
  }
}

void feed::take(const allocator_event& event, std::uint64_t least_bytes) {
  const bool is_told = is_next_told(event.number);
  if (is_behind_) return;
  auto& device = at(event.device);
  pass_backwards(event);
  waiting now{event, std::nullopt};
  if (event.kind == format::kind::alloc) {
    if (const auto lost = device.died(event.address); lost && is_told) {
      auto freed = event;  // its free was not recorded
      freed.kind = format::kind::free_requested;
      freed.size = lost->requested;
      to_.happened(freed, &*lost, device.now(event.number, event.time_ns));
    }
    now.one = device.born(event, born_++, least_bytes);
  } else if (event.kind == format::kind::free_requested ||
             event.kind == format::kind::free_completed) {
    // Where the request was not recorded there is still a block.
    now.one = device.died(event.address);
  }
  if (is_told) {
    waiting_ = std::move(now);
  } else {
    to_.earlier(event, now.one ? &*now.one : nullptr);
  }
}

void feed::on_allocator(const trace::event& head, const trace::allocator_event& record) {
  allocator_event event;
  event.number = head.number;
  event.time_ns = head.time_ns;
  event.device = head.device;
  event.thread = head.thread;
  event.kind = record.kind;
  event.address = record.address;
  event.size = record.size;
  event.stream = record.stream;
  event.pool = record.pool;
  event.stack = record.stack;
  event.device_free = record.device_free;
  event.scope = head.scope;
  take(event, replay::least_block(record.size));
  if (is_behind_) return;
  at(head.device).allocator.on_allocator(head, record);
  at(head.device).follow_sleep();
}

void feed::on_reported(const trace::event& head, const trace::reported_event& record) {
  allocator_event event;
  event.number = head.number;
  event.time_ns = head.time_ns;
  event.device = head.device;
  event.thread = head.thread;
  event.kind = record.is_alloc ? format::kind::alloc : format::kind::free_requested;
  event.address = record.address;
  event.size = record.block_bytes;
  event.stack = record.stack;
  event.scope = head.scope;
  take(event, record.block_bytes);
  if (is_behind_) return;
  at(head.device).allocator.on_reported(head, record);
  at(head.device).follow_sleep();
}

void feed::on_report(const trace::report_event& report) {
  if (is_behind_) return;
  at(report.device).reported(report);
  if (waiting_ && waiting_->event.device == report.device) tell();
}

void feed::change_backing(const trace::event& head, const replay::backing_change& what) {
  for (auto& [index, device] : devices_) {
    if (device->allocator.on_backing(head, what)) device->follow_sleep();
  }
}

void feed::on_cuda_call(const trace::event& head, const trace::cuda_call_event& record) {
  const bool is_told = is_next_told(head.number);
  const auto backing = replay::backing_calls::of(from_.names[record.api], record);
  if (backing && !is_behind_) {
    backing_.remember(*backing);
    change_backing(head, *backing);
  }
  if (is_told) to_.on_cuda_call(head, record);
}

void feed::on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& record) {
  const bool is_told = is_next_told(head.number);
  const auto backing = backing_.undone(from_.names[record.api], record);
  if (backing && !is_behind_) change_backing(head, *backing);
  if (is_told) to_.on_cuda_undo(head, record);
}

#define MEMTRACE_PASS_ON(handler, type)                              \
  void feed::handler(const trace::event& head, const type& record) { \
    if (is_next_told(head.number)) to_.handler(head, record);        \
  }
MEMTRACE_PASS_ON(on_operation, trace::operation_event)
MEMTRACE_PASS_ON(on_message, trace::message_event)
MEMTRACE_PASS_ON(on_storage, trace::storage_event)
MEMTRACE_PASS_ON(on_saved, trace::saved_event)
MEMTRACE_PASS_ON(on_phase, trace::phase_event)
MEMTRACE_PASS_ON(on_step, trace::step_event)
MEMTRACE_PASS_ON(on_counter, trace::counter_event)
MEMTRACE_PASS_ON(on_heap_scan, trace::heap_scan_event)
MEMTRACE_PASS_ON(on_length, trace::length_event)
#undef MEMTRACE_PASS_ON

// A record that describes something (a module, a thread) holds for the window, too, even from
// before it.
void feed::on_module(const trace::event& next, const trace::module_event& record) {
  to_.on_module(next, record);
}
void feed::on_info(std::string_view key, std::string_view value) {
  to_.on_info(key, value);
}
void feed::on_thread(trace::thread_id thread) {
  to_.on_thread(thread);
}
void feed::on_device(const trace::device_facts& facts) {
  to_.on_device(facts);
}
void feed::on_object(trace::object_id object, std::uint64_t address) {
  to_.on_object(object, address);
}

void feed::end() {
  tell();
  std::vector<moment> last;
  for (const auto& [index, device] : devices_) {
    if (device->has_last) last.push_back(device->last);
  }
  to_.end(from_, last);
}

}  // namespace memtrace::exporting
