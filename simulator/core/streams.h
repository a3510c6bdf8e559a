// SPDX-License-Identifier: Apache-2.0
//
// Streams: what is given to one is done in order, at virtual times (clock.h). Work itself does
// nothing: a stream is the time at which all it was given is done.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

#include "simulator/core/clock.h"

namespace memtrace::simulator {

struct stream_capture;

// cudaDeviceGetStreamPriorityRange: least 0, greatest this (what current GPUs report).
inline constexpr int greatest_priority = -5;

struct stream {
  std::atomic<std::uint32_t> alive{0};  // stream_magic while the handle is valid
  int device = 0;
  bool blocking = true;  // synchronises with the device's legacy stream
  bool legacy = false;
  int priority = 0;
  unsigned flags = 0;                             // as given to cudaStreamCreateWithFlags
  std::uint64_t id = 0;                           // cudaStreamGetId; unique in the process
  std::atomic<clock::time_point> done{0};         // when all that was given to it is done
  std::atomic<stream_capture*> capture{nullptr};  // the capture it takes part in
};

namespace streams {

// The stream of a handle; null if there is none. The null handle is the current device's legacy
// stream, or with `per_thread` the calling thread's default stream. Lock-free.
[[nodiscard]] stream* find(cudaStream_t handle, bool per_thread = false);

// The legacy default stream of a device.
[[nodiscard]] stream& legacy(int device);

[[nodiscard]] cudaError_t create(int device, unsigned flags, int priority, cudaStream_t& handle);
[[nodiscard]] cudaError_t destroy(cudaStream_t handle);

// Gives `stream` work that takes `time`. Returns when it will be done. Not for capturing streams.
clock::time_point enqueue(stream& stream, clock::duration time);

// For libraries (cuBLAS, cuDNN, NCCL …): a call that launches `kernels` kernels on the stream,
// recorded as kernel nodes if it is capturing. Errors: 400 unknown handle, 901 and the like.
[[nodiscard]] cudaError_t launch(cudaStream_t handle, unsigned kernels = 1);

// When all given to a stream so far is done; work given later to the same stream starts after it.
[[nodiscard]] clock::time_point completion(const stream& stream);

// Makes work given to `stream` from now on start at `time` or later.
void wait_for(stream& stream, clock::time_point time);

// Waits until everything given to the device (one stream) is done: the clock jumps there. What
// cudaFree does implicitly. Does not look at captures.
void synchronize_device(int device);
void synchronize(stream& stream);

}  // namespace streams
}  // namespace memtrace::simulator
