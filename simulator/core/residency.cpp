// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/residency.h"

#include <map>
#include <mutex>

#include "simulator/core/activity.h"
#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"

namespace memtrace::simulator::residency {
namespace {

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

}  // namespace

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

}  // namespace memtrace::simulator::residency
