// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/driver/device_log.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "interpose/ground/base/news.h"
#include "interpose/ground/driver/driver_queries.h"

namespace memtrace::device_log {
namespace {

// Numbers from cuda.h.
constexpr int attribute_multiprocessors = 16;
constexpr int attribute_major = 75;
constexpr int attribute_minor = 76;

// Bytes of device memory, on all GPUs so far.
constexpr std::uint64_t granularity = 2 << 20;

struct device_state {
  std::atomic<std::uint64_t> free_at_first{0};
  // Allocated before there was a context whose free memory could be asked for: segments that expand
  // are made without one.
  std::atomic<std::uint64_t> taken_before{0};
  // The serial number of the recording that has the device's record.
  std::atomic<std::uint32_t> recorded_in{0};
  // In use at the first look, less what this process had asked for; 0: not known.
  std::atomic<std::uint64_t> used_at_first{0};
  std::atomic<std::uint64_t> later_contexts{0};
};
std::array<device_state, max_devices> devices;
thread_local constinit std::uint32_t last_device = 0;

device_state& at(std::uint32_t device) noexcept {
  return devices[device % max_devices];
}

// Contexts that came later and whose size is known, to subtract when they end. More than these are
// not told apart.
struct known_context {
  std::atomic<std::uint64_t> handle{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint32_t> device{0};
};
std::array<known_context, 64> contexts;

void remember_context(std::uint32_t device, std::uint64_t handle, std::uint64_t bytes) noexcept {
  for (auto& one : contexts) {
    std::uint64_t nobody = 0;
    if (!one.handle.compare_exchange_strong(nobody, handle, std::memory_order_acq_rel)) continue;
    one.bytes.store(bytes, std::memory_order_relaxed);
    one.device.store(device, std::memory_order_relaxed);
    break;
  }
  at(device).later_contexts.fetch_add(bytes, std::memory_order_relaxed);
}

std::uint32_t attribute(const driver_queries& driver, int device, int which) noexcept {
  int value = 0;
  return driver.attribute(&value, which, device) == 0 ? static_cast<std::uint32_t>(value) : 0;
}

}  // namespace

std::uint32_t current() noexcept {
  const auto* const driver = driver_queries::find();
  int device = 0;
  if (driver != nullptr && driver->context_device(&device) == 0 && device >= 0) {
    last_device = static_cast<std::uint32_t>(device);
  }
  return last_device;
}

std::uint64_t used_bytes() noexcept {
  const auto* const driver = driver_queries::find();
  if (driver == nullptr || !driver->has_context()) return 0;
  const auto now = driver->ask_memory();
  return now.total - now.free;
}

void sample_current() noexcept {
  sample_after_allocation(0);
}

void sample_after_allocation(std::uint64_t bytes) noexcept {
  const auto* const driver = driver_queries::find();
  if (driver == nullptr) return;
  const std::uint32_t device = current() % max_devices;
  auto& state = at(device);
  if (state.free_at_first.load(std::memory_order_relaxed) != 0) return;
  const std::uint64_t taken = (bytes + granularity - 1) / granularity * granularity;
  const std::uint64_t before = state.taken_before.fetch_add(taken, std::memory_order_relaxed);
  if (!driver->has_context()) return;
  std::uint64_t not_yet = 0;
  const auto now = driver->ask_memory();
  const std::uint64_t free = now.free + before + taken;
  if (!state.free_at_first.compare_exchange_strong(not_yet, free, std::memory_order_relaxed))
    return;
  state.used_at_first.store(now.total - std::min(now.total, free), std::memory_order_relaxed);
  state.recorded_in.store(0, std::memory_order_relaxed);  // tell what was not known then
  something_is_new();
}

void taken_before(std::uint32_t device, std::uint64_t bytes) noexcept {
  at(device % max_devices).taken_before.fetch_add(bytes, std::memory_order_relaxed);
}

void ensure(recorder& to, std::uint32_t device) noexcept {
  auto& state = at(device);
  if (state.recorded_in.load(std::memory_order_relaxed) == to.generation()) [[likely]]
    return;
  state.recorded_in.store(to.generation(), std::memory_order_relaxed);
  const auto* const driver = driver_queries::find();
  int handle = 0;
  if (driver == nullptr || driver->device(&handle, static_cast<int>(device)) != 0) return;
  device_facts facts{.device = device};
  std::size_t total = 0;
  char name[256] = {};
  if (driver->total(&total, handle) == 0) facts.total_bytes = total;
  if (driver->name(name, sizeof name - 1, handle) == 0) facts.name = name;
  facts.free_bytes = state.free_at_first.load(std::memory_order_relaxed);
  facts.major = attribute(*driver, handle, attribute_major);
  facts.minor = attribute(*driver, handle, attribute_minor);
  facts.multiprocessors = attribute(*driver, handle, attribute_multiprocessors);
  to.device(facts);
}

bool pci_bus_id(std::uint32_t device, std::span<char> to) noexcept {
  const auto* const driver = driver_queries::find();
  int handle = 0;
  return driver != nullptr && driver->device(&handle, static_cast<int>(device)) == 0 &&
         driver->pci_bus_id(to.data(), static_cast<int>(to.size()), handle) == 0;
}

void context_made(std::uint32_t device, std::uint64_t handle, std::uint64_t used_before) noexcept {
  // The first one's size comes with the first look at the device.
  if (used_before == 0 || at(device).used_at_first.load(std::memory_order_relaxed) == 0) return;
  if (current() != device) return;
  const std::uint64_t now = used_bytes();
  if (now > used_before) remember_context(device, handle, now - used_before);
}

void context_ends(std::uint64_t handle) noexcept {
  if (handle == 0) return;
  for (auto& one : contexts) {
    if (one.handle.load(std::memory_order_acquire) != handle) continue;
    const std::uint64_t bytes = one.bytes.load(std::memory_order_relaxed);
    at(one.device.load(std::memory_order_relaxed))
        .later_contexts.fetch_sub(bytes, std::memory_order_relaxed);
    one.handle.store(0, std::memory_order_release);
    return;
  }
}

void device_ended(std::uint32_t device) noexcept {
  for (auto& one : contexts) {
    if (one.handle.load(std::memory_order_acquire) == 0 ||
        one.device.load(std::memory_order_relaxed) != device) {
      continue;
    }
    one.handle.store(0, std::memory_order_release);
  }
  auto& state = at(device);
  state.later_contexts.store(0, std::memory_order_relaxed);
  state.used_at_first.store(0, std::memory_order_relaxed);
  state.taken_before.store(0, std::memory_order_relaxed);
  state.free_at_first.store(0, std::memory_order_relaxed);
}

std::optional<std::uint64_t> others_and_contexts(std::uint32_t device) noexcept {
  const auto& state = at(device);
  const std::uint64_t first = state.used_at_first.load(std::memory_order_relaxed);
  if (first == 0) return std::nullopt;
  return first + state.later_contexts.load(std::memory_order_relaxed);
}

}  // namespace memtrace::device_log
