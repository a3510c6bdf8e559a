// SPDX-License-Identifier: Apache-2.0
//
// The parts of CUPTI's interface that are used, without its headers: numbers and the beginnings of
// records, which CUPTI 12.0 to 13.0 have in common (cupti_activity.h;
// tests/unit/interpose/door/cupti compares them with the headers), and its functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memtrace::cupti {

enum class record_kind : std::uint32_t {
  concurrent_kernel = 10,
  unified_memory_counter = 25,
  memory = 49,  // CUPTI_ACTIVITY_KIND_MEMORY2
  memory_pool = 50,
};

inline constexpr int success = 0;
inline constexpr int multiple_subscribers = 39;

struct memory_record {  // CUpti_ActivityMemory2, 3 and 4
  std::uint32_t kind;
  std::uint32_t operation;
  std::uint32_t memory_kind;
  std::uint32_t correlation;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t timestamp;
  std::uint64_t program_counter;
  std::uint32_t process;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  const char* name;
  std::uint32_t is_async;
};

struct pool_record {  // CUpti_ActivityMemoryPool, 2 and 3
  std::uint32_t kind;
  std::uint32_t operation;
  std::uint32_t pool_type;
  std::uint32_t correlation;
  std::uint32_t process;
  std::uint32_t device;
  std::uint64_t least_kept;
  std::uint64_t address;
  std::uint64_t size;
  std::uint64_t release_threshold;
  std::uint64_t timestamp;
};

struct kernel_record {  // CUpti_ActivityKernel4 to 10
  std::uint32_t kind;
  std::uint32_t before_start[3];
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
};

struct migration_record {  // CUpti_ActivityUnifiedMemoryCounter2 and 3
  std::uint32_t kind;
  std::uint32_t counter;
  std::uint64_t value;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t address;
  std::uint32_t source;
  std::uint32_t destination;
};

// CUpti_ActivityUnifiedMemoryCounterKind.
enum class migration_counter : std::uint32_t { to_device = 1, to_host = 2, gpu_page_fault = 4 };

// CUpti_ActivityUnifiedMemoryCounterConfig. Scope: 1, of a single process and device.
struct migration_config {
  std::uint32_t scope;
  migration_counter counter;
  std::uint32_t device;
  std::uint32_t enable;
};

using subscriber = void*;
using callback = void (*)(void*, std::uint32_t, std::uint32_t, const void*);
using request_buffer = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records);
using complete_buffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                                 std::size_t bytes, std::size_t valid);

// The CUPTI of this process: the one that is loaded, as PyTorch's, else the one that the linker
// finds. libmemtrace.so itself needs none.
struct library {
  int (*version)(std::uint32_t*) = nullptr;
  int (*timestamp)(std::uint64_t*) = nullptr;
  int (*subscribe)(subscriber*, callback, void*) = nullptr;
  int (*unsubscribe)(subscriber) = nullptr;
  int (*enable)(record_kind) = nullptr;
  int (*disable)(record_kind) = nullptr;
  int (*register_callbacks)(request_buffer, complete_buffer) = nullptr;
  int (*flush_all)(std::uint32_t) = nullptr;
  int (*next_record)(std::uint8_t*, std::size_t, void**) = nullptr;
  int (*dropped_records)(void*, std::uint32_t, std::size_t*) = nullptr;
  // Null in a CUPTI that is older or has none.
  int (*flush_period)(std::uint32_t) = nullptr;
  int (*configure_migration)(migration_config*, std::uint32_t) = nullptr;

  [[nodiscard]] bool is_complete() const noexcept;
};

// False: there is none, or it lacks a function. Takes the dynamic linker's locks.
[[nodiscard]] bool find_library(library& found) noexcept;

}  // namespace memtrace::cupti
