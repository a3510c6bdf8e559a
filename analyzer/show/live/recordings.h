// SPDX-License-Identifier: Apache-2.0
//
// Which traces are meant: a file, the traces of a directory, those of a process and of all that it
// started, or what grows in the current directory. Asked again and again: a rank may come late.
#pragma once

#include <string>
#include <vector>

#include "analyzer/judge/verdicts/expectations.h"
#include "analyzer/trace/reader/error.h"

namespace memtrace::live {

enum class meant : unsigned char { trace, directory, process, here };

struct recordings {
  meant kind = meant::here;
  std::string name;  // of the file or directory; the process's number
  std::vector<verdicts::expectation> suppressions = {};  // what of their growth is expected
};

// Reads the command's argument; empty: none was given. Error: there is no such thing.
[[nodiscard]] trace::result<recordings> understand(const std::string& argument);

// The traces that there are now, sorted by name.
[[nodiscard]] std::vector<std::string> traces_of(recordings& wanted);

// Why there is none, and what to do.
[[nodiscard]] std::string why_none(const recordings& wanted);

}  // namespace memtrace::live
