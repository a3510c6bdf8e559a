// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's functions that are asked what holds in the calling thread. Found by name once torch
// is loaded; some ns a call; they read thread-local variables only.
#pragma once

#include <cstdint>

namespace memtrace::autograd {

struct torch_functions {
  bool (*grad_mode)() = nullptr;
  bool (*inference_mode)() = nullptr;
  bool (*autocast)(signed char device_type) = nullptr;  // from 2.4 on
  std::uint64_t (*thread_id)() = nullptr;               // at::RecordFunction::currentThreadId
};

// Null until libtorch_cpu.so is loaded. Functions that this PyTorch lacks are null.
[[nodiscard]] const torch_functions* find_torch_functions() noexcept;

}  // namespace memtrace::autograd
