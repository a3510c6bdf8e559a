// SPDX-License-Identifier: Apache-2.0
//
// The private pool of an allocation where the allocator's trace entries do not name it (PyTorch
// before 2.8). beginAllocateToPool is given a function that says of a stream whether allocations
// there go to the pool; the allocator asks it in the thread that allocates, before the entries of
// that allocation. It gets one of ours, which asks the original and remembers the answer.
#pragma once

#include <functional>

#include "interpose/ground/recorder/events.h"

namespace memtrace::pool_choice {

using filter = std::function<bool(void*)>;  // cudaStream_t

// Throws where memory is short; what the original throws passes through when it is asked.
[[nodiscard]] filter watched(filter original, pool_id pool);

// Sets the pool of an entry that is part of an allocation; the last entry of one ends the choice.
void complete(allocator_event& event) noexcept;

}  // namespace memtrace::pool_choice
