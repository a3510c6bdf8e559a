// SPDX-License-Identifier: Apache-2.0
//
// The records of a trace as types (memtrace/records.h), and the interface of whoever wants to see
// them in order. Sizes are bytes, texts UTF-8; everything named by an id is already defined in the
// trace's dictionary.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/trace/reader/ids.h"
#include "memtrace/records.h"

namespace memtrace::trace {

using pool_id = record::pool_id;
using scope = record::scope<ids>;
using allocator_event = record::allocator<ids>;
using report_event = record::report<ids>;
using reported_event = record::reported<ids>;
using operation_event = record::operation<ids>;
using cuda_call_event = record::cuda_call<ids>;
using cuda_undo_event = record::cuda_undo<ids>;
using message_event = record::message<ids>;
using device_facts = record::device<ids>;
using module_event = record::module<ids>;
using storage_event = record::storage<ids>;
using saved_event = record::saved<ids>;
using phase_event = record::phase<ids>;
using step_event = record::step<ids>;
using counter_event = record::counter<ids>;
using heap_scan_event = record::census<ids>;
using source_part = record::source<ids>;
using length_event = record::length<ids>;
using expected_growth = record::expectation<ids>;

// The facts that every timed record has.
struct event {
  std::uint64_t number = 0;   // of the timed record, from 0
  std::uint64_t time_ns = 0;  // since the trace was created
  std::uint32_t device = 0;
  thread_id thread;
  trace::scope scope{};
};

// Whoever takes an event or what it means: X(handler, name, type). Before the untimed ones, module,
// storage and saved, stands the event that follows: of it only device, thread and number count.
#define MEMTRACE_EVENT_HANDLERS(X)            \
  X(on_allocator, allocator, allocator_event) \
  X(on_reported, reported, reported_event)    \
  X(on_operation, operation, operation_event) \
  X(on_cuda_call, cuda_call, cuda_call_event) \
  X(on_cuda_undo, cuda_undo, cuda_undo_event) \
  X(on_message, message, message_event)       \
  X(on_module, module, module_event)          \
  X(on_storage, storage, storage_event)       \
  X(on_saved, saved, saved_event)             \
  X(on_phase, phase, phase_event)             \
  X(on_step, step, step_event)                \
  X(on_counter, counter, counter_event)       \
  X(on_heap_scan, census, heap_scan_event)    \
  X(on_length, length, length_event)

// Texts are valid during the call only.
class record_visitor {
 public:
  virtual ~record_visitor() = default;
  virtual void on_info(std::string_view /*key*/, std::string_view /*value*/) {}
  virtual void on_thread(thread_id) {}
  virtual void on_device(const device_facts&) {}
  virtual void on_report(const report_event&) {}
  virtual void on_object(object_id, std::uint64_t /*address*/) {}
  // They are in the dictionary by now.
  virtual void on_source(const source_part&) {}
  virtual void on_expectation(const expected_growth&) {}
#define MEMTRACE_HANDLER(handler, name, type) \
  virtual void handler(const event&, const type&) {}
  MEMTRACE_EVENT_HANDLERS(MEMTRACE_HANDLER)
#undef MEMTRACE_HANDLER
};

// Who is called with a record: a kind of event that has no handler does not compile.
#define MEMTRACE_HANDLER_OF(handler, name, type)      \
  [[nodiscard]] inline auto handler_of(const type&) { \
    return &record_visitor::handler;                  \
  }
MEMTRACE_EVENT_HANDLERS(MEMTRACE_HANDLER_OF)
#undef MEMTRACE_HANDLER_OF

}  // namespace memtrace::trace
