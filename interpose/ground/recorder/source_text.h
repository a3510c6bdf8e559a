// SPDX-License-Identifier: Apache-2.0
//
// The text of a file of the program, read for the trace by a thread that may wait for the disk.
#pragma once

#include <cstdint>
#include <string>

#include "interpose/ground/base/sha256.h"
#include "memtrace/trace_format.h"

namespace memtrace {

struct source_text {
  std::uint32_t flags = 0;        // format::source_*
  std::uint64_t modified_ns = 0;  // since 1970
  std::uint64_t bytes = 0;        // of the file
  std::string text;               // none where a flag says so

  [[nodiscard]] bool has_text() const noexcept {
    return (flags & (format::source_too_large | format::source_unreadable)) == 0;
  }
};

// Only a regular file, which may be reached by symbolic links; a pipe or a device is opened so that
// nobody waits for its other end, and is left. `began_ns`: since 1970, when what runs was not read
// yet; what has changed since is flagged. A file of more than `most_bytes` is not read.
[[nodiscard]] source_text read_source(const char* path, std::uint64_t began_ns,
                                      std::uint64_t most_bytes) noexcept;

}  // namespace memtrace
