// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/device_log.h"

#include <array>
#include <atomic>

#include "interpose/hooks/real_function.h"

namespace memtrace::device_log {
namespace {

// Numbers from cuda.h.
constexpr int attribute_multiprocessors = 16;
constexpr int attribute_major = 75;
constexpr int attribute_minor = 76;
constexpr int capture_mode_relaxed = 2;

// Of device memory, on all GPUs so far.
constexpr std::uint64_t granularity = 2 << 20;

template <typename Function>
Function* driver(const char* name) noexcept {
  return reinterpret_cast<Function*>(find_real_function(library_family::driver, name));
}

// The driver's functions that are asked, each null if there is no driver (yet).
struct driver_queries {
  int (*context)(void**) = driver<int(void**)>("cuCtxGetCurrent");
  int (*context_device)(int*) = driver<int(int*)>("cuCtxGetDevice");
  int (*memory)(std::size_t*,
                std::size_t*) = driver<int(std::size_t*, std::size_t*)>("cuMemGetInfo_v2");
  int (*exchange_mode)(int*) = driver<int(int*)>("cuThreadExchangeStreamCaptureMode");
  int (*device)(int*, int) = driver<int(int*, int)>("cuDeviceGet");
  int (*total)(std::size_t*, int) = driver<int(std::size_t*, int)>("cuDeviceTotalMem_v2");
  int (*name)(char*, int, int) = driver<int(char*, int, int)>("cuDeviceGetName");
  int (*attribute)(int*, int, int) = driver<int(int*, int, int)>("cuDeviceGetAttribute");

  [[nodiscard]] bool complete() const noexcept {
    return context != nullptr && context_device != nullptr && memory != nullptr &&
           device != nullptr && total != nullptr && name != nullptr && attribute != nullptr;
  }
};

// Null until the driver is loaded.
const driver_queries* queries() noexcept {
  static std::atomic<const driver_queries*> known{nullptr};
  static driver_queries storage;
  static small_lock lock;
  if (const auto* ready = known.load(std::memory_order_acquire); ready != nullptr) return ready;
  const lock_holder holder(lock);
  if (known.load(std::memory_order_relaxed) != nullptr) return &storage;
  storage = {};
  if (!storage.complete()) return nullptr;
  known.store(&storage, std::memory_order_release);
  return &storage;
}

std::array<std::atomic<std::uint64_t>, max_devices> free_at_first{};
// Allocated before there was a context whose free memory could be asked for: segments that expand
// are made without one.
std::array<std::atomic<std::uint64_t>, max_devices> taken_before{};
// The serial number of the recording that has the device's record.
std::array<std::atomic<std::uint32_t>, max_devices> recorded_in{};
thread_local constinit std::uint32_t last_device = 0;

struct device_memory {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
};

// Under global capture other calls than launches may be refused; this one thread is let through.
device_memory memory_now(const driver_queries& driver) noexcept {
  int mode = capture_mode_relaxed;
  const bool exchanged = driver.exchange_mode != nullptr && driver.exchange_mode(&mode) == 0;
  std::size_t free = 0;
  std::size_t total = 0;
  const bool known = driver.memory(&free, &total) == 0;
  if (exchanged) (void)driver.exchange_mode(&mode);
  return known ? device_memory{free, total} : device_memory{};
}

bool has_context(const driver_queries& driver) noexcept {
  void* context = nullptr;
  return driver.context(&context) == 0 && context != nullptr;
}

std::uint32_t attribute(const driver_queries& driver, int device, int which) noexcept {
  int value = 0;
  return driver.attribute(&value, which, device) == 0 ? static_cast<std::uint32_t>(value) : 0;
}

}  // namespace

std::uint32_t current() noexcept {
  const auto* const driver = queries();
  int device = 0;
  if (driver != nullptr && driver->context_device(&device) == 0 && device >= 0) {
    last_device = static_cast<std::uint32_t>(device);
  }
  return last_device;
}

std::uint64_t used_bytes() noexcept {
  const auto* const driver = queries();
  if (driver == nullptr || !has_context(*driver)) return 0;
  const device_memory now = memory_now(*driver);
  return now.total - now.free;
}

void sample_current() noexcept {
  sample_after_allocation(0);
}

void sample_after_allocation(std::uint64_t bytes) noexcept {
  const auto* const driver = queries();
  if (driver == nullptr) return;
  const std::uint32_t device = current() % max_devices;
  auto& known = free_at_first[device];
  if (known.load(std::memory_order_relaxed) != 0) return;
  const std::uint64_t taken = (bytes + granularity - 1) / granularity * granularity;
  const std::uint64_t before = taken_before[device].fetch_add(taken, std::memory_order_relaxed);
  if (!has_context(*driver)) return;
  known.store(memory_now(*driver).free + before + taken, std::memory_order_relaxed);
  recorded_in[device].store(0, std::memory_order_relaxed);  // tell what was not known then
}

void ensure(recorder& to, std::uint32_t device) noexcept {
  auto& recorded = recorded_in[device % max_devices];
  if (recorded.load(std::memory_order_relaxed) == to.generation()) [[likely]]
    return;
  recorded.store(to.generation(), std::memory_order_relaxed);
  const auto* const driver = queries();
  int handle = 0;
  if (driver == nullptr || driver->device(&handle, static_cast<int>(device)) != 0) return;
  device_facts facts{.device = device};
  std::size_t total = 0;
  char name[256] = {};
  if (driver->total(&total, handle) == 0) facts.total_bytes = total;
  if (driver->name(name, sizeof name - 1, handle) == 0) facts.name = name;
  facts.free_bytes = free_at_first[device % max_devices].load(std::memory_order_relaxed);
  facts.major = attribute(*driver, handle, attribute_major);
  facts.minor = attribute(*driver, handle, attribute_minor);
  facts.multiprocessors = attribute(*driver, handle, attribute_multiprocessors);
  to.device(facts);
}

}  // namespace memtrace::device_log
