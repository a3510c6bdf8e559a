// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/sampler/device_use.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <span>

#include "interpose/door/sampler/process_watch.h"
#include "interpose/door/sampler/sample_plan.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/driver/device_log.h"
#include "interpose/ground/driver/driver_queries.h"
#include "interpose/ground/recorder/tick_clock.h"
#include "memtrace/host_samples.h"

namespace memtrace::device_use {
namespace {

using format::cuda_effect;
namespace host = format::host;

struct device_state {
  std::atomic<std::uint32_t> answered{0};
  std::atomic<std::uint64_t> in_use{0};  // at the latest sample
  std::atomic<std::uint64_t> taken{0};   // since
  std::atomic<std::uint64_t> highest{0};
  std::atomic<bool> has_pools{false};
  std::atomic<bool> has_graphs{false};
};
std::array<device_state, max_devices> devices;
std::atomic<std::uint64_t> latest_cost{0};
std::atomic<std::uint64_t> first_time{0};

// The memory that this process's stream-ordered pools and graphs reserve of a device, asked of the
// driver in a thread of the program.
namespace memory_pools {

// cuda.h: CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT
constexpr int pool_reserved = 5;
constexpr int graph_reserved = 2;

struct made_pool {
  std::atomic<std::uint64_t> handle{0};
  std::atomic<std::uint32_t> device{0};
};
std::array<made_pool, 256> pools;
std::atomic<bool> are_too_many{false};
std::atomic<std::uint32_t> askers{0};

class asking {
 public:
  asking() noexcept { askers.fetch_add(1, std::memory_order_seq_cst); }
  ~asking() { askers.fetch_sub(1, std::memory_order_seq_cst); }
  asking(const asking&) = delete;
  asking& operator=(const asking&) = delete;
};

class pool_sum {
 public:
  explicit pool_sum(const driver_queries& driver) noexcept : driver_(driver) {}
  void add(void* pool) noexcept {
    std::uint64_t bytes = 0;
    if (driver_.pool_attribute(pool, pool_reserved, &bytes) != 0) return;
    bytes_ += bytes;
    any_ = true;
  }
  [[nodiscard]] std::optional<std::uint64_t> found() const noexcept {
    return any_ ? std::optional(bytes_) : std::nullopt;
  }

 private:
  const driver_queries& driver_;
  std::uint64_t bytes_ = 0;
  bool any_ = false;
};

// The device's pools and those that the program made.
std::optional<std::uint64_t> reserved_by_pools(const driver_queries& driver,
                                               std::uint32_t device) noexcept {
  if (driver.default_pool == nullptr || driver.pool_attribute == nullptr) return std::nullopt;
  if (are_too_many.load(std::memory_order_relaxed)) return std::nullopt;
  int ordinal = 0;
  void* of_device = nullptr;
  if (driver.device(&ordinal, static_cast<int>(device)) != 0 ||
      driver.default_pool(&of_device, ordinal) != 0) {
    return std::nullopt;
  }
  const asking now;
  pool_sum sum(driver);
  sum.add(of_device);
  for (const auto& one : pools) {
    const std::uint64_t handle = one.handle.load(std::memory_order_seq_cst);
    if (handle <= 1 || one.device.load(std::memory_order_relaxed) != device) continue;
    sum.add(reinterpret_cast<void*>(handle));
  }
  return sum.found();
}

std::optional<std::uint64_t> reserved_by_graphs(const driver_queries& driver,
                                                std::uint32_t device) noexcept {
  int ordinal = 0;
  std::uint64_t bytes = 0;
  if (driver.graph_attribute == nullptr || driver.device(&ordinal, static_cast<int>(device)) != 0 ||
      driver.graph_attribute(ordinal, graph_reserved, &bytes) != 0) {
    return std::nullopt;
  }
  return bytes;
}

// A pool that the program made. More than some hundred at a time are left out, and then the sum is
// not known.
void add_pool(std::uint64_t pool, std::uint32_t device) noexcept {
  constexpr std::uint64_t taken = 1;  // no pool's address
  for (auto& one : pools) {
    std::uint64_t nobody = 0;
    if (!one.handle.compare_exchange_strong(nobody, taken, std::memory_order_acq_rel)) continue;
    one.device.store(device, std::memory_order_relaxed);
    one.handle.store(pool, std::memory_order_seq_cst);
    return;
  }
  are_too_many.store(true, std::memory_order_relaxed);
}

// Before it is destroyed. Returns once nobody asks about it.
void remove_pool(std::uint64_t pool) noexcept {
  for (auto& one : pools) {
    std::uint64_t expected = pool;
    if (!one.handle.compare_exchange_strong(expected, 0, std::memory_order_seq_cst)) continue;
    while (askers.load(std::memory_order_seq_cst) != 0) sched_yield();
    return;
  }
}

void forget_askers() noexcept {
  askers.store(0, std::memory_order_relaxed);
}

}  // namespace memory_pools

constexpr std::uint64_t ms = 1'000'000;  // ns
// Samples of new highs: a part of the time, as all that samples.
sampler::time_budget for_highs(50 * ms, 2000);

device_state& at(std::uint32_t device) noexcept {
  return devices[device % max_devices];
}

std::uint64_t elapsed(std::uint64_t now) noexcept {
  std::uint64_t first = 0;
  if (first_time.compare_exchange_strong(first, now, std::memory_order_relaxed)) first = now;
  return now - first;
}

// A device's figures at one moment.
class reading {
 public:
  reading(recorder& to, std::uint32_t device) noexcept : to_(to), device_(device) {}

  // False where nothing is known, or the numbers are not of one moment.
  [[nodiscard]] bool take() noexcept {
    const auto* const driver = driver_queries::find();
    if (driver == nullptr) return false;
    const auto& state = at(device_);
    const capture_exempt exempt(*driver);
    used_ = device_log::used_bytes();
    if (used_ == 0) return false;
    add(host::device_used_suffix, used_);
    if (state.has_pools.load(std::memory_order_relaxed)) {
      add(host::device_pools_suffix, memory_pools::reserved_by_pools(*driver, device_));
    }
    if (state.has_graphs.load(std::memory_order_relaxed)) {
      add(host::device_graphs_suffix, memory_pools::reserved_by_graphs(*driver, device_));
    }
    add_contexts();
    return true;
  }
  [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
  [[nodiscard]] std::span<const counter_value> counters() const noexcept {
    return std::span(counters_).first(count_);
  }

 private:
  void add_contexts() noexcept {
    const auto all = device_log::others_and_contexts(device_);
    if (!all) return;
    if (const auto others = process_watch::others_at_first(device_)) {
      add(host::device_context_suffix, *all - std::min(*all, *others));
    } else {
      add(host::device_others_and_context_suffix, *all);
    }
  }

  void add(const char* suffix, std::optional<std::uint64_t> bytes) noexcept {
    if (!bytes || count_ == counters_.size()) return;
    char name[64];
    std::snprintf(name, sizeof name, "%s%u%s", host::device_prefix, device_, suffix);
    counters_[count_++] = {to_.text_id(name), static_cast<double>(*bytes)};
  }

  recorder& to_;
  std::uint32_t device_;
  std::uint64_t used_ = 0;
  std::array<counter_value, 8> counters_{};
  std::size_t count_ = 0;
};

// For the current device.
bool sample(recorder& to, std::uint32_t device) noexcept {
  const std::uint64_t calls = begun.load(std::memory_order_acquire);
  if (calls - ended.load(std::memory_order_acquire) != own_calls) return false;
  process_watch::see(device);
  reading now(to, device);
  if (!now.take() || !to.samples(now.counters(), begun, calls)) return false;
  auto& state = at(device);
  state.in_use.store(now.used(), std::memory_order_relaxed);
  state.taken.store(0, std::memory_order_relaxed);
  if (now.used() > state.highest.load(std::memory_order_relaxed)) {
    state.highest.store(now.used(), std::memory_order_relaxed);
    process_watch::wake();
  }
  return true;
}

// Memory given back since the latest sample is not known here: there may be more than ever.
bool may_be_highest(const device_state& state) noexcept {
  const std::uint64_t taken = state.taken.load(std::memory_order_relaxed);
  return taken != 0 && state.in_use.load(std::memory_order_relaxed) + taken >
                           state.highest.load(std::memory_order_relaxed);
}

void look_for_high(recorder& to, std::uint32_t device) noexcept {
  if (!may_be_highest(at(device)) || !settings::is_on(capability::sampling)) return;
  const std::uint64_t began = monotonic_ns();
  if (!for_highs.allows(elapsed(began)) || device_log::current() != device) return;
  (void)sample(to, device);
  for_highs.spend(monotonic_ns() - began);
}

}  // namespace

std::uint64_t cost() noexcept {
  return latest_cost.load(std::memory_order_relaxed);
}

void answer_now(recorder& to) noexcept {
  const std::uint32_t question = asked.load(std::memory_order_relaxed);
  const std::uint32_t device = device_log::current();
  auto& last = at(device).answered;
  if (last.load(std::memory_order_relaxed) == question) {
    seen = question;
    return;
  }
  const std::uint64_t began = monotonic_ns();
  const bool is_taken = sample(to, device);
  latest_cost.store(monotonic_ns() - began, std::memory_order_relaxed);
  if (!is_taken) return;  // the next call tries again
  last.store(question, std::memory_order_relaxed);
  seen = question;
}

void took(recorder& to, std::uint32_t device, cuda_effect effect, std::uint64_t bytes) noexcept {
  auto& state = at(device);
  const bool is_of_pool = effect == cuda_effect::pool_memory;
  const bool is_of_graph = effect == cuda_effect::graph_memory;
  if (is_of_pool) state.has_pools.store(true, std::memory_order_relaxed);
  // Memory that a capturing stream asks a pool for belongs to a graph.
  if (is_of_pool || is_of_graph) state.has_graphs.store(true, std::memory_order_relaxed);
  // A graph's launch, a new context and a module do not say how much.
  state.taken.fetch_add(std::max<std::uint64_t>(bytes, 1), std::memory_order_relaxed);
  look_for_high(to, device);
  if (effect == cuda_effect::module) process_watch::wake();
  answer(to);
}

void gives_back(recorder& to, std::uint32_t device) noexcept {
  look_for_high(to, device);
  answer(to);
}

void pool_made(std::uint64_t pool, std::uint32_t device) noexcept {
  memory_pools::add_pool(pool, device);
}

void pool_ends(std::uint64_t pool) noexcept {
  memory_pools::remove_pool(pool);
}

void in_forked_child() noexcept {
  begun.store(own_calls, std::memory_order_relaxed);
  ended.store(0, std::memory_order_relaxed);
  memory_pools::forget_askers();
}

}  // namespace memtrace::device_use
