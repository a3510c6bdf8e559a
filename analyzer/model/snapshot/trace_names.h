// SPDX-License-Identifier: Apache-2.0
//
// The texts and stacks of a snapshot in the trace that is made of it: defined there when an event
// first names them. What is more than a trace may have stays out; its events have no stack then.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/snapshot/names.h"
#include "analyzer/trace/reader/record_writer.h"

namespace memtrace::snapshot {

class trace_names {
 public:
  trace_names(const names& known, trace::record_writer& to) : known_(known), to_(to) {}

  [[nodiscard]] trace::text_id text(std::uint32_t number);
  [[nodiscard]] trace::stack_id stack(std::uint32_t number);  // of names::stack
  // Of what the frames show to be autograd's work, and of all the rest.
  [[nodiscard]] trace::thread_id thread(std::uint32_t stack);

 private:
  [[nodiscard]] trace::frame_id frame(std::uint32_t number);
  [[nodiscard]] trace::stack_id node(std::uint32_t number);

  const names& known_;
  trace::record_writer& to_;
  std::vector<trace::text_id> texts_;    // by number; none: not yet
  std::vector<trace::frame_id> frames_;  // likewise
  std::vector<trace::stack_id> nodes_;   //
  std::vector<std::uint32_t> waiting_;   // nodes on the way to the outermost
  std::size_t text_bytes_ = 0;
  trace::thread_id autograd_;
};

}  // namespace memtrace::snapshot
