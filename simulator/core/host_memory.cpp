// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/host_memory.h"

#include <sys/mman.h>

#include <mutex>

#include "simulator/core/address_space.h"
#include "simulator/core/device.h"
#include "simulator/core/registry.h"

namespace memtrace::simulator::host_memory {
namespace {

constexpr std::size_t host_page = 4096;
constexpr std::size_t managed_page = 2u << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t to) {
  return (value + to - 1) / to * to;
}

struct managed_heap {
  std::mutex mutex;
  range_allocator addresses{address_space::of_managed().begin, address_space::of_managed().end};
};

managed_heap& managed() {
  static managed_heap* const instance = new managed_heap;
  return *instance;
}

memory_range describe(memory_kind kind, address_t base, std::size_t bytes, int device,
                      unsigned flags) {
  memory_range range;
  range.kind = kind;
  range.base = base;
  range.size = bytes;
  range.device = device;
  range.flags = flags;
  range.context = current_context();
  return range;
}

bool is_host(const memory_range& range) {
  return range.kind == memory_kind::host;
}
bool is_registered(const memory_range& range) {
  return range.kind == memory_kind::registered;
}
bool is_managed(const memory_range& range) {
  return range.kind == memory_kind::managed;
}

}  // namespace

cudaError_t allocate(std::size_t bytes, int device, unsigned flags, void*& pointer) {
  pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes > ~std::size_t{0} - host_page) return cudaErrorMemoryAllocation;
  void* memory = mmap(nullptr, round_up(bytes, host_page), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return cudaErrorMemoryAllocation;
  pointer = memory;
  registry::add(
      describe(memory_kind::host, reinterpret_cast<address_t>(memory), bytes, device, flags));
  return cudaSuccess;
}

cudaError_t free(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const memory_range range = registry::remove(reinterpret_cast<address_t>(pointer), is_host);
  if (range.kind == memory_kind::unknown) return cudaErrorInvalidValue;
  munmap(pointer, round_up(range.size, host_page));
  return cudaSuccess;
}

cudaError_t register_range(void* pointer, std::size_t bytes, int device, unsigned flags) {
  const auto base = reinterpret_cast<address_t>(pointer);
  if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
  if (registry::overlaps(base, bytes)) return cudaErrorHostMemoryAlreadyRegistered;
  registry::add(describe(memory_kind::registered, base, bytes, device, flags));
  return cudaSuccess;
}

cudaError_t unregister_range(void* pointer) {
  const memory_range range = registry::remove(reinterpret_cast<address_t>(pointer), is_registered);
  return range.kind == memory_kind::unknown ? cudaErrorHostMemoryNotRegistered : cudaSuccess;
}

cudaError_t allocate_managed(int device, std::size_t bytes, address_t& address) {
  address = 0;
  if (bytes == 0) return cudaErrorInvalidValue;
  managed_heap& heap = managed();
  const std::lock_guard lock(heap.mutex);
  const std::size_t length = round_up(bytes, managed_page);
  if (length < bytes) return cudaErrorMemoryAllocation;
  const address_t place = heap.addresses.allocate(length, managed_page);
  if (place == 0) return cudaErrorMemoryAllocation;
  if (mprotect(reinterpret_cast<void*>(place), length, PROT_READ | PROT_WRITE) != 0) {
    heap.addresses.release(place, length);
    return cudaErrorMemoryAllocation;
  }
  address = place;
  registry::add(describe(memory_kind::managed, place, bytes, device, 0));
  return cudaSuccess;
}

cudaError_t free_managed(address_t address) {
  managed_heap& heap = managed();
  const std::lock_guard lock(heap.mutex);
  const memory_range range = registry::remove(address, is_managed);
  if (range.kind == memory_kind::unknown) return cudaErrorInvalidValue;
  const std::size_t length = round_up(range.size, managed_page);
  // A new mapping gives the pages back to the host and takes access away.
  mmap(reinterpret_cast<void*>(address), length, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  heap.addresses.release(address, length);
  return cudaSuccess;
}

}  // namespace memtrace::simulator::host_memory
