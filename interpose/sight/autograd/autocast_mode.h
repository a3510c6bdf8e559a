// SPDX-License-Identifier: Apache-2.0
//
// Whether autocast is on for CUDA in the calling thread, as the program switched it. PyTorch's own
// answer is no inside of the operations that autocast wraps, where softmax and the like allocate
// and save: it takes autocast's dispatch key away for the time of the call.
#pragma once

namespace memtrace::autograd {

namespace detail {
extern thread_local constinit bool autocast_is_on __attribute__((tls_model("initial-exec")));
}

[[nodiscard]] inline bool is_autocast_switched_on() noexcept {
  return detail::autocast_is_on;
}

}  // namespace memtrace::autograd
