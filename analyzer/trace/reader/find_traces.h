// SPDX-License-Identifier: Apache-2.0
//
// The traces that the arguments of a command name: files as they are, directories for the
// .mtrace files directly in them.
#pragma once

#include <string>
#include <vector>

#include "analyzer/trace/reader/error.h"

namespace memtrace::trace {

// Sorted by name within a directory. Error: not_found when a directory holds none, or cannot be
// listed; a file that does not exist is left to whoever opens it.
[[nodiscard]] result<std::vector<std::string>> find_traces(const std::vector<std::string>& names);

// Those directly in a directory; none if there is no such directory.
[[nodiscard]] std::vector<std::string> traces_in(const std::string& directory);

}  // namespace memtrace::trace
