// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/cupti/record_reading.h"

#include <atomic>
#include <cstdio>
#include <cstring>

#include "interpose/door/cupti/device_activity.h"
#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/session/session.h"

namespace memtrace::cupti {
namespace {

small_lock reading;
std::atomic<std::uint64_t> lost{0};

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

}  // namespace

std::int64_t clock_difference(const library& cupti) noexcept {
  std::uint64_t theirs = 0;
  const std::uint64_t before = monotonic_ns();
  if (cupti.timestamp(&theirs) != success) return 0;
  const std::uint64_t after = monotonic_ns();
  return static_cast<std::int64_t>(before + (after - before) / 2) -
         static_cast<std::int64_t>(theirs);
}

void read_buffer(const library& cupti, std::uint8_t* buffer, std::size_t valid) noexcept {
  const std::int64_t difference = clock_difference(cupti);
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

std::uint64_t lost_records() noexcept {
  return lost.load(std::memory_order_relaxed);
}

}  // namespace memtrace::cupti
