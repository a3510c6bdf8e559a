// SPDX-License-Identifier: Apache-2.0
//
// Whether this thread is inside Optimizer.step, as the agent's optimizer hooks say.
#pragma once

namespace memtrace::autograd {

void enter_optimizer() noexcept;
void leave_optimizer() noexcept;  // more often than entered is without effect
[[nodiscard]] bool is_in_optimizer() noexcept;

}  // namespace memtrace::autograd
