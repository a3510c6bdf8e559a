// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/driver/made_contexts.h"

#include <array>
#include <atomic>

#include "interpose/ground/driver/driver_queries.h"

namespace memtrace::made_contexts {
namespace {

// More than that at one time are taken for the devices' own.
std::array<std::atomic<std::uint64_t>, 64> contexts{};
std::atomic<unsigned> count{0};

bool is_known(std::uint64_t context) noexcept {
  for (const auto& each : contexts) {
    if (each.load(std::memory_order_relaxed) == context) return true;
  }
  return false;
}

}  // namespace

void add(std::uint64_t context) noexcept {
  for (auto& each : contexts) {
    std::uint64_t empty = 0;
    if (each.compare_exchange_strong(empty, context, std::memory_order_relaxed)) {
      count.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
}

void remove(std::uint64_t context) noexcept {
  if (context == 0) return;
  for (auto& each : contexts) {
    std::uint64_t wanted = context;
    if (each.compare_exchange_strong(wanted, 0, std::memory_order_relaxed)) {
      count.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
  }
}

std::uint64_t current() noexcept {
  if (count.load(std::memory_order_relaxed) == 0) [[likely]]
    return 0;
  const driver_queries* const driver = driver_queries::find();
  void* context = nullptr;
  if (driver == nullptr || driver->context(&context) != 0 || context == nullptr) return 0;
  const auto handle = reinterpret_cast<std::uintptr_t>(context);
  return is_known(handle) ? handle : 0;
}

}  // namespace memtrace::made_contexts
