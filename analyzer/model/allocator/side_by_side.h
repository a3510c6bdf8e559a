// SPDX-License-Identifier: Apache-2.0
//
// Work that does not depend on its order, such as replays of one log under several options, on as
// many cores as this process may use. What comes out is put where its index says, so that it is the
// same whatever the number of threads.
#pragma once

#include <cstddef>
#include <functional>

namespace memtrace::allocator {

// Threads that work at once, the caller's among them: MEMTRACE_JOBS if that is a number above 0,
// else the cores that this process may run on; 16 at most.
[[nodiscard]] std::size_t job_limit();

// Calls work(0) … work(count - 1), each once, and returns when all are done. `work` may itself call
// this. Of what it throws one is thrown on.
void side_by_side(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace memtrace::allocator
