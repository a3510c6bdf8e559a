// SPDX-License-Identifier: Apache-2.0
//
// The records of a trace as types, and the interface of whoever wants to see them in order.
// Sizes are bytes; everything named by an id is already defined in the trace's dictionary.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/trace/ids.h"
#include "memtrace/trace_format.h"

namespace memtrace::trace {

// What every timed record has.
struct event {
  std::uint64_t number = 0;   // of the timed record, from 0
  std::uint64_t time_ns = 0;  // since the trace was created
  std::uint32_t device = 0;
  thread_id thread;
};

struct pool_id {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  [[nodiscard]] bool operator==(const pool_id&) const = default;
  [[nodiscard]] bool is_private() const { return first != 0 || second != 0; }
};

// kind: alloc … oom. Of `snapshot` only the kind counts. An oom has no address.
struct allocator_event {
  format::kind kind{};
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t stream = 0;
  pool_id pool;
  stack_id stack;
  std::uint64_t device_free = 0;  // oom only
};

// What the allocator itself said after an alloc or a free: its checksum of the replay.
struct report_event {
  std::uint32_t device = 0;
  std::uint64_t address = 0;
  std::int64_t block_bytes = 0;  // negative for a free
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
};

struct reported_event {  // without a tracker
  bool is_alloc = false;
  std::uint64_t address = 0;
  std::uint64_t block_bytes = 0;
  stack_id stack;
};

struct operation_event {
  std::uint64_t operation = 0;  // format::operation, or a later version's
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::string_view text;
};

struct cuda_call_event {
  text_id api;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t handle = 0;
  bool release = false;
  std::uint64_t error = 0;  // 0: it succeeded
  stack_id stack;
};

struct cuda_undo_event {
  text_id api;
  std::uint64_t address = 0;
  std::uint64_t error = 0;
};

struct message_event {
  std::uint64_t severity = 0;  // 0 a note, 1 data is missing
  std::string_view text;
};

struct device_facts {
  std::uint32_t device = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t free_before_first_segment = 0;  // 0: unknown
  std::uint64_t compute_major = 0;
  std::uint64_t compute_minor = 0;
  std::uint64_t multiprocessors = 0;
  text_id name;
};

// Texts are valid during the call only.
class record_visitor {
 public:
  virtual ~record_visitor() = default;
  virtual void on_info(std::string_view /*key*/, std::string_view /*value*/) {}
  virtual void on_thread(thread_id) {}
  virtual void on_device(const device_facts&) {}
  virtual void on_allocator(const event&, const allocator_event&) {}
  virtual void on_report(const report_event&) {}
  virtual void on_reported(const event&, const reported_event&) {}
  virtual void on_operation(const event&, const operation_event&) {}
  virtual void on_cuda_call(const event&, const cuda_call_event&) {}
  virtual void on_cuda_undo(const event&, const cuda_undo_event&) {}
  virtual void on_message(const event&, const message_event&) {}
};

}  // namespace memtrace::trace
