// SPDX-License-Identifier: Apache-2.0
//
// Where a captured call stack becomes a number in the trace. Whoever captures stacks (see
// interpose/sight/python) keeps a cache from what identifies a stack cheaply to the number that
// intern() gave, so that intern() is called once for each distinct stack and not once an event.
//
//   capture ── cache hit ──────────────────────────► stack id ──► event record
//      └────── miss ──► frames ──► intern() ─────────┘
//                                  (writes text, frame and stack records of what is new)
//
// Any thread may call; intern() takes the recorder's lock, so the caller must not hold it. It
// never throws, and never calls Python, CUDA or torch.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace memtrace {

struct stack_frame {
  std::string_view file;      // UTF-8; only read during the call
  std::string_view function;  // co_name, as PyTorch records it: not the qualified name
  std::uint32_t line = 0;     // 1…; 0 when unknown
};

// 0 is "no stack". Ids are dense, start with 1 and mean nothing outside their generation.
using stack_id = std::uint32_t;

class stack_table {
 public:
  stack_table(const stack_table&) = delete;
  stack_table& operator=(const stack_table&) = delete;

  // Frames innermost first, as capture meets them. Equal frames give equal ids. Returns 0 for no
  // frames, and when nothing can be recorded (out of memory, disk full).
  [[nodiscard]] virtual stack_id intern(std::span<const stack_frame> innermost_first) noexcept = 0;

  // Changes when the ids given so far become meaningless (a forked child starts a file of its own),
  // or when some were not given (intern() returned 0) and will be now. Make it part of every
  // cache's key. Never 0.
  [[nodiscard]] std::uint32_t generation() const noexcept {
    return generation_.load(std::memory_order_relaxed);
  }

 protected:
  // A recorder passes a number that no recorder before it in this process (or the process it was
  // forked from) had.
  explicit stack_table(std::uint32_t generation = 1) noexcept : generation_(generation) {}
  ~stack_table() = default;
  void start_generation(std::uint32_t generation) noexcept {
    generation_.store(generation, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint32_t> generation_;
};

}  // namespace memtrace
