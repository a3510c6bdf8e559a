// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/graph_memory.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "simulator/core/address_space.h"
#include "simulator/core/config.h"
#include "simulator/core/contents.h"
#include "simulator/core/registry.h"

namespace memtrace::simulator::graph_memory {
namespace {

constexpr std::uint64_t granule = 2u << 20;

struct node_memory {
  int device;
  std::size_t bytes;
  std::uint64_t rounded;
  bool live = false;
};

struct device_state {
  std::uint64_t used = 0, used_high = 0;          // bytes that nodes have
  std::uint64_t reserved = 0, reserved_high = 0;  // charged to the device
};

struct state_type {
  std::mutex mutex;
  range_allocator addresses{address_space::of_graphs().begin, address_space::of_graphs().end};
  std::map<address_t, node_memory> nodes;
  device_state devices[maximum_devices];
};

state_type& state() {
  static state_type* const instance = new state_type;
  return *instance;
}

using place = std::map<address_t, node_memory>::iterator;

void make_live(place node) {
  device_state& on = state().devices[node->second.device];
  node->second.live = true;
  on.used += node->second.rounded;
  on.used_high = std::max(on.used_high, on.used);
  memory_range range;
  range.kind = memory_kind::device;
  range.base = node->first;
  range.size = node->second.bytes;
  range.device = node->second.device;
  range.graph = true;
  registry::add(range);
}

void end(place node) {
  registry::remove(node->first, [](const memory_range& range) { return range.graph; });
  contents::forget(node->first, node->second.bytes);
  state().devices[node->second.device].used -= node->second.rounded;
  node->second.live = false;
}

// Whether each step finds what it needs, and the most that each device uses on the way.
bool possible(const std::vector<step>& steps, std::uint64_t (&most)[maximum_devices]) {
  std::uint64_t used[maximum_devices];
  for (int device = 0; device < maximum_devices; ++device) {
    used[device] = most[device] = state().devices[device].used;
  }
  std::map<address_t, bool> live;
  for (const step& one : steps) {
    const auto node = state().nodes.find(one.address);
    if (node == state().nodes.end()) return false;
    bool& now = live.try_emplace(one.address, node->second.live).first->second;
    if (now == one.allocates) return false;
    now = one.allocates;
    std::uint64_t& bytes = used[node->second.device];
    bytes = one.allocates ? bytes + node->second.rounded : bytes - node->second.rounded;
    most[node->second.device] = std::max(most[node->second.device], bytes);
  }
  return true;
}

bool reserve(device_state& on, int device, std::uint64_t bytes) {
  if (bytes <= on.reserved) return true;
  if (!charge(device, bytes - on.reserved)) return false;
  on.reserved = bytes;
  on.reserved_high = std::max(on.reserved_high, on.reserved);
  return true;
}

}  // namespace

cudaError_t add(int device, std::size_t bytes, address_t& address) {
  if (bytes == 0) return cudaErrorInvalidValue;
  if (bytes > total_bytes(device)) return cudaErrorMemoryAllocation;
  const std::lock_guard lock(state().mutex);
  const std::uint64_t rounded = (bytes + granule - 1) / granule * granule;
  address = state().addresses.allocate(rounded, granule);
  if (address == 0) return cudaErrorMemoryAllocation;
  state().nodes[address] = {device, bytes, rounded};
  return cudaSuccess;
}

bool known(address_t address) {
  const std::lock_guard lock(state().mutex);
  return state().nodes.count(address) != 0;
}

bool live(address_t address) {
  const std::lock_guard lock(state().mutex);
  const auto node = state().nodes.find(address);
  return node != state().nodes.end() && node->second.live;
}

cudaError_t run(const std::vector<step>& steps) {
  if (steps.empty()) return cudaSuccess;
  const std::lock_guard lock(state().mutex);
  std::uint64_t most[maximum_devices];
  if (!possible(steps, most)) return cudaErrorInvalidValue;
  for (int device = 0; device < maximum_devices; ++device) {
    if (!reserve(state().devices[device], device, most[device])) return cudaErrorMemoryAllocation;
  }
  for (const step& one : steps) {
    const auto node = state().nodes.find(one.address);
    one.allocates ? make_live(node) : end(node);
  }
  return cudaSuccess;
}

cudaError_t free(address_t address) {
  const std::lock_guard lock(state().mutex);
  const auto node = state().nodes.find(address);
  if (node == state().nodes.end() || !node->second.live) return cudaErrorInvalidValue;
  end(node);
  return cudaSuccess;
}

void trim(int device) {
  const std::lock_guard lock(state().mutex);
  device_state& on = state().devices[device];
  uncharge(device, on.reserved - on.used);
  on.reserved = on.used;
}

void reset(int device) {
  {
    const std::lock_guard lock(state().mutex);
    for (auto one = state().nodes.begin(); one != state().nodes.end(); ++one) {
      if (one->second.device == device && one->second.live) end(one);
    }
  }
  trim(device);
}

cudaError_t get(int device, CUgraphMem_attribute attribute, void* value) {
  const std::lock_guard lock(state().mutex);
  const device_state& on = state().devices[device];
  auto& to = *static_cast<cuuint64_t*>(value);
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      to = on.used;
      return cudaSuccess;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      to = on.used_high;
      return cudaSuccess;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      to = on.reserved;
      return cudaSuccess;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      to = on.reserved_high;
      return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

cudaError_t set(int device, CUgraphMem_attribute attribute, const void* value) {
  if (*static_cast<const cuuint64_t*>(value) != 0) return cudaErrorInvalidValue;
  const std::lock_guard lock(state().mutex);
  device_state& on = state().devices[device];
  if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) {
    on.used_high = on.used;
  } else if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) {
    on.reserved_high = on.reserved;
  } else {
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

}  // namespace memtrace::simulator::graph_memory
