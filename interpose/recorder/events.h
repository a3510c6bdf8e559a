// SPDX-License-Identifier: Apache-2.0
//
// What the hooks tell the recorder. Addresses, streams and handles are the raw values; sizes are
// bytes. Meaning and fields are those of the record kinds in trace_format.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "interpose/recorder/stack_table.h"
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

// Kinds alloc…oom. In an oom `address` is the number of free bytes of the device.
struct allocator_event {
  format::kind kind{};
  std::uint32_t device = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t stream = 0;
  pool_id pool{};
  stack_id stack = 0;
};

// What the allocator reported to PyTorch's profiler; block_bytes is negative for a free.
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

}  // namespace memtrace
