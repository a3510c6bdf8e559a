// SPDX-License-Identifier: Apache-2.0
//
// The runtime's facts about an address, and hints about managed memory, which change nothing here.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <mutex>

#include "simulator/core/activity.h"
#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"

// Where unified memory is, as far as the program says it: by prefetching. Faults are not seen, and
// the bytes themselves never move.
namespace memtrace::simulator::residency {
namespace {

inline constexpr int host = -1;

struct place {
  std::uint64_t allocation = 0;  // addresses are used again
  std::size_t bytes = 0;
  int device = host;
};
struct places {
  std::mutex lock;
  std::map<const void*, place> of;
};

// Where it was before.
int move(const void* pointer, const place& to) {
  static auto* const known = new places;
  const std::lock_guard holder(known->lock);
  place& now = known->of[pointer];
  const bool is_same = now.allocation == to.allocation && now.bytes == to.bytes;
  const int before = is_same ? now.device : host;
  now = to;
  return before;
}

// Moves the memory at `pointer` to a device, or to the host. Error 1: no unified memory there, or
// no such device. Tells CUPTI what moves: nothing, where the same prefetch came before.
cudaError_t prefetch(const void* pointer, std::size_t bytes, int to) {
  const memory_range range = find(pointer);
  if (range.kind != memory_kind::managed || (to != host && !valid_device(to))) {
    return cudaErrorInvalidValue;
  }
  const int from = move(pointer, {range.id, bytes, to});
  if (from == to) return cudaSuccess;
  const auto address = reinterpret_cast<address_t>(pointer);
  if (from != host) activity::migrated(address, bytes, from, false);
  if (to != host) activity::migrated(address, bytes, to, true);
  return cudaSuccess;
}

}  // namespace
}  // namespace memtrace::simulator::residency

using namespace memtrace::simulator;

namespace {

cudaMemoryType type_of(memory_kind kind) {
  switch (kind) {
    case memory_kind::host:
    case memory_kind::registered:
      return cudaMemoryTypeHost;
    case memory_kind::device:
      return cudaMemoryTypeDevice;
    case memory_kind::managed:
      return cudaMemoryTypeManaged;
    case memory_kind::unknown:
      break;
  }
  return cudaMemoryTypeUnregistered;
}

}  // namespace

// Ordinary memory is no error: its type is "unregistered" and its device -2, as since CUDA 11.
MEMTRACE_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* result,
                                                  const void* pointer) {
  if (!result) return remember(cudaErrorInvalidValue);
  const memory_range range = find(pointer);
  *result = cudaPointerAttributes{};
  result->type = type_of(range.kind);
  result->device = -2;
  void* const address = const_cast<void*>(pointer);
  if (range.kind != memory_kind::unknown) {
    result->device = range.device;
    result->devicePointer = address;
  }
  if (range.kind != memory_kind::device) result->hostPointer = address;
  return cudaSuccess;
}

// bitsandbytes asks for these. Advice has nothing to do.
#if CUDART_VERSION >= 13000
MEMTRACE_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes,
                                              cudaMemLocation to, unsigned, cudaStream_t) {
  return remember(residency::prefetch(
      pointer, bytes, to.type == cudaMemLocationTypeDevice ? to.id : residency::host));
}

MEMTRACE_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t, cudaMemoryAdvise,
                                       cudaMemLocation) {
  return remember(find(pointer).kind == memory_kind::managed ? cudaSuccess : cudaErrorInvalidValue);
}
#else
MEMTRACE_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int to,
                                              cudaStream_t) {
  return remember(residency::prefetch(pointer, bytes, to));  // cudaCpuDeviceId is -1
}

MEMTRACE_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t, cudaMemoryAdvise, int) {
  return remember(find(pointer).kind == memory_kind::managed ? cudaSuccess : cudaErrorInvalidValue);
}
#endif
