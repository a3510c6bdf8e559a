// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/sampler/memory_pools.h"

#include <sched.h>

#include <array>
#include <atomic>

namespace memtrace::sampler {
namespace {

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

}  // namespace

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

}  // namespace memtrace::sampler
