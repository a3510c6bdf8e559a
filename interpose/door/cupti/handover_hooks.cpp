// SPDX-License-Identifier: Apache-2.0
//
// Another profiler of the program comes: it gets CUPTI as if nobody had used it.
#include "interpose/door/cupti/cupti_library.h"
#include "interpose/door/cupti/witness.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/base/notice.h"
#include "interpose/ground/loader/hook_table.h"

namespace {

constexpr int not_initialized = 15;  // CUPTI_ERROR_NOT_INITIALIZED: there is no CUPTI behind

void hand_over() noexcept {
  using memtrace::cupti::stage;
  if (memtrace::cupti::now.load(std::memory_order_acquire) != stage::listening) return;
  const memtrace::errno_keeper errno_stays;
  memtrace::cupti::end("another profiler of the program has taken CUPTI");
  memtrace::notice::say(
      "MEMTRACE_CUPTI: another profiler of the program has taken CUPTI; the second witness ends "
      "here, recording goes on.");
}

}  // namespace

MEMTRACE_EXPORTED int cuptiSubscribe(void** subscriber, void* callback, void* data) {
  auto* const real =
      memtrace::real_function<decltype(cuptiSubscribe)>(memtrace::hook_id::cuptiSubscribe);
  if (real == nullptr) return not_initialized;
  hand_over();
  return real(subscriber, callback, data);
}

MEMTRACE_EXPORTED int cuptiSubscribe_v2(void** subscriber, void* callback, void* data,
                                        void* parameters) {
  auto* const real =
      memtrace::real_function<decltype(cuptiSubscribe_v2)>(memtrace::hook_id::cuptiSubscribe_v2);
  if (real == nullptr) return not_initialized;
  hand_over();
  return real(subscriber, callback, data, parameters);
}

MEMTRACE_EXPORTED int cuptiActivityRegisterCallbacks(void* request, void* complete) {
  auto* const real = memtrace::real_function<decltype(cuptiActivityRegisterCallbacks)>(
      memtrace::hook_id::cuptiActivityRegisterCallbacks);
  if (real == nullptr) return not_initialized;
  hand_over();
  return real(request, complete);
}
