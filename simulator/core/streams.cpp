// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/streams.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <vector>

#include "simulator/core/activity.h"
#include "simulator/core/capture.h"
#include "simulator/core/config.h"
#include "simulator/core/device.h"

namespace memtrace::simulator::streams {
namespace {

constexpr std::uint32_t magic = 0x5374726d;

// For all streams of a device, and for those that synchronise with its legacy stream.
struct device_times {
  std::atomic<clock::time_point> all{0};
  std::atomic<clock::time_point> blocking{0};
};
device_times times[maximum_devices];

// Memory of streams is never given back, so that a stale handle is an error and not a crash.
struct registry {
  std::mutex lock;
  std::deque<stream> storage;
  std::vector<stream*> unused;
  std::uint64_t last_id = 0;
  stream legacy[maximum_devices];

  registry() {
    for (int device = 0; device < maximum_devices; ++device) {
      set_up(legacy[device], device, 0, 0);
      legacy[device].legacy = true;
    }
  }

  void set_up(stream& one, int device, unsigned flags, int priority) {
    one.device = device;
    one.flags = flags;
    one.priority = priority;
    one.blocking = (flags & cudaStreamNonBlocking) == 0;
    one.id = ++last_id;
    one.done.store(0, std::memory_order_relaxed);
    one.alive.store(magic, std::memory_order_release);
  }

  stream& take(int device, unsigned flags, int priority) {
    const std::scoped_lock guard(lock);
    stream* one = nullptr;
    if (unused.empty()) {
      one = &storage.emplace_back();
    } else {
      one = unused.back();
      unused.pop_back();
    }
    set_up(*one, device, flags, priority);
    return *one;
  }

  void give_back(stream& one) {
    const std::scoped_lock guard(lock);
    one.alive.store(0, std::memory_order_release);
    unused.push_back(&one);
  }
};

// Never destroyed: threads may still give work while the process exits.
registry& all() {
  static registry* const one = new registry;
  return *one;
}

// The default streams of a thread, one a device, made when first used.
struct thread_streams {
  stream* one[maximum_devices] = {};

  stream& get(int device) {
    if (!one[device]) one[device] = &all().take(device, cudaStreamDefault, 0);
    return *one[device];
  }
  ~thread_streams() {
    for (stream* each : one) {
      if (each) all().give_back(*each);
    }
  }
};

stream& own_stream(int device) {
  thread_local thread_streams mine;
  return mine.get(device);
}

void raise(std::atomic<clock::time_point>& time, clock::time_point to) {
  clock::time_point old = time.load(std::memory_order_relaxed);
  while (old < to && !time.compare_exchange_weak(old, to, std::memory_order_acq_rel,
                                                 std::memory_order_relaxed)) {
  }
}

clock::time_point earliest_start(const stream& stream) {
  const clock::time_point start = stream.done.load(std::memory_order_acquire);
  const device_times& device = times[stream.device];
  if (stream.legacy) return std::max(start, device.blocking.load(std::memory_order_acquire));
  if (!stream.blocking) return start;
  return std::max(start, legacy(stream.device).done.load(std::memory_order_acquire));
}

}  // namespace

stream* find(cudaStream_t handle, bool per_thread) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  constexpr std::uintptr_t legacy_handle = 1;      // cudaStreamLegacy
  constexpr std::uintptr_t per_thread_handle = 2;  // cudaStreamPerThread
  if (value == per_thread_handle || (value == 0 && per_thread))
    return &own_stream(current_device());
  if (value <= legacy_handle) return &legacy(current_device());
  if (value < 4096 || value % alignof(stream) != 0) return nullptr;
  auto* const found = reinterpret_cast<stream*>(handle);
  return found->alive.load(std::memory_order_acquire) == magic ? found : nullptr;
}

stream& legacy(int device) {
  return all().legacy[device];
}

cudaError_t create(int device, unsigned flags, int priority, cudaStream_t& handle) {
  if ((flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) return cudaErrorInvalidValue;
  priority = std::clamp(priority, greatest_priority, 0);
  handle = reinterpret_cast<cudaStream_t>(&all().take(device, flags, priority));
  return cudaSuccess;
}

cudaError_t destroy(cudaStream_t handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return cudaErrorInvalidResourceHandle;
  stream* const found = find(handle);
  if (!found) return cudaErrorInvalidResourceHandle;
  capture::stream_destroyed(*found);
  all().give_back(*found);
  return cudaSuccess;
}

clock::time_point enqueue(stream& stream, clock::duration time) {
  const clock::time_point now = clock::work_call();
  const clock::time_point done = std::max(now, earliest_start(stream)) + time;
  raise(stream.done, done);
  raise(times[stream.device].all, done);
  if (stream.blocking) raise(times[stream.device].blocking, done);
  constexpr clock::duration longest_queue = clock::queue_depth * clock::kernel;
  if (done > now + longest_queue) clock::wait_until(done - longest_queue);
  return done;
}

clock::time_point completion(const stream& stream) {
  return earliest_start(stream);
}

void wait_for(stream& stream, clock::time_point time) {
  raise(stream.done, time);
}

void synchronize_device(int device) {
  if (device < 0 || device >= maximum_devices) return;
  clock::wait_until(times[device].all.load(std::memory_order_acquire));
}

void synchronize(stream& stream) {
  clock::wait_until(completion(stream));
}

cudaError_t launch(cudaStream_t handle, unsigned kernels) {
  stream* const found = find(handle);
  if (!found) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = capture::check_use(*found); error != cudaSuccess) return error;
  for (unsigned kernel = 0; kernel < kernels; ++kernel) {
    if (!capture::capturing(*found)) {
      enqueue(*found, clock::kernel);
      activity::kernel(*found);
    } else if (const cudaError_t error = capture::add_kernel(*found); error != cudaSuccess) {
      return error;
    }
  }
  return cudaSuccess;
}

}  // namespace memtrace::simulator::streams
