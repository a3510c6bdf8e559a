// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/write_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace memtrace::cli {

bool write_all(const std::string& path, const std::string& text) {
  std::FILE* const file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr)
    written = (file == stdout ? std::fflush(file) : std::fclose(file)) == 0 && written;
  if (!written && errno != EPIPE) {
    std::fprintf(stderr, "memtrace: %s: the report cannot be written: %s\n", path.c_str(),
                 std::strerror(errno));
  }
  return written;
}

}  // namespace memtrace::cli
