// SPDX-License-Identifier: Apache-2.0
//
// Ids of a trace's definitions. Distinct types without inheritance, so that a frame id where a
// stack id is meant does not compile.
#pragma once

#include <cstdint>

namespace memtrace::trace {

template <class Tag>
struct id {
  std::uint32_t value = 0;  // 0: none

  [[nodiscard]] explicit operator bool() const { return value != 0; }
  [[nodiscard]] bool operator==(const id&) const = default;
  [[nodiscard]] auto operator<=>(const id&) const = default;
};

using text_id = id<struct text_tag>;
using frame_id = id<struct frame_tag>;
using stack_id = id<struct stack_tag>;
using thread_id = id<struct thread_tag>;
using object_id = id<struct object_tag>;

// The types of ids that the records of memtrace/records.h have.
struct ids {
  using text = text_id;
  using frame = frame_id;
  using stack = stack_id;
  using thread = thread_id;
  using object = object_id;
};

}  // namespace memtrace::trace
