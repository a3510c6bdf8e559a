// SPDX-License-Identifier: Apache-2.0
//
// The beginnings of records in interpose/door/cupti/cupti_library.h against CUPTI's headers, in
// every version that these have.
#include <cupti.h>
#include <cupti_activity_deprecated.h>

#include <cstddef>

#include "interpose/door/cupti/cupti_library.h"
#include "tests/unit/catch.h"

namespace ours = memtrace::cupti;

namespace {

template <typename Theirs>
constexpr bool is_memory_record() {
  using Ours = ours::memory_record;
  return offsetof(Ours, operation) == offsetof(Theirs, memoryOperationType) &&
         offsetof(Ours, memory_kind) == offsetof(Theirs, memoryKind) &&
         offsetof(Ours, correlation) == offsetof(Theirs, correlationId) &&
         offsetof(Ours, address) == offsetof(Theirs, address) &&
         offsetof(Ours, bytes) == offsetof(Theirs, bytes) &&
         offsetof(Ours, timestamp) == offsetof(Theirs, timestamp) &&
         offsetof(Ours, program_counter) == offsetof(Theirs, PC) &&
         offsetof(Ours, process) == offsetof(Theirs, processId) &&
         offsetof(Ours, device) == offsetof(Theirs, deviceId) &&
         offsetof(Ours, context) == offsetof(Theirs, contextId) &&
         offsetof(Ours, stream) == offsetof(Theirs, streamId) &&
         offsetof(Ours, name) == offsetof(Theirs, name) &&
         offsetof(Ours, is_async) == offsetof(Theirs, isAsync) && sizeof(Ours) <= sizeof(Theirs);
}

template <typename Theirs>
constexpr bool is_pool_record() {
  using Ours = ours::pool_record;
  return offsetof(Ours, operation) == offsetof(Theirs, memoryPoolOperationType) &&
         offsetof(Ours, correlation) == offsetof(Theirs, correlationId) &&
         offsetof(Ours, process) == offsetof(Theirs, processId) &&
         offsetof(Ours, device) == offsetof(Theirs, deviceId) &&
         offsetof(Ours, address) == offsetof(Theirs, address) &&
         offsetof(Ours, size) == offsetof(Theirs, size) &&
         offsetof(Ours, timestamp) == offsetof(Theirs, timestamp) && sizeof(Ours) <= sizeof(Theirs);
}

template <typename Theirs>
constexpr bool is_kernel_record() {
  using Ours = ours::kernel_record;
  return offsetof(Ours, start) == offsetof(Theirs, start) &&
         offsetof(Ours, end) == offsetof(Theirs, end) &&
         offsetof(Ours, completed) == offsetof(Theirs, completed) &&
         offsetof(Ours, device) == offsetof(Theirs, deviceId) && sizeof(Ours) <= sizeof(Theirs);
}

template <typename Theirs>
constexpr bool is_migration_record() {
  using Ours = ours::migration_record;
  return offsetof(Ours, counter) == offsetof(Theirs, counterKind) &&
         offsetof(Ours, value) == offsetof(Theirs, value) &&
         offsetof(Ours, start) == offsetof(Theirs, start) &&
         offsetof(Ours, end) == offsetof(Theirs, end) &&
         offsetof(Ours, address) == offsetof(Theirs, address) &&
         offsetof(Ours, source) == offsetof(Theirs, srcId) &&
         offsetof(Ours, destination) == offsetof(Theirs, dstId) && sizeof(Ours) <= sizeof(Theirs);
}

}  // namespace

TEST_CASE("Records begin as they are read", "[cupti]") {
  CHECK(is_memory_record<CUpti_ActivityMemory2>());
  CHECK(is_memory_record<CUpti_ActivityMemory3>());
  CHECK(is_pool_record<CUpti_ActivityMemoryPool>());
  CHECK(is_pool_record<CUpti_ActivityMemoryPool2>());
  CHECK(is_kernel_record<CUpti_ActivityKernel4>());
  CHECK(is_kernel_record<CUpti_ActivityKernel7>());
  CHECK(is_kernel_record<CUpti_ActivityKernel9>());
  CHECK(is_migration_record<CUpti_ActivityUnifiedMemoryCounter2>());
#if CUDART_VERSION >= 13000
  CHECK(is_memory_record<CUpti_ActivityMemory4>());
  CHECK(is_pool_record<CUpti_ActivityMemoryPool3>());
  CHECK(is_kernel_record<CUpti_ActivityKernel10>());
  CHECK(is_migration_record<CUpti_ActivityUnifiedMemoryCounter3>());
#endif
}

TEST_CASE("Numbers are CUPTI's", "[cupti]") {
  using kind = ours::record_kind;
  CHECK(static_cast<int>(kind::concurrent_kernel) == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  CHECK(static_cast<int>(kind::unified_memory_counter) ==
        CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  CHECK(static_cast<int>(kind::memory) == CUPTI_ACTIVITY_KIND_MEMORY2);
  CHECK(static_cast<int>(kind::memory_pool) == CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  CHECK(ours::multiple_subscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  using counter = ours::migration_counter;
  CHECK(static_cast<int>(counter::to_device) ==
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
  CHECK(static_cast<int>(counter::to_host) ==
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
  CHECK(static_cast<int>(counter::gpu_page_fault) ==
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT);
  CHECK(sizeof(ours::migration_config) == sizeof(CUpti_ActivityUnifiedMemoryCounterConfig));
  CHECK(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE == 1);
}
