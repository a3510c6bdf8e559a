// SPDX-License-Identifier: Apache-2.0
//
// How each event becomes records. Payloads are those of MEMTRACE_RECORD_KINDS.
#include <new>

#include "interpose/ground/recorder/recorder_scope.h"
#include "interpose/ground/recorder/told_storages.h"

namespace memtrace {
namespace {

using format::kind;

// The size of the block that a request gets, unless it takes an unsplit one.
constexpr std::int64_t rounded_block(std::uint64_t requested) noexcept {
  constexpr std::uint64_t smallest = 512;
  const std::uint64_t rounded = (requested + smallest - 1) / smallest * smallest;
  return static_cast<std::int64_t>(rounded < smallest ? smallest : rounded);
}

// Also of a free that is not recorded: what comes to this address is another block.
void forget_if_freed(const allocator_event& event) noexcept {
  if (event.kind == kind::free_requested) the_told_storages.remove(event.address);
}

}  // namespace

recorder::expected_usage& recorder::expected(std::uint32_t device) noexcept {
  auto& next = expected_[device % max_devices];
  if (next.sequence != sequence_) next = {.sequence = sequence_};
  return next;
}

void recorder::expect(expected_usage& next, const allocator_event& event) noexcept {
  switch (event.kind) {
    case kind::alloc:
      next.address = event.address;
      next.block_bytes = rounded_block(event.size);
      break;
    case kind::free_requested:
      next.address = event.address;
      next.block_bytes = -rounded_block(event.size);
      break;
    case kind::segment_alloc:
    case kind::segment_map:
      next.reserved += event.size;
      break;
    case kind::segment_free:
    case kind::segment_unmap:
      next.reserved -= event.size;
      break;
    default:
      break;
  }
}

void recorder::put_scope(scope& section, const event_scope& now) noexcept {
  context_.scope = now;
  section.begin_payload(kind::scope);
  section.value(now.flags);
  section.value(now.module);
  section.value(now.root);
  if ((now.flags & format::scope_backward) != 0) {
    section.value(now.forward_stack);
    section.value(now.node);
  }
  section.end_payload();
}

[[gnu::always_inline]] inline void recorder::put_allocator(scope& section,
                                                           const allocator_event& event) noexcept {
  if (event.scope != context_.scope) put_scope(section, event.scope);
  const bool new_stream = event.stream != context_.stream;
  const bool new_pool = event.pool != context_.pool;
  section.tag(event.kind,
              (new_stream ? format::flag_stream : 0u) | (new_pool ? format::flag_pool : 0u));
  if (event.kind == kind::oom) [[unlikely]] {
    section.value(event.address);
  } else {
    section.address(event.address);
  }
  section.value(event.size);
  if (new_stream) [[unlikely]]
    section.value(context_.stream = event.stream);
  if (new_pool) [[unlikely]] {
    context_.pool = event.pool;
    section.value(event.pool.first);
    section.value(event.pool.second);
  }
  section.value(event.stack);
}

// Completes the free request that was put just now: the context is the same.
void recorder::put_completion(scope& section, const allocator_event& request) noexcept {
  section.tag(kind::free_completed);
  section.address(request.address);
  section.value(request.size);
  section.value(request.stack);
}

[[gnu::always_inline]] inline void recorder::put_report(scope& section, expected_usage& next,
                                                        const usage_report& report) noexcept {
  const bool totals =
      report.reserved != next.reserved ||
      report.allocated != next.allocated + static_cast<std::uint64_t>(report.block_bytes);
  const bool address = report.address != next.address;
  const bool block = report.block_bytes != next.block_bytes;
  section.tag(kind::report, (address ? format::report_address : 0u) |
                                (block ? format::report_block : 0u) |
                                (totals ? format::report_totals : 0u));
  if (address) section.address(report.address);
  if (block) section.signed_value(report.block_bytes);
  if (totals) {
    section.value(report.allocated);
    section.value(report.reserved);
  }
  next.allocated = report.allocated;
  next.reserved = report.reserved;
}

void recorder::allocator(const allocator_event& event) noexcept {
  forget_if_freed(event);
  scope section(*this);
  const std::uint32_t thread = section.thread();
  if (!section.begin_event(small_record_bytes)) return;
  section.context(event.device, thread);
  if (event.kind == kind::snapshot) {
    section.tag(event.kind);
  } else {
    put_allocator(section, event);
    expect(expected(event.device), event);
  }
  section.time();
  section.commit();
}

void recorder::report(const usage_report& report) noexcept {
  scope section(*this);
  const std::uint32_t thread = section.thread();
  if (!section.begin(small_record_bytes)) return;
  section.context(report.device, thread);
  put_report(section, expected(report.device), report);
  section.commit();
}

void recorder::allocator_reported(const allocator_event& event, bool completed,
                                  const usage_report& report) noexcept {
  forget_if_freed(event);
  scope section(*this);
  const std::uint32_t thread = section.thread();
  if (!section.begin_event(small_record_bytes)) {
    if (completed) file_->drop_events(1);
    return;
  }
  section.context(event.device, thread);
  put_allocator(section, event);
  section.time();
  if (completed) {
    put_completion(section, event);
    section.same_time();
  }
  expected_usage& next = expected(event.device);
  expect(next, event);
  put_report(section, next, report);
  section.commit();
}

void recorder::reported(const usage_report& report, const event_scope& where,
                        stack_id stack) noexcept {
  if (report.block_bytes < 0) the_told_storages.remove(report.address);
  scope section(*this);
  const std::uint32_t thread = section.thread();
  if (!section.begin_event(small_record_bytes)) return;
  const bool is_free = report.block_bytes < 0;
  section.context(report.device, thread);
  if (where != context_.scope) put_scope(section, where);
  section.tag(is_free ? kind::reported_free : kind::reported_alloc);
  section.address(report.address);
  section.value(static_cast<std::uint64_t>(is_free ? -report.block_bytes : report.block_bytes));
  section.value(stack);
  section.time();
  section.commit();
}

void recorder::operation(const operation_event& event) noexcept {
  scope section(*this);
  const std::uint32_t thread = section.thread();
  const std::string_view text = encoding::bounded(event.text);
  if (!section.begin_event(text.size() + small_record_bytes)) return;
  section.context(event.device, thread);
  section.tag(kind::operation);
  section.value(static_cast<std::uint32_t>(event.what));
  section.value(event.a);
  section.value(event.b);
  section.text(text);
  section.time();
  section.commit();
}

void recorder::cuda_call(const cuda_call_event& event) noexcept {
  if (event.is_release) the_told_storages.remove(event.address);
  scope section(*this);
  if (!section.begin(small_record_bytes)) {
    file_->drop_events(1);
    return;
  }
  const std::uint32_t thread = section.thread();
  const bool has_owner = event.owner.data() != nullptr;
  std::uint32_t api = 0;
  std::uint32_t owner = 0;
  try {
    api = define_text(event.api);
    if (has_owner) owner = define_text(event.owner);
  } catch (const std::bad_alloc&) {
    // Recorded without the name.
  }
  if (!section.begin_event(small_record_bytes)) return;
  section.context(event.device, thread);
  section.tag(kind::cuda_call, (event.error != 0 ? format::call_failed : 0u) |
                                   (event.is_release ? format::call_release : 0u) |
                                   (has_owner ? format::call_owner : 0u));
  section.value(api);
  section.address(event.address);
  section.value(event.size);
  section.value(event.handle);
  if (event.error != 0) section.value(event.error);
  if (has_owner) section.value(owner);
  section.value(event.stack);
  section.time();
  section.commit();
}

void recorder::cuda_undo(const cuda_undo_event& event) noexcept {
  scope section(*this);
  if (!section.begin(small_record_bytes)) {
    file_->drop_events(1);
    return;
  }
  const std::uint32_t thread = section.thread();
  std::uint32_t name = 0;
  try {
    name = define_text(event.api);
  } catch (const std::bad_alloc&) {
    // Recorded without the name.
  }
  if (!section.begin_event(small_record_bytes)) return;
  section.context(event.device, thread);
  section.tag(kind::cuda_undo, event.handle != 0 ? format::undo_handle : 0u);
  section.value(name);
  section.address(event.address);
  section.value(event.error);
  if (event.handle != 0) section.value(event.handle);
  section.time();
  section.commit();
}

void recorder::message(bool data_is_missing, std::string_view text) noexcept {
  scope section(*this);
  text = encoding::bounded(text);
  if (!section.begin_event(text.size() + small_record_bytes)) return;
  section.tag(kind::message);
  section.value(data_is_missing ? 1 : 0);
  section.text(text);
  section.time();
  section.commit();
}

void recorder::info(std::string_view key, std::string_view value) noexcept {
  scope section(*this);
  constexpr std::size_t longest = format::max_text_bytes / 2;  // both fit one record
  key = key.substr(0, longest);
  value = value.substr(0, longest);
  if (!section.begin(key.size() + value.size() + small_record_bytes)) return;
  section.tag(kind::info);
  section.text(key);
  section.text(value);
  section.commit();
}

void recorder::device(const device_facts& facts) noexcept {
  scope section(*this);
  if (!section.begin(small_record_bytes)) return;
  std::uint32_t name = 0;
  try {
    name = define_text(facts.name);
  } catch (const std::bad_alloc&) {
    // Recorded without the name.
  }
  if (!section.begin(small_record_bytes)) return;
  section.tag(kind::device);
  section.value(facts.device);
  section.value(facts.total_bytes);
  section.value(facts.free_bytes);
  section.value(facts.major);
  section.value(facts.minor);
  section.value(facts.multiprocessors);
  section.value(name);
  section.commit();
}

}  // namespace memtrace
