// SPDX-License-Identifier: Apache-2.0
//
// Events that a profiler may want to know (CUPTI's activity records,
// simulator/libraries/cupti_*.cpp): told where memory is handed out and kernels are launched,
// behind every function that can be hooked. A load and a branch where nobody asked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "simulator/core/streams.h"

namespace memtrace::simulator::activity {

enum source : unsigned { memory = 1, pools = 2, kernels = 4, migration = 8 };
inline std::atomic<unsigned> wanted{0};

[[nodiscard]] inline bool is_wanted(source one) {
  return (wanted.load(std::memory_order_relaxed) & one) != 0;
}

// Numbers of CUpti_ActivityMemoryKind.
enum class memory_type : std::uint8_t { pinned = 2, device = 3, array = 4, managed = 5 };

// Around a call that allocates or frees: its time is that of the beginning.
class memory_operation {
 public:
  memory_operation() : began_(is_wanted(memory) ? time() : 0) {}

  void allocated(memory_type type, std::uint64_t address, std::size_t bytes, int device,
                 const stream* on = nullptr) const {
    if (began_ != 0) tell(true, type, address, bytes, device, on);
  }
  void released(memory_type type, std::uint64_t address, std::size_t bytes, int device,
                const stream* on = nullptr) const {
    if (began_ != 0) tell(false, type, address, bytes, device, on);
  }

 private:
  [[nodiscard]] static std::uint64_t time();
  void tell(bool allocates, memory_type type, std::uint64_t address, std::size_t bytes, int device,
            const stream* on) const;

  std::uint64_t began_;  // 0: nobody wants to know
};

// Numbers of CUpti_ActivityMemoryPoolOperationType.
enum class pool_operation : std::uint8_t { created = 1, destroyed = 2, trimmed = 3 };
void tell_pool(pool_operation what, int device, const void* pool, std::size_t keeps);
inline void pool(pool_operation what, int device, const void* handle, std::size_t keeps = 0) {
  if (is_wanted(pools)) tell_pool(what, device, handle, keeps);
}

// A kernel was given to the stream. The name is mangled; null: not known.
void tell_kernel(const stream& on, const char* name);
inline void kernel(const stream& on, const char* name = nullptr) {
  if (is_wanted(kernels)) tell_kernel(on, name);
}

// Pages of unified memory move to the device, or away from it.
void tell_migration(std::uint64_t address, std::size_t bytes, int device, bool to_device);
inline void migrated(std::uint64_t address, std::size_t bytes, int device, bool to_device) {
  if (is_wanted(migration)) tell_migration(address, bytes, device, to_device);
}

}  // namespace memtrace::simulator::activity
