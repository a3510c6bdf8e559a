// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/nccl_watchdog.h"

#include <dlfcn.h>

namespace memtrace::simulator::nccl_watchdog {
namespace {

// Defined in simulator/watchdog; null where it is not preloaded.
template <typename Function>
Function* preloaded(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

void let_look() {
  static auto* const real = preloaded<void()>("memtrace_watchdog_let_look");
  if (real != nullptr) real();
}

void expect() {
  static auto* const real = preloaded<void()>("memtrace_watchdog_expect");
  if (real != nullptr) real();
}

bool looking() {
  static auto* const real = preloaded<int()>("memtrace_watchdog_looking");
  return real != nullptr && real() != 0;
}

namespace {

void pause_by(int more) {
  static auto* const real = preloaded<void(int)>("memtrace_watchdog_pause");
  if (real != nullptr) real(more);
}

}  // namespace

pause::pause() {
  pause_by(1);
}
pause::~pause() {
  pause_by(-1);
}

}  // namespace memtrace::simulator::nccl_watchdog
