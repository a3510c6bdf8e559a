// SPDX-License-Identifier: Apache-2.0
//
// Two CUDA runtimes in one process, of two frameworks, each with streams and arrays of its own. Our
// wrappers stand in front of both: a call must then go on to the one that its caller is linked
// with. There is only one driver.
#pragma once

#include <atomic>

#include "interpose/ground/loader/caller_binding.h"

namespace memtrace {
namespace several_runtimes {

enum class answer : int { not_known, no, yes };
extern std::atomic<answer> last_answer;

[[nodiscard]] bool find_out() noexcept;

// One load while no library is opened.
[[nodiscard]] inline bool are_there() noexcept {
  return last_answer.load(std::memory_order_relaxed) != answer::no && find_out();
}

// Before each dlopen of the program.
void before_open() noexcept;

}  // namespace several_runtimes

// The function that a wrapper hands its call on to; null if there is nothing.
template <library_family family, typename Function>
[[nodiscard]] Function* real_function_behind(hook_id id, const void* caller,
                                             caller_bindings& known) noexcept {
  if constexpr (family == library_family::runtime) {
    if (several_runtimes::are_there()) [[unlikely]]
      return real_function_for<Function>(id, caller, known);
  }
  return real_function<Function>(id);
}

}  // namespace memtrace
