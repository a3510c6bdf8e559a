// SPDX-License-Identifier: Apache-2.0
//
// Ranges and marks of programs that use NVTX, recorded as phases. Not those of NVIDIA's own
// libraries, which say nothing about the program. An NVTX call never begins a recording.
//
// The types below are the interface between a tool and an instance of NVTX 3. NVTX is a header: each
// library of the process that uses it has an instance of its own, which at its first use loads the
// tool that NVTX_INJECTION64_PATH names and calls its InitializeInjectionNvtx2. The tool then puts
// its functions in the instance's tables; what it leaves alone does nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memtrace::nvtx {

// Once, when the library is loaded: it is the process's NVTX tool from then on, unless the
// environment names another or MEMTRACE_NVTX is 0. Costs nothing until something calls NVTX.
void offer() noexcept;

// One entry: where the instance keeps the pointer to the function that serves the call.
using function = void (*)();
using function_table = function**;

struct callbacks_table {
  std::size_t bytes;
  int (*find_table)(int module, function_table* table, unsigned* entries);  // 0: no such module
};
inline constexpr std::uint32_t callbacks_table_id = 1;

inline constexpr int core_module = 1;     // calls without a domain
inline constexpr int domains_module = 5;  // calls with one

// Indices into the tables. A: text in bytes, W: in wchar_t, Ex: in attributes.
enum class core_call : unsigned {
  mark_ex = 1,
  mark_a = 2,
  mark_w = 3,
  range_start_ex = 4,
  range_start_a = 5,
  range_start_w = 6,
  range_end = 7,
  range_push_ex = 8,
  range_push_a = 9,
  range_push_w = 10,
  range_pop = 11,
};
enum class domain_call : unsigned {
  mark_ex = 1,
  range_start_ex = 2,
  range_end = 3,
  range_push_ex = 4,
  range_pop = 5,
  register_string_a = 10,
  register_string_w = 11,
  create_a = 12,
  create_w = 13,
};

enum class message_kind : std::int32_t { none = 0, bytes = 1, wide = 2, registered = 3 };

// The handle that we gave the program for a domain or a text that it registered; null where we gave
// none.
struct handle;

struct event_attributes {
  std::uint16_t version;
  std::uint16_t size;  // of what the program filled
  std::uint32_t category;
  std::int32_t color_kind;
  std::uint32_t color;
  std::int32_t payload_kind;
  std::int32_t reserved;
  std::uint64_t payload;
  message_kind message;
  union {
    const char* bytes;
    const wchar_t* wide;
    const handle* registered;
  } text;
};
static_assert(sizeof(event_attributes) == 48);
static_assert(offsetof(event_attributes, message) == 32);

// Pushing and popping return this when no tool counts levels: the program sees what it would see
// without us.
inline constexpr int no_levels = -2;

}  // namespace memtrace::nvtx
