// SPDX-License-Identifier: Apache-2.0
//
// How cudaMalloc places memory on a device. From 1 MiB up an allocation has whole 2 MiB pages of
// its own; smaller ones share pages, 512 bytes apart at least, and a page goes back when its last
// allocation does.
#include "simulator/core/device_memory.h"

#include <map>
#include <mutex>

#include "simulator/core/address_space.h"
#include "simulator/core/capacity.h"
#include "simulator/core/config.h"
#include "simulator/core/contents.h"
#include "simulator/core/device.h"
#include "simulator/core/pools.h"
#include "simulator/core/registry.h"
#include "simulator/log/log.h"

namespace memtrace::simulator {
namespace {

constexpr std::uint64_t page = 2u << 20;
constexpr std::uint64_t own_page_from = 1u << 20;
constexpr std::uint64_t small_alignment = 512;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

struct shared_page {
  range_allocator room;
  std::uint64_t allocations;
};

struct device_heap {
  explicit device_heap(address_space::span span) : addresses(span.begin, span.end) {}
  range_allocator addresses;
  std::map<address_t, shared_page> shared_pages;
};

struct all_heaps {
  std::mutex mutex;
  std::map<int, device_heap> by_device;
  std::map<int, device_heap> below_4_gib;
};

all_heaps& heaps() {
  static all_heaps* const instance = new all_heaps;
  return *instance;
}

device_heap& heap_of(int device, bool below_4_gib) {
  if (below_4_gib) {
    return heaps()
        .below_4_gib.try_emplace(device, address_space::below_4_gib_of_device(device))
        .first->second;
  }
  return heaps().by_device.try_emplace(device, address_space::of_device(device)).first->second;
}

// Charged pages at a free address; 0 if the device or the address space is full.
address_t take_pages(device_heap& heap, int device, std::uint64_t bytes) {
  if (!charge(device, bytes)) return 0;
  const address_t address = heap.addresses.allocate(bytes, page);
  if (address == 0) uncharge(device, bytes);
  return address;
}

void return_pages(device_heap& heap, int device, address_t address, std::uint64_t bytes) {
  heap.addresses.release(address, bytes);
  uncharge(device, bytes);
}

address_t take_small(device_heap& heap, int device, std::uint64_t bytes) {
  for (auto& [begin, shared] : heap.shared_pages) {
    const address_t address = shared.room.allocate(bytes, small_alignment);
    if (address == 0) continue;
    ++shared.allocations;
    return address;
  }
  const address_t begin = take_pages(heap, device, page);
  if (begin == 0) return 0;
  auto& shared =
      heap.shared_pages.emplace(begin, shared_page{range_allocator(begin, begin + page), 1})
          .first->second;
  return shared.room.allocate(bytes, small_alignment);
}

void return_small(device_heap& heap, int device, address_t address, std::uint64_t bytes) {
  const auto shared = heap.shared_pages.find(address / page * page);
  if (--shared->second.allocations != 0) {
    shared->second.room.release(address, bytes);
    return;
  }
  const address_t begin = shared->first;
  heap.shared_pages.erase(shared);
  return_pages(heap, device, begin, page);
}

bool is_plain_device(const memory_range& range) {
  return range.kind == memory_kind::device && !range.pool && !range.mapped_vmm && !range.graph &&
         !range.imported;
}

}  // namespace

cudaError_t allocate_device(int device, std::size_t bytes, address_t& address, bool below_4_gib) {
  address = 0;
  if (bytes == 0) return cudaSuccess;
  if (bytes > total_bytes(device)) return cudaErrorMemoryAllocation;
  const std::lock_guard lock(heaps().mutex);
  device_heap& heap = heap_of(device, below_4_gib);
  address = bytes < own_page_from ? take_small(heap, device, round_up(bytes, small_alignment))
                                  : take_pages(heap, device, round_up(bytes, page));
  if (address == 0) return cudaErrorMemoryAllocation;
  memory_range range;
  range.kind = memory_kind::device;
  range.base = address;
  range.size = bytes;
  range.device = device;
  range.context = context_device(current_context()) == device ? current_context() : nullptr;
  registry::add(range);
  return cudaSuccess;
}

cudaError_t free_device(address_t address) {
  if (address == 0) return cudaSuccess;
  const std::lock_guard lock(heaps().mutex);
  const memory_range range = registry::remove(address, is_plain_device);
  if (range.kind == memory_kind::unknown) return cudaErrorInvalidValue;
  contents::forget(range.base, range.size);
  device_heap& heap = heap_of(range.device, address < (1ull << 32));
  if (range.size < own_page_from) {
    return_small(heap, range.device, address, round_up(range.size, small_alignment));
  } else {
    return_pages(heap, range.device, address, round_up(range.size, page));
  }
  return cudaSuccess;
}

std::uint64_t total_bytes(int) {
  return config().model.total_bytes;
}

std::uint64_t used_bytes(int device) {
  return capacity::used(device);
}

std::uint64_t free_bytes(int device) {
  const std::uint64_t total = total_bytes(device);
  const std::uint64_t used = used_bytes(device);
  return used < total ? total - used : 0;
}

std::uint64_t own_used_bytes(int device) {
  return capacity::own(device);
}

bool charge(int device, std::uint64_t bytes) {
  const std::uint64_t total = total_bytes(device);
  // The driver takes back unused memory of pools before it refuses.
  const bool fits = capacity::take(device, bytes, total) ||
                    (pools::release_unused(device) != 0 && capacity::take(device, bytes, total));
  if (!fits) log::debug("device {} has no {} bytes left of {}", device, bytes, total);
  return fits;
}

void uncharge(int device, std::uint64_t bytes) {
  capacity::give_back(device, bytes);
}

}  // namespace memtrace::simulator
