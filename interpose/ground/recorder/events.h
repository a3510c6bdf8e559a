// SPDX-License-Identifier: Apache-2.0
//
// The events that the hooks hand to the recorder. Addresses, streams and handles are the raw
// values; sizes are bytes. Meaning and fields are those of the record kinds in trace_format.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "interpose/ground/recorder/stack_table.h"
#include "memtrace/trace_format.h"

namespace memtrace {

// c10::DeviceIndex is a signed byte.
inline constexpr unsigned max_devices = 128;

// The memory pool of an allocation: the two words of PyTorch's MempoolId_t, 0:0 by default.
struct pool_id {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  friend bool operator==(const pool_id&, const pool_id&) = default;
};

// Where an allocator event happened: record `scope`. Ids are the recorder's.
struct event_scope {
  std::uint32_t flags = 0;  // format::scope_*
  std::uint32_t module = 0;
  std::uint32_t root = 0;
  stack_id forward_stack = 0;
  std::uint32_t node = 0;  // text
  // Compared at every event: without a branch for each member.
  friend bool operator==(const event_scope& a, const event_scope& b) noexcept {
    return ((a.flags ^ b.flags) | (a.module ^ b.module) | (a.root ^ b.root) |
            (a.forward_stack ^ b.forward_stack) | (a.node ^ b.node)) == 0;
  }
};

// Kinds alloc…oom. In an oom `address` is the number of free bytes of the device.
struct allocator_event {
  format::kind kind{};
  std::uint32_t device = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t stream = 0;
  pool_id pool{};
  stack_id stack = 0;
  event_scope scope{};
};

// The allocator's report to PyTorch's profiler; block_bytes is negative for a free.
struct usage_report {
  std::uint32_t device = 0;
  std::uint64_t address = 0;
  std::int64_t block_bytes = 0;
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
};

struct operation_event {
  format::operation what{};
  std::uint32_t device = 0;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::string_view text{};
};

struct cuda_call_event {
  std::string_view api;
  std::uint32_t device = 0;
  bool is_release = false;
  std::uint32_t error = 0;  // 0: it succeeded, or (a release) has not happened yet
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t handle = 0;
  stack_id stack = 0;
  // Base name of the library that asked; no data: not said, PyTorch's allocator or unknown.
  std::string_view owner{};
};

// The release recorded before, by this thread, failed.
struct cuda_undo_event {
  std::string_view api;
  std::uint32_t device = 0;
  std::uint64_t address = 0;
  std::uint64_t handle = 0;
  std::uint32_t error = 0;
};

// An object that turned out to be a module of the model whose outermost module is `root`.
struct module_name {
  std::uint32_t object = 0;
  std::uint32_t root = 0;
  std::uint32_t path = 0;   // text; of the root itself ""
  std::uint32_t type = 0;   // text
  std::uint32_t flags = 0;  // format::module_*
};

struct storage_event {
  format::storage_role role{};
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;   // 0: unknown; another address for some roles
  std::uint32_t name = 0;    // text
  std::uint32_t detail = 0;  // text
  std::uint32_t object = 0;
  std::uint32_t flags = 0;  // format::storage_*
};

// The tensor that a line of generated code makes: see format::storage_role::generated.
struct generated_line {
  std::uint32_t file = 0;  // text
  std::uint32_t line = 0;
  stack_id source = 0;
  std::uint32_t operators = 0;  // text
  std::uint32_t module = 0;     // object
  std::uint32_t owner = 0;      // object
  std::uint32_t flags = 0;      // format::generated_*
};

struct saved_event {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;        // of the tensor, which may be a part of the storage
  std::uint32_t flags = 0;        // format::saved_*
  std::uint32_t scalar_type = 0;  // c10::ScalarType
  std::uint32_t dimensions = 0;
  std::uint64_t rows = 0;     // size of the last dimension but one, 0 where there is none
  std::uint64_t columns = 0;  // size of the last
};

struct phase_event {
  format::phase_action action{};
  format::phase_source source{};
  std::uint32_t object = 0;
  std::uint32_t name = 0;  // text
};

struct step_event {
  format::step_source source{};
  std::uint32_t object = 0;
  std::uint32_t name = 0;  // text
};

struct counter_value {
  std::uint32_t name = 0;  // text
  double value = 0;
};

struct heap_scan_event {
  format::census_action action{};
  format::census_reason reason{};
  std::uint32_t flags = 0;  // format::heap_scan_*
  std::uint64_t bytes = 0;  // of the storages that were found
  std::uint64_t nanoseconds = 0;
};

struct device_facts {
  std::uint32_t device = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  // 0: unknown
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t multiprocessors = 0;
  std::string_view name{};
};

// How many elements a container has: see record `length`.
struct container_length {
  std::uint32_t path = 0;   // text
  std::uint32_t owner = 0;  // text
  std::uint64_t length = 0;
};

// Growth that the program expects: record `expectation`. All but lines and flags are texts.
struct expectation_event {
  std::uint32_t what = 0;
  std::uint32_t why = 0;
  std::uint32_t said_in = 0;
  std::uint32_t said_at = 0;
  std::uint32_t flags = 0;  // format::expectation_*
  std::uint32_t owner = 0;
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t holder = 0;
};

// A part of the text of a file of the program: see format::source_*.
struct source_part_event {
  std::uint32_t file = 0;  // text
  std::uint32_t flags = 0;
  std::uint64_t modified_ns = 0;  // since 1970
  std::uint64_t bytes = 0;        // of the whole text
  std::string_view digest{};
  std::uint64_t offset = 0;
  std::string_view text{};  // at most format::source_part_bytes
};

}  // namespace memtrace
