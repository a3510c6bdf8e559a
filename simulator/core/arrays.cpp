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
  address_t memory;
};

struct state_type {
  std::mutex mutex;
  std::map<cudaArray_t, entry> arrays;
};

state_type& state() {
  static state_type* const instance = new state_type;
  return *instance;
}

}  // namespace

cudaError_t create(const array& description, std::size_t element_bytes, cudaArray_t& handle) {
  const cudaExtent& extent = description.extent;
  if (extent.width == 0 || element_bytes == 0) return cudaErrorInvalidValue;
  const std::size_t elements = extent.width * std::max<std::size_t>(extent.height, 1) *
                               std::max<std::size_t>(extent.depth, 1);
  address_t memory = 0;
  const cudaError_t error = memory_calls::allocate(elements * element_bytes, memory);
  if (error != cudaSuccess) return error;
  // The address of its memory is a handle as good as any: unique, and no host memory.
  handle = reinterpret_cast<cudaArray_t>(memory);
  const std::lock_guard lock(state().mutex);
  state().arrays[handle] = {description, memory};
  return cudaSuccess;
}

cudaError_t destroy(cudaArray_t handle) {
  if (handle == nullptr) return cudaSuccess;
  address_t memory = 0;
  {
    const std::lock_guard lock(state().mutex);
    const auto found = state().arrays.find(handle);
    if (found == state().arrays.end()) return cudaErrorInvalidResourceHandle;
    memory = found->second.memory;
    state().arrays.erase(found);
  }
  return memory_calls::free(memory);
}

cudaError_t describe(cudaArray_t handle, array& description) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().arrays.find(handle);
  if (found == state().arrays.end()) return cudaErrorInvalidResourceHandle;
  description = found->second.description;
  return cudaSuccess;
}

}  // namespace memtrace::simulator::arrays
