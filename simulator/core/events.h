// SPDX-License-Identifier: Apache-2.0
//
// Events: points of a stream, ready when the virtual clock has reached them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "simulator/core/clock.h"
#include "simulator/core/streams.h"

namespace memtrace::simulator {

struct graph_node;

struct event {
  std::atomic<std::uint32_t> alive{0};
  int device = 0;
  unsigned flags = 0;
  std::atomic<bool> recorded{false};
  std::atomic<clock::time_point> done{0};
  // The capture it was last recorded in, 0 for none; where in it (guarded by the captures'
  // lock).
  std::atomic<std::uint64_t> capture_id{0};
  std::vector<graph_node*> position;
};

namespace events {

// Null if the handle is none.
[[nodiscard]] event* find(cudaEvent_t handle);

[[nodiscard]] cudaError_t create(int device, unsigned flags, cudaEvent_t& handle);
[[nodiscard]] cudaError_t destroy(cudaEvent_t handle);

// `flags` may say cudaEventRecordExternal: in a capture, a node that records at every launch.
[[nodiscard]] cudaError_t record(cudaEvent_t handle, stream* stream, unsigned flags);

// cudaErrorNotReady until the clock has reached it; an event never recorded is ready.
[[nodiscard]] cudaError_t query(cudaEvent_t handle);
[[nodiscard]] cudaError_t synchronize(cudaEvent_t handle);

// Work given to `stream` from now on starts after the event.
[[nodiscard]] cudaError_t wait(stream* stream, cudaEvent_t handle, unsigned flags);

// Milliseconds of virtual time; positive for two events recorded in order on one stream.
[[nodiscard]] cudaError_t elapsed(float& milliseconds, cudaEvent_t start, cudaEvent_t end);

}  // namespace events
}  // namespace memtrace::simulator
