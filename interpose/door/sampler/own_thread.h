// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace memtrace::sampler {

// A thread of our own: nobody waits for it, the program's signals are blocked in it, and its stack
// is small. False where there can be none.
[[nodiscard]] bool start_own_thread(void* (*run)(void*), void* argument) noexcept;

}  // namespace memtrace::sampler
