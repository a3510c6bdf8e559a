// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/torch_functions.h"

#include <atomic>

#include "interpose/ground/base/loaded_library.h"

namespace memtrace::autograd {
namespace {

std::atomic<bool> found{false};
std::atomic<bool> is_searching{false};
torch_functions functions;

template <typename Function>
void find(const char* library, const char* symbol, Function& function) noexcept {
  function = reinterpret_cast<Function>(find_in_loaded_library(library, symbol));
}

void search() noexcept {
  loaded_library torch;
  if (!find_loaded_library("libtorch_cpu.so", torch)) return;
  find("libc10.so", "_ZN3c108GradMode10is_enabledEv", functions.grad_mode);
  find("libc10.so", "_ZN3c1013InferenceMode10is_enabledEv", functions.inference_mode);
  find("libtorch_cpu.so", "_ZN2at8autocast19is_autocast_enabledEN3c1010DeviceTypeE",
       functions.autocast);
  find("libtorch_cpu.so", "_ZN2at14RecordFunction15currentThreadIdEv", functions.thread_id);
  found.store(true, std::memory_order_release);
}

}  // namespace

const torch_functions* find_torch_functions() noexcept {
  if (found.load(std::memory_order_acquire)) [[likely]]
    return &functions;
  // Another thread that is at it may wait for the loader's lock; this one goes without.
  if (is_searching.exchange(true, std::memory_order_acquire)) return nullptr;
  if (!found.load(std::memory_order_acquire)) search();
  is_searching.store(false, std::memory_order_release);
  return found.load(std::memory_order_acquire) ? &functions : nullptr;
}

}  // namespace memtrace::autograd
