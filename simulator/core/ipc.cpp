// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/ipc.h"

#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "simulator/core/address_space.h"
#include "simulator/core/contents.h"
#include "simulator/core/registry.h"

namespace memtrace::simulator::ipc {
namespace {

constexpr std::uint64_t granule = 2u << 20;

// What the 64 bytes of a handle hold.
struct content {
  char magic[8];
  std::int64_t pid;
  address_t base;
  std::uint64_t size;
  std::uint64_t id;
};
constexpr char handle_magic[8] = {'m', 't', 'i', 'p', 'c', '0', '0', '1'};
static_assert(sizeof(content) <= sizeof(cudaIpcMemHandle_t));

using allocation_key = std::tuple<std::int64_t, std::uint64_t>;  // process, id of the allocation

struct opened {
  address_t address;
  std::uint64_t size;  // rounded
  std::uint64_t references;
};

struct state_type {
  std::mutex mutex;
  // The lower half; foreign.cpp has the upper.
  range_allocator addresses{
      address_space::of_imports().begin,
      (address_space::of_imports().begin + address_space::of_imports().end) / 2 / granule* granule};
  std::map<allocation_key, opened> open;
};

state_type& state() {
  static state_type* const instance = new state_type;
  return *instance;
}

bool is_import(const memory_range& range) {
  return range.imported;
}

}  // namespace

cudaError_t export_memory(cudaIpcMemHandle_t& handle, address_t address) {
  const memory_range range = find(address);
  const bool plain = range.kind == memory_kind::device && !range.pool && !range.mapped_vmm;
  if (!plain || range.imported) return cudaErrorInvalidValue;
  content one{};
  std::memcpy(one.magic, handle_magic, sizeof one.magic);
  one.pid = getpid();
  one.base = range.base;
  one.size = range.size;
  one.id = range.id;
  std::memset(&handle, 0, sizeof handle);
  std::memcpy(&handle, &one, sizeof one);
  return cudaSuccess;
}

cudaError_t open(address_t& address, const cudaIpcMemHandle_t& handle, int device) {
  content one{};
  std::memcpy(&one, &handle, sizeof one);
  if (std::memcmp(one.magic, handle_magic, sizeof one.magic) != 0) return cudaErrorInvalidValue;
  if (one.pid == getpid()) return cudaErrorDeviceUninitialized;
  const std::lock_guard lock(state().mutex);
  const allocation_key key{one.pid, one.id};
  auto found = state().open.find(key);
  if (found == state().open.end()) {
    const std::uint64_t size = (one.size + granule - 1) / granule * granule;
    const address_t place = state().addresses.allocate(size, granule);
    if (place == 0) return cudaErrorMemoryAllocation;
    memory_range range;
    range.kind = memory_kind::device;
    range.base = place;
    range.size = one.size;
    range.device = device;
    range.imported = true;
    registry::add(range);
    found = state().open.emplace(key, opened{place, size, 0}).first;
  }
  ++found->second.references;
  address = found->second.address;
  return cudaSuccess;
}

cudaError_t close(address_t address) {
  const std::lock_guard lock(state().mutex);
  for (auto one = state().open.begin(); one != state().open.end(); ++one) {
    if (one->second.address != address) continue;
    if (--one->second.references != 0) return cudaSuccess;
    const memory_range range = registry::remove(address, is_import);
    contents::forget(range.base, range.size);
    state().addresses.release(address, one->second.size);
    state().open.erase(one);
    return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

}  // namespace memtrace::simulator::ipc
