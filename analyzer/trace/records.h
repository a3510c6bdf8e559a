// SPDX-License-Identifier: Apache-2.0
//
// The records of a trace as types, and the interface of whoever wants to see them in order.
// Sizes are bytes, texts UTF-8; what is named by an id is already defined in the dictionary.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/trace/ids.h"
#include "memtrace/trace_format.h"

namespace memtrace::trace {

// Where in the model and the autograd graph something happened.
struct scope {
  std::uint32_t flags = 0;  // format::scope_*
  object_id module;         // innermost nn.Module whose forward runs
  object_id root;           // outermost
  stack_id forward;         // in backward: the call whose gradient is computed
  text_id node;             // in backward: its autograd node, such as MmBackward0
  [[nodiscard]] bool in_backward() const { return (flags & format::scope_backward) != 0; }
};

// What every timed record has.
struct event {
  std::uint64_t number = 0;   // of the timed record, from 0
  std::uint64_t time_ns = 0;  // since the trace was created
  std::uint32_t device = 0;
  thread_id thread;
  trace::scope scope{};
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
  bool has_owner = false;
  text_id owner;  // if it has one: base name of the library that asked
  stack_id stack;
};

struct cuda_undo_event {
  text_id api;
  std::uint64_t address = 0;
  std::uint64_t handle = 0;
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

// `object` is the module at `path` of the model whose outermost module is `root`.
struct module_event {
  object_id object;
  object_id root;
  text_id path;  // empty text: the root itself
  text_id type;
  std::uint32_t flags = 0;  // format::module_*
};

// The memory that begins at `address` has this role. Holds for the block that lives there now.
struct storage_event {
  format::storage_role role{};
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: unknown; see format::storage_role for roles where it is an address
  text_id name;
  text_id detail;
  object_id object;
  std::uint32_t flags = 0;  // format::storage_*
};

// Autograd keeps a tensor in the memory that begins at `address`.
struct saved_event {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t flags = 0;  // format::saved_*
  std::uint32_t scalar_type = 0;
  std::uint32_t dimensions = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

struct phase_event {
  format::phase_action action{};
  format::phase_source source{};
  object_id object;
  text_id name;
};

struct step_event {
  format::step_source source{};
  object_id object;
  text_id name;
};

struct counter_event {
  text_id name;
  double value = 0;
};

struct census_event {
  format::census_action action{};
  format::census_reason reason{};
  std::uint32_t flags = 0;  // format::census_*
  std::uint64_t bytes = 0;  // of the storages that were found
  std::uint64_t nanoseconds = 0;
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
  // Meaning. In `next` of the untimed ones only device, thread and number count: they lie before
  // the event of that number.
  virtual void on_object(object_id, std::uint64_t /*address*/) {}
  virtual void on_module(const event& /*next*/, const module_event&) {}
  virtual void on_storage(const event& /*next*/, const storage_event&) {}
  virtual void on_saved(const event& /*next*/, const saved_event&) {}
  virtual void on_phase(const event&, const phase_event&) {}
  virtual void on_step(const event&, const step_event&) {}
  virtual void on_counter(const event&, const counter_event&) {}
  virtual void on_census(const event&, const census_event&) {}
};

}  // namespace memtrace::trace
