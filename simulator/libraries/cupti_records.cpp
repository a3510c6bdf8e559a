// SPDX-License-Identifier: Apache-2.0
//
// The events of the simulated CUDA (core/activity.h) as CUPTI's records.
#include <cupti.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "simulator/core/activity.h"
#include "simulator/libraries/cupti_buffers.h"
#include "simulator/libraries/cupti_state.h"
#include "simulator/libraries/cupti_types.h"

namespace memtrace::simulator {

namespace cupti {
namespace {

std::uint32_t process() {
  return static_cast<std::uint32_t>(getpid());
}

std::uint32_t context_of(int device) {
  return static_cast<std::uint32_t>(device) + 1;
}

std::uint32_t id_of(const stream* one) {
  return one == nullptr ? CUPTI_INVALID_STREAM_ID : static_cast<std::uint32_t>(one->id);
}

// When the kernel before on the same stream is done: they run one after the other.
struct stream_ends {
  std::mutex lock;
  std::unordered_map<std::uint64_t, std::uint64_t> of;
};

std::pair<std::uint64_t, std::uint64_t> run_time(const stream& on) {
  static auto* const ends = new stream_ends;
  const std::uint64_t now = timestamp();
  const std::uint64_t length = later(now, clock::kernel) - now;
  const std::lock_guard holder(ends->lock);
  std::uint64_t& last = ends->of[on.id];
  // Another clock has another zero: what it cannot have reached does not count.
  if (last > now + clock::queue_depth * length) last = 0;
  const std::uint64_t start = std::max(now, last);
  last = start + length;
  return {start, last};
}

void tell_launch_call(std::uint32_t correlation) {
  if (!is_enabled(CUPTI_ACTIVITY_KIND_RUNTIME)) return;
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  record.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  record.start = timestamp();
  record.end = later(record.start, clock::host_call);
  record.processId = process();
  record.threadId = static_cast<std::uint32_t>(syscall(SYS_gettid));
  record.correlationId = correlation;
  buffers::put(record);
}

}  // namespace
}  // namespace cupti

namespace activity {

std::uint64_t memory_operation::time() {
  return cupti::timestamp();
}

void memory_operation::tell(bool allocates, memory_type type, std::uint64_t address,
                            std::size_t bytes, int device, const stream* on) const {
  cupti::memory_record record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = allocates ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
                                         : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  record.memoryKind = static_cast<CUpti_ActivityMemoryKind>(type);
  record.correlationId = cupti::correlate();
  record.address = address;
  record.bytes = bytes;
  record.timestamp = began_;
  record.processId = cupti::process();
  record.deviceId = static_cast<std::uint32_t>(device);
  record.contextId = cupti::context_of(device);
  record.streamId = cupti::id_of(on);
  record.isAsync = on == nullptr ? 0 : 1;
  cupti::buffers::put(record);
}

void tell_pool(pool_operation what, int device, const void* pool, std::size_t keeps) {
  cupti::pool_record record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  record.memoryPoolOperationType = static_cast<CUpti_ActivityMemoryPoolOperationType>(what);
  record.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.correlationId = cupti::correlate();
  record.processId = cupti::process();
  record.deviceId = static_cast<std::uint32_t>(device);
  record.minBytesToKeep = keeps;
  record.address = reinterpret_cast<std::uintptr_t>(pool);
  record.timestamp = cupti::timestamp();
  cupti::buffers::put(record);
}

void tell_kernel(const stream& on, const char* name) {
  const std::uint32_t correlation = cupti::correlate();
  cupti::tell_launch_call(correlation);
  cupti::kernel_record record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  const auto [start, end] = cupti::run_time(on);
  record.start = start;
  record.end = end;
  record.completed = end;
  record.deviceId = static_cast<std::uint32_t>(on.device);
  record.contextId = cupti::context_of(on.device);
  record.streamId = cupti::id_of(&on);
  record.gridX = record.gridY = record.gridZ = 1;
  record.blockX = record.blockY = record.blockZ = 1;
  record.correlationId = correlation;
  record.name = name == nullptr ? "kernel" : name;
  cupti::buffers::put(record);
}

void tell_migration(std::uint64_t address, std::size_t bytes, int device, bool to_device) {
  cupti::migration_record record{};
  record.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
  record.counterKind = to_device ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD
                                 : CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH;
  record.value = bytes;
  record.start = cupti::timestamp();
  record.end = cupti::later(record.start, static_cast<std::int64_t>(clock::link_copy(bytes)));
  record.address = address;
  // The host has no number of its own; a transfer names the device on its other side.
  (to_device ? record.dstId : record.srcId) = static_cast<std::uint32_t>(device);
  record.processId = cupti::process();
  cupti::buffers::put(record);
}

}  // namespace activity
}  // namespace memtrace::simulator
