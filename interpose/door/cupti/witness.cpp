// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/cupti/witness.h"

#include <sys/mman.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "interpose/door/cupti/cupti_library.h"
#include "interpose/door/cupti/record_reading.h"
#include "interpose/ground/base/notice.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/session/refusals.h"
#include "interpose/ground/session/session.h"

namespace memtrace::cupti {
namespace {

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

// A step of training, or a few; and short enough that what a kill loses is little.
constexpr std::uint32_t flush_period_ms = 250;
constexpr std::uint32_t flush_forced = 1;  // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED

constexpr record_kind kinds[] = {record_kind::memory, record_kind::memory_pool,
                                 record_kind::concurrent_kernel,
                                 record_kind::unified_memory_counter};

library cupti;
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
  if (valid > 0) read_buffer(cupti, buffer, valid);
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
                .b = lost_records(),
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
