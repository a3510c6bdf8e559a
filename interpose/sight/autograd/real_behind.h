// SPDX-License-Identifier: Apache-2.0
//
// The function of PyTorch behind a wrapper. Without it the wrapper cannot do what its caller
// needs, so it is also looked for where the caller has it from: a PyTorch whose libraries have
// other names than those of its wheels. Never null: where there is none, the process ends as it
// would have without us (die_without).
#pragma once

#include "interpose/ground/loader/hook_table.h"

namespace memtrace::autograd {

// Remembered in the table of hooks.
[[nodiscard]] void* find_behind_caller(hook_id id, const void* caller) noexcept;

template <typename Function>
[[nodiscard]] Function* real_behind(hook_id id, const void* caller) noexcept {
  if (auto* const real = real_function<Function>(id); real != nullptr) [[likely]]
    return real;
  return reinterpret_cast<Function*>(find_behind_caller(id, caller));
}

}  // namespace memtrace::autograd
