// SPDX-License-Identifier: Apache-2.0
//
// Replays take longer than reading: who waits wants to know how far they are.
#pragma once

#include <cstddef>
#include <functional>

namespace memtrace::advice {

// How far the proposals of one device are proved.
struct replay_progress {
  std::size_t done = 0;
  std::size_t of = 0;
};
// Called by several threads, but by one at a time.
using on_replayed_t = std::function<void(const replay_progress&)>;

}  // namespace memtrace::advice
