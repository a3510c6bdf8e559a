// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/memory_calls.h"

#include "simulator/core/capture.h"
#include "simulator/core/device.h"
#include "simulator/core/foreign.h"
#include "simulator/core/graph_memory.h"
#include "simulator/core/host_memory.h"
#include "simulator/core/pools.h"
#include "simulator/core/streams.h"

namespace memtrace::simulator::memory_calls {
namespace {

using activity::memory_type;

constexpr std::size_t pitch_alignment = 512;

// A context, and no capture that the call would break.
cudaError_t prepare() {
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return error;
  return capture::unsafe_call();
}

void finish_work(int device) {
  streams::synchronize_device(device);
  pools::synchronized(device);
}

}  // namespace

cudaError_t allocate(std::size_t bytes, address_t& address, activity::memory_type type) {
  if (const cudaError_t error = prepare(); error != cudaSuccess) return error;
  const activity::memory_operation operation;
  const bool old = context_version(current_context()) == old_context;
  const int device = current_device();
  const cudaError_t error = allocate_device(device, bytes, address, old);
  if (error == cudaSuccess) operation.allocated(type, address, bytes, device);
  return error;
}

cudaError_t allocate_pitched(std::size_t width, std::size_t rows, address_t& address,
                             std::size_t& pitch) {
  if (width > ~std::size_t{0} - pitch_alignment) return cudaErrorMemoryAllocation;
  pitch = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  if (pitch != 0 && rows > ~std::size_t{0} / pitch) return cudaErrorMemoryAllocation;
  return allocate(pitch * rows, address);
}

cudaError_t free(address_t address, activity::memory_type type) {
  if (const cudaError_t error = prepare(); error != cudaSuccess) return error;
  if (address == 0) return cudaSuccess;
  const memory_range range = find(address);
  const bool freeable = range.kind == memory_kind::device || range.kind == memory_kind::managed;
  const bool by_other_calls = range.mapped_vmm || (range.imported && !range.foreign_pool);
  if (!freeable || range.base != address || by_other_calls) return cudaErrorInvalidValue;
  finish_work(range.device);
  if (range.kind == memory_kind::managed) type = memory_type::managed;
  activity::memory_operation().released(type, address, range.size, range.device);
  if (range.kind == memory_kind::managed) return host_memory::free_managed(address);
  if (range.graph) return graph_memory::free(address);
  if (range.foreign_pool) return foreign::unmap(address);
  if (!range.pool) return free_device(address);
  const cudaError_t error = pools::free_now(address);
  pools::synchronized(range.device);
  return error;
}

cudaError_t allocate_managed(std::size_t bytes, address_t& address) {
  if (const cudaError_t error = prepare(); error != cudaSuccess) return error;
  const activity::memory_operation operation;
  const int device = current_device();
  const cudaError_t error = host_memory::allocate_managed(device, bytes, address);
  if (error == cudaSuccess) operation.allocated(memory_type::managed, address, bytes, device);
  return error;
}

cudaError_t allocate_host(std::size_t bytes, unsigned flags, void*& pointer) {
  if (const cudaError_t error = prepare(); error != cudaSuccess) return error;
  const activity::memory_operation operation;
  const int device = current_device();
  const cudaError_t error = host_memory::allocate(bytes, device, flags, pointer);
  if (error == cudaSuccess && pointer != nullptr) {
    operation.allocated(memory_type::pinned, reinterpret_cast<address_t>(pointer), bytes, device);
  }
  return error;
}

cudaError_t free_host(void* pointer) {
  if (const cudaError_t error = prepare(); error != cudaSuccess) return error;
  const memory_range range = find(pointer);
  const activity::memory_operation operation;
  const cudaError_t error = host_memory::free(pointer);
  if (error == cudaSuccess && pointer != nullptr) {
    operation.released(memory_type::pinned, range.base, range.size, range.device);
  }
  return error;
}

cudaError_t register_host(void* pointer, std::size_t bytes, unsigned flags) {
  if (const cudaError_t error = prepare(); error != cudaSuccess) return error;
  return host_memory::register_range(pointer, bytes, current_device(), flags);
}

cudaError_t unregister_host(void* pointer) {
  if (const cudaError_t error = prepare(); error != cudaSuccess) return error;
  return host_memory::unregister_range(pointer);
}

cudaError_t allocate_async(std::size_t bytes, cudaMemPool_t pool, cudaStream_t handle,
                           bool per_thread, address_t& address) {
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return error;
  stream* const user = streams::find(handle, per_thread);
  if (user == nullptr) return cudaErrorInvalidResourceHandle;
  if (pool == nullptr) pool = pools::current_of(user->device);
  const activity::memory_operation operation;
  const cudaError_t error = pools::allocate(pool, bytes, *user, address);
  if (error == cudaSuccess && address != 0) {
    operation.allocated(memory_type::device, address, bytes, user->device, user);
  }
  return error;
}

cudaError_t free_async(address_t address, cudaStream_t handle, bool per_thread) {
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return error;
  stream* const user = streams::find(handle, per_thread);
  if (user == nullptr) return cudaErrorInvalidResourceHandle;
  if (address == 0) return cudaSuccess;
  const memory_range range = find(address);
  if (range.base != address || range.kind != memory_kind::device || range.mapped_vmm ||
      (range.imported && !range.foreign_pool)) {
    return cudaErrorInvalidValue;
  }
  if (range.foreign_pool) return foreign::unmap(address);
  if (range.graph) return graph_memory::free(address);
  activity::memory_operation().released(memory_type::device, address, range.size, range.device,
                                        user);
  // cudaFreeAsync takes what cudaMalloc gave, too.
  return range.pool ? pools::free(address, *user) : free_device(address);
}

cudaError_t synchronize_device(int device) {
  const bool own = current_context() != nullptr && device == current_device();
  const cudaError_t error = own ? ensure_context() : ensure_context(device);
  return error != cudaSuccess ? error : wait_for_device(device);
}

cudaError_t wait_for_device(int device) {
  if (const cudaError_t error = capture::device_wide_call(device); error != cudaSuccess) {
    return error;
  }
  finish_work(device);
  return cudaSuccess;
}

cudaError_t information(std::size_t& free, std::size_t& total) {
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return error;
  free = free_bytes(current_device());
  total = total_bytes(current_device());
  return cudaSuccess;
}

}  // namespace memtrace::simulator::memory_calls
