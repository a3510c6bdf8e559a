// SPDX-License-Identifier: Apache-2.0
//
// Operations on communicators: at once, or between ncclGroupStart and ncclGroupEnd all together, so
// that one thread can act for several ranks.
#pragma once

#include <functional>

#include "simulator/libraries/nccl_types.h"

namespace memtrace::simulator::nccl {

// Part of an operation that may have to wait for other ranks: tries, and says whether it is done.
struct operation {
  communicator* comm;
  std::function<bool()> attempt;
  std::function<bool()> hopeless;  // it can never be done: a rank that it needs is gone
  bool done = false;
};

// Does the operation now, or at the end of the calling thread's group. Waits for other ranks as
// long as it takes them, at most nccl_timeout seconds; remote_error then, or when one is gone.
[[nodiscard]] result submit(operation operation);

// The same at once, also within a group.
[[nodiscard]] result perform(operation operation);

void begin_group();
[[nodiscard]] result end_group();
// Ends the group without doing what it holds.
[[nodiscard]] result discard_group();

// The communicator must not be touched any more by what the thread's group still holds.
void drop_from_group(const communicator* comm);

}  // namespace memtrace::simulator::nccl
