// SPDX-License-Identifier: Apache-2.0
//
// Whether this thread is inside Optimizer.step, as the agent's optimizer hooks say.
#pragma once

namespace memtrace::autograd {

namespace detail {
inline thread_local constinit unsigned optimizer_depth __attribute__((tls_model("initial-exec"))) =
    0;
}

inline void enter_optimizer() noexcept {
  ++detail::optimizer_depth;
}
// More often than entered is without effect.
inline void leave_optimizer() noexcept {
  if (detail::optimizer_depth > 0) --detail::optimizer_depth;
}
[[nodiscard]] inline bool is_in_optimizer() noexcept {
  return detail::optimizer_depth > 0;
}

}  // namespace memtrace::autograd
