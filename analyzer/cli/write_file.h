// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace memtrace::cli {

// Into the file, or to standard output for "-". False, after one sentence on stderr, where that
// fails; without one where the reader of a pipe has gone.
[[nodiscard]] bool write_all(const std::string& path, const std::string& text);

}  // namespace memtrace::cli
