// SPDX-License-Identifier: Apache-2.0
//
// A block's call stack in words, for formats that know nothing but frames: from the outermost to
// the innermost.
//
//   train.py:20 main, train.py:9 loss         Python ran
//   thread pt_autograd_0                      it did not: autograd's own thread, …
//     gradient of MmBackward0                 …
//     train.py:8 forward                      and the call whose gradient was computed
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/export/formats/sink.h"

namespace memtrace::exporting {

struct told_frame {
  std::string function;  // or words, where there is no file
  std::string file;
  std::uint32_t line = 0;
  [[nodiscard]] bool operator==(const told_frame&) const = default;
  [[nodiscard]] auto operator<=>(const told_frame&) const = default;
};

// Blocks with the same key have the same stack in words.
struct stack_key {
  trace::stack_id stack;
  trace::thread_id thread;  // where there is no stack
  trace::stack_id forward;
  trace::text_id node;
  [[nodiscard]] auto operator<=>(const stack_key&) const = default;
};

[[nodiscard]] stack_key stack_of(const block& one);
[[nodiscard]] std::vector<told_frame> told_stack(const process& from, const stack_key& which);

}  // namespace memtrace::exporting
