// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/arrays.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "simulator/core/memory_calls.h"

namespace memtrace::simulator::arrays {
namespace {

struct entry {
  array description;
  std::uint64_t allocation;  // its id: it ends with its context, and the address is used again
};

struct state_type {
  std::mutex mutex;
  std::map<cudaArray_t, entry> arrays;
  std::map<cudaArray_t, array> levels;  // handed out, inside the memory of their array
};

state_type& state() {
  static state_type* const instance = new state_type;
  return *instance;
}

cudaExtent halved(cudaExtent extent, unsigned times) {
  const auto half = [times](std::size_t size) {
    return size == 0 ? 0 : std::max<std::size_t>(size >> times, 1);
  };
  return {half(extent.width), half(extent.height), half(extent.depth)};
}

std::size_t elements(const cudaExtent& extent) {
  return extent.width * std::max<std::size_t>(extent.height, 1) *
         std::max<std::size_t>(extent.depth, 1);
}

address_t address_of(cudaArray_t handle) {
  return reinterpret_cast<address_t>(handle);
}

void forget_levels(cudaArray_t handle, std::size_t bytes) {
  auto& levels = state().levels;
  const auto last = reinterpret_cast<cudaArray_t>(address_of(handle) + bytes);
  levels.erase(levels.lower_bound(handle), levels.lower_bound(last));
}

}  // namespace

std::size_t bytes_of(const array& one) {
  const cudaChannelFormatDesc& format = one.format;
  const auto element = static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
  std::size_t bytes = 0;
  for (unsigned level = 0; level < one.levels; ++level) {
    bytes += elements(halved(one.extent, level)) * element;
  }
  return bytes;
}

cudaError_t create(const array& description, cudaArray_t& handle) {
  constexpr unsigned most_levels = 32;
  if (description.extent.width == 0 || description.levels > most_levels) {
    return cudaErrorInvalidValue;
  }
  const std::size_t bytes = bytes_of(description);
  if (bytes == 0) return cudaErrorInvalidValue;
  address_t memory = 0;
  const cudaError_t error = memory_calls::allocate(bytes, memory, activity::memory_type::array);
  if (error != cudaSuccess) return error;
  // The address of its memory is a handle as good as any: unique, and no host memory.
  handle = reinterpret_cast<cudaArray_t>(memory);
  const std::lock_guard lock(state().mutex);
  state().arrays[handle] = {description, find(memory).id};
  return cudaSuccess;
}

cudaError_t destroy(cudaArray_t handle) {
  if (handle == nullptr) return cudaSuccess;
  bool has_memory = false;
  {
    const std::lock_guard lock(state().mutex);
    const auto found = state().arrays.find(handle);
    if (found == state().arrays.end()) return cudaErrorInvalidResourceHandle;
    has_memory = find(address_of(handle)).id == found->second.allocation;
    forget_levels(handle, bytes_of(found->second.description));
    state().arrays.erase(found);
  }
  if (!has_memory) return cudaErrorContextIsDestroyed;
  return memory_calls::free(address_of(handle), activity::memory_type::array);
}

cudaError_t describe(cudaArray_t handle, array& description) {
  const std::lock_guard lock(state().mutex);
  const auto part = state().levels.find(handle);
  const auto found = state().arrays.find(handle);
  if (found == state().arrays.end() && part == state().levels.end()) {
    return cudaErrorInvalidResourceHandle;
  }
  description = found != state().arrays.end() ? found->second.description : part->second;
  return cudaSuccess;
}

cudaError_t level(cudaArray_t handle, unsigned which, cudaArray_t& result) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().arrays.find(handle);
  if (found == state().arrays.end()) return cudaErrorInvalidResourceHandle;
  array one = found->second.description;
  if (which >= one.levels) return cudaErrorInvalidValue;
  array before = one;
  before.levels = which;
  const address_t address = address_of(handle) + bytes_of(before);
  one.extent = halved(one.extent, which);
  one.levels = 1;
  result = reinterpret_cast<cudaArray_t>(address);
  if (which != 0) state().levels[result] = one;
  return cudaSuccess;
}

}  // namespace memtrace::simulator::arrays
