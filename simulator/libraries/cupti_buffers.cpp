// SPDX-License-Identifier: Apache-2.0
#include "simulator/libraries/cupti_buffers.h"

#include <time.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

namespace memtrace::simulator::cupti::buffers {
namespace {

struct buffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
};

struct state {
  std::mutex lock;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  buffer current;
  std::uint64_t period_ns = 0;
  std::uint64_t last_flush_ns = 0;
};

// Never destroyed: threads may still record while the process exits.
state& all() {
  static state* const one = new state;
  return *one;
}

std::atomic<std::size_t> dropped{0};

std::uint64_t monotonic() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// To be called without the lock.
void give_back(CUpti_BuffersCallbackCompleteFunc complete, const buffer& full) {
  if (full.bytes != nullptr && complete != nullptr) {
    complete(nullptr, 0, full.bytes, full.size, full.used);
  }
}

bool append(buffer& to, const void* record, std::size_t bytes) {
  if (to.bytes == nullptr || to.size - to.used < bytes) return false;
  std::memcpy(to.bytes + to.used, record, bytes);
  to.used += bytes;
  return true;
}

bool period_is_over(state& now) {
  if (now.period_ns == 0) return false;
  const std::uint64_t time = monotonic();
  if (time - now.last_flush_ns < now.period_ns) return false;
  now.last_flush_ns = time;
  return true;
}

}  // namespace

void use(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
  flush();
  state& now = all();
  const std::lock_guard holder(now.lock);
  now.request = request;
  now.complete = complete;
}

bool in_use() {
  const std::lock_guard holder(all().lock);
  return all().request != nullptr;
}

void put(const void* record, std::size_t bytes) {
  state& now = all();
  std::unique_lock holder(now.lock);
  if (append(now.current, record, bytes)) {
    if (!period_is_over(now)) return;
    holder.unlock();
    flush();
    return;
  }
  const buffer full = std::exchange(now.current, {});
  const auto request = now.request;
  const auto complete = now.complete;
  holder.unlock();
  give_back(complete, full);
  if (request == nullptr) return;
  buffer fresh;
  std::size_t most_records = 0;
  request(&fresh.bytes, &fresh.size, &most_records);
  const bool fits = append(fresh, record, bytes);
  if (!fits) dropped.fetch_add(1, std::memory_order_relaxed);
  holder.lock();
  // Another thread may have got one meanwhile: its goes back.
  const buffer other = std::exchange(now.current, fresh);
  holder.unlock();
  give_back(complete, other);
}

void flush() {
  state& now = all();
  std::unique_lock holder(now.lock);
  const buffer full = std::exchange(now.current, {});
  const auto complete = now.complete;
  holder.unlock();
  give_back(complete, full);
}

void set_period(std::uint32_t milliseconds) {
  state& now = all();
  const std::lock_guard holder(now.lock);
  now.period_ns = std::uint64_t{milliseconds} * 1'000'000;
  now.last_flush_ns = monotonic();
}

std::size_t take_dropped() {
  return dropped.exchange(0, std::memory_order_relaxed);
}

}  // namespace memtrace::simulator::cupti::buffers
