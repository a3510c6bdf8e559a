// SPDX-License-Identifier: Apache-2.0
//
// The newest records of a program that still runs, or was killed: the head of its trace in a file
// in memory (memtrace/trace_format.h). Of a process that is gone it is put into the trace, which
// is then whole by itself.
#pragma once

#include <cstdint>
#include <string>

namespace memtrace::trace {

struct shared_head {
  int descriptor = -1;  // the caller's; -1: the trace has all that there is
  std::uint64_t bytes = 0;
};

// The head of the trace with that path, open with that descriptor.
[[nodiscard]] shared_head take_shared_head(const std::string& path, int trace);

// The same without writing anything, whether its process is gone or not.
[[nodiscard]] shared_head look_at_shared_head(int trace);
// Its lock, which the writer has taken before there is anything to read, is only asked for; where
// nobody holds it, it is held for an instant, shared.
[[nodiscard]] bool has_writer(const shared_head& head);

}  // namespace memtrace::trace
