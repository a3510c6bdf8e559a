// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/driver/known_memory.h"

#include <array>
#include <atomic>
#include <new>
#include <unordered_map>

#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/driver/driver_queries.h"
#include "interpose/ground/recorder/events.h"

namespace memtrace::known_memory {
namespace {

// One table for each of many sets of keys, so that threads seldom wait for each other.
constexpr unsigned part_count = 64;

struct part {
  small_lock lock;
  std::unordered_map<std::uint64_t, std::uint64_t> facts;  // a device, or a size
};
using table = std::array<part, part_count>;

// Never destroyed: other threads may free until the process is gone. Made with the library, so that
// no thread can fork while another makes them.
alignas(table) unsigned char memory_of_addresses[sizeof(table)];
alignas(table) unsigned char memory_of_handles[sizeof(table)];
alignas(table) unsigned char memory_of_sizes[sizeof(table)];
table& all_addresses = *new (memory_of_addresses) table;
table& all_handles = *new (memory_of_handles) table;
table& all_sizes = *new (memory_of_sizes) table;

std::array<std::atomic<std::uint64_t>, max_devices> primary_contexts{};

// A signal handler on top of a call of the same thread must not wait for it.
thread_local constinit bool is_inside = false;

class [[nodiscard]] visit {
 public:
  explicit visit(table& where, std::uint64_t key) noexcept
      : part_(where[(key >> 9 ^ key >> 21 ^ key) % part_count]) {
    if (is_inside) return;
    is_inside = true;
    entered_ = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    part_.lock.lock();
  }
  ~visit() {
    if (!entered_) return;
    part_.lock.unlock();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    is_inside = false;
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  [[nodiscard]] bool entered() const noexcept { return entered_; }
  [[nodiscard]] auto& facts() noexcept { return part_.facts; }

 private:
  part& part_;
  bool entered_ = false;
};

void remember(table& where, std::uint64_t key, std::uint64_t fact) noexcept {
  visit look(where, key);
  if (!look.entered()) return;
  try {
    look.facts().insert_or_assign(key, fact);
  } catch (const std::bad_alloc&) {
    // Its release goes to the current device then, and is of no size.
  }
}

void forget(table& where, std::uint64_t key) noexcept {
  visit look(where, key);
  if (look.entered()) look.facts().erase(key);
}

std::optional<std::uint32_t> find(table& where, std::uint64_t key) noexcept {
  visit look(where, key);
  if (!look.entered()) return std::nullopt;
  const auto found = look.facts().find(key);
  if (found == look.facts().end()) return std::nullopt;
  return static_cast<std::uint32_t>(found->second);
}

}  // namespace

int device_count() noexcept {
  static constinit std::atomic<int> known{0};
  int count = known.load(std::memory_order_relaxed);
  if (count == 0) [[unlikely]] {
    const driver_queries* const driver = driver_queries::find();
    if (driver == nullptr || driver->count == nullptr || driver->count(&count) != 0) return 0;
    known.store(count, std::memory_order_relaxed);
  }
  return count;
}

void remember_address(std::uint64_t address, std::uint32_t device) noexcept {
  if (address != 0 && several_devices()) remember(all_addresses, address, device);
}
void remember_handle(std::uint64_t handle, std::uint32_t device) noexcept {
  if (handle != 0 && several_devices()) remember(all_handles, handle, device);
}
void forget_address(std::uint64_t address) noexcept {
  if (address != 0 && several_devices()) forget(all_addresses, address);
}

std::optional<std::uint32_t> device_of_address(std::uint64_t address) noexcept {
  if (address == 0 || !several_devices()) return std::nullopt;
  return find(all_addresses, address);
}
std::optional<std::uint32_t> device_of_handle(std::uint64_t handle) noexcept {
  if (handle == 0 || !several_devices()) return std::nullopt;
  return find(all_handles, handle);
}

void remember_size(std::uint64_t address, std::uint64_t bytes) noexcept {
  remember(all_sizes, address, bytes);
}
std::uint64_t forget_size(std::uint64_t address) noexcept {
  visit look(all_sizes, address);
  if (!look.entered()) return 0;
  const auto found = look.facts().find(address);
  if (found == look.facts().end()) return 0;
  const std::uint64_t bytes = found->second;
  look.facts().erase(found);
  return bytes;
}

void remember_primary_context(int device, std::uint64_t context) noexcept {
  if (device < 0) return;
  primary_contexts[static_cast<unsigned>(device) % max_devices].store(context,
                                                                      std::memory_order_relaxed);
}
std::uint64_t primary_context(int device) noexcept {
  if (device < 0) return 0;
  return primary_contexts[static_cast<unsigned>(device) % max_devices].load(
      std::memory_order_relaxed);
}

void in_forked_child() noexcept {
  // Their content is of no use to the child, and may be half-way through a change.
  new (&all_addresses) table;
  new (&all_handles) table;
  new (&all_sizes) table;
  is_inside = false;
}

}  // namespace memtrace::known_memory

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
