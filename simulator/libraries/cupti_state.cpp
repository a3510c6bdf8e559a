// SPDX-License-Identifier: Apache-2.0
#include "simulator/libraries/cupti_state.h"

#include <time.h>

#include <array>
#include <atomic>
#include <bitset>
#include <mutex>
#include <vector>

#include "simulator/core/activity.h"
#include "simulator/libraries/cupti_buffers.h"

namespace memtrace::simulator::cupti {
namespace {

constexpr std::size_t kinds = CUPTI_ACTIVITY_KIND_COUNT;
std::array<std::atomic<bool>, kinds> enabled{};

std::uint64_t realtime() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// The profiler's clock and how fast it goes, from two looks at both clocks.
struct clock_of_profiler {
  std::mutex lock;
  CUpti_TimestampCallbackFunc read = nullptr;
  std::uint64_t first = 0;
  std::uint64_t first_ns = 0;
};
clock_of_profiler own_clock;

double units_per_ns() {
  const std::lock_guard holder(own_clock.lock);
  if (own_clock.read == nullptr) return 1;
  constexpr std::uint64_t long_enough = 100'000;  // ns: both clocks have moved well
  std::uint64_t ns = realtime();
  while (ns - own_clock.first_ns < long_enough) ns = realtime();
  return static_cast<double>(own_clock.read() - own_clock.first) /
         static_cast<double>(ns - own_clock.first_ns);
}

constexpr std::size_t external_kinds = CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
thread_local std::array<std::vector<std::uint64_t>, external_kinds> external;

void update_sources() {
  unsigned sources = 0;
  if (is_enabled(CUPTI_ACTIVITY_KIND_MEMORY2)) sources |= activity::memory;
  if (is_enabled(CUPTI_ACTIVITY_KIND_MEMORY_POOL)) sources |= activity::pools;
  if (is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) sources |= activity::kernels;
  if (is_enabled(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)) sources |= activity::migration;
  activity::wanted.store(sources, std::memory_order_relaxed);
}

}  // namespace

bool is_enabled(CUpti_ActivityKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kinds && enabled[index].load(std::memory_order_relaxed);
}

CUptiResult enable(CUpti_ActivityKind kind, bool on) {
  const auto index = static_cast<std::size_t>(kind);
  if (index == 0 || index >= kinds) return CUPTI_ERROR_INVALID_KIND;
  enabled[index].store(on, std::memory_order_relaxed);
  update_sources();
  return CUPTI_SUCCESS;
}

void disable_all() {
  for (auto& one : enabled) one.store(false, std::memory_order_relaxed);
  update_sources();
}

std::uint64_t timestamp() {
  {
    const std::lock_guard holder(own_clock.lock);
    if (own_clock.read != nullptr) return own_clock.read();
  }
  return realtime();
}

std::uint64_t later(std::uint64_t than, std::int64_t ns) {
  return than + static_cast<std::uint64_t>(
                    static_cast<std::int64_t>(static_cast<double>(ns) * units_per_ns()));
}

void use_clock(CUpti_TimestampCallbackFunc clock) {
  const std::lock_guard holder(own_clock.lock);
  own_clock.read = clock;
  if (clock == nullptr) return;
  own_clock.first = clock();
  own_clock.first_ns = realtime();
}

void push_external(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  if (static_cast<std::size_t>(kind) < external_kinds) external[kind].push_back(id);
}

bool pop_external(CUpti_ExternalCorrelationKind kind, std::uint64_t& id) {
  if (static_cast<std::size_t>(kind) >= external_kinds || external[kind].empty()) return false;
  id = external[kind].back();
  external[kind].pop_back();
  return true;
}

std::uint32_t correlate() {
  static std::atomic<std::uint32_t> last{0};
  const std::uint32_t id = last.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!is_enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) return id;
  for (std::size_t kind = 0; kind < external_kinds; ++kind) {
    if (external[kind].empty()) continue;
    CUpti_ActivityExternalCorrelation record{};
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = static_cast<CUpti_ExternalCorrelationKind>(kind);
    record.externalId = external[kind].back();
    record.correlationId = id;
    buffers::put(record);
  }
  return id;
}

}  // namespace memtrace::simulator::cupti
