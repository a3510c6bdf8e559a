// SPDX-License-Identifier: Apache-2.0
//
// cudaEventSynchronize from inside libc10_cuda: the allocator's last resort before it is out of
// memory, waiting for the frees that other streams hold up. Nothing else there calls it.
#include <atomic>

#include "interpose/door/entry/call_recording.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/base/loaded_library.h"
#include "interpose/ground/driver/device_log.h"
#include "interpose/ground/session/session.h"

namespace {

// Where libc10_cuda's code is; 0 until it is loaded, which may come after the first recording.
std::atomic<std::uintptr_t> library_begin{0};
std::atomic<std::uintptr_t> library_end{0};

bool is_from_allocator(const void* caller) noexcept {
  if (library_end.load(std::memory_order_acquire) == 0) {
    memtrace::loaded_library found;
    if (!memtrace::find_loaded_library("libc10_cuda.so", found)) return false;
    library_begin.store(found.begin, std::memory_order_relaxed);
    library_end.store(found.end, std::memory_order_release);
  }
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  return at >= library_begin.load(std::memory_order_relaxed) &&
         at < library_end.load(std::memory_order_relaxed);
}

void record_synchronisation(void* event, const void* caller) noexcept {
  const memtrace::errno_keeper errno_stays;
  memtrace::recorder* const to = memtrace::session::active();
  if (to == nullptr || !is_from_allocator(caller)) return;
  to->operation({.what = memtrace::format::operation::event_synchronize,
                 .device = memtrace::device_log::current(),
                 .a = memtrace::as_number(event),
                 .text = {}});
}

}  // namespace

MEMTRACE_EXPORTED int cudaEventSynchronize(void* event) {
  auto* const real = memtrace::real_function<decltype(cudaEventSynchronize)>(
      memtrace::hook_id::cudaEventSynchronize);
  if (real == nullptr) return memtrace::error_no_real_function;
  record_synchronisation(event, __builtin_return_address(0));
  return real(event);
}
