// SPDX-License-Identifier: Apache-2.0
//
// The traces that the arguments of a command name: files as they are, directories for the
// .mtrace files directly in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/trace/reader/error.h"

namespace memtrace::trace {

// Sorted by name within a directory. Error: not_found when a directory holds none, or cannot be
// listed; a file that does not exist is left to whoever opens it.
[[nodiscard]] result<std::vector<std::string>> find_traces(const std::vector<std::string>& names);

// Those directly in a directory; none if there is no such directory.
[[nodiscard]] std::vector<std::string> traces_in(const std::string& directory);

struct newest_run {
  std::vector<std::string> traces;  // sorted by name
  std::size_t runs = 0;             // that the files are of
  std::uint64_t start_ns = 0;       // of this one, CLOCK_REALTIME
};

// The last of the runs that these files are of. Two processes are of one run if one `memtrace run`
// started both (the ranks of a job that was started again among them), or if they lived at the same
// time (the ranks of a job that each of its machines started by itself). Only the beginning and the
// end of each file are read. A file that cannot be read is left to whoever opens it: it counts to
// the last run.
[[nodiscard]] newest_run newest_of(const std::vector<std::string>& traces);

}  // namespace memtrace::trace
