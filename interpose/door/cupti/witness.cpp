// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/cupti/witness.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "interpose/door/cupti/cupti_library.h"
#include "interpose/door/cupti/device_activity.h"
#include "interpose/ground/base/notice.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/session/refusals.h"
#include "interpose/ground/session/session.h"

namespace memtrace::cupti {
namespace {

library cupti;

// Memory for CUPTI's records: handed out empty, taken back when read, used again.
namespace buffers {

constexpr std::size_t bytes = 512 << 10;

constexpr std::size_t most_kept = 8;

struct {
  small_lock lock;
  std::array<std::uint8_t*, most_kept> unused{};
  std::size_t count = 0;
} kept;

// Null when there is no memory: CUPTI then counts what it drops.
std::uint8_t* take() noexcept {
  {
    const lock_holder holder(kept.lock);
    if (kept.count > 0) return kept.unused[--kept.count];
  }
  void* const fresh =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return fresh == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(fresh);
}

void give_back(std::uint8_t* buffer) noexcept {
  if (buffer == nullptr) return;
  {
    const lock_holder holder(kept.lock);
    if (kept.count < most_kept) {
      kept.unused[kept.count++] = buffer;
      return;
    }
  }
  munmap(buffer, bytes);
}

}  // namespace buffers

// From CUPTI's buffers into the trace.

small_lock reading;
std::atomic<std::uint64_t> lost{0};  // records that CUPTI dropped so far

// Never destroyed: CUPTI's threads may bring buffers until the process is gone.
union undying {
  constexpr undying() noexcept : activity() {}
  ~undying() {}
  device_activity activity;
};
constinit undying counted;

// The beginning of a record, whatever its alignment and length.
template <typename Record>
Record beginning_of(const void* record) noexcept {
  Record value;
  std::memcpy(&value, record, sizeof value);
  return value;
}

constexpr char separator = format::witness_separator;

void record_memory(const memory_record& from, std::int64_t difference) noexcept {
  recorder* const to = session::start();
  if (to == nullptr) return;
  char text[160];
  const int length = std::snprintf(text, sizeof text, "%u%c%u%c%lld%c%u%c%u%c%u%c%u%c%u",
                                   from.operation, separator, from.memory_kind, separator,
                                   static_cast<long long>(from.timestamp) + difference, separator,
                                   from.correlation, separator, from.context, separator,
                                   from.stream, separator, from.is_async, separator, from.process);
  to->operation({.what = format::operation::witness,
                 .device = from.device,
                 .a = from.address,
                 .b = from.bytes,
                 .text = {text, static_cast<std::size_t>(length)}});
}

void record_pool(const pool_record& from, std::int64_t difference) noexcept {
  recorder* const to = session::active();
  if (to == nullptr) return;
  char text[160];
  const int length =
      std::snprintf(text, sizeof text, "%u%c0%c%lld%c%u%c0%c0%c0%c%u",
                    from.operation + format::witness_pool_operation, separator, separator,
                    static_cast<long long>(from.timestamp) + difference, separator,
                    from.correlation, separator, separator, separator, separator, from.process);
  to->operation({.what = format::operation::witness,
                 .device = from.device,
                 .a = from.address,
                 .b = from.size,
                 .text = {text, static_cast<std::size_t>(length)}});
}

void count_migration(const migration_record& from) noexcept {
  device_activity& to = counted.activity;
  switch (static_cast<migration_counter>(from.counter)) {
    case migration_counter::to_device:
      to.migrated(from.destination, true, from.value);
      break;
    case migration_counter::to_host:
      to.migrated(from.source, false, from.value);
      break;
    case migration_counter::gpu_page_fault:
      to.faulted(from.source, from.value);
      break;
  }
}

void read_record(const void* record, std::int64_t difference) noexcept {
  switch (static_cast<record_kind>(beginning_of<std::uint32_t>(record))) {
    case record_kind::memory:
      record_memory(beginning_of<memory_record>(record), difference);
      break;
    case record_kind::memory_pool:
      record_pool(beginning_of<pool_record>(record), difference);
      break;
    case record_kind::concurrent_kernel: {
      const auto kernel = beginning_of<kernel_record>(record);
      // A kernel that still runs when everything is asked for has no end.
      if (kernel.end != 0) counted.activity.kernel(kernel.device, kernel.start, kernel.end);
      break;
    }
    case record_kind::unified_memory_counter:
      count_migration(beginning_of<migration_record>(record));
      break;
  }
}

// CUPTI's clock against CLOCK_MONOTONIC, ns: what to add to its times.
std::int64_t clock_difference() noexcept {
  std::uint64_t theirs = 0;
  const std::uint64_t before = monotonic_ns();
  if (cupti.timestamp(&theirs) != success) return 0;
  const std::uint64_t after = monotonic_ns();
  return static_cast<std::int64_t>(before + (after - before) / 2) -
         static_cast<std::int64_t>(theirs);
}

// Records what is in the buffer. Begins a recording if the buffer tells of memory and none runs.
void read_buffer(std::uint8_t* buffer, std::size_t valid) noexcept {
  const std::int64_t difference = clock_difference();
  const lock_holder holder(reading);
  void* record = nullptr;
  while (cupti.next_record(buffer, valid, &record) == success) read_record(record, difference);
  std::size_t dropped = 0;
  if (cupti.dropped_records(nullptr, 0, &dropped) == success) {
    lost.fetch_add(dropped, std::memory_order_relaxed);
  }
  recorder* const to = session::active();
  if (to != nullptr) counted.activity.record(*to);
}

// A step of training, or a few; and short enough that what a kill loses is little.
constexpr std::uint32_t flush_period_ms = 250;
constexpr std::uint32_t flush_forced = 1;  // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED

constexpr record_kind kinds[] = {record_kind::memory, record_kind::memory_pool,
                                 record_kind::concurrent_kernel,
                                 record_kind::unified_memory_counter};

subscriber subscription = nullptr;
std::uint32_t version = 0;
std::uint64_t changed_at = 0;  // CLOCK_MONOTONIC, of the latest change of `now`
char reason[160] = "";

void nothing(void*, std::uint32_t, std::uint32_t, const void*) {}

void on_request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  *buffer = buffers::take();
  *bytes = *buffer == nullptr ? 0 : buffers::bytes;
  *records = 0;  // as many as fit
}

void on_complete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  if (buffer == nullptr) return;
  if (valid > 0) read_buffer(buffer, valid);
  buffers::give_back(buffer);
}

void at_exit() {
  end("the program exits");
}

// A sentence, or null: CUPTI listens.
const char* try_to_listen() noexcept {
  if (!find_library(cupti)) return "there is no libcupti in the process or where libraries are";
  (void)cupti.version(&version);
  const int error = cupti.subscribe(&subscription, &nothing, nullptr);
  if (error == multiple_subscribers) return "another profiler holds CUPTI";
  if (error != success) return "CUPTI cannot be subscribed to";
  if (cupti.register_callbacks(&on_request, &on_complete) != success ||
      cupti.enable(record_kind::memory) != success) {
    (void)cupti.unsubscribe(subscription);
    return "CUPTI gives no memory records";
  }
  // Kinds that this GPU or user may not have are left out.
  migration_config config[] = {{1, migration_counter::to_device, 0, 1},
                               {1, migration_counter::to_host, 0, 1},
                               {1, migration_counter::gpu_page_fault, 0, 1}};
  if (cupti.configure_migration != nullptr) (void)cupti.configure_migration(config, 3);
  for (const record_kind kind : kinds) {
    if (const int failed = cupti.enable(kind); failed != success) {
      notice::log("CUPTI: kind %u cannot be enabled (%d)", static_cast<unsigned>(kind), failed);
    }
  }
  if (cupti.flush_period != nullptr) (void)cupti.flush_period(flush_period_ms);
  return nullptr;
}

}  // namespace

void load() noexcept {
  if (settings::is_on(capability::cupti)) now.store(stage::untried, std::memory_order_relaxed);
}

void begin() noexcept {
  stage expected = stage::untried;
  if (!now.compare_exchange_strong(expected, stage::trying)) return;
  const char* const why = try_to_listen();
  // Runs before the exit handlers that CUPTI and the driver registered earlier. Without it what
  // was not delivered by then is missing.
  if (why == nullptr) (void)std::atexit(&at_exit);
  changed_at = monotonic_ns();
  if (why != nullptr) {
    std::snprintf(reason, sizeof reason, "%s", why);
    refusals::refuse(capability::cupti, reason);
  }
  now.store(why == nullptr ? stage::listening : stage::refused, std::memory_order_release);
  if (recorder* const to = session::active(); to != nullptr) record_state(*to);
}

void record_state(recorder& to) noexcept {
  const stage state = now.load(std::memory_order_acquire);
  if (state != stage::listening && state != stage::ended && state != stage::refused) return;
  char text[256];
  const int length =
      std::snprintf(text, sizeof text, "%llu%c%u%c%s", static_cast<unsigned long long>(changed_at),
                    format::witness_separator, version, format::witness_separator, reason);
  to.operation({.what = format::operation::witness_state,
                .a = state == stage::listening ? 1u : 0u,
                .b = lost.load(std::memory_order_relaxed),
                .text = {text, static_cast<std::size_t>(length)}});
}

void end(const char* why) noexcept {
  stage expected = stage::listening;
  if (!now.compare_exchange_strong(expected, stage::trying)) return;
  const std::uint64_t ended = monotonic_ns();
  (void)cupti.flush_all(flush_forced);
  for (const record_kind kind : kinds) (void)cupti.disable(kind);
  if (cupti.flush_period != nullptr) (void)cupti.flush_period(0);
  (void)cupti.unsubscribe(subscription);
  changed_at = ended;
  std::snprintf(reason, sizeof reason, "%s", why);
  now.store(stage::ended, std::memory_order_release);
  if (recorder* const to = session::active(); to != nullptr) record_state(*to);
}

// CUPTI is not made for forked processes: a child has no second witness.
void in_forked_child() noexcept {
  if (now.load(std::memory_order_relaxed) == stage::untried) return;
  now.store(stage::off, std::memory_order_relaxed);
}

}  // namespace memtrace::cupti
