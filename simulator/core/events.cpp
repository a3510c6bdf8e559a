// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/events.h"

#include <deque>
#include <mutex>

#include "simulator/core/capture.h"
#include "simulator/core/pools.h"

namespace memtrace::simulator::events {
namespace {

constexpr std::uint32_t magic = 0x45766e74;
// The time that recording takes on the stream: two records in a row are apart, as timing loops
// expect.
constexpr clock::duration record_time = 1000;

// Memory of events is never given back, so that a stale handle is an error and not a crash.
struct registry {
  std::mutex lock;
  std::deque<event> storage;
  std::vector<event*> unused;
};

// Never destroyed: threads may still record while the process exits.
registry& all() {
  static registry* const one = new registry;
  return *one;
}

constexpr unsigned known_flags =
    cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

bool captured(const event& one) {
  return one.capture_id.load(std::memory_order_acquire) != 0;
}

}  // namespace

event* find(cudaEvent_t handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value < 4096 || value % alignof(event) != 0) return nullptr;
  auto* const found = reinterpret_cast<event*>(handle);
  return found->alive.load(std::memory_order_acquire) == magic ? found : nullptr;
}

cudaError_t create(int device, unsigned flags, cudaEvent_t& handle) {
  if ((flags & ~known_flags) != 0) return cudaErrorInvalidValue;
  const bool interprocess = (flags & cudaEventInterprocess) != 0;
  if (interprocess && (flags & cudaEventDisableTiming) == 0) return cudaErrorInvalidValue;
  const std::scoped_lock guard(all().lock);
  event* one = nullptr;
  if (all().unused.empty()) {
    one = &all().storage.emplace_back();
  } else {
    one = all().unused.back();
    all().unused.pop_back();
  }
  one->device = device;
  one->flags = flags;
  one->recorded.store(false, std::memory_order_relaxed);
  one->done.store(0, std::memory_order_relaxed);
  one->capture_id.store(0, std::memory_order_relaxed);
  one->alive.store(magic, std::memory_order_release);
  handle = reinterpret_cast<cudaEvent_t>(one);
  return cudaSuccess;
}

cudaError_t destroy(cudaEvent_t handle) {
  event* const one = find(handle);
  if (!one) return cudaErrorInvalidResourceHandle;
  const std::scoped_lock guard(all().lock);
  one->alive.store(0, std::memory_order_release);
  all().unused.push_back(one);
  return cudaSuccess;
}

cudaError_t record(cudaEvent_t handle, stream* stream, unsigned flags) {
  event* const one = find(handle);
  if (!one || !stream) return cudaErrorInvalidResourceHandle;
  if ((flags & ~static_cast<unsigned>(cudaEventRecordExternal)) != 0) return cudaErrorInvalidValue;
  if (one->device != stream->device) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = capture::check_use(*stream); error != cudaSuccess) return error;
  if (capture::capturing(*stream)) {
    if ((flags & cudaEventRecordExternal) == 0) return capture::record(*stream, *one);
    return capture::add(*stream, graphs::event_record(handle));
  }
  if ((flags & cudaEventRecordExternal) != 0) return cudaErrorIllegalState;
  one->done.store(streams::enqueue(*stream, record_time), std::memory_order_release);
  one->recorded.store(true, std::memory_order_release);
  one->capture_id.store(0, std::memory_order_release);
  return cudaSuccess;
}

cudaError_t query(cudaEvent_t handle) {
  const event* const one = find(handle);
  if (!one) return cudaErrorInvalidResourceHandle;
  if (captured(*one)) return capture::captured_event_used(*one);
  if (const cudaError_t error = capture::unsafe_call(); error != cudaSuccess) return error;
  if (!one->recorded.load(std::memory_order_acquire)) return cudaSuccess;
  return clock::poll(one->done.load(std::memory_order_acquire)) ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t synchronize(cudaEvent_t handle) {
  const event* const one = find(handle);
  if (!one) return cudaErrorInvalidResourceHandle;
  if (captured(*one)) return capture::captured_event_used(*one);
  if (const cudaError_t error = capture::unsafe_call(); error != cudaSuccess) return error;
  clock::wait_until(one->done.load(std::memory_order_acquire));
  pools::synchronized(one->device);
  return cudaSuccess;
}

cudaError_t wait(stream* stream, cudaEvent_t handle, unsigned flags) {
  const event* const one = find(handle);
  if (!one || !stream) return cudaErrorInvalidResourceHandle;
  if ((flags & ~static_cast<unsigned>(cudaEventWaitExternal)) != 0) return cudaErrorInvalidValue;
  if (const cudaError_t error = capture::check_use(*stream); error != cudaSuccess) return error;
  if ((flags & cudaEventWaitExternal) != 0) {
    if (!capture::capturing(*stream)) return cudaErrorIllegalState;
    return capture::add(*stream, graphs::event_wait(handle));
  }
  if (captured(*one) || capture::capturing(*stream)) return capture::wait(*stream, *one);
  streams::wait_for(*stream, one->done.load(std::memory_order_acquire));
  return cudaSuccess;
}

cudaError_t elapsed(float& milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const event* const from = find(start);
  const event* const to = find(end);
  if (!from || !to) return cudaErrorInvalidResourceHandle;
  if (((from->flags | to->flags) & cudaEventDisableTiming) != 0) {
    return cudaErrorInvalidResourceHandle;
  }
  if (captured(*from)) return capture::captured_event_used(*from);
  if (captured(*to)) return capture::captured_event_used(*to);
  if (!from->recorded.load(std::memory_order_acquire) ||
      !to->recorded.load(std::memory_order_acquire)) {
    return cudaErrorInvalidResourceHandle;
  }
  const clock::time_point begin = from->done.load(std::memory_order_acquire);
  const clock::time_point finish = to->done.load(std::memory_order_acquire);
  if (!clock::poll(begin) || !clock::poll(finish)) return cudaErrorNotReady;
  constexpr double ns_per_ms = 1e6;
  milliseconds =
      static_cast<float>((static_cast<double>(finish) - static_cast<double>(begin)) / ns_per_ms);
  return cudaSuccess;
}

}  // namespace memtrace::simulator::events
