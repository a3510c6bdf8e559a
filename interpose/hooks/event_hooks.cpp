// SPDX-License-Identifier: Apache-2.0
//
// cudaEventSynchronize from inside libc10_cuda: the allocator's last resort before it is out of
// memory, waiting for the frees that other streams hold up. Nothing else there calls it.
#include <atomic>

#include "interpose/hooks/call_recording.h"
#include "interpose/hooks/device_log.h"
#include "interpose/hooks/exported.h"
#include "interpose/hooks/loaded_library.h"
#include "interpose/hooks/session.h"

namespace {

// Where libc10_cuda's code is; asked for once a recording runs, when it is loaded if ever.
bool is_from_allocator(const void* caller) noexcept {
  struct range {
    std::uintptr_t begin = 0, end = 0;
  };
  static const range library = [] {
    memtrace::loaded_library found;
    return memtrace::find_loaded_library("libc10_cuda.so", found) ? range{found.begin, found.end}
                                                                  : range{};
  }();
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  return at >= library.begin && at < library.end;
}

}  // namespace

MEMTRACE_EXPORTED int cudaEventSynchronize(void* event) {
  auto* const real = memtrace::real_function<decltype(cudaEventSynchronize)>(
      memtrace::hook_id::cudaEventSynchronize);
  if (real == nullptr) return memtrace::error_no_real_function;
  memtrace::recorder* const to = memtrace::session::active();
  if (to != nullptr && is_from_allocator(__builtin_return_address(0))) {
    to->operation({.what = memtrace::format::operation::event_synchronize,
                   .device = memtrace::device_log::current(),
                   .a = memtrace::as_number(event),
                   .text = {}});
  }
  return real(event);
}
