// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/foreign.h"

#include <map>
#include <mutex>

#include "simulator/core/address_space.h"
#include "simulator/core/contents.h"
#include "simulator/core/registry.h"

namespace memtrace::simulator::foreign {
namespace {

constexpr std::uint64_t granule = 2u << 20;

// The upper half of the addresses for what is shared; ipc.cpp has the lower.
address_space::span addresses() {
  const address_space::span all = address_space::of_imports();
  return {(all.begin + all.end) / 2 / granule * granule, all.end};
}

struct state_type {
  std::mutex mutex;
  range_allocator addresses{foreign::addresses().begin, foreign::addresses().end};
  std::map<address_t, std::uint64_t> mapped;  // → bytes, rounded
};

state_type& state() {
  static state_type* const instance = new state_type;
  return *instance;
}

}  // namespace

cudaError_t map(address_t& address, std::size_t bytes, int device, bool in_pool) {
  if (bytes == 0) return cudaErrorInvalidValue;
  if (bytes > addresses().end - addresses().begin) return cudaErrorMemoryAllocation;
  const std::lock_guard lock(state().mutex);
  const std::uint64_t rounded = (bytes + granule - 1) / granule * granule;
  const address_t place = state().addresses.allocate(rounded, granule);
  if (place == 0) return cudaErrorMemoryAllocation;
  state().mapped[place] = rounded;
  memory_range range;
  range.kind = memory_kind::device;
  range.base = place;
  range.size = bytes;
  range.device = device;
  range.imported = true;
  range.foreign_pool = in_pool;
  registry::add(range);
  address = place;
  return cudaSuccess;
}

cudaError_t unmap(address_t address) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().mapped.find(address);
  if (found == state().mapped.end()) return cudaErrorInvalidValue;
  const memory_range range =
      registry::remove(address, [](const memory_range& one) { return one.imported; });
  contents::forget(range.base, range.size);
  state().addresses.release(address, found->second);
  state().mapped.erase(found);
  return cudaSuccess;
}

}  // namespace memtrace::simulator::foreign
