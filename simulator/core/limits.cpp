// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/limits.h"

#include <atomic>

#include "simulator/core/config.h"
#include "simulator/core/device.h"

namespace memtrace::simulator {
namespace {

// Defaults that a driver reports (CUDA C++ programming guide; heap 8 MiB, printf buffer 1 MiB).
constexpr int limit_count = 7;
std::atomic<std::size_t> values[limit_count] = {
    1024,     // stack of a thread, bytes
    1 << 20,  // printf buffer
    8 << 20,  // device heap
    2,        // depth of synchronisation on the device
    2048,     // pending launches on the device
    128,      // L2 fetch granularity, bytes
    0         // persisting L2 cache
};

std::atomic<bool> enabled[maximum_devices][maximum_devices]{};

}  // namespace

namespace limits {

cudaError_t set(int limit, std::size_t value) {
  if (limit < 0 || limit >= limit_count) return cudaErrorUnsupportedLimit;
  values[limit].store(value);
  return cudaSuccess;
}

cudaError_t get(int limit, std::size_t& value) {
  if (limit < 0 || limit >= limit_count) return cudaErrorUnsupportedLimit;
  value = values[limit].load();
  return cudaSuccess;
}

}  // namespace limits

namespace peer_access {

cudaError_t enable(int device, int peer, unsigned flags) {
  if (!valid_device(peer) || peer == device) return cudaErrorInvalidDevice;
  if (flags != 0) return cudaErrorInvalidValue;
  return enabled[device][peer].exchange(true) ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess;
}

cudaError_t disable(int device, int peer) {
  if (!valid_device(peer) || peer == device) return cudaErrorInvalidDevice;
  return enabled[device][peer].exchange(false) ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
}

}  // namespace peer_access
}  // namespace memtrace::simulator
