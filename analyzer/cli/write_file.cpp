// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/write_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "analyzer/cli/log.h"
#include "analyzer/cli/output_file.h"

namespace memtrace::cli {

namespace {

[[nodiscard]] bool complain(const std::string& path, const char* why) {
  if (errno != EPIPE) {
    log::error("{}: the report cannot be written: {}", path, why);
  }
  return false;
}

}  // namespace

bool write_all(const std::string& path, const std::string& text) {
  if (path == "-") {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (std::fflush(stdout) == 0 && written) return true;
    return complain(path, std::strerror(errno));
  }
  output_file file(path, output_file::mode::replace);
  if (!file.is_open()) return complain(path, file.error().c_str());
  if (file.write(text) && file.close()) return true;
  return complain(path, std::strerror(errno));
}

}  // namespace memtrace::cli
