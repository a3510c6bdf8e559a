// SPDX-License-Identifier: Apache-2.0
//
// Sharing device memory between processes, in the runtime and the driver API.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "simulator/core/address_space.h"
#include "simulator/core/contents.h"
#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/registry.h"

// Device memory shared between processes by handle. What is opened is foreign: it has an address
// and costs nothing here, since its owner pays for it. Contents are not shared.
namespace memtrace::simulator::ipc {
namespace {

constexpr std::uint64_t granule = 2u << 20;

// The 64 bytes of a handle.
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

// Error 1 unless the address lies in memory of cudaMalloc. The handle names the whole allocation.
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

// The same address for a handle opened twice. Errors: 1 no such handle; 201 exported by this
// process, as the driver refuses to open its own.
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

// Error 1 unless open.
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

}  // namespace
}  // namespace memtrace::simulator::ipc

using namespace memtrace::simulator;

// CUDA renames it to its current version, which says the same; both are exported.
#undef cuIpcOpenMemHandle

static_assert(sizeof(CUipcMemHandle) == sizeof(cudaIpcMemHandle_t));

namespace {

CUresult open(CUdeviceptr* result, const CUipcMemHandle& handle, unsigned flags) {
  if (!result || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  cudaIpcMemHandle_t content;
  std::memcpy(&content, &handle, sizeof content);
  address_t address = 0;
  const cudaError_t error = ipc::open(address, content, current_device());
  if (error == cudaSuccess) *result = address;
  return driver_result(error);
}

}  // namespace

MEMTRACE_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  if (!handle) return remember(cudaErrorInvalidValue);
  return remember(ipc::export_memory(*handle, reinterpret_cast<address_t>(pointer)));
}

MEMTRACE_API cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle,
                                              unsigned flags) {
  if (!pointer || flags != cudaIpcMemLazyEnablePeerAccess) return remember(cudaErrorInvalidValue);
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return remember(error);
  address_t address = 0;
  const cudaError_t error = ipc::open(address, handle, current_device());
  if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(address);
  return remember(error);
}

MEMTRACE_API cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return remember(ipc::close(reinterpret_cast<address_t>(pointer)));
}

MEMTRACE_API CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  cudaIpcMemHandle_t content;
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t error = ipc::export_memory(content, address);
  if (error == cudaSuccess) std::memcpy(handle, &content, sizeof content);
  return driver_result(error);
}

MEMTRACE_API CUresult cuIpcOpenMemHandle(CUdeviceptr* result, CUipcMemHandle handle,
                                         unsigned flags) {
  return open(result, handle, flags);
}

MEMTRACE_API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* result, CUipcMemHandle handle,
                                            unsigned flags) {
  return open(result, handle, flags);
}

MEMTRACE_API CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return driver_result(ipc::close(address));
}
