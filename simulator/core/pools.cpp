// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/pools.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "simulator/core/activity.h"
#include "simulator/core/address_space.h"
#include "simulator/core/capacity.h"
#include "simulator/core/config.h"
#include "simulator/core/contents.h"
#include "simulator/core/registry.h"

namespace memtrace::simulator::pools {

struct pool {
  int device = 0;
  bool is_default = false;
  kind shared = kind::own;
  std::uint64_t threshold = 0;
  std::uint64_t reserved = 0, reserved_high = 0;  // bytes charged to the device
  std::uint64_t used = 0, used_high = 0;          // of these, handed out
  int reuse[3] = {1, 1, 1};  // follow event dependencies, opportunistic, internal dependencies
  // Freed memory whose stream has not got there yet: until then it cannot go back to the device.
  std::multimap<clock::time_point, std::uint64_t> pending;
};

namespace {

constexpr std::uint64_t granule = 512;
// The memory that a pool takes from the device at a time: 32 MiB after a first small
// cudaMallocAsync (PyTorch users' reports of cudaMemPoolAttrReservedMemCurrent; larger requests
// unverified).
constexpr std::uint64_t step = 32u << 20;

struct live_allocation {
  pool* owner;
  std::uint64_t bytes;  // rounded
};

// An address freed lately, and when its stream gets there: who takes the address next waits.
struct freed_range {
  address_t end;
  clock::time_point done;
};

// Programs without pools pay nothing when they synchronise.
std::atomic<bool> any_pool{false};

struct all_pools {
  std::mutex mutex;
  range_allocator addresses{address_space::of_pools().begin, address_space::of_pools().end};
  std::set<pool*> pools;
  std::set<std::unique_ptr<pool>> storage;
  pool* defaults[maximum_devices] = {};
  pool* current[maximum_devices] = {};
  std::map<address_t, live_allocation> live;
  std::map<address_t, freed_range> freed;
};

all_pools& all() {
  static all_pools* const instance = new all_pools;
  return *instance;
}

cudaMemPool_t handle(pool* one) {
  return reinterpret_cast<cudaMemPool_t>(one);
}

pool* find_pool(cudaMemPool_t given) {
  pool* one = reinterpret_cast<pool*>(given);
  return all().pools.count(one) != 0 ? one : nullptr;
}

pool* make_pool(int device) {
  auto owned = std::make_unique<pool>();
  owned->device = device;
  pool* one = owned.get();
  all().storage.insert(std::move(owned));
  all().pools.insert(one);
  any_pool.store(true, std::memory_order_release);
  return one;
}

pool* default_pool(int device) {
  pool*& one = all().defaults[device];
  if (one == nullptr) {
    one = make_pool(device);
    one->is_default = true;
    all().current[device] = one;
  }
  return one;
}

std::uint64_t not_yet_done(pool& one) {
  one.pending.erase(one.pending.begin(), one.pending.upper_bound(clock::now()));
  std::uint64_t bytes = 0;
  for (const auto& [done, freed] : one.pending) bytes += freed;
  return std::min(bytes, one.reserved - one.used);
}

std::uint64_t release(pool& one, std::uint64_t keep) {
  const std::uint64_t busy = one.used + not_yet_done(one);
  const std::uint64_t target = std::max(keep, (busy + step - 1) / step * step);
  if (one.reserved <= target) return 0;
  const std::uint64_t bytes = one.reserved - target;
  one.reserved = target;
  capacity::give_back(one.device, bytes);
  return bytes;
}

std::uint64_t release_all(int device) {
  std::uint64_t bytes = 0;
  for (pool* one : all().pools) {
    if (one->device == device) bytes += release(*one, 0);
  }
  return bytes;
}

bool grow(pool& one, std::uint64_t bytes) {
  const std::uint64_t missing = one.used + bytes - one.reserved;
  const std::uint64_t wanted = (missing + step - 1) / step * step;
  const std::uint64_t total = total_bytes(one.device);
  if (!capacity::take(one.device, wanted, total)) {
    if (release_all(one.device) == 0) return false;
    return one.used + bytes <= one.reserved || grow(one, bytes);
  }
  one.reserved += wanted;
  one.reserved_high = std::max(one.reserved_high, one.reserved);
  return true;
}

// The stream waits for the work that used the range before it was freed.
void wait_for_former_users(stream& user, address_t begin, address_t end) {
  auto& freed = all().freed;
  auto range = freed.upper_bound(begin);
  if (range != freed.begin() && std::prev(range)->second.end > begin) --range;
  while (range != freed.end() && range->first < end) {
    if (range->second.done > streams::completion(user)) {
      streams::wait_for(user, range->second.done);
    }
    range = freed.erase(range);
  }
}

bool is_pool_memory(const memory_range& range) {
  return range.pool;
}

cudaError_t free_at(address_t address, clock::time_point done) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().live.find(address);
  if (found == all().live.end()) return cudaErrorInvalidValue;
  const live_allocation gone = found->second;
  all().live.erase(found);
  const memory_range range = registry::remove(address, is_pool_memory);
  contents::forget(range.base, range.size);
  all().addresses.release(address, gone.bytes);
  gone.owner->used -= gone.bytes;
  if (done > clock::now()) {
    gone.owner->pending.emplace(done, gone.bytes);
    all().freed[address] = {address + gone.bytes, done};
  }
  if (all().pools.count(gone.owner) == 0 && gone.owner->used == 0) {
    gone.owner->pending.clear();
    release(*gone.owner, 0);
  }
  return cudaSuccess;
}

std::uint64_t* counter(pool& one, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return &one.threshold;
    case cudaMemPoolAttrReservedMemCurrent:
      return &one.reserved;
    case cudaMemPoolAttrReservedMemHigh:
      return &one.reserved_high;
    case cudaMemPoolAttrUsedMemCurrent:
      return &one.used;
    case cudaMemPoolAttrUsedMemHigh:
      return &one.used_high;
    default:
      return nullptr;
  }
}

int* reuse_switch(pool& one, cudaMemPoolAttr attribute) {
  const int index = static_cast<int>(attribute) - cudaMemPoolReuseFollowEventDependencies;
  return index >= 0 && index < 3 ? &one.reuse[index] : nullptr;
}

}  // namespace

cudaMemPool_t default_of(int device) {
  const std::lock_guard lock(all().mutex);
  return handle(default_pool(device));
}

cudaMemPool_t current_of(int device) {
  const std::lock_guard lock(all().mutex);
  default_pool(device);
  return handle(all().current[device]);
}

cudaError_t set_current(int device, cudaMemPool_t given) {
  const std::lock_guard lock(all().mutex);
  default_pool(device);
  pool* one = find_pool(given);
  const bool usable = one != nullptr && one->device == device && one->shared != kind::imported;
  if (!usable) return cudaErrorInvalidValue;
  all().current[device] = one;
  return cudaSuccess;
}

cudaError_t create(int device, cudaMemPool_t& result, kind shared) {
  {
    const std::lock_guard lock(all().mutex);
    pool* const one = make_pool(device);
    one->shared = shared;
    result = handle(one);
  }
  activity::pool(activity::pool_operation::created, device, result);
  return cudaSuccess;
}

bool exportable(cudaMemPool_t given) {
  const std::lock_guard lock(all().mutex);
  const pool* one = find_pool(given);
  return one != nullptr && one->shared == kind::exportable;
}

bool imported(cudaMemPool_t given) {
  const std::lock_guard lock(all().mutex);
  const pool* one = find_pool(given);
  return one != nullptr && one->shared == kind::imported;
}

cudaError_t destroy(cudaMemPool_t given) {
  std::unique_lock lock(all().mutex);
  pool* one = find_pool(given);
  if (one == nullptr || one->is_default) return cudaErrorInvalidValue;
  const int device = one->device;
  all().pools.erase(one);
  pool*& current = all().current[one->device];
  if (current == one) current = all().defaults[one->device];
  if (one->used == 0) {
    one->pending.clear();
    release(*one, 0);
  }
  lock.unlock();
  activity::pool(activity::pool_operation::destroyed, device, given);
  return cudaSuccess;
}

cudaError_t allocate(cudaMemPool_t given, std::size_t bytes, stream& user, address_t& address) {
  const std::lock_guard lock(all().mutex);
  address = 0;
  pool* one = find_pool(given);
  if (one == nullptr || one->shared == kind::imported) return cudaErrorInvalidValue;
  if (bytes == 0) return cudaSuccess;
  if (bytes > total_bytes(one->device)) return cudaErrorMemoryAllocation;
  const std::uint64_t rounded = (bytes + granule - 1) / granule * granule;
  if (one->used + rounded > one->reserved && !grow(*one, rounded)) {
    return cudaErrorMemoryAllocation;
  }
  const address_t place = all().addresses.allocate(rounded, granule);
  if (place == 0) return cudaErrorMemoryAllocation;
  address = place;
  one->used += rounded;
  one->used_high = std::max(one->used_high, one->used);
  all().live[place] = {one, rounded};
  wait_for_former_users(user, place, place + rounded);
  memory_range range;
  range.kind = memory_kind::device;
  range.base = place;
  range.size = bytes;
  range.device = one->device;
  range.pool = true;
  registry::add(range);
  return cudaSuccess;
}

cudaError_t free(address_t address, stream& user) {
  return free_at(address, streams::completion(user));
}

cudaError_t free_now(address_t address) {
  return free_at(address, 0);
}

cudaError_t trim(cudaMemPool_t given, std::size_t keep) {
  std::unique_lock lock(all().mutex);
  pool* one = find_pool(given);
  if (one == nullptr) return cudaErrorInvalidValue;
  release(*one, keep);
  const int device = one->device;
  lock.unlock();
  activity::pool(activity::pool_operation::trimmed, device, given, keep);
  return cudaSuccess;
}

cudaError_t set_attribute(cudaMemPool_t given, cudaMemPoolAttr attribute, const void* value) {
  const std::lock_guard lock(all().mutex);
  pool* one = find_pool(given);
  if (one == nullptr || value == nullptr) return cudaErrorInvalidValue;
  if (int* flag = reuse_switch(*one, attribute)) {
    *flag = *static_cast<const int*>(value);
    return cudaSuccess;
  }
  const std::uint64_t number = *static_cast<const std::uint64_t*>(value);
  if (attribute == cudaMemPoolAttrReleaseThreshold) {
    one->threshold = number;
    return cudaSuccess;
  }
  // The high-water marks can be reset, to what is in use now, and nothing else.
  if (number != 0) return cudaErrorInvalidValue;
  if (attribute == cudaMemPoolAttrReservedMemHigh) {
    one->reserved_high = one->reserved;
  } else if (attribute == cudaMemPoolAttrUsedMemHigh) {
    one->used_high = one->used;
  } else {
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t get_attribute(cudaMemPool_t given, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard lock(all().mutex);
  pool* one = find_pool(given);
  if (one == nullptr || value == nullptr) return cudaErrorInvalidValue;
  if (const int* flag = reuse_switch(*one, attribute)) {
    *static_cast<int*>(value) = *flag;
    return cudaSuccess;
  }
  const std::uint64_t* number = counter(*one, attribute);
  if (number == nullptr) return cudaErrorInvalidValue;
  *static_cast<std::uint64_t*>(value) = *number;
  return cudaSuccess;
}

int device_of(cudaMemPool_t given) {
  const std::lock_guard lock(all().mutex);
  const pool* one = find_pool(given);
  return one == nullptr ? -1 : one->device;
}

void synchronized(int device) {
  if (!any_pool.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(all().mutex);
  for (pool* one : all().pools) {
    if (one->device == device) release(*one, one->threshold);
  }
}

std::uint64_t release_unused(int device) {
  const std::lock_guard lock(all().mutex);
  return release_all(device);
}

}  // namespace memtrace::simulator::pools
